"""Stores as evaluation uses them: the one at hand, and those that it makes for its sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from engine.config.file import read_bytes
from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import JiyiError
from engine.domain.memory import Memory
from engine.domain.scope import Filters, Scope
from engine.domain.vocabulary import CONVERSATION, IMPORT
from engine.evaluation.dataset import TURN, Record
from engine.evaluation.runner import Found, Progress
from engine.evaluation.trial import Candidates, TrialClock, TrialQuestion
from engine.model_clients.query_file import read_queries, write_queries
from engine.storage import memories
from engine.storage.database import Database
from engine.use_cases.memorize import MemorizeRequest, memorize_many
from engine.use_cases.models import EmbeddedAll
from engine.use_cases.readiness import load_model
from engine.use_cases.recall import RecallRequest, ranking_of, recall

_MODEL_WAIT_S = 60.0
# Every question of a set is remembered; a person's machine need not.
_WITH_VECTORS = {"JIYI_EMBEDDING__CACHE_SIZE": "20000"}
_WITHOUT_VECTORS = {"JIYI_VECTORS__ENABLED": "false"}


class OpenStore(Protocol):
    """What is used of an engine."""

    @property
    def context(self) -> EngineContext:
        """Its parts."""
        ...

    def embed_all(self, on_progress: Callable[[int, int], bool]) -> EmbeddedAll:
        """Give every memory its vectors."""
        ...


class Opener(Protocol):
    """Opens an engine."""

    def __call__(
        self, home: Path, *, environ: dict[str, str], clock: TrialClock, cache: Path
    ) -> AbstractContextManager[OpenStore]: ...


@contextmanager
def open_trial(
    opener: Opener, context: EngineContext, folder: Path, clock: TrialClock, with_vectors: bool
) -> Iterator[_Store]:
    """The store in ``folder``, with the settings of ``context`` and the models that it has;
    without vectors when those are to be made later."""
    content = read_bytes(context.live.path)
    if content is not None:
        (folder / context.live.path.name).write_bytes(content)
    own = _WITH_VECTORS if with_vectors else _WITHOUT_VECTORS
    environ = {**context.live.environ, **own}
    cache = context.models_folder.parent
    with opener(folder, environ=environ, clock=clock, cache=cache) as engine:
        yield _Store(engine, lambda memory: memory.source_ref or "")


def store_at_hand(engine: OpenStore) -> _Store:
    """The store of an engine; its memories are called by their uid."""
    return _Store(engine, lambda memory: memory.uid)


class _Store:
    """See :class:`engine.evaluation.trial.TrialStore`; ``name_of`` is what a memory is called."""

    def __init__(self, engine: OpenStore, name_of: Callable[[Memory], str]) -> None:
        self._engine = engine
        self._name_of = name_of

    @property
    def database(self) -> Database:
        return self._engine.context.database

    def write(self, records: Sequence[Record]) -> None:
        requests = [_memorized(record) for record in records]
        memorize_many(self._engine.context, requests, Caller("eval"))

    def embed(self, on_progress: Progress) -> JiyiError | None:
        def show(done: int, total: int) -> bool:
            on_progress(done, total)
            return True

        return self._engine.embed_all(show).reason

    def load_model(self) -> JiyiError | None:
        return load_model(self._engine.context, _MODEL_WAIT_S)

    def load_queries(self, path: Path) -> None:
        host = self._engine.context.serving()
        identity = host.identity()
        if identity is not None:
            host.remember_queries(read_queries(path, identity.key))

    def keep_queries(self, path: Path) -> None:
        host = self._engine.context.serving()
        identity = host.identity()
        if identity is not None:
            write_queries(path, identity.key, host.known_queries())

    def ask(self, question: TrialQuestion) -> Found:
        started = time.perf_counter()
        result = recall(self._engine.context, _recalled(question))
        took_ms = (time.perf_counter() - started) * 1000
        return Found(
            refs=tuple(self._name_of(hit.memory) for hit in result.hits),
            took_ms=took_ms - result.stages_ms.get("embed", 0.0),
            stages_ms=result.stages_ms,
            degraded=tuple(item.reason for item in result.degraded),
        )

    def candidates(self, question: TrialQuestion) -> Candidates:
        ranking = ranking_of(self._engine.context, _recalled(question))
        pool = ranking.columns.pool
        with self.database.read() as connection:
            found = memories.fetch(connection, [facts.id for facts in pool])
        names = {memory_id: self._name_of(memory) for memory_id, memory in found.items()}
        return Candidates(pool, ranking.query, names)


def _memorized(record: Record) -> MemorizeRequest:
    """A record of a set as it is remembered; sessions of two spaces are two."""
    fields: dict[str, object] = {
        "text": record.text,
        "source_ref": record.ref,
        "source": CONVERSATION if record.kind == TURN else IMPORT,
        "event_time": record.at,
        "participants": [record.who] if record.who else [],
    }
    session = f"{record.space}/{record.session}" if record.session else None
    # Sets repeat themselves, and nobody reads what would be said of it.
    return MemorizeRequest(
        fields, workspace=record.space or None, session_id=session, on_conflict="ignore"
    )


def _recalled(question: TrialQuestion) -> RecallRequest:
    within = question.workspace
    scope = Scope("workspace", within, exact=True) if within else Scope()
    return RecallRequest(
        question.query,
        k=question.k,
        filters=Filters(scope=scope, up_to_id=question.up_to_id),
        mode=question.mode,
        preset=question.preset,
        touch=False,
    )
