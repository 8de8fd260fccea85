"""The atom tables: facts, the memories that state them, and their full-text rows.

An atom is indexed until it is forgotten; searches choose by its state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

from engine.domain.atom import Atom
from engine.domain.errors import StorageDamaged
from engine.storage import fulltext
from engine.storage.database import Connection, Row
from engine.storage.fulltext import ATOMS, Match, Tokens

Value: TypeAlias = str | float | int | None

LIVING = ("active", "expired", "dormant")
"""States in which stating a fact again means the same atom."""

_COLUMNS = tuple(field.name for field in fields(Atom) if field.name != "mentions")
_SELECT = (
    "SELECT {}, (SELECT count(*) FROM atom_mention n WHERE n.atom_id = a.id) FROM atom a".format(
        ", ".join(f"a.{name}" for name in _COLUMNS)
    )
)
_IDS_PER_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class NewAtom:
    """What :func:`insert` writes; see :class:`engine.domain.atom.Atom`."""

    workspace_id: int
    type: str
    text: str
    content_hash: str
    confidence: float
    importance: float
    polarity: int
    event_time: float | None
    deadline: float | None
    created_at: float
    refreshed_at: float
    ttl_days: float
    expires_at: float | None
    curve: str
    state: str
    state_changed_at: float
    rule: str
    needs_repair: bool = False


_NEW_COLUMNS = tuple(field.name for field in fields(NewAtom))
_INSERT = "INSERT INTO atom ({}, superseded_by, reinforced) VALUES ({}, NULL, 0)".format(
    ", ".join(_NEW_COLUMNS), ", ".join("?" * len(_NEW_COLUMNS))
)


def insert(connection: Connection, atom: NewAtom, tokens: Tokens) -> int:
    """Write a new atom with its full-text row and return its id."""
    values = [getattr(atom, name) for name in _NEW_COLUMNS]
    atom_id = int(connection.execute(_INSERT, values).lastrowid or 0)
    fulltext.put(connection, atom_id, tokens, ATOMS)
    return atom_id


def update(connection: Connection, atom_id: int, values: Mapping[str, Value]) -> None:
    """Set columns of an atom."""
    assignments = ", ".join(f"{name} = :{name}" for name in values)
    connection.execute(
        f"UPDATE atom SET {assignments} WHERE id = :row_key", {**values, "row_key": atom_id}
    )


def remove(connection: Connection, atom_id: int) -> None:
    """Remove an atom from its table and its index."""
    fulltext.remove(connection, atom_id, ATOMS)
    connection.execute("DELETE FROM atom WHERE id = ?", (atom_id,))


def unindex(connection: Connection, atom_id: int) -> None:
    """Take an atom out of full-text search; its row stays."""
    fulltext.remove(connection, atom_id, ATOMS)


def fetch(connection: Connection, ids: Iterable[int]) -> dict[int, Atom]:
    """Atoms by id; missing ids are left out."""
    found: dict[int, Atom] = {}
    for run in _runs(ids):
        marks = ",".join("?" * len(run))
        rows = connection.execute(f"{_SELECT} WHERE a.id IN ({marks})", run)
        found.update((row[0], _atom(row)) for row in rows)
    return found


def by_hash(connection: Connection, workspace_id: int, content_hash: str) -> Atom | None:
    """The living atom with the very same text, the newest if there are several."""
    row = connection.execute(
        f"""{_SELECT} WHERE a.workspace_id = ? AND a.content_hash = ?
        AND a.state IN {LIVING} ORDER BY a.id DESC LIMIT 1""",
        (workspace_id, content_hash),
    ).fetchone()
    return _atom(row) if row else None


def of_memory(connection: Connection, memory_id: int) -> list[Atom]:
    """The atoms that a memory states, in the order in which they were first stated."""
    rows = connection.execute(
        f"""{_SELECT} JOIN atom_mention s ON s.atom_id = a.id
        WHERE s.memory_id = ? ORDER BY a.id""",
        (memory_id,),
    )
    return [_atom(row) for row in rows]


def newest_with(
    connection: Connection, workspace_id: int, matches: Sequence[Match], limit: int
) -> list[int]:
    """Ids of the newest atoms of a workspace that hold any of the tokens, in any indexed
    state, newest first. ``limit`` bounds how many rows of the index are looked at."""
    if not matches:
        return []
    try:
        with fulltext.asking():
            return _newest_with(connection, workspace_id, matches, limit)
    except StorageDamaged:
        # Only who writes asks this, so that the index can be built again at once.
        fulltext.rebuild(connection, fulltext.ATOMS)
        return _newest_with(connection, workspace_id, matches, limit)


def _newest_with(
    connection: Connection, workspace_id: int, matches: Sequence[Match], limit: int
) -> list[int]:
    rows = connection.execute(
        """SELECT a.id FROM (SELECT rowid AS id FROM atom_fts WHERE atom_fts MATCH :query
            ORDER BY rowid DESC LIMIT :most) f
        CROSS JOIN atom a ON a.id = f.id WHERE +a.workspace_id = :workspace_id
        ORDER BY f.id DESC""",
        {"workspace_id": workspace_id, "query": fulltext.any_of(matches), "most": limit},
    )
    return [int(row[0]) for row in rows]


def successors(connection: Connection, atom_id: int) -> list[int]:
    """What superseded an atom, what superseded that, and so on; the current one last."""
    rows = connection.execute(
        """WITH RECURSIVE line(id, depth) AS (
            SELECT superseded_by, 1 FROM atom WHERE id = ?
            UNION ALL
            SELECT a.superseded_by, depth + 1 FROM atom a JOIN line ON a.id = line.id
            WHERE depth < 100)
        SELECT id FROM line WHERE id IS NOT NULL ORDER BY depth""",
        (atom_id,),
    )
    return [int(row[0]) for row in rows]


def superseded_by(connection: Connection, atom_id: int) -> list[Atom]:
    """The atoms that this one took the place of."""
    rows = connection.execute(f"{_SELECT} WHERE a.superseded_by = ? ORDER BY a.id", (atom_id,))
    return [_atom(row) for row in rows]


def mention(connection: Connection, atom_id: int, memory_id: int, at: float) -> bool:
    """Note that a memory states an atom; false when that was known."""
    cursor = connection.execute(
        "INSERT OR IGNORE INTO atom_mention (atom_id, memory_id, at) VALUES (?, ?, ?)",
        (atom_id, memory_id, at),
    )
    return cursor.rowcount > 0


def unmention(connection: Connection, atom_id: int, memory_id: int) -> None:
    """Note that a memory no longer states an atom."""
    connection.execute(
        "DELETE FROM atom_mention WHERE atom_id = ? AND memory_id = ?", (atom_id, memory_id)
    )


def stated_by(connection: Connection, atom_ids: Iterable[int]) -> dict[int, list[int]]:
    """The memories outside the trash that state each atom, oldest statement first."""
    found: dict[int, list[int]] = defaultdict(list)
    for run in _runs(atom_ids):
        marks = ",".join("?" * len(run))
        rows = connection.execute(
            f"""SELECT n.atom_id, n.memory_id FROM atom_mention n
            JOIN memory m ON m.id = n.memory_id
            WHERE n.atom_id IN ({marks}) AND m.deleted_at IS NULL ORDER BY n.at, n.memory_id""",
            run,
        )
        for atom_id, memory_id in rows:
            found[atom_id].append(memory_id)
    return dict(found)


def has_present_mention(connection: Connection, atom_id: int) -> bool:
    """Whether a memory states the atom that is neither in the trash nor archived."""
    row = connection.execute(
        """SELECT 1 FROM atom_mention n JOIN memory m ON m.id = n.memory_id
        WHERE n.atom_id = ? AND m.deleted_at IS NULL AND m.archived_at IS NULL LIMIT 1""",
        (atom_id,),
    ).fetchone()
    return row is not None


def is_quoted(connection: Connection, atom_id: int) -> bool:
    """Whether a memory that states the atom holds its very words."""
    row = connection.execute(
        """SELECT 1 FROM atom a JOIN atom_mention n ON n.atom_id = a.id
        JOIN memory_body b ON b.memory_id = n.memory_id
        WHERE a.id = ? AND (instr(b.text, a.text) OR instr(b.key_facts, a.text)) LIMIT 1""",
        (atom_id,),
    ).fetchone()
    return row is not None


def mentioned_by(connection: Connection, atom_id: int) -> list[int]:
    """Every memory that states an atom, in whatever state."""
    rows = connection.execute("SELECT memory_id FROM atom_mention WHERE atom_id = ?", (atom_id,))
    return [int(row[0]) for row in rows]


def due(connection: Connection, expired_by: float, limit: int, after: int = 0) -> list[Atom]:
    """Atoms that expired by a moment and that a sweep may have to move on, by id."""
    rows = connection.execute(
        f"""{_SELECT} WHERE a.id > :after AND a.state IN ('active', 'expired', 'forgotten')
        AND a.expires_at <= :expired_by ORDER BY a.id LIMIT :most""",
        {"after": after, "expired_by": expired_by, "most": limit},
    )
    return [_atom(row) for row in rows]


def out_of_step(connection: Connection) -> list[int]:
    """Atoms that are awake although every memory that states them is hidden, or asleep although
    one is not."""
    rows = connection.execute(
        """SELECT id FROM (SELECT a.id, a.state, EXISTS (SELECT 1 FROM atom_mention n
            JOIN memory m ON m.id = n.memory_id WHERE n.atom_id = a.id
            AND m.deleted_at IS NULL AND m.archived_at IS NULL) AS present FROM atom a)
        WHERE (present AND state = 'dormant') OR (NOT present AND state IN ('active', 'expired'))
        ORDER BY id"""
    )
    return [int(row[0]) for row in rows]


def without_text_row(connection: Connection) -> list[int]:
    """Atoms that full-text search cannot see although they are not forgotten."""
    rows = connection.execute(
        """SELECT a.id FROM atom a LEFT JOIN atom_fts_row f ON f.id = a.id
        WHERE f.id IS NULL AND a.state <> 'forgotten' ORDER BY a.id"""
    )
    return [int(row[0]) for row in rows]


def words_of(connection: Connection, ids: Iterable[int]) -> dict[int, frozenset[str]]:
    """The distinct indexed words of atoms by id."""
    rows = fulltext.rows_of(connection, ids, ATOMS)
    return {atom_id: frozenset(row.words.split()) for atom_id, row in rows.items()}


def _atom(row: Row) -> Atom:
    values = dict(zip((*_COLUMNS, "mentions"), row, strict=True))
    values["needs_repair"] = bool(values["needs_repair"])
    return Atom(**values)


def _runs(ids: Iterable[int]) -> Iterable[list[int]]:
    ordered = list(ids)
    for start in range(0, len(ordered), _IDS_PER_STATEMENT):
        yield ordered[start : start + _IDS_PER_STATEMENT]
