"""Which characters belong together: the classes and patterns that cut text into runs."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache

# Exactly the range in which both segmenters agree; rarer characters are words of their own.
HAN = "\u4e00-\u9fd5"
RARE_HAN = "\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
_THAI_AND_LAO = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"
_KHMER_AND_MYANMAR = (
    "\u1000-\u1049\u104c-\u109f\u1780-\u17d3\u17d7\u17dc-\u17e9\ua9e0-\ua9fe\uaa60-\uaa7f"
)
SOUTH_EAST_ASIAN = _THAI_AND_LAO + _KHMER_AND_MYANMAR
UNSPACED = HAN + RARE_HAN + KANA + _BOPOMOFO + HANGUL + SOUTH_EAST_ASIAN

# One of these inside a word makes an identifier: gen-itgc, foo_bar.py, a@b.com, std::sort.
_JOINER = r"(?:[-.'@/:\\+&#~=%$]|_+|://|::|(?<=\d),(?=\d{3}))"
# Common punctuation outside ASCII, skipped early because it is frequent.
_SKIPPED = "\u2010-\u2027\u3001-\u3004\u3008-\u3011\u3014-\u301f\ufffd"


class Run(IntEnum):
    """Kind of a run: the number of its group in :func:`run_pattern`."""

    WORD = 1
    HAN = 2
    WHOLE = 3
    SYMBOL = 4


UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
KANA_CHARACTER = re.compile(f"[{KANA}]")
# Group 1 is a run for the segmenter, anything else is not cut.
HAN_OR_OTHER = re.compile(f"([{HAN}]+)|[^{HAN}]+")


@lru_cache(maxsize=1)
def run_pattern() -> re.Pattern[str]:
    """Matches one run of a text at a time; the matched group is its :class:`Run`."""
    letters = rf"[^\W_{UNSPACED}]+"
    # Marks (vowel signs, accents that do not compose) are not \w but belong to their word.
    word = rf"{letters}(?:[{_marks()}]+(?:{letters})?)*"
    kinds = (
        rf"({word}(?:{_JOINER}{word})*[+#]{{0,2}})",
        f"([{HAN}]+)",
        f"([{RARE_HAN}]|[{KANA}]+|[{_BOPOMOFO}]+|[{HANGUL}]+|[{SOUTH_EAST_ASIAN}]+)",
        rf"([^\x00-\x7f\s{_SKIPPED}])",
    )
    return re.compile("|".join(kinds))


@lru_cache(maxsize=4096)
def is_symbol(character: str) -> bool:
    """Whether ``character`` carries meaning by itself: emoji, currency and maths signs.

    Unassigned code points count, since newer emoji are unassigned to an older Python.
    """
    return unicodedata.category(character) in {"So", "Sk", "Sm", "Sc", "Cn", "Co"}


def _marks() -> str:
    spaced_scripts = (*range(0x0300, 0x1FFF), *range(0xA000, 0xAC00))
    unspaced = re.compile(f"[{UNSPACED}]")
    marks = (
        chr(code)
        for code in spaced_scripts
        if unicodedata.category(chr(code)).startswith("M") and not unspaced.match(chr(code))
    )
    return "".join(marks)
