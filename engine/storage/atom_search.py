"""Finding atoms, and what they say about the memories that state them. Reads only."""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.domain.atom import Atom, AtomFilters, AtomLife
from engine.domain.scope import Filters
from engine.storage import atoms, fulltext
from engine.storage.database import Connection
from engine.storage.filters import condition
from engine.storage.fulltext import ATOMS, Match

_COLUMN_WEIGHTS = "1.0, 0.5"
_BY_BM25 = f"""SELECT rowid AS id, bm25(atom_fts, {_COLUMN_WEIGHTS}) AS score FROM atom_fts
    WHERE atom_fts MATCH :query ORDER BY score LIMIT :looked_at"""
_BY_GIVEN = """SELECT json_extract(value, '$[0]') AS id, -json_extract(value, '$[1]') AS score
    FROM json_each(:scores) ORDER BY score LIMIT :looked_at"""
_LIFE = "a.state, a.curve, a.refreshed_at, a.ttl_days, a.expires_at, a.deadline"
_IDS_PER_STATEMENT = 500
# A memory counts as outdated from this share of its facts on: one changed detail of a long
# text does not make the text old.
_OUTDATED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class AtomRow:
    """One active atom that a query found: its BM25 (larger is better) and what it lives by."""

    atom_id: int
    memory_id: int
    bm25: float
    life: AtomLife


@dataclass(frozen=True, slots=True)
class AtomPage:
    """A page of atoms, newest first, and the cursor of the next one."""

    atoms: tuple[Atom, ...]
    next_before: int | None
    total: int


@fulltext.asking()
def matching(
    connection: Connection,
    matches: Sequence[Match],
    filters: Filters,
    now: float,
    limits: tuple[int, int | None],
) -> list[AtomRow]:
    """Active atoms with any of the tokens, stated by memories that pass the filters; the most
    promising first by BM25 without length normalisation. One row for each such memory.

    ``limits`` are how many rows to return, and how many of the best atoms to look at before
    the filters: ``None``, needed for narrow ones, is all.
    """
    if not matches:
        return []
    where = condition(filters, now)
    values = {
        **where.parameters,
        "query": fulltext.any_of(matches),
        "atom_now": now,
        "looked_at": -1 if limits[1] is None else limits[1],
        "row_limit": limits[0],
    }
    rows = connection.execute(_matching(_BY_BM25, where.sql), values).fetchall()
    if not all(fulltext.is_sound(row[2]) for row in rows):
        scores = fulltext.plain_scores(connection, matches, ATOMS)
        values["scores"] = json.dumps(list(scores.items()))
        rows = connection.execute(_matching(_BY_GIVEN, where.sql), values).fetchall()
    return [AtomRow(row[0], row[1], row[2], AtomLife(*row[3:])) for row in rows]


def _matching(scored: str, where: str) -> str:
    return f"""SELECT a.id, m.id, -f.score, {_LIFE} FROM ({scored}) f
        CROSS JOIN atom a ON a.id = f.id
        CROSS JOIN atom_mention n ON n.atom_id = a.id
        CROSS JOIN memory m ON m.id = n.memory_id
        WHERE a.state = 'active' AND (a.expires_at IS NULL OR a.expires_at > :atom_now)
        AND {where} ORDER BY f.score LIMIT :row_limit"""


def lives(connection: Connection, memory_ids: Iterable[int]) -> dict[int, list[AtomLife]]:
    """What the atoms of memories live by; memories without atoms are left out."""
    found: dict[int, list[AtomLife]] = defaultdict(list)
    for run in _runs(memory_ids):
        keys = ",".join(map(str, run))
        rows = connection.execute(
            f"""SELECT n.memory_id, {_LIFE} FROM atom_mention n JOIN atom a ON a.id = n.atom_id
            WHERE n.memory_id IN ({keys})"""
        )
        for row in rows:
            found[row[0]].append(AtomLife(*row[1:]))
    return dict(found)


def confidences(connection: Connection, memory_ids: Iterable[int]) -> dict[int, float]:
    """The mean confidence of the atoms of memories; memories without atoms are left out."""
    found: dict[int, float] = {}
    for run in _runs(memory_ids):
        keys = ",".join(map(str, run))
        rows = connection.execute(
            f"""SELECT n.memory_id, avg(a.confidence) FROM atom_mention n
            JOIN atom a ON a.id = n.atom_id WHERE n.memory_id IN ({keys}) GROUP BY n.memory_id"""
        )
        found.update((int(row[0]), float(row[1])) for row in rows)
    return found


def outdated(connection: Connection, memory_ids: Iterable[int]) -> dict[int, int]:
    """Memories whose facts were superseded (at least half of them), with the newest memory
    outside the trash that says how it is now."""
    found: dict[int, int] = {}
    for run in _runs(memory_ids):
        for memory_id, atom_id in _superseded(connection, run):
            newer = _current_statement(connection, atom_id)
            if newer is not None and newer != memory_id:
                found[memory_id] = max(newer, found.get(memory_id, 0))
    return found


def page(
    connection: Connection, filters: AtomFilters, now: float, limit: int, before: int | None
) -> AtomPage:
    """Atoms, newest first. ``before`` is the cursor: atoms with a smaller id."""
    where = condition(filters.memories, now)
    where.add_one_of("a.type", "atom_type", filters.types)
    where.add_one_of("a.state", "atom_state", filters.states)
    from_where = f"""FROM atom a WHERE EXISTS (SELECT 1 FROM atom_mention n
        JOIN memory m ON m.id = n.memory_id WHERE n.atom_id = a.id AND {where.sql})"""
    total = connection.execute(f"SELECT count(*) {from_where}", where.parameters).fetchone()[0]
    rows = connection.execute(
        f"SELECT a.id {from_where} AND a.id < :before ORDER BY a.id DESC LIMIT :row_limit",
        {**where.parameters, "before": before or (1 << 62), "row_limit": limit + 1},
    ).fetchall()
    ids = [int(row[0]) for row in rows[:limit]]
    by_id = atoms.fetch(connection, ids)
    next_before = ids[-1] if len(rows) > limit else None
    return AtomPage(tuple(by_id[atom_id] for atom_id in ids), next_before, int(total))


_ORDERS = {
    "newest": "a.id DESC",
    "ending": "a.expires_at IS NULL, a.expires_at, a.id",
    "longest": "a.expires_at IS NULL DESC, a.expires_at DESC, a.id DESC",
    "said": "(SELECT count(*) FROM atom_mention s WHERE s.atom_id = a.id) DESC, a.id DESC",
}


def ordered_ids(connection: Connection, filters: AtomFilters, now: float, order: str) -> array[int]:
    """Ids of all atoms that pass the filters, in one of
    :data:`engine.domain.atom.ATOM_ORDERS`."""
    where = condition(filters.memories, now)
    where.add_one_of("a.type", "atom_type", filters.types)
    where.add_one_of("a.state", "atom_state", filters.states)
    rows = connection.execute(
        f"""SELECT a.id FROM atom a WHERE EXISTS (SELECT 1 FROM atom_mention n
        JOIN memory m ON m.id = n.memory_id WHERE n.atom_id = a.id AND {where.sql})
        ORDER BY {_ORDERS[order]}""",
        where.parameters,
    )
    return array("q", (row[0] for row in rows))


def counts_by_type_and_state(connection: Connection) -> dict[tuple[str, str], int]:
    """How many atoms there are of each type in each state."""
    rows = connection.execute("SELECT type, state, count(*) FROM atom GROUP BY type, state")
    return {(row[0], row[1]): int(row[2]) for row in rows}


def _superseded(connection: Connection, memory_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Superseded atoms of memories of which at least half of the atoms are."""
    keys = ",".join(map(str, memory_ids))
    rows = connection.execute(
        f"""SELECT n.memory_id, a.id FROM atom_mention n JOIN atom a ON a.id = n.atom_id
        WHERE n.memory_id IN ({keys}) AND a.state = 'superseded'
        AND :share <= (SELECT avg(b.state = 'superseded') FROM atom_mention o
            JOIN atom b ON b.id = o.atom_id WHERE o.memory_id = n.memory_id)""",
        {"share": _OUTDATED_SHARE},
    )
    return [(int(row[0]), int(row[1])) for row in rows]


def _current_statement(connection: Connection, atom_id: int) -> int | None:
    for successor in reversed(atoms.successors(connection, atom_id)):
        stated = atoms.stated_by(connection, [successor]).get(successor)
        if stated:
            return stated[-1]
    return None


def _runs(ids: Iterable[int]) -> Iterable[list[int]]:
    ordered = list(ids)
    for start in range(0, len(ordered), _IDS_PER_STATEMENT):
        yield ordered[start : start + _IDS_PER_STATEMENT]
