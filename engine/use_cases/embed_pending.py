"""Give vectors to memories that still wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from engine.context import EngineContext
from engine.domain.errors import JiyiError, ModelUnavailable, TextRefused
from engine.domain.memory import Memory
from engine.model_clients.loaded import LoadedModel
from engine.storage import embeddings, leases, memories
from engine.storage.database import Connection
from engine.storage.embeddings import Pending
from engine.writing import memories as writing
from engine.writing.embed import Embedded, Result, embed_whole, text_of

LEASE = "pending-vectors"
_LEASE_S = 30.0
_BATCH = 16
_LONGEST_PAUSE_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of the work: how many got vectors, how many failed, and whether due ones are
    left. ``reason`` says why nothing could be done."""

    done: int = 0
    failed: int = 0
    more: bool = False
    reason: JiyiError | None = None


def embed_pending(context: EngineContext, *, wait_s: float) -> Progress:
    """Embed one batch of waiting memories with the model that the settings name, if no other
    process is at it.

    Idempotent; each memory is stored in a short transaction of its own. A failure is retried
    with growing pauses and given up, visibly, after ``vectors.max_retries``. When nothing
    waits any more the model's space is complete and serves from then on.
    """
    if not context.settings.vectors.enabled:
        return Progress()
    due = _due(context)
    if not due:
        _complete_space(context)
        return Progress()
    try:
        model = context.models.embedder(wait_s)
    except ModelUnavailable as reason:
        return Progress(reason=reason)
    if not _take_lease(context):
        return Progress()
    try:
        done, failed, stopped_by = _embed_batch(context, model, due)
    finally:
        _release_lease(context)
    more = len(due) == _BATCH and stopped_by is None
    if not more:
        _complete_space(context)
    return Progress(done, failed, more, stopped_by)


def queue_missing(context: EngineContext) -> int:
    """Queue memories that have no vectors in the current model's space; return how many.

    Reads first and writes only when there are any.
    """
    identity = context.models.identity()
    if identity is None:
        return 0
    with context.database.read() as connection:
        space_id = embeddings.find_space(connection, identity)
        if _missing(context, connection, space_id) <= 0:
            return 0
    with context.database.write() as connection:
        return embeddings.mark_missing_pending(
            connection, space_id, context.clock.now(), but_private=context.models.is_remote
        )


def _missing(context: EngineContext, connection: Connection, space_id: int | None) -> int:
    embedded = 0 if space_id is None else embeddings.count_embedded(connection, space_id)
    live = memories.count_live(connection, but_private=context.models.is_remote)
    return live - embedded - sum(embeddings.count_pending(connection))


def _complete_space(context: EngineContext) -> None:
    """Let the current model's space serve when no memory waits for it any more."""
    identity = context.models.identity()
    if identity is None:
        return
    with context.database.read() as connection:
        if embeddings.is_complete(connection, identity):
            return
        space_id = embeddings.find_space(connection, identity)
        waiting, _ = embeddings.count_pending(connection)
        if space_id is None or waiting or _missing(context, connection, space_id) > 0:
            return
    with context.database.write() as connection:
        embeddings.complete(connection, identity, context.clock.now())


def count_waiting(context: EngineContext) -> int:
    """Memories that have no vectors yet and are going to get them."""
    with context.database.read() as connection:
        return embeddings.count_pending(connection)[0]


def _due(context: EngineContext) -> list[Pending]:
    with context.database.read() as connection:
        return embeddings.due_pending(connection, context.clock.now(), _BATCH)


def _take_lease(context: EngineContext) -> bool:
    with context.database.write() as connection:
        return leases.take(connection, LEASE, context.token, context.clock.now(), _LEASE_S)


def _release_lease(context: EngineContext) -> None:
    with context.database.write() as connection:
        leases.release(connection, LEASE, context.token)


def _embed_batch(
    context: EngineContext, model: LoadedModel, due: Sequence[Pending]
) -> tuple[int, int, JiyiError | None]:
    """How many were done and how many failed. A model that cannot answer at all ends the
    batch: no text is to blame for that, and none is counted as tried."""
    with context.database.read() as connection:
        found = memories.fetch(connection, [pending.memory_id for pending in due])
    present = [pending for pending in due if pending.memory_id in found]
    results = _results(context, model, [found[pending.memory_id] for pending in present])
    done = failed = 0
    for pending, result in zip(present, results, strict=True):
        if isinstance(result, TextRefused):
            _note_failure(context, pending, result)
            failed += 1
        elif isinstance(result, ModelUnavailable):
            return done, failed, result
        else:
            memory = found[pending.memory_id]
            _store(context, memory.id, memory.content_hash, result)
            done += 1
    return done, failed, None


def _results(context: EngineContext, model: LoadedModel, wanted: Sequence[Memory]) -> list[Result]:
    """Vectors of each memory. Private ones are never sent to a provider: they have none and
    are found by their words."""
    remote = context.models.is_remote
    texts = [text_of(writing.authored(memory)) for memory in wanted]
    sent = [not (item.private and remote) for item in texts]
    made = iter(embed_whole(context, model, list(compress(texts, sent))))
    return [next(made) if goes else Embedded(model.identity, ()) for goes in sent]


def _store(context: EngineContext, memory_id: int, digest: str, embedded: Embedded) -> None:
    with context.database.write() as connection:
        leases.take(connection, LEASE, context.token, context.clock.now(), _LEASE_S)
        current = memories.fetch(connection, [memory_id]).get(memory_id)
        # Edited meanwhile: the new text waits for vectors of its own.
        if current is not None and current.content_hash == digest:
            writing.store_vectors(connection, memory_id, embedded, context.clock.now())


def _note_failure(context: EngineContext, pending: Pending, reason: JiyiError) -> None:
    settings = context.settings.vectors
    attempts = pending.attempts + 1
    pause_s = min(_LONGEST_PAUSE_S, settings.retry_base_s * 2**pending.attempts)
    given_up = str(reason) if attempts > settings.max_retries else None
    with context.database.write() as connection:
        embeddings.note_failure(
            connection, pending, context.clock.now() + pause_s, failed_reason=given_up
        )
