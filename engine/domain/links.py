"""Links between memories, and what was found of two memories that cannot both stand."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.errors import Conflict
from engine.domain.memory import Memory

SUPERSEDES = "supersedes"
DIRECTIONS = ("in", "out", "both")
DUPLICATE, CONTRADICTION = "duplicate", "contradiction"


@dataclass(frozen=True, slots=True)
class Link:
    """A directed link between two memories; ``created_at`` is epoch seconds."""

    source_id: int
    target_id: int
    relation: str
    created_at: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A link on the way outwards from a memory: ``hop`` steps away, and at its far end
    ``memory``. ``outwards`` tells whether the link leads to it or comes from it."""

    link: Link
    hop: int
    outwards: bool
    memory: Memory


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Memories with their distance from where one started, and the links between them.
    ``truncated`` says that more were within reach than are shown."""

    memories: tuple[Memory, ...]
    distances: tuple[int, ...]
    links: tuple[Link, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Clash:
    """A stored memory that a text repeats or contradicts.

    ``verdict`` is ``duplicate`` or ``contradiction``; ``reason`` what shows it: ``polarity``,
    ``negation``, ``value``, ``change``, ``custom`` or ``same``. ``similarity`` is the cosine,
    ``None`` where words alone told. ``mine`` and ``other`` are the parts that differ, for
    ``value``.
    """

    memory_id: int
    text: str
    verdict: str
    reason: str
    similarity: float | None = None
    mine: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class ClashingPair:
    """Two stored memories that cannot both stand, or that say the same. ``verdict``, ``reason``
    and ``similarity`` as in :class:`Clash`; ``newer`` was created last."""

    older: Memory
    newer: Memory
    verdict: str
    reason: str
    similarity: float | None
    old_part: str = ""
    new_part: str = ""


class ConflictRefused(Conflict):
    """A write that was refused before anything was stored; ``clashes`` says what it meets."""

    def __init__(self, clashes: tuple[Clash, ...]) -> None:
        refs = ", ".join(f"#{clash.memory_id}" for clash in clashes)
        super().__init__("error.conflicts", refs=refs, count=len(clashes))
        self.clashes = clashes
