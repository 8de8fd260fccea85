"""Overview: how the store and this process stand, for assistants and scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.embedding import ModelStatus
from engine.domain.metrics import Metrics
from engine.storage import embeddings, facts, graph, overview, processes
from engine.storage.processes import STALE_AFTER_S, ProcessRow


@dataclass(frozen=True, slots=True)
class Layers:
    """What was derived from the memories, and the size of the store in bytes."""

    atoms_by_state: Mapping[str, int]
    nodes: int
    edges: int
    entries: int
    facts: int
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How the store stands. ``pending`` and ``failed`` count memories without vectors;
    ``channels`` are the ways of searching with whether settings let them take part; ``others``
    are the other programs that have the store open."""

    home: str
    writable: bool
    model: ModelStatus
    pending: int
    failed: int
    channels: Mapping[str, bool]
    others: Sequence[ProcessRow]


@dataclass(frozen=True, slots=True)
class Activity:
    """The figures of this process, and how many memories can be found now."""

    metrics: Metrics
    memories: int


def count_layers(context: EngineContext) -> Layers:
    """Count atoms, graph and facts."""
    with context.database.read() as connection:
        nodes, edges, entries = graph.count(connection)
        return Layers(
            atoms_by_state=overview.atoms_by_state(connection),
            nodes=nodes,
            edges=edges,
            entries=entries,
            facts=facts.count(connection),
            disk_bytes=_disk_bytes(context),
        )


def standing(context: EngineContext) -> Standing:
    """How the store stands; loads no model and changes nothing."""
    settings = context.settings
    with context.database.read() as connection:
        pending, failed = embeddings.count_pending(connection)
        seen = processes.seen_since(connection, context.clock.now() - STALE_AFTER_S)
    return Standing(
        home=str(context.home),
        writable=context.database.writable,
        model=context.models.status(),
        pending=pending,
        failed=failed,
        channels={
            "text": settings.text.enabled,
            "vectors": settings.vectors.enabled,
            "atoms": settings.atoms.enabled,
            "graph": settings.graph.enabled,
        },
        others=tuple(row for row in seen if row.token != context.token),
    )


def activity(context: EngineContext) -> Activity:
    """What this process has done since it started."""
    with context.database.read() as connection:
        live = overview.live_memories(connection)
    return Activity(context.meter.read(), live)


def _disk_bytes(context: EngineContext) -> int:
    path = context.database.path
    files = [path, path.with_name(path.name + "-wal")]
    return sum(file.stat().st_size for file in files if file.exists())
