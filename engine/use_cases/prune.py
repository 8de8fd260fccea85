"""Prune: move to the trash what is worth next to nothing any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput
from engine.domain.scope import Filters
from engine.language.labels import folded_filters
from engine.lifecycle.retention import RetentionPolicy, retention_score
from engine.storage import forgetting, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import memories as writing

_BATCH = 100
_BOUNDS = {"rate": 1.0, "frequency_weight": 10.0, "min_score": 1.0}


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """How to score; what is left out is as the settings say.

    ``rate`` (λ, 0-1), ``frequency_weight`` (f, 0-10) and ``min_score`` (0-1) as in
    :func:`engine.lifecycle.retention.retention_score`; ``filters`` narrow what is looked at.
    ``now`` (epoch seconds) simulates another moment and cannot be applied.
    """

    rate: float | None = None
    frequency_weight: float | None = None
    min_score: float | None = None
    filters: Filters = Filters()
    now: float | None = None


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory and its retention score."""

    memory_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Pruned:
    """The memories that are (or would be) moved to the trash, the weakest first, out of
    ``considered``. One undo of ``group_uid`` takes an applied run back."""

    fading: tuple[Fading, ...]
    considered: int
    policy: RetentionPolicy
    applied: bool = False
    group_uid: str | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """A request with all that it left out filled in."""

    filters: Filters
    protected_kinds: tuple[str, ...]
    policy: RetentionPolicy
    now: float


def prune(context: EngineContext, request: PruneRequest, caller: Caller, *, apply: bool) -> Pruned:
    """List live memories whose retention score is below ``min_score``, or move them to the
    trash as one group. Pinned ones and protected kinds are never listed.

    Raises InvalidInput for values out of range, and for ``apply`` at a simulated moment.
    """
    if apply and request.now is not None:
        raise InvalidInput("error.simulated_apply")
    look = _look(context, request)
    with context.database.read() as connection:
        found = _fading(connection, look)
    if not apply:
        return found
    stamp = Stamp(caller.actor, look.now, new_uid())
    done: list[Fading] = []
    for start in range(0, len(found.fading), _BATCH):
        done += _trash(context, look, found.fading[start : start + _BATCH], stamp)
    group_uid = stamp.group_uid if done else None
    return replace(found, fading=tuple(done), applied=True, group_uid=group_uid)


def _look(context: EngineContext, request: PruneRequest) -> _Look:
    return _Look(
        filters=replace(folded_filters(request.filters), state="live"),
        protected_kinds=context.settings.decay.protected_kinds,
        policy=_policy(context, request),
        now=context.clock.now() if request.now is None else request.now,
    )


def _policy(context: EngineContext, request: PruneRequest) -> RetentionPolicy:
    settings = context.settings.prune
    values = {}
    for name, high in _BOUNDS.items():
        given = getattr(request, name)
        if given is not None and not 0.0 <= given <= high:
            raise InvalidInput("error.out_of_range", name=name, value=given, low=0, high=high)
        values[name] = float(getattr(settings, name) if given is None else given)
    return RetentionPolicy(**values)


def _fading(connection: Connection, look: _Look, among: Sequence[int] | None = None) -> Pruned:
    rows = forgetting.scored_rows(connection, look.filters, look.protected_kinds, look.now, among)
    scored = (
        Fading(row.memory_id, retention_score(row.kept, look.now, look.policy)) for row in rows
    )
    fading = [item for item in scored if item.score < look.policy.min_score]
    fading.sort(key=lambda item: (item.score, item.memory_id))
    return Pruned(tuple(fading), len(rows), look.policy)


def _trash(
    context: EngineContext, look: _Look, batch: Sequence[Fading], stamp: Stamp
) -> list[Fading]:
    """Move those to the trash that nobody used or changed meanwhile."""
    with context.database.write() as connection:
        still = _fading(connection, look, [item.memory_id for item in batch]).fading
        found = memories.fetch(connection, [item.memory_id for item in still])
        for item in still:
            writing.trash(connection, found[item.memory_id], stamp)
    return list(still)
