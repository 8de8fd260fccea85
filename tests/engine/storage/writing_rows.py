"""Rows for storage tests, without the layers above."""

from __future__ import annotations

from engine.domain.fields import defaults, validated
from engine.storage import memories, workspaces
from engine.storage.database import Connection
from engine.storage.identity import new_uid


def add(
    connection: Connection,
    text: str = "text",
    at: float = 1.0,
    workspace: str = "global",
    scope: dict[str, str] | None = None,
    **fields: object,
) -> int:
    """Write one memory's own rows, with its labels as they are, and return its id."""
    authored = defaults() | validated({"text": text} | fields)
    row = memories.NewRow(
        uid=new_uid(),
        workspace_id=workspaces.ensure(connection, workspace, at),
        content_hash=text,
        created_at=at,
        authored=authored,
        session_id=(scope or {}).get("session_id"),
        persona_id=(scope or {}).get("persona_id"),
    )
    memory_id = memories.insert(connection, row)
    labels = {name: authored[name] for name in ("tags", "topics", "participants")}
    memories.replace_labels(
        connection,
        memory_id,
        {name: value for name, value in labels.items() if isinstance(value, tuple)},
    )
    return memory_id
