from __future__ import annotations

import random
import string

import pytest
from snowballstemmer.english_stemmer import EnglishStemmer

from engine.language.stemming import stem


@pytest.mark.parametrize(
    ("one", "other"),
    [("meetings", "meeting"), ("scheduled", "schedule"), ("parties", "party")],
)
def test_inflections_share_a_stem(one, other):
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["gen-itgc", "数据库", "cafés", "3e4", "c++", ""])
def test_only_words_of_plain_letters_are_stemmed(word):
    assert stem(word) == word


def test_skipped_endings_are_those_the_stemmer_would_leave_alone():
    draw = random.Random(7)
    endings = ["tion", "ogi", "li", "bl", "ou", "nes", "iv", "iz", "abl", "eed", "inn", "gist", ""]
    stemmer = EnglishStemmer()
    for _ in range(6000):
        head = "".join(draw.choices(string.ascii_lowercase, k=draw.randint(1, 6)))
        word = head + draw.choice(endings) + draw.choice(["", *string.ascii_lowercase])
        assert stem(word) == stemmer.stemWord(word)
