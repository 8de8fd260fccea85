"""Temporal facts: subject, predicate, object, and when that was true.

A period is half open: it holds from ``valid_from`` on and no longer at ``valid_to``. ``None``
means that the start is not known, or that no end is. Times are UTC epoch seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.notices import Notice
from engine.domain.scope import Scope
from engine.domain.times import day, is_midnight, minute_with_offset

DIRECTIONS = ("subject", "object", "both")
ACTIVE, ENDED, UPCOMING = "active", "ended", "upcoming"
MAX_TERM_CHARS = 500


@dataclass(frozen=True, slots=True)
class Period:
    """When something was true."""

    start: float | None = None
    end: float | None = None

    @property
    def low(self) -> float:
        """The start, minus infinity where it is not known."""
        return -math.inf if self.start is None else self.start

    @property
    def high(self) -> float:
        """The end, infinity where there is none."""
        return math.inf if self.end is None else self.end

    def holds(self, at: float) -> bool:
        """Whether it was true at a moment."""
        return self.low <= at < self.high

    def overlaps(self, other: Period) -> bool:
        """Whether there is a moment that both hold."""
        return max(self.low, other.low) < min(self.high, other.high)

    def told(self, zone: tzinfo | None) -> tuple[str, Mapping[str, str]]:
        """The message that says it, and its values: days, with the minute where it matters."""
        start = "" if self.start is None else _moment(self.start, zone)
        end = "" if self.end is None else _moment(self.end, zone)
        if self.end is None:
            key = "fact.always" if self.start is None else "fact.since"
        else:
            key = "fact.until" if self.start is None else "fact.between"
        return key, {"start": start, "end": end}

    def required(self) -> Period:
        """The period itself; raises :class:`InvalidInput` for an end before its start."""
        if self.high < self.low:
            raise InvalidInput("error.end_before_start")
        return self


@dataclass(frozen=True, slots=True)
class Fact:
    """A stored fact. ``confidence`` is 0-1; ``memory_id`` is the memory that it came from."""

    id: int
    uid: str
    workspace: str
    subject: str
    predicate: str
    object: str
    valid_from: float | None
    valid_to: float | None
    confidence: float
    memory_id: int | None
    created_at: float
    updated_at: float

    @property
    def period(self) -> Period:
        """When it was true."""
        return Period(self.valid_from, self.valid_to)

    def state(self, now: float) -> str:
        """``active``, ``ended`` or ``upcoming``."""
        if self.period.high <= now:
            return ENDED
        return UPCOMING if self.period.low > now else ACTIVE


@dataclass(frozen=True, slots=True)
class FactRequest:
    """A fact to be added.

    Without ``valid_from`` the start is that of its memory's event, if ``memory`` names one that
    has it; else it is not known, or now where the fact takes the place of another one.
    ``functional`` says whether the subject can have only one object at a time (``None``: as the
    table of predicates says). ``workspace``: the caller's current one by default.
    """

    subject: str
    predicate: str
    object: str
    valid_from: float | None = None
    valid_to: float | None = None
    confidence: float = 1.0
    memory: str | int | None = None
    functional: bool | None = None
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Which facts of an entity are wanted: those in which it is the subject, the object, or
    either. ``as_of`` is the moment at which they are to be true (``None``: now)."""

    entity: str
    predicate: str | None = None
    as_of: float | None = None
    direction: str = "both"
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class AddedFact:
    """The fact as it stands now; ``added`` is false when it was known and at most completed.

    ``closed`` are earlier facts that ended with it, ``resumed`` those that go on after it.
    ``notices`` say which keys and passwords were in it.
    """

    fact: Fact
    added: bool
    closed: tuple[Fact, ...] = ()
    resumed: tuple[Fact, ...] = ()
    group_uid: str = ""
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedFact:
    """A fact that is true no more; ``changed`` is false when it had ended before."""

    fact: Fact
    changed: bool


@dataclass(frozen=True, slots=True)
class FactStatistics:
    """How many facts, distinct entities (subjects and objects) and predicates there are, how
    many facts are true now, were true, or will be; and predicates by the number of their facts."""

    facts: int
    entities: int
    predicates: int
    active: int
    ended: int
    upcoming: int
    by_predicate: tuple[tuple[str, int], ...] = ()


def workspace_of(request: FactRequest, current: str | None) -> str:
    """Where a fact belongs."""
    return request.workspace or current or GLOBAL_WORKSPACE


def _moment(at: float, zone: tzinfo | None) -> str:
    return day(at, zone) if is_midnight(at, zone) else minute_with_offset(at, zone)
