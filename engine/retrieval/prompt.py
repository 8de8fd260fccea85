"""The frame around memory lines in a prompt, and the packer that fills it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.config.messages import text as sentence
from engine.domain.errors import InvalidInput
from engine.domain.prompts import PromptForm, Section
from engine.language.tokens import estimate_tokens
from engine.retrieval.packing import Budget, LineStyle, Packer

MIN_TOKENS = 20
MAX_TOKENS = 100_000


def new_packer(
    form: PromptForm, default_tokens: int, style: LineStyle, headings: Sequence[str] = ()
) -> Packer:
    """A packer for the lines of a text, with room kept for its frame and headings. Raises
    :class:`InvalidInput` for a budget outside 20 to 100,000 tokens."""
    tokens = default_tokens if form.token_budget is None else form.token_budget
    if not MIN_TOKENS <= tokens <= MAX_TOKENS:
        raise InvalidInput(
            "error.out_of_range", name="token_budget", value=tokens, low=MIN_TOKENS, high=MAX_TOKENS
        )
    frame = sum(map(form.measure, [*_frame(form.language), *headings]))
    count = form.count or estimate_tokens
    return Packer(Budget(tokens, max(0, form.size - frame), count, form.measure), style)


def framed(sections: Sequence[Section], language: str) -> str:
    """The sections between two lines that tell a model what they are: recorded data. No memory
    can end it, since each stands on one line behind ``- (``."""
    lines: list[str] = []
    for section in sections:
        if section.lines:
            lines += [section.heading] if section.heading else []
            lines += [line.text for line in section.lines]
    if not lines:
        return ""
    begin, end = _frame(language)
    return "\n".join([begin, *lines, end])


def _frame(language: str) -> tuple[str, str]:
    return sentence("context.frame_begin", language), sentence("context.frame_end", language)
