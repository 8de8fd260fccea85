"""A recorded text on one line, with nothing hidden in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.display import in_one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\n\n two\tthree ", "one ⏎ two three"),
        ("a\r\nb\u2028c\x85d", "a ⏎ b ⏎ c ⏎ d"),
        ("x\x1b[2Jy", "x␛[2Jy"),
        ("a\u202eb\u200bc", "a\\u202eb\\u200bc"),
        (" \n ", ""),
    ],
)
def test_line_ends_and_hidden_characters_are_shown(text, shown):
    assert in_one_line(text) == shown


@given(st.text())
def test_it_is_one_line_for_every_reader(text):
    assert len(in_one_line(text).splitlines()) <= 1
