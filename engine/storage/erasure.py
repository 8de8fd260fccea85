"""What is left of an erased memory beside its rows: in the journal, in the files of its archive,
in backups, and in the space that the database does not use any more."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.domain.errors import JiyiError
from engine.domain.memory import FieldValue
from engine.storage import journal_archive
from engine.storage.database import Connection, Database, connect
from engine.storage.journal import FACT, MEMORY
from engine.storage.journal_archive import Line

# A shorter word stands in other memories for reasons of their own.
_LEAST_BYTES = 12
# Writing a larger file anew would keep others waiting for long.
_COMPACTED_UP_TO_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Traces:
    """By what an erased memory is recognised: ids, uids, and what it said."""

    ids: frozenset[int]
    uids: frozenset[str]
    words: tuple[str, ...]


def telling(words: Collection[str | None]) -> tuple[str, ...]:
    """Those of the texts that are long enough to be looked for elsewhere, once each."""
    kept = (word for word in words if word and len(word.encode("utf-8", "replace")) >= _LEAST_BYTES)
    return tuple(dict.fromkeys(kept))


def scrub_journal(connection: Connection, traces: Traces) -> int:
    """Take the words of an erased memory out of what the journal holds of others; return from
    how many entries. A field that held them is no longer in the entry."""
    found: dict[int, str] = {}
    for word in traces.words:
        rows = connection.execute(
            "SELECT id, changes FROM journal WHERE instr(changes, ?) > 0", (_escaped(word),)
        )
        found.update((row[0], row[1]) for row in rows)
    scrubbed = {key: _scrubbed(text, traces.words) for key, text in found.items()}
    connection.executemany(
        "UPDATE journal SET changes = ? WHERE id = ?",
        [(text, key) for key, text in scrubbed.items()],
    )
    return len(scrubbed)


def forget_judgments(connection: Connection, traces: Traces) -> None:
    """Remove what was judged of an erased memory: the questions tell what it said."""
    connection.execute(
        "DELETE FROM judgment WHERE memory_uid IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(traces.uids)),),
    )


def scrub_archive(database: Database, home: Path, traces: Traces) -> int:
    """Take an erased memory out of the archived files; return how many were written anew.

    Under the store's lock, so that nobody adds to a file that is being replaced.
    """
    count = 0
    for path in journal_archive.files(home):
        if any(_is_about(line, traces) for line in journal_archive.lines_in(path)):
            with database.write():
                journal_archive.rewrite(path, lambda line: _blanked(line, traces))
            count += 1
    return count


def backup_holds(path: Path, traces: Traces) -> bool | None:
    """Whether a backup knows the memory; ``None`` when it cannot be read."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            row = connection.execute(
                """SELECT EXISTS (SELECT 1 FROM memory WHERE uid IN
                    (SELECT value FROM json_each(:uids)))
                OR EXISTS (SELECT 1 FROM journal WHERE subject_uid IN
                    (SELECT value FROM json_each(:uids)) AND changes <> '{}')""",
                {"uids": json.dumps(sorted(traces.uids))},
            ).fetchone()
    except sqlite3.Error:
        return None
    return bool(row[0])


def compact(database: Database, busy_timeout_s: float) -> bool:
    """Write the store's file anew, without what unused pages still hold, and empty its log;
    false where the file is too large for that or somebody is in the way."""
    try:
        if database.path.stat().st_size > _COMPACTED_UP_TO_BYTES:
            return False
        with closing(connect(database.path, busy_timeout_s)) as connection:
            connection.execute("VACUUM")
            row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except (sqlite3.Error, OSError, JiyiError):
        return False
    return int(row[0]) == 0


def _is_about(raw: str, traces: Traces) -> bool:
    """Cheap, and right often enough: a line that matches is looked at in full."""
    return any(uid in raw for uid in traces.uids) or any(
        _escaped(_escaped(word)) in raw for word in traces.words
    )


def _blanked(line: Line, traces: Traces) -> Line:
    own = line["subject_kind"] == MEMORY and line["subject_uid"] in traces.uids
    fact = line["subject_kind"] == FACT and line.get("other_id") in traces.ids
    if own or fact:
        return line | {"changes": "{}"}
    return line | {"changes": _scrubbed(str(line["changes"]), traces.words)}


def _scrubbed(text: str, words: Sequence[str]) -> str:
    try:
        changes = json.loads(text)
    except ValueError:
        return "{}"
    kept = {
        name: values
        for name, values in changes.items()
        if not any(_holds(value, words) for value in values)
    }
    return json.dumps(kept, ensure_ascii=False)


def _holds(value: FieldValue | list[str], words: Sequence[str]) -> bool:
    if isinstance(value, list):
        return any(_holds(item, words) for item in value)
    return isinstance(value, str) and any(word in value for word in words)


def _escaped(word: str) -> str:
    """As it stands within a JSON text."""
    return json.dumps(word, ensure_ascii=False)[1:-1]
