"""The blocks of a document: headings, passages, and what must stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PASSAGE, LIST, WHOLE, HEADING = "passage", "list", "whole", "heading"
_KINDS = {
    "heading_open": HEADING,
    "fence": WHOLE,
    "code_block": WHOLE,
    "table_open": WHOLE,
    "html_block": WHOLE,
    "bullet_list_open": LIST,
    "ordered_list_open": LIST,
}
_RULE = "hr"
_PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*\n?)+")
_FRONT = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A block and the line it starts at (from 1); of a heading ``title`` is its text."""

    kind: str
    text: str
    line: int
    title: str = ""


def markdown_blocks(text: str) -> list[Block]:
    """The outermost blocks of a Markdown text. Front matter stays whole; what belongs to no
    block (definitions of links) is a passage; lines that only part are left out."""
    front = _FRONT.match(text)
    if front is None:
        return _parsed(text, 0)
    block = Block(WHOLE, front.group().strip("\n"), 1)
    return [block, *_parsed(text[front.end() :], front.group().count("\n"))]


def plain_blocks(text: str) -> list[Block]:
    """The paragraphs of a text without markup, parted by blank lines."""
    return [
        Block(PASSAGE, match.group().strip("\n"), text.count("\n", 0, match.start()) + 1)
        for match in _PARAGRAPH.finditer(text)
    ]


def _parsed(text: str, offset: int) -> list[Block]:
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    blocks: list[Block] = []
    done = 0
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for place, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        start, end = token.map
        blocks += _between(lines, done, start, offset)
        done = end
        if token.type != _RULE:
            title = tokens[place + 1].content if token.type == "heading_open" else ""
            kind = _KINDS.get(token.type, PASSAGE)
            content = "\n".join(lines[start:end]).strip("\n")
            blocks.append(Block(kind, content, offset + start + 1, " ".join(title.split())))
    return [*blocks, *_between(lines, done, len(lines), offset)]


def _between(lines: list[str], start: int, end: int, offset: int) -> Iterator[Block]:
    for block in plain_blocks("\n".join(lines[start:end])):
        yield Block(PASSAGE, block.text, offset + start + block.line)
