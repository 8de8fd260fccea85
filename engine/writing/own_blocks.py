"""Recognising what this product has put before an assistant, when it comes back as a text."""

from __future__ import annotations

from functools import lru_cache

from engine.config.messages import LANGUAGES, text

_FRAMES = (
    ("context.frame_begin", "context.frame_end"),
    ("mcp.frame_begin", "mcp.frame_end"),
)


def is_own_block(given: str) -> bool:
    """Whether a text is a list of recalled memories with its heading and its end, and nothing
    else of any weight."""
    for begin, end in _marks():
        start = given.find(begin)
        stop = given.find(end, start + len(begin)) if start >= 0 else -1
        if stop >= 0:
            around = given[:start] + given[stop + len(end) :]
            return len(around.strip()) <= stop - start
    return False


@lru_cache(maxsize=1)
def _marks() -> tuple[tuple[str, str], ...]:
    return tuple(
        (text(begin, language), text(end, language))
        for begin, end in _FRAMES
        for language in LANGUAGES
    )
