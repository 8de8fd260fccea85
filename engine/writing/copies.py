"""A copy of a memory in another workspace: its own uid, the same content, state and vectors.

Runs inside the caller's write transaction.
"""

from __future__ import annotations

from engine.domain.memory import FieldValue, Memory
from engine.storage import changes, embeddings, fulltext, journal, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject
from engine.writing import atoms
from engine.writing.atoms import Place
from engine.writing.layers import Layers
from engine.writing.memories import authored, write_atoms, write_graph

_STATES = ("updated_at", "archived_at", "superseded_at", "review_state")


def copy(
    connection: Connection, memory: Memory, workspace_id: int, layers: Layers, stamp: Stamp
) -> int:
    """Write a copy and return its id. Vectors are those of the original, byte for byte; what
    ``superseded_by`` means in the copy is for the caller to set."""
    row = _row(memory, workspace_id)
    copy_id = memories.insert(connection, row)
    states: dict[str, FieldValue] = {name: getattr(memory, name) for name in _STATES}
    memories.update(connection, copy_id, states)
    memories.copy_strength(connection, memory.id, copy_id)
    memories.replace_labels(connection, copy_id, layers.labels)
    fulltext.put(connection, copy_id, layers.tokens)
    embeddings.copy_pieces(connection, memory.id, copy_id)
    journal.append(connection, stamp, "memorize", Subject(copy_id, row.uid), {})
    write_atoms(connection, layers, Place(workspace_id, copy_id, memory.created_at), stamp)
    write_graph(connection, copy_id, layers, stamp)
    if memory.archived_at is not None:
        atoms.follow_memory(connection, copy_id, stamp)
    changes.mark(connection, changes.MEMORY, [copy_id])
    return copy_id


def _row(memory: Memory, workspace_id: int) -> memories.NewRow:
    return memories.NewRow(
        uid=new_uid(),
        workspace_id=workspace_id,
        content_hash=memory.content_hash,
        created_at=memory.created_at,
        authored=authored(memory),
        session_id=memory.session_id,
        position=memory.position,
        persona_id=memory.persona_id,
        user_id=memory.user_id,
        agent=memory.agent,
        origin=memory.origin,
    )
