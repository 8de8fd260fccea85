"""Values from one source, the file or the environment, checked and by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.domain.errors import ConfigInvalid


@dataclass(frozen=True, slots=True)
class Layer:
    """Typed values by dotted key.

    ``problem`` is what could not be used; ``warnings`` are unknown names and missing
    ``${NAME}`` variables, which leave all other values in force.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    problem: ConfigInvalid | None = None
    warnings: tuple[ConfigInvalid, ...] = ()
