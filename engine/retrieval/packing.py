"""Memories as lines of a prompt, and as many of them as a token budget takes.

A memory is one line whatever its text holds, so none can end the quotation or begin a
heading, a role or another memory's line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from engine.config.messages import text as sentence
from engine.domain.asking import Candidate
from engine.domain.display import in_one_line
from engine.domain.memory import Memory
from engine.domain.prompts import NO_LIMIT, PackedLine, TokenCounter, byte_size
from engine.domain.times import day, minute_with_offset
from engine.language.tokens import ASCII_TOKENS, MOST_TOKENS, estimate_tokens

COMPRESS_JACCARD = 0.30
_COMPRESSED_TOKENS = 24
_MOST_CHARS_PER_TOKEN = 40
# The brackets and the id alone cost more than this.
_LEAST_TOKENS = 5

Bag = Callable[[str], frozenset[str]]
"""The distinct words of a text."""


@dataclass(frozen=True, slots=True)
class LineStyle:
    """For whom lines are written. With ``persona`` a memory's form for it is preferred."""

    language: str
    zone: tzinfo | None
    now: float
    persona: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What a pack may cost: ``tokens`` of its memory lines as ``count`` counts them, and
    ``size``, by default bytes of UTF-8, of each line and its end."""

    tokens: int
    size: int = NO_LIMIT
    count: TokenCounter = estimate_tokens
    measure: Callable[[str], int] = byte_size


@dataclass(slots=True)
class Packer:
    """Takes lines while the budget lasts. ``newer`` maps an outdated memory to the one that says
    how it is now."""

    budget: Budget
    style: LineStyle
    newer: dict[int, int] = field(default_factory=dict)
    used_tokens: int = 0
    used_size: int = 0
    left_out: list[Candidate] = field(default_factory=list)
    shortened: int = 0

    def take(
        self, line: str, memories: tuple[Memory, ...], score: float, most_used: int | None = None
    ) -> PackedLine | None:
        """The line if it fits into what is left of the budget, or of its first ``most_used``
        tokens; else ``None``."""
        size = self.budget.measure(line)
        if self.used_size + size > self.budget.size:
            return None
        tokens = self.budget.count(line)
        if self.used_tokens + tokens > (self.budget.tokens if most_used is None else most_used):
            return None
        self.used_tokens += tokens
        self.used_size += size
        return PackedLine(line, tokens, memories, score)

    def pack(
        self,
        candidates: Iterable[Candidate],
        *,
        cut_at_tokens: int | None = None,
        most_tokens: int | None = None,
    ) -> list[PackedLine]:
        """Greedily in order; what does not fit is left out and the walk goes on.

        With ``cut_at_tokens`` a longer line is cut to about that many tokens, and marked. With
        ``most_tokens`` these candidates may use no more than that.
        """
        taken: list[PackedLine] = []
        most_used = self.budget.tokens
        if most_tokens is not None:
            most_used = min(most_used, self.used_tokens + most_tokens)
        for candidate in candidates:
            packed, was_cut = self._packed(candidate, cut_at_tokens, most_used)
            if packed is None:
                self.left_out.append(candidate)
            else:
                taken.append(packed)
                self.shortened += was_cut
        return taken

    def compress(self, bag: Bag) -> list[PackedLine]:
        """Fold what was left out: groups of two or more like texts become a line each, where
        that fits; what is folded is left out no longer."""
        taken: list[PackedLine] = []
        for group in _groups(self.left_out, bag):
            memories = tuple(item.memory for item in group)
            packed = self.take(compressed_line(memories, self.style), memories, group[0].score)
            if packed is not None:
                taken.append(packed)
                folded = {memory.id for memory in memories}
                self.left_out = [item for item in self.left_out if item.memory.id not in folded]
        return taken

    def _packed(
        self, candidate: Candidate, cut_at_tokens: int | None, most_used: int
    ) -> tuple[PackedLine | None, bool]:
        if most_used - self.used_tokens < _LEAST_TOKENS:
            return None, False
        memory = candidate.memory
        marks = self._marks(candidate)
        if cut_at_tokens is not None:
            line, was_cut = _cut_line(memory, self.style, marks, cut_at_tokens)
        elif len(body_of(memory, self.style)) > _MOST_CHARS_PER_TOKEN * most_used:
            # A whole book need not be looked through to see that it does not fit.
            return None, False
        else:
            line, was_cut = memory_line(memory, self.style, marks), False
        return self.take(line, (memory,), candidate.score, most_used), was_cut

    def _marks(self, candidate: Candidate) -> list[str]:
        language = self.style.language
        marks = [sentence("mcp.weak", language)] if candidate.weak else []
        newer = self.newer.get(candidate.memory.id)
        return (
            marks if newer is None else [*marks, sentence("context.earlier", language, newer=newer)]
        )


def memory_line(
    memory: Memory, style: LineStyle, marks: Sequence[str] = (), kept_chars: int | None = None
) -> str:
    """``- (kind, date) text [#id]``. In the brackets also what a reader must know: the state,
    that nobody vouches for the text, and ``marks``; in front of the text its original time.

    ``kept_chars`` cuts the text there and says how long it is.
    """
    head = ", ".join([memory.kind, day(memory.created_at, style.zone), *_marks(memory, style)])
    head = ", ".join([head, *marks])
    text = body_of(memory, style)
    if kept_chars is not None and kept_chars < len(text):
        text = text[:kept_chars].rstrip() + sentence(
            "context.cut", style.language, length=len(memory.text)
        )
    return f"- ({head}) {_time_line(memory, style)}{in_one_line(text)} [#{memory.id}]"


def body_of(memory: Memory, style: LineStyle) -> str:
    """What is shown of a memory: its form for the persona where there is one, else the text."""
    return (memory.persona_summary if style.persona else None) or memory.text


def compressed_line(memories: Sequence[Memory], style: LineStyle) -> str:
    """Like memories in one line: the beginning of the first, and the ids of all."""
    best = in_one_line(body_of(memories[0], style)[: 4 * _COMPRESSED_TOKENS])
    best = _within(best, _COMPRESSED_TOKENS, estimate_tokens)
    outside = next((m for m in memories if m.trust == "external"), None)
    trust = f", {_external(style)}" if outside else ""
    ids = " ".join(f"#{memory.id}" for memory in memories)
    return f"- ({sentence('context.compressed', style.language)}{trust}) {best}… [{ids}]"


def _cut_line(
    memory: Memory, style: LineStyle, marks: Sequence[str], limit_tokens: int
) -> tuple[str, bool]:
    text = body_of(memory, style)
    # The shortest token that a text can have says what certainly does not fit.
    most_chars = int(limit_tokens / ASCII_TOKENS)
    if len(text) * MOST_TOKENS <= limit_tokens or (
        len(text) <= most_chars and estimate_tokens(text) <= limit_tokens
    ):
        return memory_line(memory, style, marks), False
    kept = len(_within(text[:most_chars], limit_tokens, estimate_tokens))
    return memory_line(memory, style, marks, kept_chars=kept), True


def _within(text: str, limit_tokens: int, count: TokenCounter) -> str:
    """The longest beginning of a text that costs at most so many tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= limit_tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _marks(memory: Memory, style: LineStyle) -> list[str]:
    state = memory.state(style.now)
    marks = [] if state == "live" else [sentence(f"mcp.state.{state}", style.language)]
    return [*marks, _external(style)] if memory.trust == "external" else marks


def _external(style: LineStyle) -> str:
    return sentence("mcp.trust.external", style.language)


def _time_line(memory: Memory, style: LineStyle) -> str:
    if memory.event_time is None:
        return ""
    moment = minute_with_offset(memory.event_time, style.zone)
    return sentence("mcp.original_time", style.language, time=moment) + " "


def _groups(candidates: Sequence[Candidate], bag: Bag) -> list[list[Candidate]]:
    """Each joins the first group whose first member is like it (Jaccard 0.30 or more); groups
    of one are no groups."""
    groups: list[tuple[frozenset[str], list[Candidate]]] = []
    for candidate in candidates:
        words = bag(candidate.memory.text)
        home = next((members for first, members in groups if _alike(first, words)), None)
        if home is None:
            groups.append((words, [candidate]))
        else:
            home.append(candidate)
    return [members for _, members in groups if len(members) > 1]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    union = len(one | other)
    return union > 0 and len(one & other) / union >= COMPRESS_JACCARD
