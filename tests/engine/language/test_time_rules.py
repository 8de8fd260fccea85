"""The rule tables: what they name exists, and every rule is reached."""

from __future__ import annotations

import pytest

from engine.language.holidays import holiday_names, holiday_span
from engine.language.time_readings import READINGS
from engine.language.time_rules import LANGUAGES, Rule, number, table

RULES = [(language, rule) for language in LANGUAGES for rule in table(language).rules]


@pytest.mark.parametrize(("language", "rule"), RULES, ids=lambda item: getattr(item, "read", item))
def test_a_rule_names_what_there_is(language: str, rule: Rule) -> None:
    assert rule.read in READINGS
    assert rule.needs in table(language).needs
    known = {*table(language).words, "year", "month", "day", "quarter", "at", "many", "s"}
    for group in rule.pattern.groupindex:
        assert group.removesuffix("2").removesuffix("_to") in known


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_holiday_is_found_in_its_table(language: str) -> None:
    for name in holiday_names(language):
        span = holiday_span(name, 2025)
        assert span is not None and 2024 <= span.first.year <= 2025, name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("3rd", 3),
        ("十", 10),
        ("十五", 15),
        ("三十一", 31),
        ("二〇二五", 2025),
        ("x", None),
    ],
)
def test_numbers_are_read(text: str, value: int | None) -> None:
    assert number(text) == value
