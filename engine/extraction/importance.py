"""The importance of a memory, scored by rules that are data where its writer asks for it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine.extraction.pattern_tables import rules_for
from engine.extraction.rules import HAN, scripts_of

TABLE = "importance"
# What a text is about shows early.
_HEAD_CHARS = 600


@dataclass(frozen=True, slots=True)
class Modifier:
    """What is added to a tier, and why: the name of a kind, or ``fragment``."""

    name: str
    change: float


@dataclass(frozen=True, slots=True)
class Importance:
    """``value`` (0-1) is ``tier`` plus the ``modifiers``, clamped; ``rule`` put it in its tier and
    is ``default`` where no rule fits."""

    value: float
    tier: float
    rule: str
    modifiers: tuple[Modifier, ...] = ()

    @property
    def explained(self) -> str:
        """Rule, tier and modifiers in short, such as ``zh.finished 0.60 fragment -0.10``."""
        changes = [f"{modifier.name} {modifier.change:+.2f}" for modifier in self.modifiers]
        return " ".join([self.rule, f"{self.tier:.2f}", *changes])


@dataclass(frozen=True, slots=True)
class _Scale:
    nothing: float
    lowest: float
    highest: float
    fragment: float
    fragment_chars: int
    fragment_han_chars: int
    by_kind: Mapping[str, float]
    tier_by_kind: Mapping[str, float]


def importance_of(text: str, kind: str) -> Importance:
    """The importance of a text of a kind: the highest tier whose patterns it matches, with what
    its kind and a short text change (memory-model §6, details §6)."""
    scale, content = _scale(), text.strip()
    tier, rule = _tier(content[:_HEAD_CHARS], kind, scale)
    modifiers = _modifiers(content, kind, scale)
    value = tier + sum(modifier.change for modifier in modifiers)
    clamped = min(scale.highest, max(scale.lowest, value))
    return Importance(round(clamped, 4), tier, rule, modifiers)


def _tier(text: str, kind: str, scale: _Scale) -> tuple[float, str]:
    best, name = 0.0, "default"
    for rule in rules_for(TABLE, text):
        if float(rule.value) > best and rule.fits(text):
            best, name = float(rule.value), rule.name
    # What is a decision is one, whatever words say so.
    if scale.tier_by_kind.get(kind, 0.0) > best:
        return scale.tier_by_kind[kind], kind
    return best or scale.nothing, name


def _modifiers(text: str, kind: str, scale: _Scale) -> tuple[Modifier, ...]:
    found = [Modifier(kind, scale.by_kind[kind])] if kind in scale.by_kind else []
    is_han = HAN in scripts_of(text)
    if len(text) < (scale.fragment_han_chars if is_han else scale.fragment_chars):
        found.append(Modifier("fragment", scale.fragment))
    return tuple(found)


@cache
def _scale() -> _Scale:
    source = files("assets").joinpath("rules", TABLE, "scale.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    by_kind, tier_by_kind = table.pop("kind"), table.pop("tier")
    return _Scale(by_kind=by_kind, tier_by_kind=tier_by_kind, **table)
