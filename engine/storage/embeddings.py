"""Embedded pieces of memories, the spaces they live in, and what still waits for a vector.

Vectors are stored as little-endian float16, L2-normalised. The store is their only truth;
every index over them is derived.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.domain.embedding import SpaceIdentity
from engine.storage.database import Connection

MEMORY = "memory"
_LIVE_PIECES = """SELECT p.id, p.owner_id, p.vector FROM piece p
    JOIN memory m ON m.id = p.owner_id
    WHERE p.space_id = :space_id AND p.owner_kind = 'memory' AND m.deleted_at IS NULL"""
_IDS_PER_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class EmbeddedPiece:
    """A stretch ``[start, end)`` of a text with its vector (float16 bytes)."""

    start: int
    end: int
    content_hash: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class StoredVector:
    """One stored piece: its id (the index key), its memory and its float16 bytes."""

    piece_id: int
    owner_id: int
    vector: bytes


@dataclass(frozen=True, slots=True)
class Pending:
    """A memory that waits for its vectors."""

    memory_id: int
    attempts: int


def find_space(connection: Connection, identity: SpaceIdentity) -> int | None:
    """The row id of a space, or ``None`` before its first vector."""
    row = connection.execute("SELECT id FROM space WHERE key = ?", (identity.key,)).fetchone()
    return int(row[0]) if row else None


def ensure_space(connection: Connection, identity: SpaceIdentity, now: float) -> int:
    """The row id of a space, made when there is none.

    The first space of a store is complete from the start: there is no other that could serve
    meanwhile.
    """
    found = find_space(connection, identity)
    if found is not None:
        return found
    cursor = connection.execute(
        """INSERT INTO space (key, dims, created_at, completed_at)
        SELECT :key, :dims, :now, CASE WHEN EXISTS (SELECT 1 FROM piece) THEN NULL ELSE :now END""",
        {"key": identity.key, "dims": identity.dims, "now": now},
    )
    return int(cursor.lastrowid or 0)


def is_complete(connection: Connection, identity: SpaceIdentity) -> bool:
    """Whether every memory had its vectors in this space once: then it can serve."""
    row = connection.execute(
        "SELECT completed_at FROM space WHERE key = ?", (identity.key,)
    ).fetchone()
    return row is not None and row[0] is not None


def complete_spaces(connection: Connection) -> list[SpaceIdentity]:
    """Spaces that can serve, the one completed last first."""
    rows = connection.execute(
        "SELECT key FROM space WHERE completed_at IS NOT NULL ORDER BY completed_at DESC, id DESC"
    )
    return [SpaceIdentity.from_key(row[0]) for row in rows]


def complete(connection: Connection, identity: SpaceIdentity, now: float) -> None:
    """Note that a space can serve from now on."""
    connection.execute(
        "UPDATE space SET completed_at = ? WHERE key = ? AND completed_at IS NULL",
        (now, identity.key),
    )


def replace_pieces(
    connection: Connection, memory_id: int, space_id: int, pieces: Sequence[EmbeddedPiece]
) -> None:
    """Set the pieces of a memory in one space; it no longer waits for vectors."""
    connection.execute(
        "DELETE FROM piece WHERE owner_kind = ? AND owner_id = ? AND space_id = ?",
        (MEMORY, memory_id, space_id),
    )
    connection.executemany(
        """INSERT INTO piece
        (owner_kind, owner_id, start_offset, end_offset, space_id, content_hash, vector)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        [(MEMORY, memory_id, p.start, p.end, space_id, p.content_hash, p.vector) for p in pieces],
    )
    clear_pending(connection, memory_id)


def copy_pieces(connection: Connection, memory_id: int, copy_id: int) -> None:
    """Give a copy of a memory the pieces of the original, byte for byte, and its place among
    those that wait for vectors."""
    connection.execute(
        """INSERT INTO piece
        (owner_kind, owner_id, start_offset, end_offset, space_id, content_hash, vector)
        SELECT owner_kind, :copy_id, start_offset, end_offset, space_id, content_hash, vector
        FROM piece WHERE owner_kind = 'memory' AND owner_id = :memory_id ORDER BY id""",
        {"memory_id": memory_id, "copy_id": copy_id},
    )
    connection.execute(
        """INSERT INTO pending_embedding
        (owner_kind, owner_id, attempts, next_attempt_at, failed_reason)
        SELECT owner_kind, :copy_id, attempts, next_attempt_at, failed_reason
        FROM pending_embedding WHERE owner_kind = 'memory' AND owner_id = :memory_id""",
        {"memory_id": memory_id, "copy_id": copy_id},
    )


def remove_pieces(connection: Connection, memory_id: int) -> None:
    """Remove a memory's pieces from every space (its text changed or it is erased)."""
    connection.execute(
        "DELETE FROM piece WHERE owner_kind = ? AND owner_id = ?", (MEMORY, memory_id)
    )


def vectors_by_hash(
    connection: Connection, space_id: int, hashes: Sequence[str]
) -> dict[str, bytes]:
    """Vectors that equal texts already have in this space."""
    found: dict[str, bytes] = {}
    for content_hash in hashes:
        row = connection.execute(
            "SELECT vector FROM piece WHERE space_id = ? AND content_hash = ? LIMIT 1",
            (space_id, content_hash),
        ).fetchone()
        if row:
            found[content_hash] = row[0]
    return found


def live_vectors(connection: Connection, space_id: int) -> Iterable[StoredVector]:
    """Every piece of a memory that is not in the trash, in the order of piece ids."""
    rows = connection.execute(f"{_LIVE_PIECES} ORDER BY p.id", {"space_id": space_id})
    return (StoredVector(*row) for row in rows)


def live_vectors_of(
    connection: Connection, space_id: int, memory_ids: Sequence[int]
) -> list[StoredVector]:
    """The pieces of these memories, without those in the trash."""
    found: list[StoredVector] = []
    for start in range(0, len(memory_ids), _IDS_PER_STATEMENT):
        run = ",".join(str(int(i)) for i in memory_ids[start : start + _IDS_PER_STATEMENT])
        rows = connection.execute(
            f"{_LIVE_PIECES} AND p.owner_id IN ({run})", {"space_id": space_id}
        )
        found.extend(StoredVector(*row) for row in rows)
    return found


def count_live(connection: Connection, space_id: int) -> int:
    """Number of pieces that :func:`live_vectors` yields."""
    row = connection.execute(
        f"SELECT count(*) FROM ({_LIVE_PIECES})", {"space_id": space_id}
    ).fetchone()
    return int(row[0])


def count_embedded(connection: Connection, space_id: int) -> int:
    """Number of memories outside the trash that have vectors in this space."""
    row = connection.execute(
        """SELECT count(DISTINCT p.owner_id) FROM piece p JOIN memory m ON m.id = p.owner_id
        WHERE p.space_id = ? AND p.owner_kind = 'memory' AND m.deleted_at IS NULL""",
        (space_id,),
    ).fetchone()
    return int(row[0])


def mark_pending(connection: Connection, memory_id: int, now: float) -> None:
    """Note that a memory waits for its vectors, to be tried from now on."""
    connection.execute(
        """INSERT OR REPLACE INTO pending_embedding
        (owner_kind, owner_id, attempts, next_attempt_at) VALUES (?, ?, 0, ?)""",
        (MEMORY, memory_id, now),
    )


def mark_missing_pending(
    connection: Connection, space_id: int | None, now: float, *, but_private: bool = False
) -> int:
    """Queue every memory outside the trash that has no piece in this space, on request without
    private ones; return how many."""
    cursor = connection.execute(
        """INSERT OR IGNORE INTO pending_embedding
        (owner_kind, owner_id, attempts, next_attempt_at)
        SELECT 'memory', m.id, 0, :now FROM memory m WHERE m.deleted_at IS NULL AND NOT EXISTS
        (SELECT 1 FROM piece p WHERE p.owner_kind = 'memory' AND p.owner_id = m.id
         AND p.space_id = :space_id) AND NOT (m.private AND :but_private)""",
        {"now": now, "space_id": space_id, "but_private": but_private},
    )
    return cursor.rowcount


def mark_pending_unless_embedded(
    connection: Connection, memory_id: int, space_id: int | None, now: float
) -> None:
    """Queue a memory that came back and has no piece in this space; one that already waits
    keeps its place."""
    connection.execute(
        """INSERT OR IGNORE INTO pending_embedding
        (owner_kind, owner_id, attempts, next_attempt_at)
        SELECT 'memory', :memory_id, 0, :now WHERE NOT EXISTS (SELECT 1 FROM piece
         WHERE owner_kind = 'memory' AND owner_id = :memory_id AND space_id = :space_id)""",
        {"memory_id": memory_id, "space_id": space_id, "now": now},
    )


def clear_pending(connection: Connection, memory_id: int) -> None:
    """A memory no longer waits for vectors."""
    connection.execute(
        "DELETE FROM pending_embedding WHERE owner_kind = ? AND owner_id = ?",
        (MEMORY, memory_id),
    )


def due_pending(connection: Connection, now: float, limit: int) -> list[Pending]:
    """Waiting memories whose next attempt is due, oldest memory first; failed ones are not."""
    rows = connection.execute(
        """SELECT e.owner_id, e.attempts FROM pending_embedding e
        JOIN memory m ON m.id = e.owner_id WHERE e.owner_kind = 'memory'
        AND e.failed_reason IS NULL AND e.next_attempt_at <= :now AND m.deleted_at IS NULL
        ORDER BY e.owner_id LIMIT :row_limit""",
        {"now": now, "row_limit": limit},
    )
    return [Pending(*row) for row in rows]


def note_failure(
    connection: Connection, pending: Pending, next_attempt_at: float, failed_reason: str | None
) -> None:
    """Count a failed attempt; with a reason the memory is given up until a repair."""
    connection.execute(
        """UPDATE pending_embedding SET attempts = :attempts, next_attempt_at = :next_attempt_at,
        failed_reason = :failed_reason WHERE owner_kind = 'memory' AND owner_id = :memory_id""",
        {
            "attempts": pending.attempts + 1,
            "next_attempt_at": next_attempt_at,
            "failed_reason": failed_reason,
            "memory_id": pending.memory_id,
        },
    )


def retry_failed(connection: Connection, now: float) -> int:
    """Let memories that were given up be tried again; return how many."""
    cursor = connection.execute(
        """UPDATE pending_embedding SET attempts = 0, next_attempt_at = ?, failed_reason = NULL
        WHERE failed_reason IS NOT NULL""",
        (now,),
    )
    return cursor.rowcount


def count_pending(connection: Connection) -> tuple[int, int]:
    """Memories that wait for vectors, and those that were given up."""
    row = connection.execute(
        """SELECT count(*) FILTER (WHERE e.failed_reason IS NULL),
        count(*) FILTER (WHERE e.failed_reason IS NOT NULL)
        FROM pending_embedding e JOIN memory m ON m.id = e.owner_id WHERE m.deleted_at IS NULL"""
    ).fetchone()
    return int(row[0]), int(row[1])
