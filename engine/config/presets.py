"""Ranking presets by name, and with the user's own numbers in place of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Protocol

from engine.config.preset import (
    SIGNALS,
    Fusion,
    PoolLexical,
    Preset,
    Recency,
    Route,
    Weights,
)
from engine.config.preset_file import read_preset
from engine.domain.errors import ConfigInvalid
from engine.domain.vocabulary import nearest

__all__ = [
    "SIGNALS",
    "Fusion",
    "PoolLexical",
    "Preset",
    "Recency",
    "Route",
    "ShareOverrides",
    "WeightOverrides",
    "Weights",
    "effective",
    "effective_weights",
    "known_preset",
    "load_preset",
    "parse_preset",
    "preset_names",
]


class MatchWeights(Protocol):
    """Weights of signals that say how well a memory matches the query."""

    @property
    def relevance(self) -> float | None: ...
    @property
    def cosine(self) -> float | None: ...
    @property
    def similarity(self) -> float | None: ...
    @property
    def lexical(self) -> float | None: ...
    @property
    def graph(self) -> float | None: ...
    @property
    def time_match(self) -> float | None: ...
    @property
    def context(self) -> float | None: ...
    @property
    def speaker(self) -> float | None: ...
    @property
    def proximity(self) -> float | None: ...


class OwnWeights(Protocol):
    """Weights of signals that say what a memory is, whatever is asked."""

    @property
    def importance(self) -> float | None: ...
    @property
    def recency(self) -> float | None: ...
    @property
    def frequency(self) -> float | None: ...
    @property
    def salience(self) -> float | None: ...
    @property
    def polarity(self) -> float | None: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def temporal(self) -> float | None: ...


class WeightOverrides(MatchWeights, OwnWeights, Protocol):
    """Weights set by the user; ``None`` keeps the preset's."""


class ShareOverrides(Protocol):
    """Shares of the channels set by the user; ``None`` keeps the preset's."""

    @property
    def vector(self) -> float | None: ...
    @property
    def lexical(self) -> float | None: ...


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
    """Read a preset's TOML and check every value; raises :class:`ConfigInvalid`."""
    return read_preset(name, text)


def effective(
    preset: Preset, overrides: WeightOverrides | None, shares: ShareOverrides | None = None
) -> Preset:
    """The preset with the user's weights and shares in place of its own, in every route.

    Raises :class:`ConfigInvalid` for a negative or infinite number, and when nothing is left
    to rank by.
    """
    weights = _given(preset, overrides, SIGNALS)
    channels = _given(preset, shares, ("vector", "lexical"))
    if not weights and not channels:
        return preset
    routes = tuple(_with(route, weights, channels) for route in preset.routes)
    if not any(_ranks(route) for route in routes):
        raise ConfigInvalid("error.weights_all_zero", name=preset.name)
    return replace(preset, routes=routes)


def effective_weights(preset: Preset, overrides: WeightOverrides) -> Weights:
    """The weights of the first route with the user's own put in their place."""
    return effective(preset, overrides).weights


def _with(route: Route, weights: Mapping[str, float], shares: Mapping[str, float]) -> Route:
    fusion = replace(
        route.fusion,
        vector_share=shares.get("vector", route.fusion.vector_share),
        lexical_share=shares.get("lexical", route.fusion.lexical_share),
    )
    return replace(route, weights=replace(route.weights, **weights), fusion=fusion)


def _ranks(route: Route) -> bool:
    """Whether anything is left in a route that tells one candidate from another."""
    used = route.weights.used()
    fuses = route.fusion.method == "rrf" or route.fusion.vector_share + route.fusion.lexical_share
    return bool(used.keys() - {"relevance"}) or bool(used and fuses)


def _given(preset: Preset, overrides: object, names: tuple[str, ...]) -> dict[str, float]:
    found = {name: getattr(overrides, name, None) for name in names} if overrides else {}
    given = {name: value for name, value in found.items() if value is not None}
    for name, value in given.items():
        if not 0.0 <= value < float("inf"):
            raise ConfigInvalid("error.preset_value", name=preset.name, key=name, value=str(value))
    return given
