"""A part of the graph, drawn: nodes as names, edges as lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from engine.domain.graph import CO_OCCURS_WITH, Edge, Node
from engine.use_cases.subgraph import Subgraph
from memory_tui.braille import DotGrid
from memory_tui.graph_layout import Point, laid_out
from memory_tui.plain import fitted, one_line

MARKS = {"person": "●", "topic": "◆", "fact": "▪"}
_LABEL_CELLS = 16
_DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


@dataclass(frozen=True, slots=True)
class _Label:
    node: Node
    column: int
    row: int
    text: str
    cells: int


class GraphCanvas(Widget, can_focus=True):
    """The drawing, with one node chosen. Every node is drawn once, so that two nodes with a
    common neighbour are both joined to it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "graph--edge",
        "graph--near-edge",
        "graph--person",
        "graph--topic",
        "graph--fact",
        "graph--chosen",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step('left')", show=False),
        Binding("right,l", "step('right')", show=False),
        Binding("up,k", "step('up')", show=False),
        Binding("down,j", "step('down')", show=False),
        Binding("enter", "enter", show=False),
        Binding("tab", "walk(1)", show=False),
        Binding("shift+tab", "walk(-1)", show=False),
    ]

    class Chosen(Message):
        """Another node is chosen; ``entered`` when it is to be the middle."""

        def __init__(self, node: Node, entered: bool) -> None:
            super().__init__()
            self.node = node
            self.entered = entered

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.part = Subgraph((), ())
        self.chosen: int | None = None
        self._places: dict[int, Point] = {}
        self._labels: tuple[_Label, ...] = ()
        self._lines = DotGrid(0, 0)
        self._near_lines = DotGrid(0, 0)

    def show(self, part: Subgraph) -> None:
        """Draw a part of the graph around its first node."""
        self.part = part
        ids = [node.id for node in part.nodes]
        edges = [(edge.source.id, edge.target.id) for edge in part.edges]
        self._places = laid_out(ids, edges, self._places)
        self.chosen = ids[0] if ids else None
        self._draw()

    @property
    def node(self) -> Node | None:
        """The node that is chosen."""
        return next((node for node in self.part.nodes if node.id == self.chosen), None)

    def edges_here(self) -> tuple[Edge, ...]:
        """The drawn edges of the chosen node."""
        return tuple(
            edge for edge in self.part.edges if self.chosen in (edge.source.id, edge.target.id)
        )

    def choose(self, node_id: int, *, entered: bool = False) -> None:
        """Choose a node that is drawn."""
        self.chosen = node_id
        self._draw()
        if self.node is not None:
            self.post_message(self.Chosen(self.node, entered))

    def action_step(self, direction: str) -> None:
        """To the nearest node in a direction."""
        here = next((label for label in self._labels if label.node.id == self.chosen), None)
        if here is None:
            return
        x, y = _DIRECTIONS[direction]
        best: tuple[float, int] | None = None
        for label in self._labels:
            # A cell is about twice as high as wide.
            along = (label.column - here.column) * x + 2 * (label.row - here.row) * y
            aside = abs((label.column - here.column) * y) + 2 * abs((label.row - here.row) * x)
            if along > 0:
                best = min(best or (1e9, 0), (along + 2.0 * aside, label.node.id))
        if best is not None:
            self.choose(best[1])

    def action_walk(self, by: int) -> None:
        """To the next node in the order in which they were reached."""
        ids = [node.id for node in self.part.nodes]
        if self.chosen in ids:
            self.choose(ids[(ids.index(self.chosen) + by) % len(ids)])

    def action_enter(self) -> None:
        """Make the chosen node the middle."""
        if self.chosen is not None:
            self.choose(self.chosen, entered=True)

    def on_click(self, event: events.Click) -> None:
        """Choose by mouse; a second click makes it the middle."""
        for label in self._labels:
            if label.row == event.y and label.column <= event.x < label.column + label.cells:
                self.choose(label.node.id, entered=label.node.id == self.chosen)
                return

    def on_resize(self) -> None:
        """Another size, the same places."""
        self._draw()

    def render_line(self, y: int) -> Strip:
        """One row: names over lines."""
        width = self.size.width
        labels = sorted((one for one in self._labels if one.row == y), key=lambda one: one.column)
        segments: list[Segment] = []
        column = 0
        for label in labels:
            segments += self._line_cells(y, column, label.column)
            segments.append(Segment(label.text, self._label_style(label.node)))
            column = label.column + label.cells
        segments += self._line_cells(y, column, width)
        return Strip(segments, width)

    def _line_cells(self, row: int, start: int, end: int) -> Iterator[Segment]:
        plain, near = self._style("graph--edge"), self._style("graph--near-edge")
        for column in range(start, end):
            close = self._near_lines.at(column, row)
            character = close if close != " " else self._lines.at(column, row)
            yield Segment(character, near if close != " " else plain)

    def _label_style(self, node: Node) -> Style:
        names = [f"graph--{node.type}"]
        return self._style(*names, *(["graph--chosen"] if node.id == self.chosen else []))

    def _style(self, *names: str) -> Style:
        return self.get_component_rich_style(*names)

    def _draw(self) -> None:
        width, height = self.size.width, self.size.height
        if width < 4 or height < 2:
            self._labels = ()
            return
        self._labels = tuple(_placed(self.part.nodes, self._places, width, height))
        middles = {one.node.id: (one.column + one.cells // 2, one.row) for one in self._labels}
        self._lines, self._near_lines = DotGrid(width, height), DotGrid(width, height)
        for edge in self.part.edges:
            ends = middles.get(edge.source.id), middles.get(edge.target.id)
            if ends[0] is None or ends[1] is None:
                continue
            near = self.chosen in (edge.source.id, edge.target.id)
            grid = self._near_lines if near else self._lines
            grid.line(ends[0], ends[1], dotted=edge.relation == CO_OCCURS_WITH)
        self.refresh()


def _placed(
    nodes: tuple[Node, ...], places: Mapping[int, Point], width: int, height: int
) -> Iterator[_Label]:
    """Names near their places; one that would cover another moves to the nearest free row."""
    taken: dict[int, list[tuple[int, int]]] = {}
    for node in nodes:
        text = f"{MARKS[node.type]} {_short(node.name)}"
        cells = min(width, cell_len(text))
        x, y = places[node.id]
        column = max(0, min(width - cells, round(x * (width - 1)) - cells // 2))
        row = _free_row(taken, round(y * (height - 1)), (column, column + cells), height)
        if row is None:
            continue
        taken.setdefault(row, []).append((column, column + cells))
        yield _Label(node, column, row, fitted(text, cells), cells)


def _short(name: str) -> str:
    line = one_line(name)
    return fitted(line, _LABEL_CELLS).rstrip() if cell_len(line) > _LABEL_CELLS else line


def _free_row(
    taken: Mapping[int, list[tuple[int, int]]], wanted: int, span: tuple[int, int], height: int
) -> int | None:
    for away in range(height):
        for row in (wanted - away, wanted + away):
            others = taken.get(row, [])
            if 0 <= row < height and all(span[1] < start or end < span[0] for start, end in others):
                return row
    return None
