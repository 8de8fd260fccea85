"""What a query asks for, read from its surface, and the routes it therefore favours."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine.config.presets import Preset
from engine.language.folding import fold

RELATIONAL = "relational"
TEMPORAL = "temporal"
FACTUAL = "factual"
INTENTS = (RELATIONAL, TEMPORAL, FACTUAL)
LANGUAGES = ("zh", "en")


@dataclass(frozen=True, slots=True)
class Sign:
    """Words of the query that show an intent."""

    intent: str
    text: str


def read_signs(query: str) -> tuple[Sign, ...]:
    """The signs of intent in a query, in reading order; a longer sign hides those inside it."""
    pattern, intents = _signs()
    found = (match.group() for match in pattern.finditer(fold(query)))
    return tuple(Sign(intents[text], text) for text in dict.fromkeys(found))


def intents_of(query: str) -> frozenset[str]:
    """The intents that a query shows, of :data:`INTENTS`."""
    return frozenset(sign.intent for sign in read_signs(query))


def moved_weights(preset: Preset, traits: frozenset[str]) -> tuple[float, ...]:
    """The routes' weights for a query with these traits.

    The adjustments of several traits add up. With two routes the first gets what the sum leaves
    it, clamped to [0,1], and the second the rest; with more each is clamped and all are scaled
    to a sum of 1. Without an adjustment the preset's weights stand.
    """
    weights = tuple(route.weight for route in preset.routes)
    moves = _moves(preset, traits)
    if len(weights) == 1 or not any(moves):
        return weights
    if len(weights) == 2:
        first = _clamped(weights[0] + moves[0] - moves[1])
        return first, 1.0 - first
    moved = [_clamped(weight + move) for weight, move in zip(weights, moves, strict=True)]
    total = sum(moved)
    return tuple(weight / total for weight in moved) if total > 0 else weights


def _moves(preset: Preset, traits: frozenset[str]) -> Sequence[float]:
    shown = [changes for trait, changes in preset.intent.items() if trait in traits]
    return [sum(changes.get(route.name, 0.0) for changes in shown) for route in preset.routes]


def _clamped(weight: float) -> float:
    return min(1.0, max(0.0, weight))


@cache
def _signs() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """One pattern of all signs, the longest first, and the intent of each."""
    intents: dict[str, str] = {}
    parts: list[tuple[str, str]] = []
    for language in LANGUAGES:
        source = files("assets") / "language" / "intent" / f"{language}.toml"
        for intent, signs in tomllib.loads(source.read_text(encoding="utf-8")).items():
            for text in map(fold, signs):
                intents.setdefault(text, intent)
                escaped = re.escape(text)
                bounded = rf"(?<![\w']){escaped}(?!\w)" if text.isascii() else escaped
                parts.append((text, bounded))
    parts.sort(key=lambda part: -len(part[0]))
    return re.compile("|".join(bounded for _, bounded in parts)), intents
