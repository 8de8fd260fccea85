"""Putting a finished file in the place of another one, whole or not at all."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

# Access denied, and two forms of "in use": a virus scanner or a reader has the file open.
_IN_USE = (5, 32, 33)
REPLACE_PAUSES_S = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)


def move_into_place(draft: Path, target: Path) -> None:
    """Rename ``draft`` onto ``target``, waiting out for about 1.5 s who has the old file open.

    Raises ``OSError``; the draft then still lies where it was. Elsewhere than on Windows a
    refusal is final and raised at once.
    """
    for pause_s in (*REPLACE_PAUSES_S, None):
        try:
            os.replace(draft, target)
        except PermissionError as error:
            if pause_s is None or getattr(error, "winerror", None) not in _IN_USE:
                raise
            time.sleep(pause_s)
        else:
            return


def sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` outlast a loss of power, where the system lets folders be
    synced: Windows does not, and nothing is wrong then."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
