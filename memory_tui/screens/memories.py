"""Memories: search as you type, the list, and the memory under the cursor."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widget import Widget

from engine.domain.listing import ORDERS, Facets
from engine.domain.memory import Memory
from engine.domain.scope import Filters
from engine.use_cases.links import NeighbourQuery
from engine.use_cases.memorize import Memorized
from engine.use_cases.recall import RecallRequest, RecallResult
from memory_tui.actions import MEMORIES, Action
from memory_tui.messages import (
    FiltersChanged,
    MarksChanged,
    QueryChanged,
    RowHighlighted,
    RowOpened,
    RowsWanted,
    StoreChanged,
)
from memory_tui.screens.bulk import BulkPlace
from memory_tui.widgets.detail import Detail, DetailView
from memory_tui.widgets.facet_pane import FacetPane
from memory_tui.widgets.prompt_line import PromptLine
from memory_tui.widgets.search_line import SearchLine

_FOUND_AT_ONCE = 20
_FOUND_AT_MOST = 100
_MORE_AFTER_S = 0.4
_DETAIL_AFTER_S = 0.03
"""While one holds a key down no memory on the way is read."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the list shows: everything that passes the filters in an order, or what a query
    found."""

    query: str = ""
    filters: Filters = Filters()
    order: str = "newest"


class MemoriesScreen(BulkPlace):
    """The list beside the memory."""

    place = MEMORIES
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self._shown = Shown()
        self._is_empty = False
        self._waiting: Timer | None = None
        self._more: Timer | None = None

    def body(self) -> ComposeResult:
        """Facets, list, and the memory or its form."""
        with Horizontal(id="memories"):
            yield FacetPane(id="facets")
            with Vertical(id="left"):
                yield SearchLine(id="search")
                yield from self.left_side()
            yield from self.right_side()

    @property
    def home_widget(self) -> Widget:
        """The list."""
        return self.rows

    def on_mount(self) -> None:
        """Show the newest memories."""
        super().on_mount()
        self.rows.zone = self.browser.zone
        self.rows.focus()
        self._look_again()
        self.ask(self.engine.drafts.list, self.tell_of_drafts)

    def show_words(self) -> None:
        """Labels in the language of the interface."""
        super().show_words()
        line = self.query_one("#search", SearchLine)
        line.placeholder = self.browser.words("tui.search.prompt")
        self._look_again()
        self._show_detail(self.rows.current)

    def can(self, action: Action) -> bool:
        """The sample is for a store that is empty."""
        if action.name == "sample" and not self._is_empty:
            return False
        return super().can(action)

    # ---- what is shown

    def _look_again(self, *, first: bool = False) -> None:
        shown = self._shown
        if self._more is not None:
            self._more.stop()
        if shown.query.strip():
            self._search(_FOUND_AT_ONCE if first else _FOUND_AT_MOST, first=first)
        else:
            look = partial(self.engine.browsing.order, shown.filters, shown.order)
            self.ask(look, partial(self._show_ids, first=first), "list")
        if self.query_one("#facets").display:
            self.ask(
                partial(self.engine.browsing.facets, shown.filters), self._show_facets, "facets"
            )

    def _search(self, k: int, *, first: bool) -> None:
        """The best at once, and more when typing rests: a long answer takes several times as
        long."""
        shown = self._shown
        request = RecallRequest(shown.query, k=k, filters=shown.filters, touch=False)
        self.ask(partial(self.engine.recall, request), partial(self._show_found, k, first), "list")

    def _show_ids(self, ids: Sequence[int], *, first: bool = False) -> None:
        self._is_empty = not ids and self._shown == Shown(order=self._shown.order)
        self.rows.query_shown, self.rows.weak = "", frozenset()
        before = self.rows.current
        self.rows.show(ids, first=first)
        order = self.browser.words(f"tui.order.{self._shown.order}")
        self.status.count(self.browser.words("tui.count.all", count=f"{len(ids):,}", order=order))
        if not ids:
            self._explain_nothing()
        elif before is None or self.query_one("#detail", Detail).view is None:
            self._show_detail(self.rows.current)
        self.show_keys()

    def _show_found(self, k: int, first: bool, result: RecallResult) -> None:
        found = [hit.memory for hit in result.hits]
        self.rows.weak = frozenset(hit.memory.id for hit in result.hits if hit.weak)
        if k < _FOUND_AT_MOST and len(found) == k:
            search = partial(self._search, _FOUND_AT_MOST, first=False)
            self._more = self.set_timer(_MORE_AFTER_S, search)
        self.rows.query_shown = self._shown.query
        self.rows.supply({memory.id: memory for memory in found})
        self.rows.show(array("q", (memory.id for memory in found)), first=first)
        key = (
            "tui.count.weak"
            if found and all(hit.weak for hit in result.hits)
            else "tui.count.found"
        )
        self.status.count(self.browser.words(key, count=len(found)))
        for channel in result.degraded:
            self.status.warn(self.browser.words("tui.degraded", channel=channel.channel))
        if not found:
            self._explain_nothing()
        self.show_keys()

    def _show_facets(self, facets: Facets) -> None:
        self.query_one("#facets", FacetPane).show(facets, self._shown.filters, self.browser.words)

    def _explain_nothing(self) -> None:
        key = "tui.empty.search"
        if self._is_empty:
            key = "tui.empty.store" if self.browser.is_writable else "tui.empty.read_only"
        self.query_one("#detail", Detail).explain(self.browser.words(key))

    def _show_detail(self, memory_id: int | None) -> None:
        if memory_id is not None:
            self.ask(partial(self._read_detail, memory_id), self._put_detail, "detail")

    def _read_detail(self, memory_id: int) -> DetailView | None:
        browsing = self.engine.browsing
        memory = browsing.memories([memory_id]).get(memory_id)
        if memory is None:
            return None
        atoms = browsing.atoms(memory_id)
        links = self.engine.links.neighbours(NeighbourQuery(memory_id))
        now = self.engine.context.clock.now()
        return DetailView(memory, browsing.strength(memory_id), atoms, links, now)

    def _put_detail(self, view: DetailView | None) -> None:
        if view is not None:
            detail = self.query_one("#detail", Detail)
            detail.query_shown = self.rows.query_shown
            detail.show(view, self.browser.words, self.browser.zone)

    def on_row_highlighted(self, event: RowHighlighted) -> None:
        """Show the memory under the cursor."""
        if self._waiting is not None:
            self._waiting.stop()
        show = partial(self._show_detail, event.row_id)
        self._waiting = self.set_timer(_DETAIL_AFTER_S, show)

    def on_rows_wanted(self, event: RowsWanted) -> None:
        """Read the rows that came into view."""
        self.ask(partial(self.engine.browsing.memories, event.ids), self._put_rows)

    def _put_rows(self, found: Mapping[int, Memory]) -> None:
        self.rows.supply(found)

    def on_query_changed(self, event: QueryChanged) -> None:
        """Search; Enter goes to the results."""
        if event.query != self._shown.query:
            self._shown = replace(self._shown, query=event.query)
            self._look_again(first=True)
        if event.settled:
            self.rows.focus()

    def on_filters_changed(self, event: FiltersChanged) -> None:
        """Other facets."""
        self._shown = replace(self._shown, filters=event.filters)
        self._look_again(first=True)

    def on_marks_changed(self, event: MarksChanged) -> None:
        """How many are marked, and what can be done with them."""
        if event.number:
            self.say("tui.marked", count=event.number)
        self.show_keys()

    def on_row_opened(self, event: RowOpened) -> None:
        """To the memory: read it, or on a narrow screen see it at all."""
        self.add_class("-reading")
        self.query_one("#detail", Detail).focus()

    def store_changed(self, event: StoreChanged) -> None:
        """Show what somebody wrote; the cursor stays, and what is being typed is kept."""
        if event.is_everything:
            self.rows.forget()
        self.rows.supply({key: one for key, one in event.memories.items() if one is not None})
        if self.is_writing:
            self.tell_of_newer(event)
        self._look_again()
        if event.is_everything or self.rows.current in event.memories:
            self._show_detail(self.rows.current)

    def written(self, memory: Memory) -> None:
        """Put the cursor on what was written, once it is listed."""
        self.rows.supply({memory.id: memory})
        self.open(memory.id)

    # ---- actions

    def step_out(self) -> None:
        """Out of the form, the question, the reading, the marks, the search: one at a time."""
        if self.is_writing:
            super().step_out()
            return
        if self.query_one("#prompt", PromptLine).close():
            pass
        elif self.has_class("-reading"):
            self.remove_class("-reading")
        elif self.is_typing and self.query_one("#search", SearchLine).value:
            self.query_one("#search", SearchLine).value = ""
        elif self.rows.marks:
            self.rows.change_marks(on=False)
        elif self._shown.query:
            self.query_one("#search", SearchLine).value = ""
        self.rows.focus()

    def do_search(self) -> None:
        """Into the search line."""
        self.query_one("#search", SearchLine).focus()

    def do_edit(self) -> None:
        """Edit the memory under the cursor."""
        if self.rows.current is not None:
            self.edit_memory(self.rows.current)

    def do_order(self) -> None:
        """The next order."""
        at = ORDERS.index(self._shown.order)
        self._shown = replace(self._shown, order=ORDERS[(at + 1) % len(ORDERS)])
        self._look_again(first=True)

    def do_facets(self) -> None:
        """Show or hide the facets."""
        pane = self.query_one("#facets")
        pane.display = not pane.display
        if pane.display:
            pane.focus()
            self._look_again()
        else:
            self.rows.focus()

    def do_follow(self) -> None:
        """Look at this memory in the graph."""
        if self.rows.current is not None:
            self.browser.open_graph(self.rows.current)

    def do_sample(self) -> None:
        """Put the sample memories into the store."""
        self.say("tui.sample.loading")
        # The language of the interface comes last, so that it is listed first.
        languages = ("en", "zh") if self.browser.language == "zh" else ("zh", "en")
        load = partial(self.engine.samples.load, languages, self.browser.caller)
        self.ask(load, self._loaded)

    def _loaded(self, stored: Sequence[Memorized]) -> None:
        self.say("tui.done.sample", count=len(stored))
        self.browser.look_now()

    def open(self, memory_id: int) -> None:
        """Put the cursor on a memory, wherever it is, and show it."""
        if not self.rows.put_cursor(memory_id):
            self.query_one("#search", SearchLine).value = ""
            self._shown = Shown()
            self.rows.show([memory_id], first=True)
            self.ask(partial(self.engine.browsing.order), partial(self._reopen, memory_id), "list")
        self.rows.focus()

    def _reopen(self, memory_id: int, ids: Sequence[int]) -> None:
        if memory_id not in ids:
            # It is hidden from the usual list: show it alone.
            ids = [memory_id]
        self._show_ids(ids)
        self.rows.put_cursor(memory_id)
