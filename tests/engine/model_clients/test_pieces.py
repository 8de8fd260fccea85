"""Cutting long texts into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model_clients.pieces import Piece, split_pieces

TEXTS = st.text(
    st.one_of(st.sampled_from("ab 。！.!?\n\u200d👩\u0301\ud83d\ude00"), st.characters()),
    max_size=300,
)


def cut(text: str, max_chars: int) -> list[str]:
    return [text[piece.start : piece.end] for piece in split_pieces(text, max_chars)]


def test_a_short_text_is_one_piece() -> None:
    assert split_pieces("我喜欢猫。也喜欢狗。", 100) == [Piece(0, 10)]


@pytest.mark.parametrize("blank", ["", " ", "\n\n \t"])
def test_a_blank_text_has_no_pieces(blank: str) -> None:
    assert split_pieces(blank, 2) == []


def test_paragraph_ends_are_preferred_to_sentence_ends() -> None:
    assert cut("One. Two.\n\nThree. Four. Five.", 20) == ["One. Two.\n\n", "Three. Four. Five."]


def test_sentence_ends_are_preferred_to_a_hard_cut() -> None:
    assert cut("今天下雨。猫在睡觉。狗在叫。", 8) == ["今天下雨。", "猫在睡觉。", "狗在叫。"]
    assert cut("It rains. The cat sleeps.", 18) == ["It rains. ", "The cat sleeps."]


def test_a_decimal_point_or_a_file_name_is_no_sentence_end() -> None:
    assert cut("version 3.14 of a.b.c here! now", 28) == ["version 3.14 of a.b.c here! ", "now"]


def test_a_closing_quote_stays_with_its_sentence() -> None:
    assert cut("他说：“走吧。”然后离开了。", 8)[0] == "他说：“走吧。”"


def test_a_text_without_marks_is_cut_by_size() -> None:
    assert cut("字" * 25, 10) == ["字" * 10, "字" * 10, "字" * 5]


@pytest.mark.parametrize("cluster", ["👩\u200d👩\u200d👧", "e\u0301", "👍🏽", "\ud83d\ude00"])
def test_what_a_reader_sees_as_one_character_is_not_cut(cluster: str) -> None:
    for before in range(10):
        pieces = cut("x" * before + cluster + "y" * 20, 10)
        assert any(cluster in piece for piece in pieces)


def test_no_stub_is_left_over() -> None:
    sentences = "This is a sentence. " * 101
    assert min(len(piece) for piece in cut(sentences, 2_000)) > 500


def test_a_piece_needs_room() -> None:
    with pytest.raises(ValueError, match="max_chars"):
        split_pieces("text", 0)


@given(TEXTS, st.integers(1, 40))
def test_pieces_are_in_order_small_enough_and_cover_the_text(text: str, max_chars: int) -> None:
    end = 0
    for piece in split_pieces(text, max_chars):
        assert not text[end : piece.start].strip()
        assert end <= piece.start < piece.end <= piece.start + max_chars
        assert text[piece.start : piece.end].strip()
        end = piece.end
    assert not text[end:].strip()
