"""People as memories name them: which names are known, how common one is, who takes part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress

from engine.domain.errors import StorageDamaged
from engine.domain.scope import Filters
from engine.storage import fulltext
from engine.storage.database import Connection
from engine.storage.filters import condition
from engine.storage.fulltext import Match


def known_names(connection: Connection, candidates: Iterable[str]) -> list[str]:
    """Those of the folded ``candidates`` that some memory names as a participant, or that the
    graph knows as a person."""
    rows = connection.execute(
        """SELECT c.value FROM json_each(:candidates) c
        WHERE EXISTS (SELECT 1 FROM memory_label l
            WHERE l.field = 'participants' AND l.folded = c.value)
        OR EXISTS (SELECT 1 FROM graph_node n WHERE n.type = 'person' AND n.canonical = c.value)""",
        {"candidates": json.dumps(list(candidates), ensure_ascii=False)},
    )
    return [str(row[0]) for row in rows]


def is_named_by(
    connection: Connection, phrase: Sequence[Match], filters: Filters, now: float, least: int
) -> bool:
    """Whether at least ``least`` memories that pass the filters hold all tokens of a name, one
    after the other. Stops counting there, so a common name costs no more than a rare one."""
    # A damaged index is said by the search itself.
    with suppress(StorageDamaged), fulltext.asking():
        return _number_named(connection, phrase, filters, now, least) >= least
    return False


def _number_named(
    connection: Connection, phrase: Sequence[Match], filters: Filters, now: float, least: int
) -> int:
    where = condition(filters, now)
    row = connection.execute(
        f"""SELECT count(*) FROM (SELECT 1 FROM memory_fts JOIN memory m ON m.id = memory_fts.rowid
        WHERE memory_fts MATCH :query AND {where.sql} LIMIT :least)""",
        {**where.parameters, "query": fulltext.all_in_order(phrase), "least": least},
    ).fetchone()
    return int(row[0])


def with_participants(
    connection: Connection, memory_ids: Iterable[int], names: Sequence[str]
) -> frozenset[int]:
    """Those of the memories that name one of the folded ``names`` as a participant."""
    if not names:
        return frozenset()
    rows = connection.execute(
        """SELECT DISTINCT l.memory_id FROM json_each(:ids) i
        JOIN memory_label l ON l.memory_id = i.value
        WHERE l.field = 'participants' AND l.folded IN (SELECT value FROM json_each(:names))""",
        {
            "ids": json.dumps(list(memory_ids)),
            "names": json.dumps(list(names), ensure_ascii=False),
        },
    )
    return frozenset(int(row[0]) for row in rows)
