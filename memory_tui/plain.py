"""Text of memories as a terminal may be shown it: never markup, never an escape sequence.

Every character that a terminal obeys, or that turns the direction of what follows, is replaced
by one visible character of one cell, so that positions in the text stay what they were.
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from textual.content import Content

_DIRECTION_MARKS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_LINE_ENDS = (0x0B, 0x0C, 0x85, 0x2028, 0x2029)
_PICTURES = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)}
_CONTROLS = dict.fromkeys((*range(0x80, 0xA0), 0xFEFF, 0xFFF9, 0xFFFA, 0xFFFB), 0xFFFD)
VISIBLE: dict[int, int] = {
    **_CONTROLS,
    **_PICTURES,
    0x7F: 0x2421,
    **dict.fromkeys(_DIRECTION_MARKS, 0x2194),
    **dict.fromkeys(_LINE_ENDS, 0x23CE),
}
"""Code point to the code point shown in its place."""

_ONE_LINE = {**VISIBLE, 0x09: 0x20, 0x0A: 0x23CE, 0x0D: None}


def plain(text: str) -> str:
    """The text with its lines, each character as long as before."""
    return text.translate(VISIBLE)


def one_line(text: str) -> str:
    """The text on one line; line ends are shown as ``⏎``."""
    return text.strip().translate(_ONE_LINE)


def content(text: str, style: str = "") -> Content:
    """The text for a widget, its brackets taken literally."""
    return Content.styled(plain(text), style) if style else Content(plain(text))


def fitted(text: str, cells: int) -> str:
    """One line of exactly so many cells: padded with blanks, or cut with an ellipsis."""
    line = one_line(text[: 4 * cells + 8])
    if cell_len(line) <= cells:
        return set_cell_size(line, cells)
    if cells <= 1:
        return set_cell_size("…", cells)
    # A wide character that is cut in half leaves a blank, which comes before the ellipsis.
    return set_cell_size(line, cells - 1) + "…"
