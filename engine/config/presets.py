"""Ranking presets: named fusion shares and signal weights, kept as data."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar

from engine.domain.errors import ConfigInvalid
from engine.domain.vocabulary import nearest


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the channels become one relevance: a share for each, over the pool's min-max.

    ``lexical_share`` is what the words get when they match the whole query. They get none of
    it below ``onset``, the share of the query's rarity from which on words mean anything, and
    what they do not get goes to the vectors.
    """

    method: str = "blend"
    vector_share: float = 0.7
    lexical_share: float = 0.3
    onset: float = 0.0


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts in the score; not negative, not all zero."""

    relevance: float = 0.0
    importance: float = 0.0
    recency: float = 0.0
    salience: float = 0.0


@dataclass(frozen=True, slots=True)
class Recency:
    """How age counts: ``half_life`` is ``0.5 ** (age_days / days)`` from ``basis``."""

    basis: str = "created"
    shape: str = "half_life"
    days: float = 30.0


@dataclass(frozen=True, slots=True)
class Preset:
    """One way to rank."""

    name: str
    fusion: Fusion
    weights: Weights
    recency: Recency


class WeightOverrides(Protocol):
    """Weights set by the user; ``None`` keeps the preset's."""

    @property
    def relevance(self) -> float | None: ...
    @property
    def importance(self) -> float | None: ...
    @property
    def recency(self) -> float | None: ...
    @property
    def salience(self) -> float | None: ...


Part = TypeVar("Part", Fusion, Weights, Recency)

_CHOICES = {
    "method": ("blend",),
    "basis": ("created",),
    "shape": ("half_life",),
}


@cache
def preset_names() -> tuple[str, ...]:
    """The presets that exist, sorted."""
    folder = files("assets") / "presets"
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def known_preset(name: str) -> str:
    """``name`` if there is such a preset, else :class:`ConfigInvalid` with the nearest."""
    if name in preset_names():
        return name
    near = nearest(name, preset_names())
    raise ConfigInvalid(
        "error.unknown_preset_near" if near else "error.unknown_preset",
        value=name[:60],
        nearest=near,
        allowed=", ".join(preset_names()),
    )


@cache
def load_preset(name: str) -> Preset:
    """The preset called ``name``; :class:`ConfigInvalid` when unknown or not usable."""
    source = files("assets") / "presets" / f"{known_preset(name)}.toml"
    return parse_preset(name, source.read_text(encoding="utf-8"))


def parse_preset(name: str, text: str) -> Preset:
    """Read a preset's TOML and check every value."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid("error.preset_syntax", name=name, reason=str(error)) from error
    preset = Preset(
        name=name,
        fusion=_part(name, Fusion, tables.get("fusion")),
        weights=_part(name, Weights, tables.get("weights")),
        recency=_part(name, Recency, tables.get("recency")),
    )
    _require_some(name, "fusion", (preset.fusion.vector_share, preset.fusion.lexical_share))
    if preset.fusion.onset >= 1.0:
        raise _bad(name, "fusion.onset", preset.fusion.onset)
    _require_some(name, "weights", _numbers(preset.weights))
    _require_some(name, "recency.days", (preset.recency.days,))
    return preset


def effective_weights(preset: Preset, overrides: WeightOverrides) -> Weights:
    """The preset's weights with the user's own put in their place."""
    chosen = {
        field.name: _first(getattr(overrides, field.name), getattr(preset.weights, field.name))
        for field in fields(Weights)
    }
    return Weights(**chosen)


def _first(override: float | None, preset_value: float) -> float:
    return preset_value if override is None else override


def _part(preset: str, kind: type[Part], table: object) -> Part:
    section = kind.__name__.lower()
    if not isinstance(table, Mapping):
        raise _bad(preset, section, table)
    known = {field.name for field in fields(kind)}
    for key, value in table.items():
        if key not in known or not _usable(key, value):
            raise _bad(preset, f"{section}.{key}", value)
    values: dict[str, Any] = {k: v if k in _CHOICES else float(v) for k, v in table.items()}
    return kind(**values)


def _usable(key: str, value: object) -> bool:
    if key in _CHOICES:
        return value in _CHOICES[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and value >= 0


def _numbers(weights: Weights) -> tuple[float, ...]:
    return tuple(float(getattr(weights, field.name)) for field in fields(weights))


def _require_some(preset: str, key: str, values: tuple[float, ...]) -> None:
    if not any(values):
        raise _bad(preset, key, 0)


def _bad(preset: str, key: str, value: object) -> ConfigInvalid:
    return ConfigInvalid("error.preset_value", name=preset, key=key, value=str(value)[:60])
