"""What fades, expires and is put aside, with previews and forecasts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.scope import Filters
from engine.use_cases import archive, consolidate, decay, forecast, health, prune, purge
from engine.use_cases.archive import Archived
from engine.use_cases.decay import Decayed
from engine.use_cases.forecast import AtomForecast, MemoryForecast
from engine.use_cases.health import Health
from engine.use_cases.prune import Pruned, PruneRequest
from engine.use_cases.purge import Purged


class Forgetting:
    """What fades, expires and is put aside, with previews and forecasts."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def preview_decay(self, now: float | None = None) -> Decayed:
        """What the daily fading would take."""
        return decay.preview_decay(self._context, now)

    def apply_decay(self) -> Decayed:
        """Do the daily fading that is due; see :func:`engine.use_cases.decay.apply_decay`."""
        return decay.apply_decay(self._context)

    def archive_old(self, caller: Caller, *, apply: bool, now: float | None = None) -> Archived:
        """Put aside what is old and unimportant; see
        :func:`engine.use_cases.archive.archive_old`."""
        return archive.archive_old(self._context, apply=apply, now=now, caller=caller)

    def prune(self, request: PruneRequest, caller: Caller, *, apply: bool) -> Pruned:
        """Move what is worth next to nothing to the trash; see
        :func:`engine.use_cases.prune.prune`."""
        return prune.prune(self._context, request, caller, apply=apply)

    def purge(self, caller: Caller, *, apply: bool, now: float | None = None) -> Purged:
        """Reclaim what expired or was deleted long enough ago; see
        :func:`engine.use_cases.purge.purge`."""
        return purge.purge(self._context, caller, apply=apply, now=now)

    def forecast(self, ref: str | int, days: int = 365) -> MemoryForecast:
        """How a memory will fade if nobody uses it."""
        return forecast.forecast_memory(self._context, ref, days)

    def forecast_atom(self, ref: str | int, days: int = 365) -> AtomForecast:
        """How a fact will lose its worth if nobody states it again."""
        return forecast.forecast_atom(self._context, ref, days)

    def health(
        self, *, clusters: bool = True, on_progress: Callable[[int, int], None] | None = None
    ) -> Health:
        """How much is fading, unused or said twice. Groups of near-duplicates are looked for
        unless told otherwise: as :meth:`engine.interface.links.Links.consolidate` finds them."""
        find = partial(self._clusters, on_progress) if clusters else None
        return health.collect_health(self._context, find)

    def _clusters(self, on_progress: Callable[[int, int], None] | None) -> list[list[int]]:
        found = consolidate.consolidate(
            self._context, Filters(), Caller("maintenance"), apply=False, on_progress=on_progress
        )
        return [[m.id for m in (group.survivor, *group.merged)] for group in found.groups]
