"""When facts were last used: whenever a memory that states them was."""

from __future__ import annotations

import json
from collections.abc import Iterable

from engine.storage.database import Connection


def last_access_of_atoms(connection: Connection, atom_ids: Iterable[int]) -> dict[int, float]:
    """The last use (epoch seconds) of those atoms that were ever used.

    It follows from the memories' own last use, so that counting one stays a write of one row.
    """
    rows = connection.execute(
        """SELECT m.atom_id, max(s.last_access) FROM atom_mention m
        JOIN memory_strength s ON s.memory_id = m.memory_id
        WHERE m.atom_id IN (SELECT value FROM json_each(:ids)) AND s.last_access IS NOT NULL
        GROUP BY m.atom_id""",
        {"ids": json.dumps(list(atom_ids))},
    )
    return {row[0]: row[1] for row in rows}
