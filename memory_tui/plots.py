"""Curves drawn with dots, with their axes."""

from __future__ import annotations

from collections.abc import Sequence

from memory_tui.braille import DotGrid

_AXIS_CELLS = 5


def plot(values: Sequence[float], width: int, height: int, *, top: float = 1.0) -> list[str]:
    """Lines of text that show values from 0 to ``top`` from left to right."""
    columns, rows = max(2, width - _AXIS_CELLS), max(2, height)
    grid = DotGrid(columns, rows)
    wide, high = columns * 2, rows * 4
    previous: tuple[int, int] | None = None
    for x in range(wide):
        place = round(x * (len(values) - 1) / max(1, wide - 1)) if values else 0
        share = max(0.0, min(1.0, values[place] / top)) if values and top > 0 else 0.0
        point = (x, round((1.0 - share) * (high - 1)))
        grid.stroke(previous or point, point)
        previous = point
    lines = []
    for row in range(rows):
        label = top if row == 0 else 0.0 if row == rows - 1 else None
        axis = f"{label:4.1f}" if label is not None else "    "
        lines.append(f"{axis}│" + "".join(grid.at(column, row) for column in range(columns)))
    return lines


def day_axis(days: int, width: int) -> str:
    """The line under a plot of so many days."""
    room = max(2, width - _AXIS_CELLS)
    end = f"{days}d"
    return " " * _AXIS_CELLS + "0" + " " * max(1, room - 1 - len(end)) + end
