"""Links, facts, atoms and workspaces set back to what they were before an entry of the journal.

Each function makes the opposite change and returns it as changed fields. It raises
:class:`Conflict`, naming the thing, when that is no longer what the entry left.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.domain.errors import Conflict
from engine.domain.memory import FieldValue, JournalEntry
from engine.storage import atoms, changes, facts, snapshots, workspace_rows, workspaces
from engine.storage.database import Connection
from engine.storage.journal import Changes, Stamp

Opposite = dict[str, tuple[FieldValue, FieldValue]]
# Set anew whenever a fact is changed, also by an undo.
_TOUCHED = "updated_at"


def opposite(changed: Changes) -> Opposite:
    """The same changes the other way round."""
    return {name: (after, before) for name, (before, after) in changed.items()}


def undo_link(connection: Connection, entry: JournalEntry) -> Opposite:
    """Take a link away, or put it back."""
    ends = entry.subject_id, int(entry.other_id or 0)
    before, after = entry.changes["relation"]
    relation = str(before if after is None else after)
    there = snapshots.has_link(connection, ends, relation)
    shown = f"#{ends[0]} {relation} #{ends[1]}"
    if there == (after is None) or not snapshots.are_there(connection, ends):
        raise _changed(shown)
    if after is None:
        made_at = entry.changes.get("created_at", (entry.at, None))[0]
        snapshots.add_link(connection, ends, relation, float(str(made_at)))
    else:
        snapshots.remove_link(connection, ends, relation)
    changes.mark(connection, changes.MEMORY, ends)
    return opposite(entry.changes)


def undo_fact(connection: Connection, entry: JournalEntry, stamp: Stamp) -> Opposite:
    """Take a fact away, put it back, or set its changed fields back."""
    shown = f"f{entry.subject_id}"
    now = facts.values_of(connection, entry.subject_id)
    before, after = entry.changes.get("subject_key", (None, None))
    whole = "created_at" in entry.changes
    if whole and after is None:
        _put_fact(connection, entry, taken=now is not None, shown=shown)
    elif now is None or _differing(now, entry.changes):
        raise _changed(shown, _differing(now or {}, entry.changes))
    elif whole and before is None:
        facts.delete(connection, entry.subject_id)
        changes.mark(connection, facts.CHANGED, [entry.subject_id])
        return {name: (value, None) for name, value in now.items()}
    else:
        values = {name: former for name, (former, _) in entry.changes.items()}
        facts.update(connection, entry.subject_id, values | {_TOUCHED: stamp.at})
    changes.mark(connection, facts.CHANGED, [entry.subject_id])
    return opposite(entry.changes)


def undo_atom(connection: Connection, entry: JournalEntry) -> Opposite:
    """Set back what somebody did to an atom."""
    shown = f"atom #{entry.subject_id}"
    atom = atoms.fetch(connection, [entry.subject_id]).get(entry.subject_id)
    if atom is None:
        raise _changed(shown)
    now: dict[str, FieldValue] = {name: getattr(atom, name) for name in entry.changes}
    differing = _differing(now, entry.changes)
    if differing:
        raise _changed(shown, differing)
    atoms.update(connection, atom.id, {name: _plain(b) for name, (b, _) in entry.changes.items()})
    return opposite(entry.changes)


def undo_workspace(connection: Connection, entry: JournalEntry, stamp: Stamp) -> Opposite:
    """Set name or domain of a workspace back, take a new one away, or put it back."""
    before, after = entry.changes.get("name", ("", ""))
    changes.mark(connection, changes.WORKSPACE, [entry.subject_id])
    if after is None:
        return _put_workspace(connection, entry, stamp)
    if before is None:
        return _remove_workspace(connection, entry)
    for name, (former, left) in entry.changes.items():
        if workspace_rows.value_of(connection, entry.subject_id, name) != left:
            raise _changed(str(left), [name])
        if name == "domain":
            workspaces.set_domain(connection, entry.subject_id, str(former))
        else:
            _require_free(connection, str(former))
            workspaces.rename(connection, entry.subject_id, str(former))
    return opposite(entry.changes)


def _put_fact(connection: Connection, entry: JournalEntry, *, taken: bool, shown: str) -> None:
    values = {name: former for name, (former, _) in entry.changes.items()}
    source = values.get("memory_id")
    if taken or (source is not None and not snapshots.are_there(connection, [int(str(source))])):
        raise _changed(shown)
    facts.put(connection, entry.subject_id, entry.subject_uid, values)


def _put_workspace(connection: Connection, entry: JournalEntry, stamp: Stamp) -> Opposite:
    values: dict[str, FieldValue] = {"domain": workspaces.DEFAULT_DOMAIN, "created_at": stamp.at}
    values |= {name: former for name, (former, _) in entry.changes.items()}
    if workspace_rows.value_of(connection, entry.subject_id, "name") is not None:
        raise _changed(str(values["name"]))
    _require_free(connection, str(values["name"]))
    workspace_rows.put(connection, entry.subject_id, entry.subject_uid, values)
    return {name: (None, value) for name, value in values.items()}


def _remove_workspace(connection: Connection, entry: JournalEntry) -> Opposite:
    """One whose memories are in the trash stays, so that they can come back to it."""
    workspace_id = entry.subject_id
    name = workspace_rows.value_of(connection, workspace_id, "name")
    if name != entry.changes["name"][1]:
        raise _changed(str(entry.changes["name"][1]), ["name"])
    living, others = workspace_rows.holds(connection, workspace_id)
    if living:
        raise Conflict("error.undo_workspace_used", name=name, count=living)
    if others:
        return {}
    gone: dict[str, FieldValue] = {
        "name": name,
        "domain": workspace_rows.value_of(connection, workspace_id, "domain"),
        "created_at": workspace_rows.created_at(connection, workspace_id),
    }
    workspace_rows.remove(connection, workspace_id)
    return {field: (value, None) for field, value in gone.items()}


def _require_free(connection: Connection, name: str) -> None:
    if workspaces.exists(connection, name):
        raise Conflict("error.workspace_exists", name=name[:60])


def _differing(now: Mapping[str, FieldValue], changed: Changes) -> list[str]:
    return sorted(
        name for name, (_, after) in changed.items() if name != _TOUCHED and now.get(name) != after
    )


def _changed(shown: str, names: list[str] | None = None) -> Conflict:
    what = f"{shown} ({', '.join(names)})" if names else shown
    return Conflict("error.undo_changed", what=what)


def _plain(value: FieldValue) -> str | float | int | None:
    return None if isinstance(value, tuple) else value
