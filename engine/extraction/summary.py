"""Several texts as one: their own words, the most important first."""

from __future__ import annotations

from collections.abc import Sequence

from engine.config.messages import text as sentence

_CUT = "…"
_LEAST_CHARS = 12
# Ideographs say in one character what letters say in several: so few make a text a Chinese one.
_HAN_SHARE = 0.125


def extractive(texts: Sequence[str], max_chars: int) -> str:
    """The texts in the given order, each once, joined within ``max_chars`` characters behind
    how many they are; what does not fit is cut and marked."""
    distinct = list(dict.fromkeys(filter(None, (" ".join(text.split()) for text in texts))))
    language = language_of(distinct)
    mark = sentence("reflect.mark", language, count=len(texts))
    gap = "；" if language == "zh" else "; "
    whole, room = mark, max_chars - len(mark)
    for number, text in enumerate(distinct):
        part = text if number == 0 else gap + text
        if len(part) > room:
            if room >= _LEAST_CHARS:
                whole += part[: room - 1].rstrip() + _CUT
            break
        whole, room = whole + part, room - len(part)
    return whole


def shortened(text: str, max_chars: int) -> str:
    """A text within ``max_chars`` characters, cut and marked where it is longer."""
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + _CUT


def language_of(texts: Sequence[str]) -> str:
    """``zh`` or ``en``: what most of the writing is in."""
    joined = "".join(texts)
    han = sum("\u4e00" <= character <= "\u9fff" for character in joined)
    return "zh" if han > _HAN_SHARE * len(joined) else "en"
