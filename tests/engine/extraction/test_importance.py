"""Importance by rules, measured on lines labelled by hand before the rules were run on them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.extraction.importance import Modifier, importance_of
from engine.extraction.kinds import kind_of
from engine.extraction.pattern_tables import pattern_rules

LINES = Path(__file__).parents[2] / "data" / "importance_lines.jsonl"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_mean_error_on_labelled_lines_is_a_tenth_at_most(language: str) -> None:
    found = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    errors = [
        abs(
            importance_of(line["text"], kind_of(line["text"], NOW, UTC).kind).value
            - line["importance"]
        )
        for line in found
        if line["language"] == language
    ]
    assert len(errors) >= 50
    assert sum(errors) / len(errors) <= 0.1


def test_the_tiers_are_those_that_are_documented() -> None:
    tiers = {rule.value for rule in pattern_rules("importance")}
    assert tiers == {"0.90", "0.75", "0.60", "0.35"}


def test_the_highest_tier_that_fits_counts() -> None:
    both = importance_of("我们决定以后一律用英文写提交信息，可能下周开始", "decision")
    assert (both.tier, both.rule) == (0.9, "zh.instruction")
    hedged = importance_of("It might be the network or the cable", "semantic")
    assert (hedged.value, hedged.rule) == (0.35, "en.hedged")


@pytest.mark.parametrize(
    ("text", "kind", "value", "modifiers"),
    [
        ("The Berlin office is in Mitte", "semantic", 0.5, ()),
        ("The Berlin office is in Mitte", "procedural", 0.6, (Modifier("procedural", 0.1),)),
        ("Is the Berlin office in Mitte?", "question", 0.35, (Modifier("question", -0.15),)),
        ("Mitte, Berlin", "semantic", 0.4, (Modifier("fragment", -0.1),)),
        ("北京的办公室在朝阳区", "semantic", 0.5, ()),
        ("办公室在北京", "semantic", 0.4, (Modifier("fragment", -0.1),)),
    ],
)
def test_kind_and_length_change_the_tier(
    text: str, kind: str, value: float, modifiers: tuple[Modifier, ...]
) -> None:
    scored = importance_of(text, kind)
    assert (scored.value, scored.modifiers) == (value, modifiers)


def test_the_value_stays_within_its_limits_and_says_how_it_came_about() -> None:
    scored = importance_of("Always answer me in English, please", "feedback")
    assert scored.value == 0.98
    assert scored.explained == "en.instruction 0.90 feedback +0.10"
