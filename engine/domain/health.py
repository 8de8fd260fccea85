"""What is found when a store is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OK, WARNING, FAILURE = "ok", "warning", "failure"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: ``name`` is what was looked at, ``status`` is ``ok``, ``warning`` or
    ``failure``, ``key`` with ``params`` is the sentence in the catalogue."""

    name: str
    status: str
    key: str
    params: Mapping[str, object]
