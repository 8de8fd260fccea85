"""Tables that the processes of a store share: journal, changes, leases, processes, projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.domain.errors import NotFound
from engine.domain.ids import parse_ref
from engine.storage import changes, journal, leases, memories, processes, tombstones, workspaces
from engine.storage.database import Database, open_database
from engine.storage.journal import Stamp, Subject
from engine.storage.processes import ProcessRow
from engine.storage.workspaces import ProjectRoot
from tests.engine.storage.writing_rows import add

STAMP = Stamp("cli", 5.0, "g")


def test_a_memory_comes_back_as_it_was_written(database: Database) -> None:
    with database.write() as connection:
        memory_id = add(
            connection, "文", at=7.0, tags=["b", "a"], key_facts=["f"], pinned=True,
            event_time=3.5, summary="s", importance=0.25, scope={"session_id": "x"},
        )  # fmt: skip
    with database.read() as connection:
        memory = memories.find(connection, parse_ref(memory_id))
    assert (memory.text, memory.tags, memory.key_facts) == ("文", ("b", "a"), ("f",))
    assert (memory.pinned, memory.private, memory.event_time) == (True, False, 3.5)
    assert (memory.created_at, memory.revision, memory.workspace) == (7.0, 1, "global")
    assert (memory.session_id, memory.summary, memory.importance) == ("x", "s", 0.25)


def test_an_id_is_never_given_twice(database: Database) -> None:
    with database.write() as connection:
        first = add(connection)
        memories.erase(connection, first)
        assert add(connection) == first + 1


def test_eight_digits_are_an_id_first_and_a_short_uid_else(database: Database) -> None:
    with database.write() as connection:
        memory_id = add(connection)
        connection.execute("UPDATE memory SET uid = substr(uid, 1, 28) || '12345678'")
    with database.read() as connection:
        assert memories.find(connection, parse_ref("12345678")).id == memory_id
    with database.write() as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 12345677 WHERE name = 'memory'")
        assert add(connection) == 12345678
    with database.read() as connection:
        assert memories.find(connection, parse_ref("12345678")).id == 12345678


def test_a_short_uid_of_two_memories_is_refused_as_ambiguous(database: Database) -> None:
    with database.write() as connection:
        add(connection)
        add(connection)
        connection.execute("UPDATE memory SET uid = substr(uid, 1, 28) || 'abcdef01'")
    with pytest.raises(NotFound) as caught, database.read() as connection:
        memories.find(connection, parse_ref("abcdef01"))
    assert caught.value.key == "error.ambiguous_ref"


def test_the_journal_keeps_values_before_and_after_in_order(database: Database) -> None:
    with database.write() as connection:
        journal.append(connection, STAMP, "memorize", Subject(1, "u"), {})
        journal.append(
            connection,
            STAMP,
            "edit",
            Subject(1, "u"),
            {"tags": ((), ("家",)), "pinned": (False, True)},
        )
        journal.append(connection, STAMP, "edit", Subject(2, "v"), {"text": ("a", "b")})
    with database.read() as connection:
        entries = journal.history(connection, 1)
    assert [entry.operation for entry in entries] == ["memorize", "edit"]
    assert entries[1].changes == {"tags": ((), ("家",)), "pinned": (False, True)}
    assert (entries[0].actor, entries[0].at, entries[0].group_uid) == ("cli", 5.0, "g")


def test_erasing_snapshots_leaves_that_something_happened(database: Database) -> None:
    with database.write() as connection:
        journal.append(connection, STAMP, "edit", Subject(1, "u"), {"text": ("secret", "b")})
        journal.append(connection, STAMP, "edit", Subject(2, "v"), {"text": ("kept", "b")})
        journal.erase_snapshots(connection, 1)
    with database.read() as connection:
        assert [entry.changes for entry in journal.history(connection, 1)] == [{}]
        assert journal.history(connection, 2)[0].changes == {"text": ("kept", "b")}


def test_twenty_edits_leave_one_mark_with_the_newest_number(database: Database) -> None:
    with database.write() as connection:
        assert changes.last(connection) == 0
        for _ in range(20):
            changes.mark(connection, changes.MEMORY, [1])
        changes.mark(connection, changes.MEMORY, [2])
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM change").fetchone()[0] == 2
        assert changes.last(connection) == 21
        assert changes.subjects_after(connection, 0, changes.MEMORY) == [1, 2]
        assert changes.subjects_after(connection, 20, changes.MEMORY) == [2]
        assert changes.subjects_after(connection, 21, changes.MEMORY) == []
        assert changes.subjects_after(connection, 0, "entry") == []


def test_a_mark_that_is_taken_back_never_gives_its_number_to_what_was_seen(
    database: Database,
) -> None:
    with database.write() as connection:
        changes.mark(connection, changes.MEMORY, [1])
    with pytest.raises(ZeroDivisionError), database.write() as connection:
        changes.mark(connection, changes.MEMORY, [2])
        raise ZeroDivisionError
    with database.read() as connection:
        assert changes.last(connection) == 1


def test_two_stores_have_two_histories(database: Database, tmp_path: Path) -> None:
    other = open_database(tmp_path / "other")
    with database.read() as one, other.read() as two:
        assert changes.history_uid(one) != changes.history_uid(two)
    other.close()


def test_a_lease_belongs_to_one_holder_until_it_ends_or_is_given_back(database: Database) -> None:
    with database.write() as connection:
        assert leases.take(connection, "work", "a", now=0.0, seconds=10.0)
        assert leases.take(connection, "work", "a", now=5.0, seconds=10.0)
        assert not leases.take(connection, "work", "b", now=14.9, seconds=10.0)
        assert leases.take(connection, "other", "b", now=5.0, seconds=10.0)
        assert leases.take(connection, "work", "b", now=15.0, seconds=10.0)
        leases.release(connection, "work", "a")
        assert not leases.take(connection, "work", "a", now=16.0, seconds=10.0)
        leases.release(connection, "work", "b")
        assert leases.take(connection, "work", "a", now=16.0, seconds=10.0)


def row(token: str, started_at: float, last_seen: float) -> ProcessRow:
    return ProcessRow(token, 1, "host", "client", "0", "v", started_at, last_seen)


def test_processes_show_while_they_report_themselves(database: Database) -> None:
    with database.write() as connection:
        processes.report(connection, row("old", 1.0, 10.0))
        processes.report(connection, row("b", 3.0, 50.0))
        processes.report(connection, row("a", 2.0, 40.0))
        processes.report(connection, row("a", 2.0, 60.0))
    with database.read() as connection:
        assert [seen.token for seen in processes.seen_since(connection, 20.0)] == ["a", "b"]
    with database.write() as connection:
        processes.remove(connection, "a")
        processes.report(connection, row("c", 90_000.0, 90_000.0))
    with database.read() as connection:
        assert [seen.token for seen in processes.seen_since(connection, 0.0)] == ["c"]


def test_two_projects_with_the_same_folder_name_get_two_workspaces(database: Database) -> None:
    with database.write() as connection:
        assert workspaces.adopt_root(connection, ProjectRoot("web", "/a/web"), 1.0) == "web"
        assert workspaces.adopt_root(connection, ProjectRoot("web", "/b/web"), 1.0) == "web-2"
        assert workspaces.adopt_root(connection, ProjectRoot("web", "/c/web"), 1.0) == "web-3"
        assert workspaces.adopt_root(connection, ProjectRoot("web", "/a/web"), 1.0) == "web"
        assert workspaces.adopt_root(connection, ProjectRoot("global", "/g"), 1.0) == "global-2"
        assert workspaces.names(connection) == ["global-2", "web", "web-2", "web-3"]


def test_a_moved_project_is_known_by_its_remote(database: Database) -> None:
    with database.write() as connection:
        workspaces.adopt_root(connection, ProjectRoot("web", "/a/web", "git@host:web"), 1.0)
        moved = ProjectRoot("renamed", "/b/renamed", "git@host:web")
        assert workspaces.named_by_root(connection, moved) == "web"
        assert workspaces.adopt_root(connection, moved, 1.0) == "web"
        assert workspaces.named_by_root(connection, ProjectRoot("x", "/b/renamed")) == "web"
        assert workspaces.named_by_root(connection, ProjectRoot("x", "/elsewhere")) is None


def test_a_workspace_that_was_only_named_is_taken_by_the_project(database: Database) -> None:
    with database.write() as connection:
        named = workspaces.ensure(connection, "web", 1.0)
        assert workspaces.adopt_root(connection, ProjectRoot("web", "/a/web"), 1.0) == "web"
        assert workspaces.ensure(connection, "web", 1.0) == named


def test_a_tombstone_is_put_once(database: Database) -> None:
    with database.write() as connection:
        tombstones.put(connection, "u", 1.0, None)
        tombstones.put(connection, "u", 2.0, None)
        rows = connection.execute("SELECT uid, at FROM tombstone").fetchall()
    assert [tuple(found) for found in rows] == [("u", 1.0)]
