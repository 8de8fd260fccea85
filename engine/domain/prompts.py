"""A text made of memories for a prompt: how it is wanted, and what it came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.domain.errors import JiyiError
from engine.domain.memory import Memory

NO_LIMIT = 10**9
TokenCounter = Callable[[str], int]
"""Tokens of a text."""


def byte_size(line: str) -> int:
    """Bytes of a line and its end in UTF-8."""
    return len(line.encode("utf-8", "replace")) + 1


@dataclass(frozen=True, slots=True)
class PromptForm:
    """How a text for a prompt is wanted.

    ``token_budget`` counts memory lines, without frame and headings (``None``: the default of
    what is asked for). ``size`` bounds the whole text as ``measure`` sees its lines, by default
    in bytes. ``count`` is a real tokenizer that takes the place of the estimate.
    """

    language: str = "en"
    token_budget: int | None = None
    size: int = NO_LIMIT
    measure: Callable[[str], int] = byte_size
    count: TokenCounter | None = None


PLAIN = PromptForm()
"""English, with the default budget and no other limit."""


@dataclass(frozen=True, slots=True)
class PackedLine:
    """One line that was taken: the memory behind it (several for a compressed one)."""

    text: str
    tokens: int
    memories: tuple[Memory, ...]
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under a heading; ``name`` stays the same in every language, ``heading`` may be
    empty."""

    name: str
    heading: str
    lines: tuple[PackedLine, ...]


@dataclass(frozen=True, slots=True)
class PromptText:
    """What was put together.

    ``text`` is ready for a prompt, empty when nothing was found. ``left_out`` memories did not
    fit, ``shortened`` were cut, ``weaker`` were too weak a match. ``queries`` is what was
    searched for, ``degraded`` why a way of searching took no part.
    """

    text: str
    sections: tuple[Section, ...]
    used_tokens: int
    budget_tokens: int
    left_out: int = 0
    shortened: int = 0
    weaker: int = 0
    queries: tuple[str, ...] = ()
    degraded: tuple[JiyiError, ...] = ()

    @property
    def truncated(self) -> bool:
        """True when something found is not shown, or not whole."""
        return self.left_out > 0 or self.shortened > 0

    @property
    def lines(self) -> tuple[PackedLine, ...]:
        """All lines, in the order of the text."""
        return tuple(line for section in self.sections for line in section.lines)
