"""Recorded text made harmless to show: what cannot be seen, moves the cursor or turns the
writing direction is shown as what it is, and a text of many lines can stand on one.
"""

from __future__ import annotations

import re

LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
LINE_SIGN = " ⏎ "

_INVISIBLE = (
    *range(0x80, 0xA0),
    0x61C,
    0x200B,
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
VISIBLE = (
    {code: chr(0x2400 + code) for code in range(0x20) if chr(code) != "\t"}
    | {0x7F: "\u2421"}
    | {code: f"\\u{code:04x}" for code in _INVISIBLE}
)
"""For :meth:`str.translate`: signs for characters that a reader would not see."""


def in_one_line(text: str) -> str:
    """The whole text on one line, with a sign where a line ended; blank lines leave none."""
    lines = (" ".join(line.split()) for line in LINE_END.split(text))
    return visible(LINE_SIGN.join(line for line in lines if line))


def visible(text: str) -> str:
    """The text with a sign for each character that a reader would not see."""
    # All of them count as not printable, which is found out many times faster.
    return text if text.isprintable() else text.translate(VISIBLE)
