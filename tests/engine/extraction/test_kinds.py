"""Kinds by rules, measured on lines labelled by hand before the rules were run on them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.domain.vocabulary import KINDS
from engine.extraction.kinds import KindChoice, kind_of
from engine.extraction.pattern_tables import pattern_rules
from engine.extraction.rules import compiled

LINES = Path(__file__).parents[2] / "data" / "kind_lines.jsonl"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp()


def choice(text: str, default: str = "semantic") -> KindChoice:
    return kind_of(text, NOW, UTC, default)


def lines(language: str) -> list[dict[str, str]]:
    found = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    return [line for line in found if line["language"] == language]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_nine_of_ten_labelled_lines_get_their_kind(language: str) -> None:
    labelled = lines(language)
    wrong = [line for line in labelled if choice(line["text"]).kind != line["kind"]]
    assert len(wrong) <= 0.1 * len(labelled), wrong
    missed = [line for line in labelled if choice(line["text"]).suggestion != line.get("suggests")]
    assert len(missed) <= 0.1 * len(labelled), missed


def test_every_rule_gives_a_known_kind_by_patterns_that_compile() -> None:
    import re

    names = [rule.name for rule in pattern_rules("kinds")]
    assert len(names) == len(set(names))
    for rule in pattern_rules("kinds"):
        assert rule.value in KINDS
        compiled(rule.pattern, re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "kind", "rule"),
    [
        ("决定改用 Rust", "decision", "zh.decision"),
        ("We fixed it: the clock was wrong", "resolved", "en.resolved"),
        ("决定用 Rust 了吗？", "question", "zh.question-mark"),
        ("Have we decided on Rust?", "question", "en.question-mark"),
        ("这个问题还没解决", "semantic", "default"),
        ("The bug is not fixed", "semantic", "default"),
        ("决定性的因素是价格", "semantic", "default"),
    ],
)
def test_the_first_rule_that_fits_decides_and_is_named(text: str, kind: str, rule: str) -> None:
    chosen = choice(text)
    assert (chosen.kind, chosen.rule) == (kind, rule)


def test_a_standing_instruction_is_suggested_and_never_chosen() -> None:
    for text in ("以后都要先写测试", "Never push to main", "From now on use metric units"):
        chosen = choice(text)
        assert chosen.suggestion == "directive"
        assert chosen.kind != "directive"


def test_what_recurs_is_no_event() -> None:
    assert choice("上周五服务器宕机了").kind == "episodic"
    assert choice("每周五服务器重启").kind == "semantic"


def test_the_default_is_the_callers() -> None:
    assert choice("小明是后端工程师", "knowledge") == KindChoice("knowledge", "default")


def test_a_long_text_is_read_at_its_ends_only() -> None:
    filler = "天地玄黄宇宙洪荒" * 20_000
    started = time.perf_counter()
    assert choice(f"{filler}这样对吗？").kind == "question"
    assert choice(f"{filler}我们决定改用 Rust{filler}").kind == "semantic"
    assert time.perf_counter() - started < 1.0
