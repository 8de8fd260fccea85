"""Consolidate: memories that say the same become one, the rest goes to the trash.

A preview and the real run come from one plan. Every group has exactly one survivor: the pinned
one, else the most important, else the oldest. What would be lost with a memory is not merged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict
from engine.domain.ids import parse_ref
from engine.domain.links import DUPLICATE
from engine.domain.memory import Memory
from engine.domain.scope import Filters, Scope
from engine.domain.vocabulary import CONVERSATION
from engine.extraction.conflict import says_more
from engine.language.labels import folded_filters
from engine.storage import consolidation, links, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import consolidation as writing
from engine.writing.conflicts import Closeness, Probe, Scanner
from engine.writing.consolidation import Merge
from engine.writing.layers import Layers, derive
from engine.writing.memories import authored

__all__ = ["Consolidated", "Merge", "Progress", "consolidate", "merge_pair"]

_BATCH = 100
_GROUPS_PER_TRANSACTION = 20

Progress = Callable[[int, int], None]
"""Called with how many memories were looked at, and of how many."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What was merged or would be. ``trashed`` counts memories that go to the trash,
    ``skipped`` groups that somebody changed meanwhile. ``group_uid`` names the undoable group;
    empty for a preview and where nothing was to be done."""

    groups: tuple[Merge, ...]
    scanned: int
    trashed: int
    skipped: int = 0
    group_uid: str = ""


@dataclass(slots=True)
class _Run:
    scanner: Scanner
    now: float
    filters: Filters
    settled: set[int] = field(default_factory=set)
    groups: list[Merge] = field(default_factory=list)


def consolidate(
    context: EngineContext,
    filters: Filters,
    caller: Caller,
    *,
    apply: bool,
    on_progress: Progress | None = None,
) -> Consolidated:
    """Merge what says the same among the live memories that pass the filters, or with
    ``apply=False`` say what would be merged. One undoable group; run again it finds nothing."""
    now = context.clock.now()
    live = replace(folded_filters(filters), include_archived=False)
    run = _Run(Scanner(context), now, live)
    with context.database.read() as connection:
        ids = consolidation.ids_by_worth(connection, live, now)
    for start in range(0, len(ids), _BATCH):
        _look(run, ids[start : start + _BATCH])
        if on_progress is not None:
            on_progress(min(start + _BATCH, len(ids)), len(ids))
    trashed = sum(len(group.merged) for group in run.groups)
    if not apply or not run.groups:
        return Consolidated(tuple(run.groups), len(ids), trashed)
    return _applied(context, run.groups, len(ids), caller)


def merge_pair(
    context: EngineContext, survivor: str | int, merged: str | int, caller: Caller
) -> Consolidated:
    """Merge one memory into another one, whatever they say: a person decided so. Raises
    NotFound, and Conflict unless both are live and two."""
    now = context.clock.now()
    with context.database.read() as connection:
        stays, goes = (memories.find(connection, parse_ref(ref)) for ref in (survivor, merged))
        for memory in (stays, goes):
            if memory.state(now) not in ("live", "archived"):
                raise Conflict("error.not_live", ref=f"#{memory.id}", state=memory.state(now))
        if stays.id == goes.id:
            raise Conflict("error.link_to_itself", ref=f"#{stays.id}")
        plan = writing.planned(connection, stays, [goes])
    return _applied(context, [plan], 2, caller)


def _look(run: _Run, ids: Sequence[int]) -> None:
    with run.scanner.context.database.read() as connection:
        found = memories.fetch(connection, ids)
        ordered = [found[i] for i in ids if i in found and found[i].source != CONVERSATION]
        for memory, probe in zip(ordered, run.scanner.of_memories(ordered), strict=True):
            if memory.id in run.settled:
                continue
            run.settled.add(memory.id)
            merged = _repeating(run, connection, memory, probe)
            run.settled.update(other.id for other in merged)
            if merged:
                run.groups.append(writing.planned(connection, memory, merged))


def _repeating(run: _Run, connection: Connection, memory: Memory, probe: Probe) -> list[Memory]:
    """Those that say the same as a memory and nothing more, the best of them first."""
    scanner = run.scanner
    filters = replace(
        run.filters,
        scope=Scope("workspace", memory.workspace, exact=True),
        kinds=(memory.kind,),
    )
    close = Closeness(scanner.thresholds.near_duplicate)
    near = scanner.near(connection, probe, filters, run.now, close)
    twins = consolidation.same_text(connection, memory.content_hash)
    passing = memories.rank_rows(connection, {*near, *twins}, filters, run.now)
    candidates = memories.fetch(connection, passing.keys() - run.settled)
    apart = _kept_apart(connection, memory.id)
    # Where they are filed does not make two of them.
    bare = replace(probe, tags=frozenset())
    kept = [
        other
        for other, other_probe in zip(
            candidates.values(), scanner.of_memories(list(candidates.values())), strict=True
        )
        if (other.content_hash == memory.content_hash or other.id not in apart)
        and _repeats(scanner, bare, other_probe, near.get(other.id))
    ]
    return sorted(kept, key=lambda m: (not m.pinned, -m.importance, m.created_at, m.id))


def _repeats(scanner: Scanner, seed: Probe, other: Probe, cosine: float | None) -> bool:
    verdict = scanner.verdict(seed, replace(other, tags=frozenset()), cosine)
    if verdict is None or verdict.verdict != DUPLICATE:
        return False
    return not says_more(other.statement, seed.statement)


def _kept_apart(connection: Connection, memory_id: int) -> frozenset[int]:
    """Memories that are linked with one: somebody said that both are to stay."""
    found = links.of_memory(connection, memory_id)
    return frozenset(end for link in found for end in (link.source_id, link.target_id))


def _applied(
    context: EngineContext, groups: Sequence[Merge], scanned: int, caller: Caller
) -> Consolidated:
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    done: list[Merge] = []
    for start in range(0, len(groups), _GROUPS_PER_TRANSACTION):
        batch = groups[start : start + _GROUPS_PER_TRANSACTION]
        layers = [_layers(context, plan) for plan in batch]
        with context.database.write() as connection:
            for plan, layer in zip(batch, layers, strict=True):
                if _is_unchanged(connection, plan):
                    writing.merge(connection, plan, layer, stamp)
                    done.append(plan)
    trashed = sum(len(plan.merged) for plan in done)
    group_uid = stamp.group_uid if done else ""
    return Consolidated(tuple(done), scanned, trashed, len(groups) - len(done), group_uid)


def _layers(context: EngineContext, plan: Merge) -> Layers:
    gains = {name: value for name, value in plan.gains.items() if name != "created_at"}
    fields = authored(plan.survivor) | gains
    return derive(context, fields, None, plan.survivor.created_at)


def _is_unchanged(connection: Connection, plan: Merge) -> bool:
    everyone = (plan.survivor, *plan.merged)
    found = memories.fetch(connection, [memory.id for memory in everyone])
    return all(
        memory.id in found and found[memory.id].revision == memory.revision for memory in everyone
    )
