"""A list of any length: only the rows in view are read and drawn."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memory_tui.highlight import spans
from memory_tui.marks import Marks
from memory_tui.messages import MarksChanged, RowHighlighted, RowOpened, RowsWanted

Row = TypeVar("Row")
_KEPT_ROWS = 2_000
_RUN = 64


class RowList(ScrollView, Generic[Row], can_focus=True):
    """Things in a given order, with a cursor and marks.

    It holds ids alone; the things come from whoever answers :class:`RowsWanted` by
    :meth:`supply`. Cursor and marks stay with their things when the order changes. A subclass
    says how a thing is written. What ``query`` names is highlighted.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "list--row",
        "list--cursor",
        "list--marked",
        "list--hidden",
        "list--match",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown,ctrl+d", "move(1, True)", show=False),
        Binding("pageup,ctrl+u", "move(-1, True)", show=False),
        Binding("home", "go_to(0)", show=False),
        Binding("end,G", "go_to(-1)", show=False),
        Binding("enter", "open", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.ids: Sequence[int] = array("q")
        self.marks = Marks()
        self.query_shown = ""
        self._cursor = 0
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self._asked: set[int] = set()

    @property
    def current(self) -> int | None:
        """The id of the one under the cursor."""
        return self.ids[self._cursor] if self.ids else None

    @property
    def chosen(self) -> list[int]:
        """The marked ones in the order of the list, or the one under the cursor."""
        if self.marks:
            return self.marks.among(self.ids)
        return [] if self.current is None else [self.current]

    def show(self, ids: Sequence[int], *, first: bool = False) -> None:
        """Show these. The cursor stays with what it is on if that is still there, unless
        ``first`` asks for the top."""
        before = self.current
        self.ids = ids
        self._cursor = 0 if first else self._place_of(before)
        self._asked.clear()
        self.virtual_size = Size(self.size.width, len(ids))
        self._reveal()
        self.refresh()
        if self.current != before or first:
            self.post_message(RowHighlighted(self, self.current))

    def written(self, row: Row, width: int, *, marked: bool) -> str:
        """A thing as one row of exactly ``width`` cells."""
        raise NotImplementedError

    def is_dim(self, row: Row) -> bool:
        """Whether a thing is shown as hidden from the usual sight."""
        raise NotImplementedError

    def supply(self, rows: Mapping[int, Row]) -> None:
        """Things that were wanted, or that changed, by id."""
        for row_id, row in rows.items():
            self._rows[row_id] = row
            self._rows.move_to_end(row_id)
        while len(self._rows) > _KEPT_ROWS:
            self._rows.popitem(last=False)
        self.refresh()

    def forget(self, row_ids: Iterable[int] | None = None) -> None:
        """These, or all, are not as they were: read them again when they are in view."""
        for row_id in list(self._rows) if row_ids is None else row_ids:
            self._rows.pop(row_id, None)
            self._asked.discard(row_id)
        self.refresh()

    def change_marks(self, *, on: bool = True) -> None:
        """Mark the one under the cursor, or unmark it, and go on to the next; or with
        ``on=False`` unmark all."""
        if not on:
            self.marks.clear()
        elif self.current is not None:
            self.marks.toggle(self.current)
            self.action_move(1)
        self.post_message(MarksChanged(self, len(self.marks)))
        self.refresh()

    def put_cursor(self, row_id: int) -> bool:
        """Go to one; False when it is not in the list."""
        if row_id not in self.ids:
            return False
        self.action_go_to(self._place_of(row_id))
        return True

    def action_move(self, by: int, screens: bool = False) -> None:
        """Move the cursor by rows, or by screens."""
        step = max(1, self.size.height - 1) if screens else 1
        self.action_go_to(max(0, self._cursor + by * step))

    def action_go_to(self, place: int) -> None:
        """Put the cursor on a row; -1 is the last."""
        last = len(self.ids) - 1
        place = last if place < 0 else min(place, last)
        if place < 0 or place == self._cursor:
            return
        self._cursor = place
        self._reveal()
        self.refresh()
        self.post_message(RowHighlighted(self, self.current))

    def _action_open(self) -> None:
        if self.current is not None:
            self.post_message(RowOpened(self, self.current))

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        row = y + int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        if row >= len(self.ids):
            return Strip.blank(width, self.rich_style)
        row_id = self.ids[row]
        style = self._style_of(row, row_id)
        thing = self._rows.get(row_id)
        if thing is None:
            self._want(row)
            return Strip([Segment(f"  #{row_id} …".ljust(width)[:width], style)], width)
        line = self.written(thing, width, marked=row_id in self.marks)
        return Strip(self._segments(line, style), width)

    def _segments(self, line: str, style: Style) -> Iterator[Segment]:
        match = style + self.get_component_rich_style("list--match", partial=True)
        end = 0
        for start, stop in spans(line, self.query_shown):
            yield Segment(line[end:start], style)
            yield Segment(line[start:stop], match)
            end = stop
        yield Segment(line[end:], style)

    async def _on_click(self, event: events.Click) -> None:
        row = event.y + int(self.scroll_offset.y)
        if row >= len(self.ids):
            return
        again = row == self._cursor
        self.action_go_to(row)
        if again or event.chain > 1:
            self._action_open()

    def _on_resize(self, event: events.Resize) -> None:
        self.virtual_size = Size(event.size.width, len(self.ids))
        self._reveal()

    def _style_of(self, row: int, row_id: int) -> Style:
        thing = self._rows.get(row_id)
        names = ["list--row"]
        if thing is not None and self.is_dim(thing):
            names.append("list--hidden")
        if row_id in self.marks:
            names.append("list--marked")
        if row == self._cursor:
            names.append("list--cursor")
        return self.get_component_rich_style(*names)

    def _want(self, row: int) -> None:
        """Ask for the run of rows around one that is missing, once."""
        start = row - row % _RUN
        around = self.ids[start : start + _RUN]
        missing = [one for one in around if one not in self._rows and one not in self._asked]
        if missing:
            self._asked.update(missing)
            self.post_message(RowsWanted(self, missing))

    def _place_of(self, row_id: int | None) -> int:
        if row_id is not None and row_id in self.ids:
            return self.ids.index(row_id)
        return max(0, min(self._cursor, len(self.ids) - 1))

    def _reveal(self) -> None:
        self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False, force=True)
