"""A document cut into chunks, each of which is remembered by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from engine.markdown.blocks import (
    HEADING,
    LIST,
    WHOLE,
    Block,
    markdown_blocks,
    plain_blocks,
)
from engine.markdown.sentences import split_passage

_ITEM = re.compile(r"\n(?=[ \t]{0,3}(?:[-*+]|\d{1,9}[.)])[ \t])")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large chunks are, in characters: passages are split above ``largest``, pieces under
    ``smallest`` joined to a neighbour, and what must stay whole is split only above
    ``whole``."""

    largest: int
    smallest: int
    whole: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document: its text, the last heading above it (empty: none), and the line it
    starts at (from 1)."""

    text: str
    heading: str
    line: int


@dataclass(slots=True)
class _Section:
    """The chunks so far, and headings that wait for what follows them."""

    chunks: list[Chunk] = field(default_factory=list)
    waiting: list[Block] = field(default_factory=list)
    heading: str = ""


def cut_document(text: str, sizes: Sizes, *, is_markdown: bool) -> list[Chunk]:
    """The chunks of a text in their order. A heading stands before the first chunk under it;
    code, tables and front matter stay whole."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    section = _Section()
    for block in markdown_blocks(unified) if is_markdown else plain_blocks(unified):
        if block.kind == HEADING:
            section.waiting.append(block)
            section.heading = block.title
        else:
            _add(section, block, sizes)
    if section.waiting:
        _add(section, Block(WHOLE, "", section.waiting[-1].line), sizes)
    return _joined(section.chunks, sizes)


def _add(section: _Section, block: Block, sizes: Sizes) -> None:
    above = "\n\n".join(heading.text for heading in section.waiting)
    line = section.waiting[0].line if section.waiting else block.line
    section.waiting = []
    for piece in _pieces(block, above, sizes):
        section.chunks.append(Chunk(piece, section.heading, line))


def _pieces(block: Block, above: str, sizes: Sizes) -> list[str]:
    text = "\n\n".join(filter(None, (above, block.text)))
    if block.kind == WHOLE:
        return [text] if len(text) <= sizes.whole else list(_packed(text.split("\n"), sizes.whole))
    if block.kind == LIST and len(text) > sizes.largest:
        return list(_packed(_ITEM.split(text), sizes.largest))
    return split_passage(text, sizes.largest)


def _packed(parts: Sequence[str], max_chars: int) -> Iterator[str]:
    """Lines or items put together up to a size; a longer one is split like a passage."""
    held = ""
    for part in parts:
        together = f"{held}\n{part}" if held else part
        if len(together) <= max_chars:
            held = together
            continue
        if held.strip():
            yield held
        *whole, held = split_passage(part, max_chars) or [""]
        yield from whole
    if held.strip():
        yield held


def _joined(chunks: Sequence[Chunk], sizes: Sizes) -> list[Chunk]:
    kept: list[Chunk] = []
    small: Chunk | None = None
    for chunk in chunks:
        if small is not None:
            chunk, small = _together(small, chunk), None
        if len(chunk.text) < sizes.smallest and not _fits_before(kept, chunk, sizes):
            small = chunk
        elif len(chunk.text) < sizes.smallest:
            kept[-1] = _together(kept[-1], chunk)
        else:
            kept.append(chunk)
    if small is None:
        return kept
    return [*kept[:-1], _together(kept[-1], small)] if kept else [small]


def _fits_before(kept: Sequence[Chunk], chunk: Chunk, sizes: Sizes) -> bool:
    """Whether a small chunk joins the one before it: the rest of the same passage or section."""
    if not kept or kept[-1].heading != chunk.heading:
        return False
    return len(kept[-1].text) + len(chunk.text) <= sizes.largest + sizes.smallest


def _together(first: Chunk, second: Chunk) -> Chunk:
    longer = second if len(second.text) > len(first.text) else first
    return Chunk(f"{first.text}\n\n{second.text}", longer.heading, first.line)
