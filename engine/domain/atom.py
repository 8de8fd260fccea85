"""The atom: one small fact with a type, a shelf life and a state of its own."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.scope import Filters

ATOM_TYPES = ("episodic", "planned", "factual", "relational", "preference", "unknown")
ATOM_STATES = ("active", "expired", "dormant", "superseded", "forgotten")
ATOM_ORDERS = ("ending", "longest", "newest", "said")
"""Orders of a list of atoms: by how soon or how late they end, by age, by how often said."""
CURVES = ("exponential", "linear", "step")


@dataclass(frozen=True, slots=True)
class Classification:
    """What the rules say of one fact.

    ``confidence`` is that of the rule that decided, ``rule`` its name. ``polarity`` is the
    stance on the subject. ``deadline`` (planned only) and ``event_time`` (what happened) are
    epoch seconds.
    """

    text: str
    type: str
    confidence: float
    rule: str
    polarity: int = 0
    deadline: float | None = None
    event_time: float | None = None


@dataclass(frozen=True, slots=True)
class AtomLife:
    """What ageing reads of an atom. ``refreshed_at`` is when it was last stated or reinforced."""

    state: str
    curve: str
    refreshed_at: float
    ttl_days: float
    expires_at: float | None
    deadline: float | None


@dataclass(frozen=True, slots=True)
class Atom:
    """One atom as stored. Times are UTC epoch seconds.

    ``mentions`` counts the memories that state it, ``reinforced`` explicit reinforcements.
    """

    id: int
    workspace_id: int
    type: str
    text: str
    content_hash: str
    confidence: float
    importance: float
    polarity: int
    event_time: float | None
    deadline: float | None
    created_at: float
    refreshed_at: float
    ttl_days: float
    expires_at: float | None
    curve: str
    state: str
    state_changed_at: float
    superseded_by: int | None
    reinforced: int
    rule: str
    needs_repair: bool
    mentions: int = 1

    @property
    def reinforcement_count(self) -> int:
        """How often it was said again or reinforced after it was first stated."""
        return max(0, self.mentions - 1) + self.reinforced

    @property
    def life(self) -> AtomLife:
        """What ageing reads of it."""
        return AtomLife(
            self.state,
            self.curve,
            self.refreshed_at,
            self.ttl_days,
            self.expires_at,
            self.deadline,
        )


@dataclass(frozen=True, slots=True)
class AtomFilters:
    """Which atoms a list shows; empty means all. The memory filters hold for at least one
    memory that states the atom."""

    types: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    memories: Filters = Filters()
