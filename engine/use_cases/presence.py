"""Tell the other processes of a store that this one is here."""

from __future__ import annotations

import os
import platform

from engine.context import EngineContext
from engine.domain.text import scrub
from engine.storage import processes
from engine.storage.processes import ProcessRow


def report_presence(context: EngineContext, client: str, version: str, started_at: float) -> None:
    """Write this process's row, or refresh its time."""
    row = ProcessRow(
        token=context.token,
        pid=os.getpid(),
        host=scrub(platform.node()),
        client=scrub(client),
        version=version,
        config_version=context.live.version(),
        started_at=started_at,
        last_seen=context.clock.now(),
    )
    with context.database.write() as connection:
        processes.report(connection, row)


def withdraw_presence(context: EngineContext) -> None:
    """Take the row away when the process closes the store."""
    with context.database.write() as connection:
        processes.remove(connection, context.token)
