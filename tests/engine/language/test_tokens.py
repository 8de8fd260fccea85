"""The token estimate: per character, by script, emoji by the sequence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("Hello world", 3),
        ("你好世界", 6),
        ("こんにちは", 8),
        ("안녕", 3),
        ("ｶﾅ", 3),
        ("Ｈｉ，。", 6),
        ("Привет", 3),
        ("สวัสดี", 3),
        ("10 字符", 4),
        ("ab", 1),
        ("abcdefghij", 3),
    ],
)
def test_each_script_has_its_price(text, tokens):
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize("emoji", ["😀", "❤️", "👍🏽", "👨‍👩‍👧‍👦", "🇨🇳", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "⏰"])
def test_an_emoji_sequence_counts_once(emoji):
    assert estimate_tokens(emoji) == 2
    assert estimate_tokens(emoji * 3) == 6
    assert estimate_tokens(f"好{emoji}好") == 5


@given(st.text(), st.text())
def test_a_longer_text_never_costs_much_less(one, other):
    # An emoji that joins another one across the seam becomes one sequence.
    whole = estimate_tokens(one + other)
    assert whole >= max(estimate_tokens(one), estimate_tokens(other)) - 2
    assert whole <= estimate_tokens(one) + estimate_tokens(other) + 1
