"""Where answers go: a table on a terminal, tab-separated lines in a pipe, or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.config.messages import render, text
from engine.domain.errors import JiyiError
from engine.domain.vocabulary import check
from launchers.cli import streams

if TYPE_CHECKING:
    from rich.console import RenderableType

FORMATS = ("table", "tsv", "json")
_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, whether it may wrap, and to which side it leans."""

    heading: str
    wraps: bool = False
    right: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """Standard output and error in one format and language."""

    format: str
    language: str

    def say(self, key: str, /, **params: object) -> str:
        """The sentence called ``key`` in the user's language."""
        return text(key, self.language, **params)

    def sentence(self, error: JiyiError) -> str:
        """An error in the user's language."""
        return render(error, self.language)

    def json(self, value: object) -> None:
        """One JSON document: indented on a terminal, on one line in a pipe."""
        indent = 2 if _is_terminal() else None
        document = json.dumps(value, ensure_ascii=False, indent=indent)
        _write(streams.json_safe(document) + "\n")

    def tsv(self, rows: Iterable[Sequence[object]]) -> None:
        """One line a row; tabs, line breaks and backslashes of a cell are escaped."""
        for row in rows:
            self.line("\t".join(str(cell).translate(_TSV_ESCAPES) for cell in row))

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
        """An aligned table; wide characters count double."""
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="bold",
            show_header=any(column.heading for column in columns),
        )
        for column in columns:
            table.add_column(
                Text(column.heading),
                no_wrap=not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                justify="right" if column.right else "left",
            )
        for row in rows:
            table.add_row(*(Text(streams.visible(str(cell))) for cell in row))
        _print(table)

    def line(self, content: str = "") -> None:
        """A line of text."""
        _write((streams.visible(content) if _is_terminal() else content) + "\n")

    def exact(self, content: str) -> None:
        """A text byte for byte into a pipe; made harmless on a terminal."""
        if _is_terminal():
            self.line(content)
        else:
            _write(content)

    def note(self, key: str, /, **params: object) -> None:
        """Say something beside the answer, on standard error."""
        tell(self.say(key, **params))

    def error(self, error: JiyiError) -> None:
        """Say what went wrong, on standard error."""
        tell(render(error, self.language))


def tell(content: str) -> None:
    """A line on standard error."""
    if sys.stderr is not None:
        print(streams.visible(streams.repaired_text(content)), file=sys.stderr, flush=True)


def chosen_format(wanted: str | None, json_wanted: bool) -> str:
    """``table``, ``tsv`` or ``json``: as asked for, else by where standard output goes."""
    if wanted is not None:
        return check("--format", wanted, FORMATS)
    if json_wanted:
        return "json"
    return "table" if _is_terminal() else "tsv"


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _write(content: str) -> None:
    if sys.stdout is not None:
        sys.stdout.write(streams.repaired_text(content))


def _print(renderable: RenderableType) -> None:
    from rich.console import Console

    # Into a pipe nobody has a width; what was asked for as a table shall not be cut there.
    width = None if _is_terminal() else 120
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    with console.capture() as captured:
        console.print(renderable)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    _write("".join(f"{line}\n" for line in lines))
