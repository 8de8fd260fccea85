"""The memory: what is stored, what may be written, and which states hide it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

FieldValue: TypeAlias = str | float | int | bool | tuple[str, ...] | None
"""The value of one authored field."""

GLOBAL_WORKSPACE = "global"


@dataclass(frozen=True, slots=True)
class Memory:
    """One document memory as stored. Times are UTC epoch seconds.

    ``importance`` (0-1) stays as set; what fades is kept in :class:`Strength`.
    ``details`` are those of a structured kind (:mod:`engine.domain.details`).
    ``expires_at`` hides the memory at that instant; ``archived_at``, ``superseded_at`` and
    ``deleted_at`` are the other states that hide it.
    """

    id: int
    uid: str
    text: str
    kind: str
    workspace: str
    importance: float
    created_at: float
    updated_at: float
    revision: int
    content_hash: str
    summary: str | None = None
    persona_summary: str | None = None
    topics: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    key_facts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sentiment: str | None = None
    polarity: int = 0
    pinned: bool = False
    private: bool = False
    session_id: str | None = None
    position: int | None = None
    persona_id: str | None = None
    user_id: str | None = None
    agent: str | None = None
    origin: str | None = None
    source: str = "chat"
    source_ref: str | None = None
    trust: str = "assistant"
    review_state: str | None = None
    details: str | None = None
    event_time: float | None = None
    expires_at: float | None = None
    archived_at: float | None = None
    superseded_by: int | None = None
    superseded_at: float | None = None
    deleted_at: float | None = None

    def state(self, now: float) -> str:
        """``deleted``, ``superseded``, ``archived``, ``expired`` or ``live``."""
        if self.deleted_at is not None:
            return "deleted"
        if self.superseded_at is not None:
            return "superseded"
        if self.archived_at is not None:
            return "archived"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "live"


@dataclass(frozen=True, slots=True)
class Strength:
    """What fades and grows with use, outside revision and journal.

    ``importance_now`` 0-1 decays, ``salience`` 0.01-2.0 is moved by use, ``access_window``
    counts recent accesses for the decay rate.
    """

    importance_now: float
    salience: float = 1.0
    last_access: float | None = None
    access_count: int = 0
    access_window: float = 0.0


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory about to be written: the authored fields of :mod:`engine.domain.fields`,
    already validated, and where it belongs."""

    fields: Mapping[str, FieldValue]
    workspace: str = GLOBAL_WORKSPACE
    session_id: str | None = None
    persona_id: str | None = None
    user_id: str | None = None
    agent: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One change of the store. ``changes`` maps a field to its value before and after.

    ``subject_kind`` is memory, atom, node, workspace, link (the subject is its source), fact or
    store. ``other_id`` is the memory at the other end of a link, a successor, or the memory
    that a fact came from. ``undoes`` is the entry that this one took back.
    """

    id: int
    group_uid: str
    at: float
    operation: str
    actor: str
    subject_kind: str
    subject_id: int
    subject_uid: str
    changes: Mapping[str, tuple[FieldValue, FieldValue]]
    other_id: int | None = None
    undoes: int | None = None
