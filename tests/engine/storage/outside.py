"""What other processes do to a store; run by multiprocessing."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from pathlib import Path

from engine.storage import backup
from engine.storage.database import FILE_NAME, open_database, schema_version


def open_at(home: str, moment: float) -> int:
    """Open the store at a given time, together with others, and return its version."""
    time.sleep(max(0.0, moment - time.time()))
    database = open_database(Path(home), busy_timeout_s=30.0)
    version = schema_version(database)
    database.close()
    return version


def copy_and_die(source: str, target: str) -> None:
    """Be killed at the last moment of a backup."""

    def die(old: object, new: object) -> None:
        os._exit(9)

    os.replace = die  # type: ignore[assignment]
    backup.copy_database(Path(source), Path(target))


def hold_the_lock(home: str, seconds: float) -> None:
    """Keep the write lock; say so first."""
    connection = sqlite3.connect(Path(home) / FILE_NAME, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    print("locked", flush=True)
    time.sleep(seconds)
    connection.execute("ROLLBACK")
    connection.close()


if __name__ == "__main__":
    hold_the_lock(sys.argv[1], float(sys.argv[2]))
