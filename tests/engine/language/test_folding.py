from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.folding import _unifying_table, fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("資料庫遷移", "数据库迁移".replace("数据", "资料")),
        ("ＡＰＩ　Ｋｅｙ", "api key"),
        ("don’t", "don't"),
        ("2024–2025", "2024-2025"),
        ("Straße", "STRASSE"),
        ("机\u200b器", "机器"),
        ("❤\ufe0f", "❤"),
        ("cafe\u0301", "café"),
        ("  two \t\n words  ", "two words"),
        ("ガ", "ガ"),
    ],
)
def test_spellings_of_the_same_text_fold_alike(one, other):
    assert fold(one) == fold(other)


def test_the_long_vowel_mark_of_kana_is_not_taken_for_a_dash():
    assert fold("データ") == "データ"


def test_folding_any_single_character_twice_changes_nothing_more():
    assigned = (
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) not in {"Cn", "Co"}
    )
    once = set(map(fold, assigned))
    assert [text for text in once if fold(text) != text] == []


@given(st.text(st.characters()))
def test_folding_any_text_twice_changes_nothing_more(text):
    once = fold(text)
    assert fold(once) == once


def test_a_lone_surrogate_can_be_folded():
    assert fold("\ud83d 截斷") == "\ud83d 截断"


def test_traditional_table_agrees_with_opencc():
    opencc = pytest.importorskip("opencc")
    convert = opencc.OpenCC("t2s").convert
    table = {key: value for key, value in _unifying_table().items() if key >= 0x2E80}
    expected = {}
    for code in (*range(0x2E80, 0xD800), *range(0xF900, 0x323B0)):
        character = chr(code)
        if unicodedata.normalize("NFKC", character) == character:
            simplified = convert(convert(character))
            if simplified != character:
                expected[code] = simplified
    assert table == expected
