"""Filters in the forms that models write."""

from __future__ import annotations

import pytest

from engine.mcp_server.filter_text import spelled_out
from engine.mcp_server.pairs import read_pairs

NAMES = ("kinds", "tags", "tags_any", "since", "until", "persona")


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (
            "kind:decision tag:work since:上周",
            {"kinds": "decision", "tags": "work", "since": "上周"},
        ),
        ("kind：decision；tag：工作", {"kinds": "decision", "tags": "工作"}),
        ("tags=a,b; until=2026-05-01T09:30", {"tags": "a,b", "until": "2026-05-01T09:30"}),
        ("since: last week, until: yesterday", {"since": "last week", "until": "yesterday"}),
        ("persona=at 10: x", {"persona": "at 10: x"}),
        ('persona="a; tag:b"', {"persona": "a; tag:b"}),
        ({"kind": "decision"}, {"kinds": "decision"}),
        ("", {}),
    ],
)
def test_other_spellings_mean_the_same(given: object, values: dict[str, str]) -> None:
    assert read_pairs("filters", spelled_out(given, NAMES), NAMES) == values  # type: ignore[arg-type]
