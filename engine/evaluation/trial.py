"""A store of its own for a set, kept and used again.

It lies in a folder named by everything that decides what is written: the set's memories, the
code and rules that derive layers from a text, the settings that these read, the schema. So it is
either exactly what would be written now, or another one is made; vectors of equal texts then come
from the older one, because they are the slow part.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import tzinfo
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import groupby
from pathlib import Path
from typing import Protocol

from engine.config.schema import Settings
from engine.domain.clock import SystemClock
from engine.domain.errors import Busy, JiyiError
from engine.domain.times import day
from engine.evaluation.dataset import EvaluationSet, GoldQuery, Record
from engine.evaluation.runner import Found, Progress
from engine.evaluation.search import Pooled
from engine.retrieval.facts import Facts, QueryFacts
from engine.storage import embeddings, leases, spare_vectors, trials
from engine.storage.database import FILE_NAME, SCHEMA_VERSION, Database, connect

BATCH = 200
LEASE = "evaluation"
_LEASE_S = 120.0
_KEPT = 2
_BUSY_TIMEOUT_S = 5.0
_DAY_S = 86_400.0
# What a set without times is written at, so that its figures are the same on every day.
_TIMELESS = 1_735_689_600.0
# Sections of the settings that change how a question is answered, not what is stored.
_ASKING = frozenset(
    {"recall", "embedding", "vectors", "intent", "diversity", "rerank", "cache", "context"}
    | {"briefing", "mcp", "log", "storage", "language"}
)
# What derives the layers of a memory from its text.
_WRITING = (
    ("engine", ("domain", "language", "extraction", "lifecycle", "storage", "writing")),
    ("assets", ("language", "rules")),
)


class TrialClock:
    """A clock that stands where it was put; before that, and after ``run``, the machine's."""

    def __init__(self) -> None:
        self._machine = SystemClock()
        self._at: float | None = None

    def now(self) -> float:
        """Seconds since the Unix epoch, UTC."""
        return self._machine.now() if self._at is None else self._at

    def stand(self, at: float) -> None:
        """Stand at this moment."""
        self._at = at

    def run(self) -> None:
        """Follow the machine's clock."""
        self._at = None


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """A question to a store: for ``k`` results of one workspace (empty: of all), of what was
    written up to the memory ``up_to_id``, ranked by ``preset`` (``None``: the configured one)."""

    query: str
    workspace: str
    k: int
    mode: str = "auto"
    preset: str | None = None
    up_to_id: int | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """A way to answer that is measured: a preset (``None``: the configured one), a mode of
    recall, and how many results are asked for."""

    preset: str | None = None
    mode: str = "auto"
    k: int = 10

    @property
    def uses_vectors(self) -> bool:
        """Whether vectors take part."""
        return self.mode != "keyword"

    def question(self, query: GoldQuery, up_to_id: int | None = None) -> TrialQuestion:
        """The question as it is put to a store."""
        return TrialQuestion(query.query, query.space, self.k, self.mode, self.preset, up_to_id)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What ranking knows of a question and its candidates; ``refs`` by the candidates' ids."""

    facts: tuple[Facts, ...]
    asked: QueryFacts
    refs: Mapping[int, str]


class TrialStore(Protocol):
    """An open store as evaluation uses it."""

    @property
    def database(self) -> Database:
        """Its file."""
        ...

    def write(self, records: Sequence[Record]) -> None:
        """Write records in order, in one transaction, at the clock's time."""
        ...

    def embed(self, on_progress: Progress) -> JiyiError | None:
        """Give every memory its vectors; the reason when that did not come to its end."""
        ...

    def load_model(self) -> JiyiError | None:
        """Have the model ready to answer; the reason when there is none."""
        ...

    def load_queries(self, path: Path) -> None:
        """Remember the vectors of questions that were kept in a file."""
        ...

    def keep_queries(self, path: Path) -> None:
        """Keep the vectors of the questions asked."""
        ...

    def ask(self, question: TrialQuestion) -> Found:
        """Answer, with the references that the records had."""
        ...

    def candidates(self, question: TrialQuestion) -> Candidates:
        """What ranking knows of every candidate, before it orders them."""
        ...


OpenTrial = Callable[[Path, TrialClock, bool], AbstractContextManager[TrialStore]]
"""Opens the store in a folder, with a clock; without vectors when the last argument is false."""


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """What a trial store is made of beside the set: where stores are kept, the settings and the
    zone in force, and how a store is opened."""

    folder: Path
    settings: Settings
    zone: tzinfo | None
    open_trial: OpenTrial

    def home_of(self, chosen: EvaluationSet) -> Path:
        """The folder of the set's store."""
        name = re.sub(r"[^\w.-]+", "_", chosen.name)[:60] or "set"
        return self.folder / f"{name}-{_key(chosen, self.settings, self.zone)}"


@dataclass(frozen=True, slots=True)
class Asking:
    """Questions and the store that answers them: ``question`` is how one is put to it. ``problem``
    is why some memories have no vectors."""

    store: TrialStore
    part: EvaluationSet
    question: Callable[[Setup, GoldQuery], TrialQuestion]
    problem: JiyiError | None = None

    def ask(self, setup: Setup, query: GoldQuery) -> Found:
        """The answer to a question."""
        return self.store.ask(self.question(setup, query))

    def pooled(self, setup: Setup, query: GoldQuery) -> Pooled:
        """The candidates of a question."""
        found = self.store.candidates(self.question(setup, query))
        return Pooled(query, found.facts, found.asked, found.refs)


Stage = Callable[[str, int, int], None]
"""Told the name of a stage (``write``, ``embed``, ``ask``), how much is done, and of how much."""


@contextmanager
def prepared(
    parts: TrialSettings,
    whole: EvaluationSet,
    chosen: EvaluationSet,
    setups: Sequence[Setup],
    on_stage: Stage,
) -> Iterator[Asking]:
    """The store of the set ``whole``, open, with everything that the questions of ``chosen``, a
    part of it, need. Work that was interrupted is taken up where it stopped.

    Raises :class:`Busy` while another process prepares the same store.
    """
    home, clock = parts.home_of(whole), TrialClock()
    home.mkdir(parents=True, exist_ok=True)
    with parts.open_trial(home, clock, True) as store:
        with _held(store.database, whole.name) as renew:
            if _missing(store.database, chosen):
                # Vectors are made afterwards, across all texts.
                with parts.open_trial(home, clock, False) as writer:
                    _write(writer, clock, parts.zone, chosen, _renewing(on_stage, renew, "write"))
            clock.run()
            wants_vectors = any(setup.uses_vectors for setup in setups)
            problem = None
            if wants_vectors:
                problem = _embed(store, home, _renewing(on_stage, renew, "embed"))
        _remove_older(home)
        moments = _Moments(store.database, clock, chosen)
        with _kept_queries(store, home) if wants_vectors else nullcontext():
            yield Asking(store, chosen, moments.question, problem)


@contextmanager
def _kept_queries(store: TrialStore, home: Path) -> Iterator[None]:
    """The vectors of questions are the slow part of asking: they are kept as well."""
    path = home.with_name(f"{home.name.rpartition('-')[0]}.questions.npz")
    store.load_queries(path)
    try:
        yield
    finally:
        store.keep_queries(path)


class _Moments:
    """Puts questions to a store at the moments at which the set asks them."""

    def __init__(self, database: Database, clock: TrialClock, chosen: EvaluationSet) -> None:
        self._clock = clock
        self._records = _by_space(chosen)
        self._ids: dict[str, list[int]] = {}
        if chosen.is_dated_by_place:
            with database.read() as connection:
                self._ids = {s: trials.memory_ids(connection, s) for s in chosen.spaces}

    def question(self, setup: Setup, query: GoldQuery) -> TrialQuestion:
        """The question as it is put to the store; moves the clock to its moment."""
        self._clock.stand(self._moment(query))
        return setup.question(query, self._up_to(query))

    def _moment(self, query: GoldQuery) -> float:
        """When it is asked, else a day after the newest of what it may see."""
        if query.asked_at is not None:
            return query.asked_at
        seen = self._records[query.space][: query.visible]
        return max((r.at for r in seen if r.at is not None), default=_TIMELESS) + _DAY_S

    def _up_to(self, query: GoldQuery) -> int | None:
        if query.visible is None:
            return None
        seen = self._ids[query.space][: query.visible]
        return seen[-1] if seen else 0


def _key(chosen: EvaluationSet, settings: Settings, zone: tzinfo | None) -> str:
    digest = hashlib.sha256(f"{SCHEMA_VERSION} {zone} {chosen.is_dated_by_place}".encode())
    digest.update(settings.model_dump_json(exclude=set(_ASKING)).encode("utf-8"))
    for record in chosen.records:
        digest.update(repr(record).encode("utf-8", "backslashreplace"))
    for package, folders in _WRITING:
        for folder in folders:
            _add_files(digest, files(package) / folder)
    return digest.hexdigest()[:12]


def _add_files(digest: hashlib._Hash, folder: Traversable) -> None:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                _add_files(digest, entry)
        elif entry.name.endswith((".py", ".toml", ".txt", ".sql")):
            digest.update(entry.name.encode("utf-8") + entry.read_bytes())


@contextmanager
def _held(database: Database, name: str) -> Iterator[Callable[[], None]]:
    """The right to prepare a store; the callable renews it."""
    holder, machine = uuid.uuid4().hex, SystemClock()

    def renew() -> None:
        with database.write() as connection:
            if not leases.take(connection, LEASE, holder, machine.now(), _LEASE_S):
                raise Busy("error.eval_busy", name=name)

    renew()
    try:
        yield renew
    finally:
        with database.write() as connection:
            leases.release(connection, LEASE, holder)


def _renewing(on_stage: Stage, renew: Callable[[], None], stage: str) -> Progress:
    machine = SystemClock()
    renewed_at = [machine.now()]

    def show(done: int, total: int) -> None:
        if machine.now() - renewed_at[0] > _LEASE_S / 4:
            renew()
            renewed_at[0] = machine.now()
        on_stage(stage, done, total)

    return show


def _by_space(chosen: EvaluationSet) -> dict[str, list[Record]]:
    """The records of each space in the order in which they are written: that of time, except
    where questions count the memories before them."""
    spaces: dict[str, list[Record]] = {space: [] for space in chosen.spaces}
    for record in chosen.records:
        spaces[record.space].append(record)
    if not chosen.is_dated_by_place:
        for records in spaces.values():
            records.sort(key=lambda record: _TIMELESS if record.at is None else record.at)
    return spaces


def _missing(database: Database, chosen: EvaluationSet) -> int:
    with database.read() as connection:
        written = sum(len(trials.memory_ids(connection, space)) for space in chosen.spaces)
    return len(chosen.records) - written


def _write(
    store: TrialStore,
    clock: TrialClock,
    zone: tzinfo | None,
    chosen: EvaluationSet,
    show: Progress,
) -> None:
    """Write what is not there yet, a day of a space at a time: batches are whole or not at all,
    so the count of what is there says where to go on."""
    spaces = _by_space(chosen)
    with store.database.read() as connection:
        there = {space: len(trials.memory_ids(connection, space)) for space in spaces}
    done = sum(there.values())
    for space, records in spaces.items():
        for batch in _batches(records[there[space] :], zone):
            clock.stand(max(_TIMELESS if r.at is None else r.at for r in batch))
            store.write(batch)
            done += len(batch)
            show(done, len(chosen.records))


def _batches(records: Sequence[Record], zone: tzinfo | None) -> Iterator[Sequence[Record]]:
    for _, group in groupby(records, lambda r: "" if r.at is None else day(r.at, zone)):
        same_day = list(group)
        for start in range(0, len(same_day), BATCH):
            yield same_day[start : start + BATCH]


def _embed(store: TrialStore, home: Path, show: Progress) -> JiyiError | None:
    with store.database.read() as connection:
        waiting = embeddings.count_pending(connection) != (0, 0)
    if waiting:
        _borrow(store.database, home)
    problem = store.embed(show)
    if waiting:
        with store.database.write() as connection:
            spare_vectors.give_back(connection)
    return problem


def _borrow(database: Database, home: Path) -> None:
    for donor in _siblings(home):
        with closing(connect(donor / FILE_NAME, _BUSY_TIMEOUT_S, writable=False)) as lender:
            rows = list(spare_vectors.lent(lender))
        with database.write() as connection:
            spare_vectors.borrow(connection, rows, SystemClock().now())


def _siblings(home: Path) -> list[Path]:
    """Older stores of the same set, the one used last first."""
    name = re.escape(home.name.rpartition("-")[0])
    found = [
        folder
        for folder in home.parent.iterdir()
        if re.fullmatch(f"{name}-[0-9a-f]{{12}}", folder.name)
        and folder != home
        and (folder / FILE_NAME).exists()
    ]
    return sorted(found, key=lambda folder: -(folder / FILE_NAME).stat().st_mtime)


def _remove_older(home: Path) -> None:
    for folder in _siblings(home)[_KEPT - 1 :]:
        # Another process may have it open; then a later run removes it.
        shutil.rmtree(folder, ignore_errors=True)
