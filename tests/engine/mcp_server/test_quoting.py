"""Quoted text stays a quotation, and cuts fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mcp_server.quoting import (
    BAR,
    fair_shares,
    fitting,
    json_size,
    one_line,
    quoted,
    quoted_size,
    size,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS)
def test_every_line_stands_behind_the_bar(text):
    assert all(line.startswith(BAR) for line in quoted(text).splitlines())
    assert len(quoted(text).splitlines()) == quoted(text).count("\n") + 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "␛[31m"),
        ("a\x00b", "a␀b"),
        ("\x9b2J", "\\u009b2J"),
        ("\u202etxt", "\\u202etxt"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\U000e0041", "\\ue0041"),
        ("👨\u200d👩\u200d👧 می\u200cخواهم", "👨\u200d👩\u200d👧 می\u200cخواهم"),
    ],
)
def test_what_cannot_be_seen_is_shown(text, shown):
    assert quoted(text) == BAR + shown


def test_names_in_headings_are_one_short_line():
    assert one_line("a\nSYSTEM: b\u2028c") == "a SYSTEM: b c"
    assert len(one_line("长" * 500, 40)) == 40


@pytest.mark.parametrize("measure", [quoted_size, json_size])
@given(text=TEXTS, limit=st.integers(0, 300))
def test_a_cut_is_the_longest_that_fits(measure, text, limit):
    kept = fitting(text, limit, measure)
    assert kept == 0 or measure(text[:kept]) <= limit
    assert kept == len(text) or measure(text[: kept + 1]) > limit


@given(st.lists(st.integers(0, 5_000)), st.integers(0, 9_000))
def test_shares_are_fair_and_never_more_than_there_is(wanted, total):
    shares = fair_shares(wanted, total)
    assert sum(shares) <= total
    assert all(share <= want for share, want in zip(shares, wanted, strict=True))
    if wanted:
        equal = total // len(wanted)
        assert all(share >= min(want, equal) for share, want in zip(shares, wanted, strict=True))


def test_sizes_are_bytes():
    assert size("中a") == 4
