"""The jobs of upkeep, in the order in which one tick runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.reflection import ReflectRequest
from engine.lifecycle.schedule import DailyMoment
from engine.use_cases.archive import archive_old
from engine.use_cases.atoms import sweep_atoms
from engine.use_cases.backup import back_up_daily
from engine.use_cases.briefing import refresh_stale_briefings
from engine.use_cases.decay import apply_decay, preview_decay
from engine.use_cases.journal import trim_journal
from engine.use_cases.maintenance import Job
from engine.use_cases.prune import PruneRequest, prune
from engine.use_cases.purge import purge
from engine.use_cases.reflect import reflect

ACTOR = "maintenance"
_MAINTENANCE = Caller(ACTOR)
_MINUTE_S, _HOUR_S, _DAY_S = 60.0, 3_600.0, 86_400.0

Work = Callable[[EngineContext, bool], Mapping[str, int]]


def build_jobs(context: EngineContext) -> tuple[Job, ...]:
    """Every job as the settings have it now. What fades comes first, so that the jobs after it
    judge by today's strength, and copies are made before anything old is let go."""
    settings = context.settings
    daily = DailyMoment(settings.decay.hour, settings.decay.minute, context.zone)
    upkeep = settings.maintenance

    def work(act: Work) -> Callable[[bool], Mapping[str, int]]:
        return partial(act, context)

    return (
        Job("decay", work(_decay), daily=daily),
        Job(
            "backup",
            work(_back_up),
            daily=daily,
            enabled=settings.backup.enabled,
            has_preview=False,
        ),
        Job("atoms", work(_sweep), settings.atoms.sweep_hours * _HOUR_S, has_preview=False),
        Job("archive", work(_archive), enabled=settings.archive.enabled),
        Job("prune", work(_prune), upkeep.prune_hours * _HOUR_S, enabled=settings.prune.apply),
        Job("purge", work(_purge), upkeep.purge_hours * _HOUR_S),
        Job(
            "reflect",
            work(_reflect),
            upkeep.reflect_days * _DAY_S,
            applies=settings.reflect.apply,
        ),
        Job("journal", work(_trim), has_preview=False),
        Job(
            "briefing",
            work(_brief),
            settings.briefing.interval_minutes * _MINUTE_S,
            has_preview=False,
            quiet=True,
        ),
    )


def _decay(context: EngineContext, apply: bool) -> Mapping[str, int]:
    done = apply_decay(context, _MAINTENANCE) if apply else preview_decay(context)
    return {"memories": done.memories, "days": done.steps, "faded": done.faded}


def _sweep(context: EngineContext, _: bool) -> Mapping[str, int]:
    counts = {"expired": 0, "forgotten": 0, "purged": 0}
    more = True
    while more:
        swept = sweep_atoms(context)
        counts["expired"] += swept.expired
        counts["forgotten"] += swept.forgotten
        counts["purged"] += swept.purged
        more = swept.more
    return counts


def _archive(context: EngineContext, apply: bool) -> Mapping[str, int]:
    done = archive_old(context, apply=apply, caller=_MAINTENANCE)
    return {"archived": len(done.memory_ids)}


def _prune(context: EngineContext, apply: bool) -> Mapping[str, int]:
    done = prune(context, PruneRequest(), _MAINTENANCE, apply=apply)
    return {"considered": done.considered, "pruned": len(done.fading)}


def _purge(context: EngineContext, apply: bool) -> Mapping[str, int]:
    return purge(context, _MAINTENANCE, apply=apply).counts


def _reflect(context: EngineContext, apply: bool) -> Mapping[str, int]:
    # A look costs no chat model: what it would say is worded anew when it is stored.
    request = ReflectRequest(apply=apply, summarizer=None if apply else "extractive")
    done = reflect(context, request, _MAINTENANCE)
    return {
        "considered": done.considered,
        "summaries": len(done.reflections),
        "archived": done.archived,
    }


def _back_up(context: EngineContext, _: bool) -> Mapping[str, int]:
    done = back_up_daily(context)
    return {} if done is None else {"backups": 1, "thinned": len(done.removed)}


def _trim(context: EngineContext, _: bool) -> Mapping[str, int]:
    return {"entries": trim_journal(context).removed}


def _brief(context: EngineContext, _: bool) -> Mapping[str, int]:
    return {"briefings": refresh_stale_briefings(context)}
