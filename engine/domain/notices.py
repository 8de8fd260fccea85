"""Things a person should be told that are no failure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A catalogue message: ``key`` with its placeholders as (name, value) pairs."""

    key: str
    params: tuple[tuple[str, str], ...] = ()
