"""The file of a preset: read strictly, so that a slip is reported and never ranks.

A preset with one route has the route's tables (``fusion``, ``weights``, ``recency``, …) at the
top; one with several has them below ``[routes.<name>]``.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeVar

from engine.config.preset import (
    SIGNALS,
    Fusion,
    PoolLexical,
    Preset,
    Recency,
    Route,
    Weights,
)
from engine.domain.errors import ConfigInvalid

FUSION_METHODS = ("blend", "earned", "rrf")
FORMS = ("sum", "ranks")
FACTORS = ("", "temporal_factor")
BASES = ("created", "accessed", "later", "event")
SHAPES = ("half_life", "exp_tau", "exp_lambda")
SIMILARITIES = ("vectors", "words")
ROUTE_KEYS = ("weight", "channels", "form", "factor", "fusion", "weights", "recency", "when")
PRESET_KEYS = (
    "order",
    "both_hit_bonus",
    "cap",
    "source_boost",
    "share_out",
    "floor",
    "pinned_from",
    "mmr_lambda",
    "mmr_similarity",
    "intent",
    "pool_lexical",
)
ONLY_ROUTE = "all"

_CHOICES = {"method": FUSION_METHODS, "basis": BASES, "shape": SHAPES}

Numbers = TypeVar("Numbers", Fusion, Weights, Recency, PoolLexical)


def read_preset(name: str, text: str) -> Preset:
    """The preset that a TOML text describes; raises :class:`ConfigInvalid`."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid("error.preset_syntax", name=name, reason=str(error)) from error
    return _Reader(name).preset(tables)


class _Reader:
    """Reads the tables of one preset; every fault names the preset and the key."""

    def __init__(self, name: str) -> None:
        self._name = name

    def preset(self, tables: Mapping[str, object]) -> Preset:
        several = "routes" in tables
        own = ("routes", *PRESET_KEYS) if several else (*PRESET_KEYS, *ROUTE_KEYS)
        self._only(tables, own, "")
        routes = self._routes(tables["routes"]) if several else (self._route(ONLY_ROUTE, tables),)
        if not any(route.weights.used() for route in routes):
            raise self._bad("weights", 0)
        lexical = tables.get("pool_lexical")
        return Preset(
            name=self._name,
            routes=routes,
            order=self._names(tables.get("order", []), "order", SIGNALS),
            both_hit_bonus=self._number(tables.get("both_hit_bonus", 0.0), "both_hit_bonus"),
            cap=self._maybe(tables, "cap"),
            source_boost=self._numbers(tables.get("source_boost", {}), "source_boost"),
            share_out=self._names(tables.get("share_out", []), "share_out", SIGNALS),
            floor=self._fraction(tables.get("floor", 0.0), "floor"),
            pinned_from=self._maybe(tables, "pinned_from"),
            mmr_lambda=self._fraction(tables.get("mmr_lambda", 1.0), "mmr_lambda"),
            mmr_similarity=self._choice(tables, "mmr_similarity", SIMILARITIES),
            intent=self._adjustments(tables, "intent", [route.name for route in routes]),
            pool_lexical=None
            if lexical is None
            else self._part(PoolLexical, lexical, "pool_lexical"),
        )

    def _routes(self, tables: object) -> tuple[Route, ...]:
        named = self._table(tables, "routes")
        for name, table in named.items():
            self._only(self._table(table, f"routes.{name}"), ROUTE_KEYS, f"routes.{name}.")
        routes = tuple(self._route(name, self._table(t, name)) for name, t in named.items())
        if not any(route.weight for route in routes):
            raise self._bad("routes.weight", 0)
        return routes

    def _route(self, name: str, tables: Mapping[str, object]) -> Route:
        place = "" if name == ONLY_ROUTE else f"routes.{name}."
        route = Route(
            name=name,
            fusion=self._part(Fusion, tables.get("fusion", {}), f"{place}fusion"),
            weights=self._part(Weights, tables.get("weights"), f"{place}weights"),
            recency=self._part(Recency, tables.get("recency"), f"{place}recency"),
            weight=self._number(tables.get("weight", 1.0), f"{place}weight"),
            channels=self._names(tables.get("channels", []), f"{place}channels"),
            form=self._choice(tables, "form", FORMS),
            factor=self._choice(tables, "factor", FACTORS),
            when=self._adjustments(tables, "when", SIGNALS),
        )
        self._check(route, place)
        return route

    def _check(self, route: Route, place: str) -> None:
        """What only several values together show."""
        if route.fusion.vector_share + route.fusion.lexical_share <= 0:
            raise self._bad(f"{place}fusion", 0)
        if route.fusion.onset >= 1.0:
            raise self._bad(f"{place}fusion.onset", route.fusion.onset)
        for low, full in (("coverage_from", "coverage_full"), ("rare_from", "rare_full")):
            if getattr(route.fusion, full) <= getattr(route.fusion, low):
                raise self._bad(f"{place}fusion.{full}", getattr(route.fusion, full))
        if route.recency.days <= 0:
            raise self._bad(f"{place}recency.days", route.recency.days)

    def _part(self, kind: type[Numbers], table: object, place: str) -> Numbers:
        values = self._table(table, place)
        self._only(values, tuple(item.name for item in fields(kind)), f"{place}.")
        read: dict[str, Any] = {
            key: self._choice(values, key, _CHOICES[key])
            if key in _CHOICES
            else self._number(value, f"{place}.{key}")
            for key, value in values.items()
        }
        return kind(**read)

    def _adjustments(
        self, tables: Mapping[str, object], key: str, allowed: tuple[str, ...] | list[str]
    ) -> Mapping[str, Mapping[str, float]]:
        found: dict[str, Mapping[str, float]] = {}
        for name, table in self._table(tables.get(key, {}), key).items():
            numbers = self._numbers(table, f"{key}.{name}")
            self._only(numbers, tuple(allowed), f"{key}.{name}.")
            found[name] = numbers
        return MappingProxyType(found)

    def _numbers(self, table: object, key: str) -> Mapping[str, float]:
        values = self._table(table, key)
        return MappingProxyType(
            {name: self._number(value, f"{key}.{name}") for name, value in values.items()}
        )

    def _names(self, value: object, key: str, allowed: tuple[str, ...] = ()) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._bad(key, value)
        for name in value:
            if not isinstance(name, str) or (allowed and name not in allowed):
                raise self._bad(key, name)
        return tuple(value)

    def _maybe(self, tables: Mapping[str, object], key: str) -> float | None:
        return self._number(tables[key], key) if key in tables else None

    def _fraction(self, value: object, key: str) -> float:
        number = self._number(value, key)
        if number > 1.0:
            raise self._bad(key, value)
        return number

    def _number(self, value: object, key: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._bad(key, value)
        if not (math.isfinite(value) and value >= 0):
            raise self._bad(key, value)
        return float(value)

    def _choice(self, tables: Mapping[str, object], key: str, allowed: tuple[str, ...]) -> str:
        value = tables.get(key, allowed[0])
        if not isinstance(value, str) or value not in allowed:
            raise self._bad(key, value)
        return value

    def _table(self, value: object, key: str) -> Mapping[str, object]:
        if not isinstance(value, Mapping):
            raise self._bad(key, value)
        return value

    def _only(self, table: Mapping[str, object], known: tuple[str, ...], place: str) -> None:
        for key, value in table.items():
            if key not in known:
                raise self._bad(f"{place}{key}", value)

    def _bad(self, key: str, value: object) -> ConfigInvalid:
        return ConfigInvalid("error.preset_value", name=self._name, key=key, value=str(value)[:60])
