"""Forecast: how a memory or a fact will fade if nobody uses it, and what becomes of it when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.config.schema import Settings
from engine.context import EngineContext
from engine.domain.atom import Atom
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.ids import parse_ref
from engine.domain.memory import Memory
from engine.domain.retention import Kept
from engine.lifecycle import forecast as curves
from engine.lifecycle.atoms import SweepPolicy
from engine.lifecycle.curves import DAY_S
from engine.lifecycle.forecast import Ageing, AtomPoint, MemoryPoint, Turn
from engine.lifecycle.retention import RetentionPolicy, at_risk_from, half_life_days
from engine.storage import atoms, memories, strength
from engine.storage.strength import StrengthRow
from engine.writing.strength import decay_plan

MAX_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class MemoryForecast:
    """A memory's curve, a point for each day, and what happens when, in order.

    ``half_life_days`` is the time in which an unused memory's retention score is halved;
    ``None`` when it never is.
    """

    memory: Memory
    points: tuple[MemoryPoint, ...]
    turns: tuple[Turn, ...]
    half_life_days: float | None


@dataclass(frozen=True, slots=True)
class AtomForecast:
    """An atom's curve, a point for each day, and what happens when, in order."""

    atom: Atom
    points: tuple[AtomPoint, ...]
    turns: tuple[Turn, ...]


def forecast_memory(context: EngineContext, ref: str | int, days: int = 365) -> MemoryForecast:
    """How a memory fades over the next ``days`` (1-3650) by the settings in force: to the last
    digit what daily runs would leave. Raises NotFound and InvalidInput."""
    _check(days)
    now, settings = context.clock.now(), context.settings
    with context.database.read() as connection:
        memory = memories.find(connection, parse_ref(ref))
        row = strength.fetch(connection, [memory.id])[0]
    ageing = _ageing(context, memory, row, now)
    points = curves.memory_curve(ageing, now, days)
    turns = [*_fading_turns(ageing, settings, now + days * DAY_S)]
    turns += _fate(memory, ageing, settings, now)
    turns.sort(key=lambda turn: turn.at)
    half_life = half_life_days(ageing.retention.rate)
    return MemoryForecast(memory, points, tuple(turns), half_life)


def forecast_atom(context: EngineContext, ref: str | int, days: int = 365) -> AtomForecast:
    """How an atom loses its worth over the next ``days`` (1-3650). Raises NotFound and
    InvalidInput."""
    _check(days)
    with context.database.read() as connection:
        number = parse_ref(ref).id
        found = atoms.fetch(connection, [] if number is None else [number])
    if number is None or number not in found:
        raise NotFound("error.no_such_atom", ref=str(ref)[:60])
    atom = found[number]
    settings = context.settings.atoms
    policy = SweepPolicy(settings.forget_after_days, settings.purge_after_days)
    points = curves.atom_curve(atom.life, context.clock.now(), days)
    return AtomForecast(atom, points, curves.atom_turns(atom.life, policy))


def _check(days: int) -> None:
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput("error.out_of_range", name="days", value=days, low=1, high=MAX_DAYS)


def _ageing(context: EngineContext, memory: Memory, row: StrengthRow, now: float) -> Ageing:
    plan, settings = decay_plan(context, now), context.settings.prune
    use = row.strength
    return Ageing(
        kept=Kept(memory.importance, memory.created_at, use.last_access, use.access_count),
        strength=use,
        decayed_until=row.since,
        immune=plan.is_immune(row),
        decay=plan.policy,
        daily=plan.daily,
        retention=RetentionPolicy(settings.rate, settings.frequency_weight, settings.min_score),
    )


def _fading_turns(ageing: Ageing, settings: Settings, until: float) -> Iterable[Turn]:
    below = settings.archive.below_importance
    faded_at = curves.faded_at(ageing, below, until)
    if faded_at is not None:
        yield Turn(curves.FADED, faded_at, below)


def _fate(memory: Memory, ageing: Ageing, settings: Settings, now: float) -> Iterable[Turn]:
    """What becomes of a memory: of one in the trash only when it is reclaimed."""
    keep_s = settings.trash.keep_days * DAY_S
    if memory.deleted_at is not None:
        return () if memory.pinned else (Turn(curves.PURGED, memory.deleted_at + keep_s),)
    turns = list(_put_aside(memory, ageing, settings, now))
    trashed = next((turn.at for turn in turns if turn.kind == curves.TRASHED), None)
    if memory.expires_at is not None:
        turns.append(Turn(curves.EXPIRES, memory.expires_at))
    if not memory.pinned:
        turns += _reclaimed(memory, settings, trashed)
    return turns


def _put_aside(memory: Memory, ageing: Ageing, settings: Settings, now: float) -> Iterable[Turn]:
    """The archive and the trash take live memories that are neither pinned nor protected."""
    protected = memory.kind in settings.decay.protected_kinds
    if memory.pinned or protected or memory.state(now) != "live":
        return
    archive, age_s = settings.archive, settings.archive.older_than_days * DAY_S
    archived_at = None
    if archive.enabled and memory.importance < archive.below_importance:
        archived_at = max(now, memory.created_at + age_s)
        yield Turn(curves.ARCHIVED, archived_at)
    at_risk = at_risk_from(ageing.kept, ageing.retention)
    if at_risk is None or _is_hidden(memory, archived_at, at_risk):
        return
    yield Turn(curves.AT_RISK, at_risk, ageing.retention.min_score)
    if settings.prune.apply:
        yield Turn(curves.TRASHED, max(now, at_risk))


def _is_hidden(memory: Memory, archived_at: float | None, at: float) -> bool:
    """Whether a memory is out of the reach of prune by then."""
    hidden = (archived_at, memory.expires_at)
    return any(moment is not None and moment <= at for moment in hidden)


def _reclaimed(memory: Memory, settings: Settings, trashed: float | None) -> Iterable[Turn]:
    if trashed is not None:
        yield Turn(curves.PURGED, trashed + settings.trash.keep_days * DAY_S)
    elif memory.expires_at is not None:
        yield Turn(curves.PURGED, memory.expires_at + settings.expiry.grace_days * DAY_S)
