"""Timeline: what happened, by whom, with the difference; the store as it was; facts in time."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from engine.domain.differences import FieldDifference, difference
from engine.domain.fact import Fact, FactQuery
from engine.domain.memory import JournalEntry, Memory
from engine.domain.times import day, minute_with_offset
from engine.use_cases.time_bounds import time_bounds
from engine.use_cases.time_travel import PastPage
from engine.use_cases.undo import Undone, UndoRequest
from memory_tui.actions import TIMELINE, Action
from memory_tui.messages import QueryChanged, RowHighlighted, RowOpened, RowsWanted, StoreChanged
from memory_tui.plain import content, one_line
from memory_tui.screens.place import Place
from memory_tui.widgets.entry_list import Entry, EntryList, subject
from memory_tui.widgets.memory_list import MemoryList
from memory_tui.widgets.search_line import SearchLine

_ENTRIES = 1_000
_VALUE_CELLS = 400
VIEWS = ("changes", "past", "facts")


@dataclass(frozen=True, slots=True)
class Happened:
    """Entries to show, and which of them are taken back."""

    entries: Sequence[JournalEntry]
    undone: frozenset[int]


class TimelineScreen(Place):
    """A list at the left, what it says at the right."""

    place = TIMELINE

    def __init__(self) -> None:
        super().__init__()
        self._view = VIEWS[0]
        self._query = ""
        self._entries: Mapping[int, Entry] = {}
        self._past: Mapping[int, Memory] = {}

    def body(self) -> ComposeResult:
        """Search line, one of three lists, and the right side."""
        with Horizontal(id="timeline"):
            with Vertical(id="left"):
                yield SearchLine(id="search")
                yield Static("", id="timeline-view", markup=False)
                with ContentSwitcher(initial="changes", id="views"):
                    yield EntryList(id="changes")
                    yield MemoryList(id="past")
                    with VerticalScroll(id="facts"):
                        yield Static("", id="fact-text")
            with VerticalScroll(id="right"):
                yield Static("", id="what")

    def on_mount(self) -> None:
        """What happened last."""
        super().on_mount()
        self.query_one("#changes", EntryList).zone = self.browser.zone
        self.query_one("#past", MemoryList).zone = self.browser.zone
        self.query_one("#changes").focus()
        self._look_again()

    def show_words(self) -> None:
        """Labels in the language of the interface."""
        super().show_words()
        changes = self.query_one("#changes", EntryList)
        changes.operation_name = lambda name: self.browser.words(f"tui.operation.{name}")
        self._show_view()

    def can(self, action: Action) -> bool:
        """What needs an entry needs one."""
        needs = action.name in ("undo_this", "copy")
        return not needs or (self._view == "changes" and bool(self._entries))

    def _show_view(self) -> None:
        words = self.browser.words
        self.query_one("#search", SearchLine).placeholder = words(f"tui.timeline.hint_{self._view}")
        self.query_one("#timeline-view", Static).update(f" {words(f'tui.timeline.{self._view}')}")
        self.query_one("#views", ContentSwitcher).current = self._view

    def _look_again(self) -> None:
        query = self._query.strip()
        if self._view == "changes":
            self.ask(partial(self._happened, query), self._show_entries, "list")
        elif self._view == "past":
            if query:
                self.ask(partial(self._as_of, query), self._show_past, "list")
        else:
            self.ask(partial(self._known, query), self._show_facts, "list")

    # ---- changes

    def _happened(self, query: str) -> Happened:
        journal = self.engine.journal
        entries = list(reversed(journal.history(query))) if query else journal.tail(_ENTRIES)
        return Happened(entries, frozenset(journal.undone_among(entries)))

    def _show_entries(self, happened: Happened) -> None:
        rows = {entry.id: Entry(entry, entry.id in happened.undone) for entry in happened.entries}
        self._entries = rows
        listed = self.query_one("#changes", EntryList)
        listed.supply(rows)
        listed.show(array("q", rows))
        self.status.count(self.browser.words("tui.timeline.count", count=len(rows)))
        self._show_entry(listed.current)
        self.show_keys()

    def _show_entry(self, entry_id: int | None) -> None:
        row = self._entries.get(entry_id or 0)
        lines = self._written(row.entry) if row is not None else ()
        self.query_one("#what", Static).update(Content("\n").join(lines))

    def _written(self, entry: JournalEntry) -> Iterator[Content]:
        words = self.browser.words
        operation = words(f"tui.operation.{entry.operation}")
        yield Content.assemble((f"{operation}  {subject(entry)}", "bold"), f"  {entry.actor}")
        yield content(minute_with_offset(entry.at, self.browser.zone), "dim")
        group = words("tui.timeline.entry", id=entry.id, group=entry.group_uid[-8:])
        yield content(group, "dim")
        for name, (before, after) in entry.changes.items():
            yield Content("")
            yield from self._difference(difference(name, before, after))

    def _difference(self, item: FieldDifference) -> Iterator[Content]:
        yield Content.styled(self._field(item.name), "bold")
        if item.stretches:
            yield Content.assemble(
                *[
                    (one_line(part.text)[:_VALUE_CELLS], _STYLES[part.change])
                    for part in item.stretches
                ]
            )
            return
        yield Content.assemble(("- ", "$text-error"), self._value(item.before))
        yield Content.assemble(("+ ", "$text-success"), self._value(item.after))

    def _field(self, name: str) -> str:
        key = f"tui.field.{name}"
        shown = self.browser.words(key)
        return name if shown == key else shown

    def _value(self, value: object) -> str:
        if value is None or value == ():
            return self.browser.words("tui.timeline.nothing")
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        return one_line(text)[:_VALUE_CELLS]

    # ---- the store as it was

    def _as_of(self, query: str) -> PastPage:
        now = self.engine.context.clock.now()
        moment, _ = time_bounds(query, None, now, self.browser.zone)
        return self.engine.journal.state_at(now if moment is None else moment, limit=_ENTRIES)

    def _show_past(self, page: PastPage) -> None:
        self._past = {memory.id: memory for memory in page.memories}
        listed = self.query_one("#past", MemoryList)
        listed.supply(self._past)
        listed.show(array("q", self._past))
        when = minute_with_offset(page.at, self.browser.zone)
        words = self.browser.words
        self.status.count(words("tui.timeline.past_count", count=page.total, when=when))
        self._show_memory(listed.current)

    def _show_memory(self, memory_id: int | None) -> None:
        memory = self._past.get(memory_id or 0)
        if memory is not None:
            head = f"#{memory.id}  {self.browser.words('tui.timeline.was')}"
            text = Content.assemble((f"{head}\n\n", "bold"), content(memory.text))
            self.query_one("#what", Static).update(text)

    # ---- facts

    def _known(self, query: str) -> Sequence[Fact]:
        return self.engine.facts.timeline(FactQuery(query)) if query else ()

    def _show_facts(self, facts: Sequence[Fact]) -> None:
        lines = [self._fact(fact) for fact in facts]
        if not lines:
            lines = [content(self.browser.words("tui.timeline.no_facts"), "dim")]
        self.query_one("#fact-text", Static).update(Content("\n").join(lines))
        self.query_one("#what", Static).update("")
        self.status.count(self.browser.words("tui.timeline.fact_count", count=len(facts)))

    def _fact(self, fact: Fact) -> Content:
        zone = self.browser.zone
        ends = [
            "…" if moment is None else day(moment, zone)
            for moment in (fact.valid_from, fact.valid_to)
        ]
        now = self.engine.context.clock.now()
        style = "" if fact.state(now) == "active" else "dim"
        text = f"{one_line(fact.subject)} {one_line(fact.predicate)} {one_line(fact.object)}"
        return Content.assemble((f"{ends[0]:>10} – {ends[1]:<10} ", "dim"), (text, style))

    # ---- events

    def on_query_changed(self, event: QueryChanged) -> None:
        """A memory, a moment or an entity, once it is typed."""
        self._query = event.query
        if event.settled:
            self._look_again()
            self.query_one(f"#{self._view}").focus()

    def on_row_highlighted(self, event: RowHighlighted) -> None:
        """Show what is under the cursor."""
        if isinstance(event.list, EntryList):
            self._show_entry(event.row_id)
        else:
            self._show_memory(event.row_id)

    def on_row_opened(self, event: RowOpened) -> None:
        """Read the memory."""
        if not isinstance(event.list, EntryList):
            self.browser.open_memory(event.row_id)
            return
        entry = self._entries[event.row_id].entry
        if entry.subject_kind in ("memory", "link"):
            self.browser.open_memory(entry.subject_id)

    def on_rows_wanted(self, event: RowsWanted) -> None:
        """Everything was supplied at once."""

    def store_changed(self, event: StoreChanged) -> None:
        """Somebody wrote."""
        if self._view == "changes":
            self._look_again()

    def step_out(self) -> None:
        """Out of the search."""
        if self._query:
            self.query_one("#search", SearchLine).value = ""
            self._query = ""
            self._look_again()
        self.query_one(f"#{self._view}").focus()

    # ---- actions

    def do_search(self) -> None:
        """Into the search line."""
        self.query_one("#search", SearchLine).focus()

    def do_view(self) -> None:
        """Changes, the store as it was, facts."""
        self._view = VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)]
        self._query = ""
        self.query_one("#search", SearchLine).value = ""
        self._show_view()
        self._look_again()
        self.query_one(f"#{self._view}").focus()
        self.show_keys()

    def do_copy(self) -> None:
        """Copy what the right side says."""
        row = self._entries.get(self.query_one("#changes", EntryList).current or 0)
        if row is not None:
            self.app.copy_to_clipboard(Content("\n").join(self._written(row.entry)).plain)
            self.say("tui.copied", count=1)

    def do_undo_this(self) -> None:
        """Take the entry under the cursor back, or bring it back."""
        entry_id = self.query_one("#changes", EntryList).current
        work = partial(self.engine.journal.undo, self.browser.caller, UndoRequest(entry=entry_id))
        self.ask(work, self._undone)

    def _undone(self, done: Undone) -> None:
        self.browser.tell_undone(done)


_STYLES = {"same": "", "removed": "$text-error strike", "added": "$text-success underline"}
