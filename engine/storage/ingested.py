"""Documents that became memories: what each held when it was last read, and its chunks."""

from __future__ import annotations

from dataclasses import dataclass

from engine.storage.database import Connection

SOURCE = "ingest"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What a document held (its hash) when it was read, and when (epoch seconds)."""

    content_hash: str
    at: float


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A memory that is a chunk of a document, outside the trash."""

    memory_id: int
    content_hash: str
    source_ref: str


def reference(path: str, heading: str = "") -> str:
    """Where a chunk comes from: ``path#heading``. A ``#`` of the path itself is written as in
    addresses, so that no path begins with another one's reference."""
    return f"{path.replace('#', '%23')}#{heading}" if heading else path.replace("#", "%23")


def find(connection: Connection, workspace: str, path: str) -> ReadFile | None:
    """What is known of a document in a workspace."""
    row = connection.execute(
        """SELECT f.content_hash, f.at FROM ingested_file f
        JOIN workspace w ON w.id = f.workspace_id
        WHERE w.name = :workspace AND f.path = :path""",
        {"workspace": workspace, "path": path},
    ).fetchone()
    return None if row is None else ReadFile(row[0], row[1])


def put(connection: Connection, workspace_id: int, path: str, read: ReadFile) -> None:
    """Note what a document holds."""
    connection.execute(
        """INSERT INTO ingested_file (workspace_id, path, content_hash, at)
        VALUES (:workspace_id, :path, :content_hash, :at)
        ON CONFLICT (workspace_id, path)
        DO UPDATE SET content_hash = excluded.content_hash, at = excluded.at""",
        {
            "workspace_id": workspace_id,
            "path": path,
            "content_hash": read.content_hash,
            "at": read.at,
        },
    )


def chunks(connection: Connection, workspace: str, path: str) -> list[StoredChunk]:
    """The memories that are chunks of a document, oldest first."""
    rows = connection.execute(
        """SELECT m.id, m.content_hash, b.source_ref FROM memory m
        JOIN memory_body b ON b.memory_id = m.id JOIN workspace w ON w.id = m.workspace_id
        WHERE m.source = :source AND w.name = :workspace AND m.deleted_at IS NULL
        AND (b.source_ref = :whole
            OR substr(b.source_ref, 1, length(:whole) + 1) = :whole || '#')
        ORDER BY m.id""",
        {"source": SOURCE, "workspace": workspace, "whole": reference(path)},
    )
    return [StoredChunk(row[0], row[1], row[2]) for row in rows]


def was_undone(connection: Connection, at: float) -> bool:
    """Whether any change of memories that was made at this moment was taken back since."""
    row = connection.execute(
        """SELECT EXISTS (SELECT 1 FROM journal back JOIN journal made ON made.id = back.undoes
        WHERE back.undoes IS NOT NULL AND made.at = :at AND made.subject_kind = 'memory')""",
        {"at": at},
    ).fetchone()
    return bool(row[0])
