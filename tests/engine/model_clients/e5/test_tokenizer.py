"""The tokenizer against known segmentations and a plain implementation."""

from __future__ import annotations

import time
import unicodedata

import pytest

from engine.model_clients.e5.packed_file import PackedFile
from engine.model_clients.e5.pieces_table import piece_hashes, substring_hashes
from engine.model_clients.e5.space import MASK_ID, UNKNOWN_ID
from engine.model_clients.e5.tokenizer import MAX_CHARS, Tokenizer, model_text

HOSTILE = {
    "ligature": "\ufdfa" * 1_000,
    "zeros": "\0" * 100_000,
    "surrogates": "\ud800\udfff" * 5_000,
    "long": "x" * 100_000,
    "marks": "a" + "\u0301\u0323" * 50_000,
    "emoji": "👩‍👩‍👧‍👦" * 5_000,
    "unknown": "\U000e0041\U0001f9ff\u0870" * 5_000,
    "blank": " \n\t\u3000" * 10_000,
}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello world", [35378, 8999]),
        ("用户一碰花生就会起疹子", [6, 10501, 684, 76697, 2603, 2026, 21646, 2797, 174565, 1344]),
        ("どこで寿司を食べましたか", [6, 55325, 507, 95570, 23419, 135395, 6465, 1894]),
        ("나는 땅콩 알레르기가 있다", [37231, 134215, 146708, 15852, 12764, 8495, 59054, 3162]),
        ("query: hello", [41, 1294, 12, 33600, 31]),
        ("Ёлка", [6, 57498, 32889]),
        ("", [6]),
    ],
)
def test_known_texts_get_their_known_tokens(tokenizer: Tokenizer, text, ids):
    assert tokenizer.ids(model_text(text)) == ids


def test_the_table_finds_what_a_dictionary_of_all_pieces_finds(tokenizer, source_file):
    vocabulary = PackedFile(source_file).vocabulary
    pieces = {
        piece: (float(score), number)
        for number, (piece, score) in enumerate(
            zip(vocabulary.pieces(), vocabulary.scores, strict=True)
        )
        if UNKNOWN_ID < number < MASK_ID
    }
    for text in (
        "The deploy key lives in the blue vault, version 2.3.1-beta!",
        "下周三下午三点跟张经理在国贸开会，记得带上季度报告和U盘。",
        "東京タワーの近くのカフェで待ち合わせ、오후 세 시까지 갈게요.",
        "Привет, как дела? สวัสดีครับ مرحبا بالعالم naïve façade ½ №5 😀😀 ꙮꙮ!",
    ):
        assert tokenizer.ids(model_text(text)) == plain_segmentation(model_text(text), pieces)


def plain_segmentation(text: str, pieces: dict[str, tuple[float, int]]) -> list[int]:
    """The definition, written down without any haste."""
    text = "\u2581" + text.replace(" ", "\u2581")
    unknown = min(score for score, _ in pieces.values()) - 10
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for end in range(1, len(text) + 1):
        ways = []
        for start in range(max(0, end - 16), end):
            score, number = pieces.get(text[start:end], (None, UNKNOWN_ID))
            if score is not None or end - start == 1:
                total, path = best[start]
                ways.append((total + (unknown if score is None else score), [*path, number]))
        best.append(max(ways, key=lambda way: way[0]))
    path = best[-1][1]
    return [
        number
        for place, number in enumerate(path)
        if not (place and number == path[place - 1] == UNKNOWN_ID)
    ]


def test_a_text_that_spells_a_control_token_does_not_get_it(tokenizer):
    ids = tokenizer.ids(model_text("</s><pad><s><mask><unk>"))
    assert min(ids) > UNKNOWN_ID and max(ids) < MASK_ID


def test_a_run_of_unknown_characters_is_one_token(tokenizer):
    assert tokenizer.ids("𓀀𓀁𓀂").count(UNKNOWN_ID) == 1


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_takes_long_or_reaches_the_model_unclean(tokenizer, text):
    start_s = time.perf_counter()
    seen = model_text(text)
    ids = tokenizer.ids(seen)
    assert time.perf_counter() - start_s < 0.5
    assert len(seen) <= MAX_CHARS and 1 <= len(ids) <= MAX_CHARS + 1
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in seen)


def test_what_looks_alike_is_read_alike():
    assert model_text("ｃａｔ\x00１２３\x1b \n ２\ufeff") == "cat 123 2"


def test_a_short_chinese_text_is_cut_in_less_than_a_millisecond(tokenizer):
    text = model_text("我上次和同事去吃火锅的那家店叫什么名字")
    tokenizer.ids(text)
    start_s = time.process_time()
    for _ in range(20):
        tokenizer.ids(text)
    assert (time.process_time() - start_s) / 20 < 0.001


def test_a_substring_hashes_like_the_same_piece():
    text = "abcabc猫"
    hashes = substring_hashes(text, 3)
    assert hashes[0, 2] == hashes[3, 2] == piece_hashes(["abc"])[0]
    assert hashes[6, 0] == piece_hashes(["猫"])[0]
    assert hashes[6, 1] not in piece_hashes(["猫", "猫a", "c猫"])


def test_two_equal_pieces_are_refused():
    with pytest.raises(ValueError, match="hash"):
        piece_hashes(["same", "same"])
