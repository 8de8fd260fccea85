"""A block of instructions in a file that an assistant reads, between marks."""

from __future__ import annotations

import re
from collections.abc import Callable

Cut = Callable[[str], str | None]
"""Takes what was added out of a text; ``None`` when nothing is left."""

_BEGIN, _END = "<!-- jiyi: begin -->", "<!-- jiyi: end -->"
_BLOCK = re.compile(rf"(?:\r?\n)*{re.escape(_BEGIN)}.*?{re.escape(_END)}(?:\r?\n)?", re.DOTALL)
# Rules of this form are only read with a head that says when.
_HEADS = {".mdc": "---\ndescription: Long-term memory\nalwaysApply: true\n---\n\n"}


def is_in(text: str) -> bool:
    """Whether a text has the block."""
    return _BLOCK.search(text) is not None


def with_block(text: str | None, instructions: str, suffix: str) -> str:
    """A text with these instructions at its end, or in the place where they stood."""
    head = _HEADS.get(suffix, "") if text is None else ""
    newline = "\r\n" if text and "\r\n" in text else "\n"
    lines = f"{_BEGIN}\n{instructions.strip()}\n{_END}\n".replace("\n", newline)
    if text is None or not text.strip("\ufeff \t\r\n"):
        return f"{head}{text or ''}{lines}"
    if is_in(text):
        start = text.index(_BEGIN)
        return text[:start] + _BLOCK.sub(lambda _: lines, text[start:], count=1)
    gap = newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{lines}"


def without_block(text: str) -> str | None:
    """A text without the block; ``None`` when nothing else is in it."""
    left = _BLOCK.sub("", text)
    kept = left
    for head in _HEADS.values():
        kept = kept.replace(head.strip(), "")
    if not kept.strip("\ufeff \t\r\n"):
        return None
    return left if left.endswith("\n") else f"{left}\n"
