"""What the parts of the browser tell each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.message import Message
from textual.widget import Widget

from engine.domain.memory import Memory
from engine.domain.scope import Filters


class _OfList(Message):
    """Something that a list tells; ``list`` is the one that tells it."""

    def __init__(self, sender: Widget) -> None:
        super().__init__()
        self.list = sender

    @property
    def control(self) -> Widget:
        """The list, so that handlers can be chosen by it."""
        return self.list


class RowHighlighted(_OfList):
    """The cursor stands on a thing, or on nothing."""

    def __init__(self, sender: Widget, row_id: int | None) -> None:
        super().__init__(sender)
        self.row_id = row_id


class RowOpened(_OfList):
    """A thing was chosen: by Enter or a click."""

    def __init__(self, sender: Widget, row_id: int) -> None:
        super().__init__(sender)
        self.row_id = row_id


class RowsWanted(_OfList):
    """Rows came into view that are not at hand."""

    def __init__(self, sender: Widget, ids: Sequence[int]) -> None:
        super().__init__(sender)
        self.ids = tuple(ids)


class MarksChanged(_OfList):
    """Other things are marked than before."""

    def __init__(self, sender: Widget, number: int) -> None:
        super().__init__(sender)
        self.number = number


class QueryChanged(Message):
    """Somebody typed in the search line; ``settled`` when it was Enter."""

    def __init__(self, query: str, settled: bool = False) -> None:
        super().__init__()
        self.query = query
        self.settled = settled


class FiltersChanged(Message):
    """Other facets are chosen."""

    def __init__(self, filters: Filters) -> None:
        super().__init__()
        self.filters = filters


class StoreChanged(Message):
    """Somebody wrote: an assistant, another window, or this one."""

    def __init__(self, memories: Mapping[int, Memory | None] | None) -> None:
        super().__init__()
        self.memories = memories or {}
        """What was touched, as it is now; ``None`` for what is gone."""
        self.is_everything = memories is None
        """Too much was touched to name it."""
