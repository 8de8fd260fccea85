"""What a memory repeats or contradicts among those that are stored.

Candidates are the nearest live memories of the same kind, workspace and persona; without vectors
those that share the most words. What is said in a recorded conversation is no statement of the
store and takes no part. :func:`engine.extraction.conflict.judge` decides by what differs in the
texts: vectors of opposite statements lie further apart (0.75 for "I like it" and "I hate it" in
Chinese) than those of statements about two things, so no threshold tells them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from engine.context import EngineContext
from engine.domain.embedding import Thresholds
from engine.domain.errors import JiyiError, StorageDamaged
from engine.domain.links import CONTRADICTION, DUPLICATE, Clash
from engine.domain.memory import Draft, FieldValue, Memory
from engine.domain.scope import Filters, Scope
from engine.domain.vocabulary import CONVERSATION
from engine.extraction.conflict import Contradiction, Statement, Verdict, judge
from engine.extraction.sameness import content_words, overlap
from engine.language.labels import folded_labels
from engine.model_clients.calibration import thresholds_of
from engine.retrieval.lookups import affordable, matches_of
from engine.storage import fulltext, links, memories
from engine.storage.database import Connection
from engine.writing.embed import Embedded

if TYPE_CHECKING:
    from engine.model_clients.protocol import Vector
    from engine.vector_index.index import VectorIndex

log = logging.getLogger("jiyi.conflicts")

_DAY_S = 86_400.0
# Looked at in the first go; more only while all of them are near enough.
_FIRST_LOOK = 48
_WORTH_A_LOOK = 0.5
_MOST_KNOWN = 2_000
_LONGEST = 600


@dataclass(frozen=True)
class Probe:
    """A memory as it is compared; ``id`` is 0 for one that is not stored yet. ``vector`` is
    that of its only piece, ``None`` where it has none or several."""

    statement: Statement
    kind: str
    workspace: str
    tags: frozenset[str] = frozenset()
    source: str = ""
    persona_id: str | None = None
    user_id: str | None = None
    event_time: float | None = None
    vector: Vector | None = None
    id: int = 0
    created_at: float = float("inf")


@dataclass(frozen=True, slots=True)
class Closeness:
    """How near candidates must be, and how many are looked at (``None``: all)."""

    least: float
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Meeting:
    """What one new memory meets: stored ones, and earlier ones of its batch by their place."""

    stored: tuple[Clash, ...] = ()
    inside: tuple[tuple[int, Clash], ...] = ()


@dataclass(slots=True)
class Scanner:
    """Looks for what a memory clashes with. Made for one request: the index is caught up once.

    ``custom`` may call a pair a contradiction where no rule does.
    """

    context: EngineContext
    custom: Contradiction | None = None
    thresholds: Thresholds = field(init=False)
    index: VectorIndex | None = field(init=False, default=None)
    _known: dict[int, Probe] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        context = self.context
        identity = None
        # Without an index the words decide; a write must not fail for it.
        try:
            host = context.serving()
            identity = host.identity() if context.settings.vectors.enabled else None
            if identity is not None:
                self.index = context.indexes.index(identity)
                self.index.catch_up()
        except JiyiError:
            self.index = None
        self.thresholds = thresholds_of(identity, context.models_folder)

    def of_draft(self, draft: Draft, embedded: Embedded | None) -> Probe:
        """A memory that is about to be written."""
        values = draft.fields
        return Probe(
            statement=self._statement(values),
            kind=str(values["kind"]),
            workspace=draft.workspace,
            tags=_folded(values["tags"]),
            source=str(values["source"]),
            persona_id=draft.persona_id,
            user_id=draft.user_id,
            event_time=_number(values["event_time"]),
            vector=None if embedded is None else self._vector(embedded),
        )

    def of_memories(self, found: Sequence[Memory]) -> list[Probe]:
        """Stored memories."""
        vectors = {} if self.index is None else self.index.first_vectors([m.id for m in found])
        return [self._of_memory(memory, vectors.get(memory.id)) for memory in found]

    def clashes(self, connection: Connection, probe: Probe, now: float) -> list[Clash]:
        """What a memory clashes with, contradictions first, then by similarity; its pairs that
        are linked already are settled and left out."""
        if probe.source == CONVERSATION or len(probe.statement.text) > _LONGEST:
            return []
        found = []
        for other, cosine in self._candidates(connection, probe, now):
            verdict = self.verdict(probe, other, cosine)
            if verdict is not None:
                found.append(clash_of(other, verdict, cosine))
        settled = _linked(connection, probe.id) if found and probe.id else frozenset[int]()
        return sorted((clash for clash in found if clash.memory_id not in settled), key=_rank)

    def near(
        self,
        connection: Connection,
        probe: Probe,
        filters: Filters,
        now: float,
        close: Closeness,
    ) -> dict[int, float]:
        """The cosines of memories that pass the filters and are close enough, nearest first."""
        if self.index is None or probe.vector is None:
            return {}
        count, size = _FIRST_LOOK, self.index.size()
        while True:
            hits = self.index.search(probe.vector, count)
            near = {hit.owner_id: hit.cosine for hit in hits if hit.cosine >= close.least}
            near.pop(probe.id, None)
            rows = memories.rank_rows(connection, near, filters, now)
            found = {memory_id: near[memory_id] for memory_id in near if memory_id in rows}
            is_all = len(near) < len(hits) - 1 or len(hits) < count or count >= size
            if is_all or (close.limit is not None and len(found) >= close.limit):
                return dict(islice(found.items(), close.limit))
            count *= 4

    def verdict(self, one: Probe, two: Probe, cosine: float | None) -> Verdict | None:
        """What the later of two memories does to the earlier one."""
        if not _comparable(one, two):
            return None
        later, earlier = (one, two) if _age(one) >= _age(two) else (two, one)
        is_near = cosine is not None and cosine >= self.thresholds.near_duplicate
        found = judge(later.statement, earlier.statement, is_near=is_near, custom=self.custom)
        if found is None:
            return None
        return None if found.verdict == DUPLICATE and _apart_in_time(one, two) else found

    def between(self, probes: Sequence[Probe]) -> list[list[tuple[int, Clash]]]:
        """What each of several new memories clashes with among the nearest of those before it,
        by their places."""
        cosines = _cosines(probes)
        return [self._before(probes, cosines, place) for place in range(len(probes))]

    def _before(
        self, probes: Sequence[Probe], cosines: Mapping[tuple[int, int], float], place: int
    ) -> list[tuple[int, Clash]]:
        probe, least = probes[place], self.thresholds.floor
        near = {
            earlier: cosines.get((earlier, place))
            for earlier in range(place)
            if cosines.get((earlier, place), 1.0) >= least
        }
        looked_at = sorted(near, key=lambda earlier: (-(near[earlier] or 0.0), earlier))
        found = []
        for earlier in looked_at[: self.context.settings.conflicts.neighbours]:
            verdict = self.verdict(probe, probes[earlier], near[earlier])
            if verdict is not None:
                found.append((earlier, clash_of(probes[earlier], verdict, near[earlier])))
        return found

    def _candidates(
        self, connection: Connection, probe: Probe, now: float
    ) -> list[tuple[Probe, float | None]]:
        filters = Filters(
            scope=Scope("workspace", probe.workspace, exact=True), kinds=(probe.kind,)
        )
        limit = self.context.settings.conflicts.neighbours
        close: dict[int, float | None] = {}
        if probe.vector is not None and self.index is not None:
            close |= self.near(
                connection, probe, filters, now, Closeness(self.thresholds.floor, limit)
            )
        else:
            ids = self._by_words(connection, probe, filters, now, limit + 1)
            close |= dict.fromkeys(memory_id for memory_id in ids if memory_id != probe.id)
        unknown = [memory_id for memory_id in close if memory_id not in self._known]
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
            unknown = list(close)
        for memory in memories.fetch(connection, unknown).values():
            self._known[memory.id] = self._of_memory(memory, None)
        return [(self._known[i], cosine) for i, cosine in close.items()]

    def _by_words(
        self, connection: Connection, probe: Probe, filters: Filters, now: float, limit: int
    ) -> list[int]:
        terms = self.context.analyser.query_terms(probe.statement.text)
        try:
            frequencies = fulltext.document_frequencies(connection, matches_of(terms))
            return fulltext.search(connection, affordable(frequencies), filters, now, limit)
        except StorageDamaged as error:
            # A damaged index keeps nobody from writing; the doctor names it and writing heals it.
            log.warning("conflicts were not looked for by words: %s", error)
            return []

    def _of_memory(self, memory: Memory, vector: Vector | None) -> Probe:
        return Probe(
            statement=self._statement(
                {"text": memory.text, "polarity": memory.polarity, "kind": memory.kind}
            ),
            kind=memory.kind,
            workspace=memory.workspace,
            tags=_folded(memory.tags),
            source=memory.source,
            persona_id=memory.persona_id,
            user_id=memory.user_id,
            event_time=memory.event_time,
            vector=vector,
            id=memory.id,
            created_at=memory.created_at,
        )

    def _statement(self, values: Mapping[str, FieldValue]) -> Statement:

        return Statement(
            text=str(values["text"]),
            words_of=self._words_of,
            polarity=int(str(values["polarity"])),
            is_event=values["kind"] == "episodic",
        )

    def _words_of(self, text: str) -> tuple[str, ...]:
        return self.context.analyser.index_terms(text).words

    def _vector(self, embedded: Embedded) -> Vector | None:
        if self.index is None or len(embedded.pieces) != 1:
            return None
        import numpy as np

        stored = np.frombuffer(embedded.pieces[0].vector, dtype="<f2")
        vector: Vector = stored.astype(np.float32)
        return vector


def meetings(scanner: Scanner, probes: Sequence[Probe], now: float) -> list[Meeting]:
    """What each of several new memories clashes with, among the stored and among those of the
    same batch that come before it."""
    with scanner.context.database.read() as connection:
        stored = [tuple(scanner.clashes(connection, probe, now)) for probe in probes]
    inside = scanner.between(probes)
    return [
        Meeting(clashes, tuple(earlier)) for clashes, earlier in zip(stored, inside, strict=True)
    ]


def clash_of(other: Probe, verdict: Verdict, cosine: float | None) -> Clash:
    """What is told of one pair."""
    return Clash(
        memory_id=other.id,
        text=other.statement.text,
        verdict=verdict.verdict,
        reason=verdict.reason,
        similarity=cosine,
        mine=verdict.mine,
        other=verdict.other,
    )


def _rank(clash: Clash) -> tuple[bool, float, int]:
    return clash.verdict != CONTRADICTION, -(clash.similarity or 0.0), clash.memory_id


def _age(probe: Probe) -> tuple[float, int]:
    return probe.created_at, probe.id or 2**63


def _comparable(one: Probe, two: Probe) -> bool:
    """Same kind and scope, and not two that are filed apart: both tagged without a shared tag."""
    if CONVERSATION in (one.source, two.source):
        return False
    if (one.kind, one.workspace) != (two.kind, two.workspace):
        return False
    if (one.persona_id, one.user_id) != (two.persona_id, two.user_id):
        return False
    return not (one.tags and two.tags and not one.tags & two.tags)


def _apart_in_time(one: Probe, two: Probe) -> bool:
    """Whether the same words tell of two times."""
    if one.event_time is None or two.event_time is None:
        return False
    return abs(one.event_time - two.event_time) >= _DAY_S


def _cosines(probes: Sequence[Probe]) -> dict[tuple[int, int], float]:
    """How near each two of the new memories are that are near enough to be looked at: by their
    vectors, or -1 where they have none and share too few words."""
    found: dict[tuple[int, int], float] = {}
    for place, probe in enumerate(probes):
        for earlier in range(place):
            other = probes[earlier]
            if probe.vector is not None and other.vector is not None:
                found[earlier, place] = float(probe.vector @ other.vector)
            elif not _shares_words(probe, other):
                found[earlier, place] = -1.0
    return found


def _shares_words(one: Probe, two: Probe) -> bool:
    about = content_words(one.statement.rest.words)
    return overlap(about, two.statement.rest.words) >= _WORTH_A_LOOK


def _linked(connection: Connection, memory_id: int) -> frozenset[int]:
    found = links.of_memory(connection, memory_id)
    return frozenset(end for link in found for end in (link.source_id, link.target_id))


def _folded(tags: FieldValue | Iterable[str]) -> frozenset[str]:
    return frozenset(folded_labels(tags)) if isinstance(tags, tuple) else frozenset()


def _number(value: FieldValue) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
