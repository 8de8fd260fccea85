"""What is worth knowing at the start of a conversation: which memories, not their texts.

Texts are read when a briefing is served, so one that was erased, hidden or edited meanwhile
is never served from the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.domain.fact import Fact
from engine.domain.memory import Memory

DIRECTIVES, PINNED = "directives", "pinned"
STANDING = (DIRECTIVES, PINNED)
"""The sections that come first, always."""

SESSIONS = "sessions"
ACTIVE_FACTS = "active_facts"
SECTIONS = (
    *STANDING,
    "important",
    "people",
    "preferences",
    "procedures",
    "decisions",
    "resolved",
    "questions",
    "facts",
    "recent",
)
"""Sections of memories, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class SessionNote:
    """A conversation that stored something: its id, when it began, its first memory, how many
    it stored, and that memory's summary if there is one."""

    session_id: str
    started_at: float
    first_memory_id: int
    count: int


@dataclass(frozen=True, slots=True)
class Briefing:
    """A baked briefing of one workspace and ``global``.

    ``sections`` maps each section to ids of memories, best first. ``change`` is the last
    change number of the store's history ``history_uid`` that it knows of. ``facts`` are ids of
    facts that held when it was baked, those changed last first.
    """

    workspace: str
    built_at: float
    change: int
    history_uid: str
    sections: Mapping[str, tuple[int, ...]]
    sessions: tuple[SessionNote, ...] = ()
    facts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedFact:
    """A fact that holds now, and the memory that it came from."""

    fact: Fact
    source: Memory | None = None


@dataclass(frozen=True, slots=True)
class ServedSession:
    """A session of a briefing with its first memory, as it is now."""

    note: SessionNote
    first: Memory


@dataclass(frozen=True, slots=True)
class ServedBriefing:
    """A briefing with the memories behind it as they are now.

    ``stale`` when the store changed since or it is older than allowed; a new one is then on
    its way. ``age_s`` is seconds since it was made.
    """

    workspace: str
    age_s: float
    stale: bool
    sections: Mapping[str, tuple[Memory, ...]]
    sessions: tuple[ServedSession, ...] = ()
    facts: tuple[ServedFact, ...] = ()
