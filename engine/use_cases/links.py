"""Links between memories: make and take back, what is around a memory, a part of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.ids import parse_ref
from engine.domain.links import DIRECTIONS, SUPERSEDES, Link, LinkGraph, Neighbour
from engine.domain.memory import Memory
from engine.domain.vocabulary import RELATIONS, check
from engine.storage import links, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import links as writing

MAX_DEPTH = 5
MAX_NODES = 1_000


@dataclass(frozen=True, slots=True)
class Linked:
    """Two memories and the relations that were made or taken back between them; none when
    nothing had to change. All of it is one undoable group."""

    source: Memory
    target: Memory
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NeighbourQuery:
    """What to look for around a memory: links of one relation or of all, in one direction
    (``out`` starts there, ``in`` ends there) or both, up to ``depth`` (1-5) steps away."""

    ref: str | int
    relation: str | None = None
    direction: str = "both"
    depth: int = 1


def link(
    context: EngineContext,
    source: str | int,
    target: str | int,
    relation: str,
    caller: Caller,
) -> Linked:
    """Link two memories; ``supersedes`` also hides the target. Twice is harmless.

    Raises NotFound, InvalidInput for an unknown relation or a link to itself, and Conflict for
    a memory in the trash or a circle of ``supersedes``.
    """
    chosen = check("relation", relation, RELATIONS)
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    with context.database.write() as connection:
        start, end = _end(connection, source), _end(connection, target)
        known = {item.relation for item in links.between(connection, start.id, end.id)}
        if chosen == SUPERSEDES:
            writing.supersede(connection, end, start, stamp)
        else:
            writing.put(connection, start, end, chosen, stamp)
        found = memories.fetch(connection, [start.id, end.id])
    made = () if chosen in known else (chosen,)
    return Linked(found[start.id], found[end.id], made)


def unlink(
    context: EngineContext,
    source: str | int,
    target: str | int,
    relation: str | None,
    caller: Caller,
) -> Linked:
    """Take back the link of one relation, or all from one memory to another as one undoable
    group. A memory whose ``supersedes`` link goes is shown again."""
    chosen = None if relation is None else check("relation", relation, RELATIONS)
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    with context.database.write() as connection:
        start = memories.find(connection, parse_ref(source))
        end = memories.find(connection, parse_ref(target))
        doomed = [
            item
            for item in links.between(connection, start.id, end.id)
            if chosen in (None, item.relation)
        ]
        for item in doomed:
            if item.relation == SUPERSEDES and end.superseded_by == start.id:
                writing.lift(connection, end, stamp)
            else:
                writing.remove(connection, start, item, stamp)
        found = memories.fetch(connection, [start.id, end.id])
    return Linked(found[start.id], found[end.id], tuple(item.relation for item in doomed))


def neighbours(context: EngineContext, query: NeighbourQuery) -> list[Neighbour]:
    """What is linked with a memory, the nearest first: one row for each link, and no memory
    is visited twice. Raises NotFound and InvalidInput."""
    relation = None if query.relation is None else check("relation", query.relation, RELATIONS)
    direction = check("direction", query.direction, DIRECTIONS)
    _require_depth(query.depth)
    with context.database.read() as connection:
        start = memories.find(connection, parse_ref(query.ref))
        walk = _Walk(connection, () if relation is None else (relation,), direction)
        steps = walk.around([start.id], query.depth)
        found = memories.fetch(connection, {far for _, _, far in steps})
    return [Neighbour(item, hop, far == item.target_id, found[far]) for item, hop, far in steps]


def graph(context: EngineContext, refs: Sequence[str | int], depth: int = 1) -> LinkGraph:
    """The memories within ``depth`` (1-5) links of any of these, each with its shortest
    distance, and every link between them; at most 1,000 memories."""
    _require_depth(depth)
    with context.database.read() as connection:
        starts = dict.fromkeys(memories.find(connection, parse_ref(ref)).id for ref in refs)
        if not starts:
            raise InvalidInput("error.no_memories_named")
        walk = _Walk(connection, (), "both")
        walk.around(starts, depth)
        kept = dict(sorted(walk.distances.items(), key=lambda item: item[1])[:MAX_NODES])
        found = memories.fetch(connection, kept)
        inside = [
            item
            for item in links.touching(connection, kept)
            if item.source_id in kept and item.target_id in kept
        ]
    return LinkGraph(
        memories=tuple(found[memory_id] for memory_id in kept),
        distances=tuple(kept.values()),
        links=tuple(inside),
        truncated=len(walk.distances) > len(kept),
    )


class _Walk:
    """Outwards from some memories, level by level: the first way to a memory is a shortest."""

    def __init__(self, connection: Connection, relations: Sequence[str], direction: str) -> None:
        self.distances: dict[int, int] = {}
        self._connection = connection
        self._relations = relations
        self._direction = direction

    def around(self, starts: Iterable[int], depth: int) -> list[tuple[Link, int, int]]:
        """Each link once with its hop and the memory at its far end."""
        level = list(starts)
        self.distances = dict.fromkeys(level, 0)
        steps: dict[tuple[int, int, str], tuple[Link, int, int]] = {}
        for hop in range(1, depth + 1):
            near, level = set(level), []
            for item in links.touching(self._connection, near, self._relations):
                far = self._far_end(item, near)
                key = (item.source_id, item.target_id, item.relation)
                if far is None or key in steps:
                    continue
                steps[key] = (item, hop, far)
                if far not in self.distances:
                    self.distances[far] = hop
                    level.append(far)
            if not level or len(self.distances) > MAX_NODES:
                break
        return list(steps.values())

    def _far_end(self, item: Link, near: set[int]) -> int | None:
        if self._direction != "in" and item.source_id in near:
            return item.target_id
        if self._direction != "out" and item.target_id in near:
            return item.source_id
        return None


def _require_depth(depth: int) -> None:
    if not 1 <= depth <= MAX_DEPTH:
        raise InvalidInput("error.out_of_range", name="depth", value=depth, low=1, high=MAX_DEPTH)


def _end(connection: Connection, ref: str | int) -> Memory:
    memory = memories.find(connection, parse_ref(ref))
    if memory.deleted_at is not None:
        raise Conflict("error.link_in_trash", ref=f"#{memory.id}")
    return memory
