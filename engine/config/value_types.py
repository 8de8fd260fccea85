"""The types that settings are declared with."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from engine.config.presets import known_preset
from engine.config.setting import Knob
from engine.domain.times import zone_named
from engine.domain.workspace_map import parse_mapping


def _not_a_switch(value: object) -> object:
    # Python counts True as 1; "k: true" in a file is a slip, not the number one.
    if isinstance(value, bool):
        raise ValueError(value)
    return value


def _folded(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _parted(value: object) -> object:
    if isinstance(value, str):
        return [part for part in (raw.strip() for raw in value.split(",")) if part]
    return value


def known_zone(value: str) -> str:
    """A time zone that this machine knows, or empty. Raises a JiyiError."""
    zone_named(value)
    return value


def known_mappings(entries: tuple[str, ...]) -> tuple[str, ...]:
    """Entries of the workspace map, each of which can be read. Raises a JiyiError."""
    for entry in entries:
        parse_mapping(entry)
    return entries


Whole = Annotated[int, BeforeValidator(_not_a_switch)]
Number = Annotated[float, BeforeValidator(_not_a_switch)]
Switch = Annotated[bool, Knob("now")]
Weight = Annotated[
    float | None, Field(ge=0.0, le=1.0), BeforeValidator(_not_a_switch), Knob("now", step=0.05)
]
Folded = BeforeValidator(_folded)
PresetName = Annotated[str, Folded, AfterValidator(known_preset)]
Names = Annotated[tuple[str, ...], BeforeValidator(_parted)]


class Section(BaseModel):
    """A group of settings; unknown names and infinite numbers are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
