"""From text to stored pieces: equal texts of one space are embedded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable
from engine.domain.text import content_hash
from engine.model_clients.pieces import Piece, split_pieces
from engine.model_clients.protocol import Embedder
from engine.storage import embeddings
from engine.storage.embeddings import EmbeddedPiece

# A text of more pieces is left to the background: a writer should not wait for it.
INLINE_PIECES = 8


@dataclass(frozen=True, slots=True)
class Embedded:
    """The pieces of one text in one space."""

    identity: SpaceIdentity
    pieces: tuple[EmbeddedPiece, ...]


def embed_now(
    context: EngineContext, texts: Sequence[str], wait_s: float
) -> tuple[list[Embedded | None], ModelUnavailable | None]:
    """Embed texts with the model that serves, while their writer waits.

    A text is ``None`` when it must be left pending: it is long, or there is no model within
    ``wait_s`` seconds, or the model failed; then the reason comes along.
    """
    if not context.settings.vectors.enabled:
        return [None] * len(texts), ModelUnavailable("error.model_off")
    try:
        embedder = context.serving().embedder(wait_s)
    except ModelUnavailable as reason:
        return [None] * len(texts), reason
    cuts = [split_pieces(text, context.settings.embedding.piece_chars) for text in texts]
    short = [
        (text, pieces) if len(pieces) <= INLINE_PIECES else (text, [])
        for text, pieces in zip(texts, cuts, strict=True)
    ]
    try:
        done = _embed(context, embedder, short)
    except ModelUnavailable as reason:
        # One refused text must cost neither itself nor its neighbours: the background tries
        # them one by one.
        return [None] * len(texts), reason
    return [
        embedded if len(pieces) <= INLINE_PIECES else None
        for embedded, pieces in zip(done, cuts, strict=True)
    ], None


def embed_whole(context: EngineContext, embedder: Embedder, text: str) -> Embedded:
    """Embed one text however long it is, in batches."""
    pieces = split_pieces(text, context.settings.embedding.piece_chars)
    return _embed(context, embedder, [(text, pieces)])[0]


def _embed(
    context: EngineContext, embedder: Embedder, cuts: Sequence[tuple[str, Sequence[Piece]]]
) -> list[Embedded]:
    parts = {
        content_hash(text[piece.start : piece.end]): text[piece.start : piece.end]
        for text, pieces in cuts
        for piece in pieces
    }
    vectors = _known(context, embedder.identity, list(parts))
    missing = [key for key in parts if key not in vectors]
    batch_size = context.settings.embedding.batch_size
    for start in range(0, len(missing), batch_size):
        keys = missing[start : start + batch_size]
        matrix = embedder.embed_passages([parts[key] for key in keys])
        rows = matrix.astype("<f2")
        vectors.update((key, row.tobytes()) for key, row in zip(keys, rows, strict=True))
    return [_assembled(embedder.identity, text, pieces, vectors) for text, pieces in cuts]


def _known(
    context: EngineContext, identity: SpaceIdentity, hashes: Sequence[str]
) -> dict[str, bytes]:
    with context.database.read() as connection:
        space_id = embeddings.find_space(connection, identity)
        if space_id is None:
            return {}
        return embeddings.vectors_by_hash(connection, space_id, hashes)


def _assembled(
    identity: SpaceIdentity, text: str, pieces: Sequence[Piece], vectors: dict[str, bytes]
) -> Embedded:
    stored = []
    for piece in pieces:
        key = content_hash(text[piece.start : piece.end])
        stored.append(EmbeddedPiece(piece.start, piece.end, key, vectors[key]))
    return Embedded(identity, tuple(stored))
