"""Lines on a grid of character cells: each cell holds two by four dots of a braille letter."""

from __future__ import annotations

_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class DotGrid:
    """A drawing of ``width`` by ``height`` cells."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._cells: dict[tuple[int, int], int] = {}

    def line(self, start: tuple[int, int], end: tuple[int, int], *, dotted: bool = False) -> None:
        """A line between the middles of two cells (column, row)."""
        first, last = ((column * 2, row * 4 + 1) for column, row in (start, end))
        self.stroke(first, last, dotted=dotted)

    def stroke(self, start: tuple[int, int], end: tuple[int, int], *, dotted: bool = False) -> None:
        """A line between two dots, of which a cell has two by four; Bresenham's algorithm."""
        (x, y), (goal_x, goal_y) = start, end
        wide, high = abs(goal_x - x), -abs(goal_y - y)
        step_x, step_y = (1 if goal_x > x else -1), (1 if goal_y > y else -1)
        error, number = wide + high, 0
        while True:
            if not dotted or number % 3 != 2:
                self._dot(x, y)
            if (x, y) == (goal_x, goal_y):
                return
            number += 1
            doubled = 2 * error
            if doubled >= high:
                error += high
                x += step_x
            if doubled <= wide:
                error += wide
                y += step_y

    def at(self, column: int, row: int) -> str:
        """The character of a cell, a blank where nothing is drawn."""
        bits = self._cells.get((column, row), 0)
        return chr(0x2800 + bits) if bits else " "

    def _dot(self, x: int, y: int) -> None:
        column, row = x // 2, y // 4
        if 0 <= column < self.width and 0 <= row < self.height:
            bit = _BITS[y % 4][x % 2]
            self._cells[column, row] = self._cells.get((column, row), 0) | bit
