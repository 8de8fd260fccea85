"""What a file of memories holds, whatever format it is in.

Nothing here is checked yet: fields are as the file gives them, and the importer refuses what the
store would refuse from anybody. Times are epoch seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.domain.errors import JiyiError
from engine.domain.memory import FieldValue

ARCHIVE = "archive"
MARKDOWN = "markdown"
LINES = "lines"
MEMORY_SERVER = "memory-server"
MEM0 = "mem0"
BASIC_MEMORY = "basic-memory"
MEMORY_SERVICE = "memory-service"
LIVING_MEMORY = "living-memory"
HOUKAI = "houkai"
FORMATS = (
    ARCHIVE,
    MARKDOWN,
    LINES,
    MEMORY_SERVER,
    MEM0,
    BASIC_MEMORY,
    MEMORY_SERVICE,
    LIVING_MEMORY,
    HOUKAI,
)
"""The formats that can be read. ``lines`` are JSON objects with the names of our own fields."""


@dataclass(frozen=True, slots=True)
class SavedStrength:
    """What use and time made of a memory; see :class:`engine.domain.memory.Strength`."""

    importance_now: float
    salience: float = 1.0
    last_access: float | None = None
    access_count: int = 0
    access_window: float = 0.0
    decayed_until: float = 0.0


@dataclass(frozen=True, slots=True)
class SavedVector:
    """The stretch ``[start, end)`` of a text with its vector (float16, little-endian)."""

    start: int
    end: int
    content_hash: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """One memory of a file.

    ``fields`` are authored fields by name, ``scope`` the columns that say whose it is and
    ``states`` those that hide it (``archived_at``, ``superseded_at``, ``deleted_at``,
    ``review_state``). ``superseded_by`` is the successor's uid. What a file does not say is
    ``None``: the importer fills it in.
    """

    uid: str
    fields: Mapping[str, object]
    workspace: str | None = None
    created_at: float | None = None
    updated_at: float | None = None
    revision: int | None = None
    position: int | None = None
    scope: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, FieldValue] = field(default_factory=dict)
    superseded_by: str | None = None
    strength: SavedStrength | None = None
    vectors: tuple[SavedVector, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedLink:
    """A link between two memories, by their uids."""

    source: str
    target: str
    relation: str
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class SavedFact:
    """A temporal fact; ``memory`` is the uid of the memory that it came from."""

    uid: str
    subject: str
    predicate: str
    object: str
    workspace: str | None = None
    valid_from: float | None = None
    valid_to: float | None = None
    confidence: float = 1.0
    memory: str | None = None
    created_at: float | None = None
    updated_at: float | None = None


@dataclass(frozen=True, slots=True)
class SavedAtom:
    """An atom with its life. ``number`` names it within the file and ``superseded_by`` is such a
    number; ``mentions`` are uids of memories that state it and when (epoch seconds)."""

    number: int
    workspace: str
    values: Mapping[str, str | float | int | None]
    mentions: tuple[tuple[str, float], ...] = ()
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True)
class SavedAlias:
    """A name that means another node (a merge or a rename); ``name`` is how that one is shown."""

    node_type: str
    alias: str
    canonical: str
    origin: str
    name: str


@dataclass(frozen=True, slots=True)
class SavedWorkspace:
    """A workspace that memories or facts of the file belong to."""

    name: str
    domain: str
    created_at: float


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """One journal entry of a memory, as it stands in the file: for reading, never replayed."""

    uid: str
    at: float
    operation: str
    actor: str
    changes: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A place of a file (line, item or file name) that could not be read, and why."""

    place: str
    reason: JiyiError


Saved: TypeAlias = (
    SavedMemory | SavedLink | SavedFact | SavedAtom | SavedAlias | SavedWorkspace | SavedEntry
)
"""Anything that a file can hold."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A record with its place in the file, as people are told of it."""

    place: str
    record: Saved


Item: TypeAlias = Placed | Unreadable
"""What reading a file yields, one after the other."""
