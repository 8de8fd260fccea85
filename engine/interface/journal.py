"""What happened to memories: history, undo, and the store as it was."""

from __future__ import annotations

from collections.abc import Sequence

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.differences import FieldDifference
from engine.domain.memory import JournalEntry, Memory
from engine.domain.scope import Scope
from engine.domain.trail import TailFilters
from engine.use_cases import journal, time_travel, undo
from engine.use_cases.journal import EntryView, Trimmed
from engine.use_cases.time_travel import EVERYWHERE, PastPage
from engine.use_cases.undo import Undone, UndoRequest


class Journal:
    """What happened to memories: history, undo, and the store as it was."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def history(self, ref: str | int) -> Sequence[JournalEntry]:
        """What happened to a memory, oldest first, with what it was the other end of."""
        return journal.history(self._context, ref)

    def tail(self, count: int = 20, filters: TailFilters | None = None) -> Sequence[JournalEntry]:
        """What happened last, newest first."""
        return journal.journal_tail(self._context, count, filters)

    def entry(self, entry_id: int) -> EntryView:
        """One entry by its number."""
        return journal.find_entry(self._context, entry_id)

    def undone_among(self, entries: Sequence[JournalEntry]) -> set[int]:
        """The ids of those entries that are taken back now."""
        return journal.undone_among(self._context, entries)

    def undo(
        self, caller: Caller, request: UndoRequest | None = None, *, apply: bool = True
    ) -> Undone:
        """Take back an entry, a group, or the caller's last change; see
        :func:`engine.use_cases.undo.undo`."""
        return undo.undo(self._context, request or UndoRequest(), caller, apply=apply)

    def redo(self, caller: Caller, *, apply: bool = True) -> Undone:
        """Bring back what the caller undid last; see :func:`engine.use_cases.undo.redo`."""
        return undo.redo(self._context, caller, apply=apply)

    def state_at(
        self,
        at: float,
        *,
        scope: Scope = EVERYWHERE,
        with_trash: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> PastPage:
        """The store's memories as of a moment; see
        :func:`engine.use_cases.time_travel.state_at`."""
        return time_travel.state_at(
            self._context, at, scope=scope, with_trash=with_trash, limit=limit, offset=offset
        )

    def get_at(self, ref: str | int, at: float) -> Memory:
        """One memory as of a moment; see :func:`engine.use_cases.time_travel.get_at`."""
        return time_travel.get_at(self._context, ref, at)

    def differences(
        self, ref: str | int, since: float, until: float | None = None
    ) -> Sequence[FieldDifference]:
        """What differs in a memory between two moments, the second by default now."""
        return time_travel.differences(self._context, ref, since, until)

    def reaches_back_to(self) -> float | None:
        """The earliest moment that :meth:`state_at` can show; ``None``: the beginning."""
        return time_travel.reaches_back_to(self._context)

    def trim(self) -> Trimmed:
        """Take out what is older or larger than the settings keep."""
        return journal.trim_journal(self._context)
