"""Look at the store as a whole: statistics, and whether everything is healthy."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from engine.context import EngineContext
from engine.domain.embedding import ModelStatus
from engine.domain.errors import Busy, JiyiError, ModelUnavailable, StoreUnavailable
from engine.domain.health import FAILURE, OK, WARNING, Check
from engine.storage import embeddings, integrity, processes, statistics
from engine.storage.database import SCHEMA_VERSION, sqlite_version
from engine.storage.integrity import Counts
from engine.storage.processes import STALE_AFTER_S, ProcessRow
from engine.storage.statistics import Statistics


@dataclass(frozen=True, slots=True)
class VectorState:
    """Vectors of the current model: memories that have them, wait for them, were given up."""

    embedded: int
    pending: int
    failed: int
    index_mode: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that ``jiyi doctor`` shows."""

    home: str
    store: str
    writable: bool
    store_bytes: int
    schema_version: int
    counts: Counts
    model: ModelStatus
    vectors: VectorState
    probe_ms: float | None
    versions: dict[str, str]
    processes: tuple[ProcessRow, ...]
    checks: tuple[Check, ...]

    @property
    def healthy(self) -> bool:
        """True when nothing needs a person."""
        return all(check.status != FAILURE for check in self.checks)


def collect_statistics(context: EngineContext) -> Statistics:
    """Counts by kind, state, source, workspace and tag."""
    with context.database.read() as connection:
        return statistics.collect(connection, context.clock.now())


def diagnose(
    context: EngineContext, *, wait_s: float = 10.0, more: Sequence[Check] = ()
) -> Diagnosis:
    """Look at store, index, model, settings and processes; changes nothing.

    The model is tried with a short text, waiting up to ``wait_s`` seconds for it to load.
    ``more`` are findings of others, to be reported along.
    """
    probe_ms, model_error = _probe(context, wait_s)
    database = context.database
    with database.read() as connection:
        counts = integrity.counts(connection)
        differences = integrity.fulltext_differences(connection)
        verdict = integrity.database_verdict(connection)
        vectors = _vector_state(context)
        seen = processes.seen_since(connection, context.clock.now() - STALE_AFTER_S)
    writing, own_verdict = _try_writing(context, counts)
    return Diagnosis(
        home=str(context.home),
        store=str(database.path),
        writable=database.writable,
        store_bytes=_store_bytes(context),
        schema_version=SCHEMA_VERSION,
        counts=counts,
        model=context.models.status(),
        vectors=vectors,
        probe_ms=probe_ms,
        versions=_versions(),
        processes=tuple(seen),
        checks=(
            _file_check(verdict),
            writing,
            _text_check(counts, differences, own_verdict),
            _model_check(context, model_error),
            _vector_check(vectors),
            _space_check(context, vectors, counts),
            _settings_check(context),
            *more,
        ),
    )


def open_processes(context: EngineContext) -> tuple[ProcessRow, ...]:
    """The processes that have the store open now, oldest start first."""
    with context.database.read() as connection:
        return tuple(processes.seen_since(connection, context.clock.now() - STALE_AFTER_S))


def _probe(context: EngineContext, wait_s: float) -> tuple[float | None, JiyiError | None]:
    try:
        embedder = context.models.embedder(wait_s)
        started = time.perf_counter()
        embedder.embed_query("记忆 memory", wait_s)
    except ModelUnavailable as error:
        return None, error
    return (time.perf_counter() - started) * 1000, None


def _vector_state(context: EngineContext) -> VectorState:
    identity = context.models.identity()
    with context.database.read() as connection:
        pending, failed = embeddings.count_pending(connection)
        space_id = embeddings.find_space(connection, identity) if identity else None
        embedded = 0 if space_id is None else embeddings.count_embedded(connection, space_id)
    mode = ""
    if identity is not None:
        index = context.indexes.index(identity)
        index.catch_up()
        mode = index.status().mode
    return VectorState(embedded, pending, failed, mode)


def _store_bytes(context: EngineContext) -> int:
    path = context.database.path
    files = [path, path.with_name(path.name + "-wal")]
    return sum(file.stat().st_size for file in files if file.exists())


def _versions() -> dict[str, str]:
    names = ("jiyi", "mcp", "usearch", "sqlite-utils", "numpy", "rjieba", "jieba")
    found = {"python": platform.python_version(), "sqlite": sqlite_version()}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _file_check(verdict: str) -> Check:
    if verdict == "ok":
        return Check("store", OK, "doctor.file_ok", {})
    return Check("store", FAILURE, "doctor.file_damaged", {"reason": verdict})


def _try_writing(context: EngineContext, counts: Counts) -> tuple[Check, str]:
    """Whether a transaction that writes can be begun, and what FTS5 says in it of itself;
    nothing is changed."""
    params: dict[str, object] = {"path": str(context.database.path)}
    verdict = "ok"
    try:
        with context.database.write() as connection:
            if counts.text_rows <= integrity.CHECKED_ROWS:
                verdict = integrity.fulltext_verdict(connection)
    except Busy:
        return Check("writable", WARNING, "doctor.write_busy", params), verdict
    except StoreUnavailable:
        return Check("writable", FAILURE, "doctor.readonly", params), verdict
    return Check("writable", OK, "doctor.writable", params), verdict


def _text_check(counts: Counts, differences: int, own_verdict: str) -> Check:
    params: dict[str, object] = {
        "live": counts.live,
        "rows": counts.text_rows,
        "differences": differences,
    }
    if counts.agree and differences == 0 and own_verdict == "ok":
        return Check("fulltext", OK, "doctor.text_ok", params)
    if counts.agree and differences == 0:
        return Check("fulltext", FAILURE, "doctor.text_damaged", {"reason": own_verdict})
    return Check("fulltext", FAILURE, "doctor.text_differs", params)


def _model_check(context: EngineContext, error: JiyiError | None) -> Check:
    status = context.models.status()
    params: dict[str, object] = {"model": status.model, "dims": status.dims}
    if error is None:
        return Check("model", OK, "doctor.model_ready", params)
    if status.state == "off":
        return Check("model", WARNING, "doctor.model_off", params)
    return Check("model", FAILURE, "doctor.model_unavailable", params | {"reason": error})


def _vector_check(vectors: VectorState) -> Check:
    params: dict[str, object] = {
        "embedded": vectors.embedded,
        "pending": vectors.pending,
        "failed": vectors.failed,
    }
    if vectors.failed:
        return Check("vectors", FAILURE, "doctor.vectors_failed", params)
    if vectors.pending:
        return Check("vectors", WARNING, "doctor.vectors_pending", params)
    return Check("vectors", OK, "doctor.vectors_ok", params)


def _space_check(context: EngineContext, vectors: VectorState, counts: Counts) -> Check:
    """Whether the model that the settings name answers, or still an older one."""
    chosen, serving = context.models.identity(), context.serving().identity()
    params: dict[str, object] = {"embedded": vectors.embedded, "live": counts.live}
    if chosen is None or serving is None or chosen == serving:
        return Check("space", OK, "doctor.space_ok", params)
    return Check("space", WARNING, "doctor.space_changing", params | {"serving": serving.model})


def _settings_check(context: EngineContext) -> Check:
    problem = context.live.problem
    if problem is None:
        return Check("settings", OK, "doctor.settings_ok", {})
    return Check("settings", FAILURE, "doctor.settings_broken", {"reason": problem})
