"""Our own archive and notes: what goes out comes back, once and unchanged."""

from __future__ import annotations

import dataclasses

import pytest

from engine.bootstrap import open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.domain.fact import FactRequest
from engine.domain.graph import NodeKey
from engine.domain.scope import Filters, Scope
from engine.storage import graph, memory_layers, transfer
from engine.storage.journal import Stamp
from engine.use_cases import fill_layers
from engine.use_cases.edit import EditRequest
from engine.use_cases.export_memories import EVERYTHING, ExportRequest
from engine.use_cases.import_memories import ImportRequest
from engine.use_cases.inspect_file import inspect_file
from engine.use_cases.pack import PackRequest
from engine.use_cases.undo import UndoRequest
from engine.writing.memories import set_state
from tests.engine.use_cases.archives import bring_in, counts, export, fill, json_lines, lines_of
from tests.engine.use_cases.shortcuts import CALLER, HASHING, KEYWORDS, found, remember


@pytest.fixture
def other(tmp_path, clock):
    """An empty store beside the first."""
    with open_engine(tmp_path / "other", environ=HASHING, clock=clock) as opened:
        yield opened


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A store that no test changes, and a clock of its own."""
    clock = FixedClock()
    with open_engine(tmp_path_factory.mktemp("a"), environ=HASHING, clock=clock) as opened:
        yield opened, make(opened, clock)


@pytest.fixture
def filled(source):
    return source[1]


@pytest.fixture
def full(source):
    return source[0]


def make(engine, clock):
    """A bit of everything: states, links, facts, names, atoms with lives."""
    ids = fill(engine, clock)
    engine.rename_node("小雨", "林小雨", CALLER)
    engine.facts.add(FactRequest("小雨", "住在", "北京", memory=ids[0], valid_from=1e9), CALLER)
    engine.facts.add(FactRequest("小雨", "认识", "阿明", workspace="独"), CALLER)
    with engine.context.database.read() as connection:
        first = next(transfer.atoms(connection)).id
    engine.reinforce_atom(first, CALLER)
    engine.edit(EditRequest(ids[2], {"text": "改过的第二条", "summary": "短"}), CALLER)
    engine.delete(ids[7], CALLER)
    with engine.context.database.write() as connection:
        stamp = stamp_of(engine)
        link(connection, ids[0], ids[1], "refines")
        link(connection, ids[3], ids[0], "related")
        for number, states in ((4, {"archived_at": 5.5}), (5, {"superseded_at": 6.5})):
            memory = engine.get(ids[number])
            set_state(connection, memory, states, "archive", stamp)
        memory = engine.get(ids[5])
        set_state(connection, memory, {"superseded_by": ids[6]}, "supersede", stamp)
    return ids


def stamp_of(engine):
    return Stamp("test", engine.context.clock.now(), "g")


def link(connection, source, target, relation):
    transfer.put_link(connection, source, target, relation, 7.25)


def test_export_import_export_differs_in_the_date_alone(filled, full, other, clock, tmp_path):
    first = export(full, tmp_path / "1.jiyi", trash=True)
    report = bring_in(other, tmp_path / "1.jiyi")
    assert counts(report) == (13, 0, 0, 0, 0)
    assert (report.links, report.facts, report.pending) == (2, 2, 0)
    clock.advance(1000)
    second = export(other, tmp_path / "2.jiyi", trash=True)
    assert first[1:] == second[1:]
    assert first[0] != second[0]
    assert first[0].split('"product"')[1] == second[0].split('"product"')[1]


def test_what_came_in_is_found_by_words_meaning_names_and_links(filled, full, other, tmp_path):
    export(full, tmp_path / "1.jiyi")
    bring_in(other, tmp_path / "1.jiyi")
    uid = full.get(filled[9]).uid
    for mode in ("keyword", "semantic"):
        text = full.get(filled[9]).text
        assert other.get(found(other, text, k=1, mode=mode)[0]).uid == uid
    with other.context.database.read() as connection:
        node = graph.find_node(connection, NodeKey("person", "林小雨"))
        rows = [(row.source, row.target, row.relation) for row in transfer.links(connection)]
    assert node.name == "林小雨"
    assert (full.get(filled[0]).uid, full.get(filled[1]).uid, "refines") in rows


def test_a_second_import_changes_nothing(filled, full, other, tmp_path):
    export(full, tmp_path / "1.jiyi")
    assert counts(bring_in(full, tmp_path / "1.jiyi")) == (0, 12, 0, 0, 0)
    bring_in(other, tmp_path / "1.jiyi")
    before = export(other, tmp_path / "a.jiyi", history=True)
    again = bring_in(other, tmp_path / "1.jiyi")
    assert counts(again) == (0, 12, 0, 0, 0)
    assert (again.written, again.links, again.facts, again.group_uid) == (0, 0, 0, None)
    assert export(other, tmp_path / "b.jiyi", history=True)[1:] == before[1:]


@pytest.mark.parametrize("collision", ["skip", "overwrite", "rename"])
def test_a_dry_run_says_what_the_import_does(filled, full, other, tmp_path, collision):
    export(full, tmp_path / "1.jiyi")
    bring_in(other, tmp_path / "1.jiyi")
    ids = [memory.id for memory in other.list(EVERYTHING, limit=100).memories]
    other.edit(EditRequest(ids[0], {"text": "anders"}), CALLER)
    other.delete(ids[1], CALLER)
    other.delete(ids[2], CALLER)
    more = tmp_path / "2.jsonl"
    lines = [*lines_of(tmp_path / "1.jiyi"), '{"type":"memory","text":"ganz neu"}']
    more.write_text("\n".join(lines), "utf-8")
    said = bring_in(other, more, collision=collision, dry_run=True)
    done = bring_in(other, more, collision=collision)
    assert counts(done) == (1, 9, 1, 2, 0)
    assert dataclasses.replace(said, dry_run=False) == dataclasses.replace(done, group_uid=None)
    assert done.written == (1 if collision == "skip" else 2)


def test_the_policies_for_a_memory_that_says_something_else(engine, tmp_path):
    memory_id = remember(engine, "vorher", tags=["a"])
    export(engine, tmp_path / "1.jiyi")
    engine.edit(EditRequest(memory_id, {"text": "nachher"}), CALLER)
    with pytest.raises(Conflict, match="import_collisions"):
        bring_in(engine, tmp_path / "1.jiyi", collision="error")
    assert counts(bring_in(engine, tmp_path / "1.jiyi")) == (0, 0, 1, 0, 0)
    assert engine.get(memory_id).text == "nachher"
    for _ in range(2):
        bring_in(engine, tmp_path / "1.jiyi", collision="rename")
    assert sorted(one.text for one in engine.list().memories) == ["nachher", "vorher"]
    bring_in(engine, tmp_path / "1.jiyi", collision="overwrite")
    assert engine.get(memory_id).text == "vorher"
    assert found(engine, "nachher", mode="keyword") == []
    with pytest.raises(InvalidInput, match="not_allowed"):
        bring_in(engine, tmp_path / "1.jiyi", collision="explode")


def test_what_was_deleted_stays_deleted_unless_asked_for(engine, tmp_path):
    trashed, erased = remember(engine, "im Korb"), remember(engine, "ganz weg")
    export(engine, tmp_path / "1.jiyi")
    engine.delete(trashed, CALLER)
    engine.erase(erased, CALLER)
    assert counts(bring_in(engine, tmp_path / "1.jiyi")) == (0, 0, 0, 2, 0)
    assert engine.list().memories == ()
    revived = bring_in(engine, tmp_path / "1.jiyi", revive=True)
    assert (revived.deleted, revived.written) == (2, 2)
    assert sorted(one.text for one in engine.list().memories) == ["ganz weg", "im Korb"]
    assert engine.get(trashed).deleted_at is None


def test_an_import_is_one_group_of_the_journal_by_its_own_actor(filled, full, other, tmp_path):
    export(full, tmp_path / "1.jiyi")
    report = bring_in(other, tmp_path / "1.jiyi")
    memory = other.list(limit=1).memories[0]
    entry = other.history(memory.id)[0]
    assert (entry.operation, entry.actor) == ("import", "import")
    assert entry.group_uid == report.group_uid


def test_an_import_is_undone_and_redone_in_one_step(filled, full, engine, tmp_path):
    export(full, tmp_path / "1.jiyi")
    own = remember(engine, "schon da")
    group = bring_in(engine, tmp_path / "1.jiyi").group_uid
    before = export(engine, tmp_path / "a.jiyi")
    engine.journal.undo(CALLER, UndoRequest(group=group))
    assert [one.id for one in engine.list(EVERYTHING, limit=100).memories] == [own]
    with engine.context.database.read() as connection:
        assert list(transfer.links(connection)) == []
        assert list(transfer.facts(connection)) == []
        states = {str(row.values["state"]) for row in transfer.atoms(connection)}
        assert states == {"dormant"}
    engine.journal.redo(CALLER)
    after = export(engine, tmp_path / "b.jiyi")
    assert len(after) == len(before)


def test_vectors_of_another_model_are_refused_unless_made_anew(engine, clock, tmp_path):
    remember(engine, "eins")
    path = tmp_path / "1.jiyi"
    lines = export(engine, path)
    foreign = tmp_path / "2.jsonl"
    foreign.write_text("\n".join(lines).replace('"revision":"1"', '"revision":"9"'), "utf-8")
    with open_engine(tmp_path / "b", environ=HASHING, clock=clock) as other:
        with pytest.raises(Conflict, match="import_space"):
            bring_in(other, foreign)
        assert other.list().memories == ()
        report = bring_in(other, foreign, reembed=True)
        assert (report.new, report.pending) == (1, 1)
    with open_engine(tmp_path / "c", environ=KEYWORDS, clock=clock) as other:
        assert bring_in(other, foreign).new == 1


def test_vectors_come_in_byte_for_byte_and_bad_ones_are_made_anew(engine, other, tmp_path):
    remember(engine, "eins")
    lines = export(engine, tmp_path / "1.jiyi")
    assert bring_in(other, tmp_path / "1.jiyi").pending == 0
    assert '"vectors":[[0,4,' in lines[2]
    assert '"vectors":[' not in "".join(export(engine, tmp_path / "n.jiyi", vectors=False))
    broken = (
        lines[2].replace('"vectors":[[0,4,', '"vectors":[[0,400,').replace('uid":"0', 'uid":"1')
    )
    plain = tmp_path / "2.jsonl"
    plain.write_text("\n".join([lines[0], lines[1], broken]), "utf-8")
    report = bring_in(other, plain)
    assert (report.new, report.pending) == (1, 1)


def test_filters_choose_and_a_partial_archive_stands_alone(filled, full, other, tmp_path):
    chosen = Filters(scope=Scope("workspace", "项目", exact=True))
    lines = export(full, tmp_path / "1.jiyi", filters=chosen)
    report = bring_in(other, tmp_path / "1.jiyi")
    assert report.bad == 0
    assert {one.workspace for one in other.list(limit=100).memories} == {"项目"}
    assert report.new == sum('"type":"memory"' in line for line in lines)


def test_everything_can_go_into_one_workspace(filled, full, other, tmp_path):
    export(full, tmp_path / "1.jiyi")
    assert bring_in(other, tmp_path / "1.jiyi", workspace="alt").bad == 0
    assert {one.workspace for one in other.list(EVERYTHING, limit=100).memories} == {"alt"}


def test_notes_give_back_every_authored_field_and_links(filled, full, other, tmp_path):
    folder = tmp_path / "笔记 1"
    written = full.transfer.export(ExportRequest(folder, form="markdown", trash=True))
    assert written.counts["memory"] == 13
    report = bring_in(other, folder)
    assert (report.format, report.new, report.links, report.bad) == ("markdown", 13, 2, 0)
    ours = [one for state in (False, True) for one in everything(full, state)]
    theirs = {one.uid: one for state in (False, True) for one in everything(other, state)}
    for memory in ours:
        assert same(memory) == same(theirs[memory.uid])
    with pytest.raises(Conflict, match="export_exists"):
        full.transfer.export(ExportRequest(folder, form="markdown"))


def everything(full, deleted_only):
    filters = dataclasses.replace(EVERYTHING, deleted_only=deleted_only)
    return full.list(filters, limit=100).memories


def same(memory):
    own = {"id": 0, "created_at": round(memory.created_at, 5), "superseded_by": 0}
    return dataclasses.replace(memory, updated_at=round(memory.updated_at, 5), **own)


def test_an_archive_is_never_half_written_over_another(engine, tmp_path):
    remember(engine, "eins")
    path = tmp_path / "sub" / "1.jiyi"
    export(engine, path)
    with pytest.raises(Conflict, match="export_exists"):
        export(engine, path)
    export(engine, path, overwrite=True)
    assert [one.name for one in path.parent.iterdir()] == ["1.jiyi"]
    assert path.stat().st_mode & 0o077 == 0 or path.drive
    with pytest.raises(InvalidInput, match="export_is_folder"):
        export(engine, tmp_path)


def test_a_file_can_be_looked_into_without_a_store(filled, full, tmp_path):
    lines = export(full, tmp_path / "1.jiyi", history=True)
    report = inspect_file(tmp_path / "1.jiyi")
    assert report.complete
    assert report.counts["memory"] == 12
    assert report.counts["history"] > 12
    assert report.header is not None
    assert report.header.schema == 3
    cut = tmp_path / "cut.jsonl"
    cut.write_text("\n".join(lines[:10]), "utf-8")
    assert not inspect_file(cut).complete
    with pytest.raises(NotFound, match="import_no_file"):
        inspect_file(tmp_path / "none")


def test_an_archive_of_a_newer_product_is_refused(engine, tmp_path):
    newer = json_lines(tmp_path / "1.jsonl", {"type": "header", "format": "jiyi", "version": 2})
    with pytest.raises(InvalidInput, match="import_newer"):
        bring_in(engine, newer)


def test_assistants_write_into_one_folder_only(engine):
    place = engine.transfer.place_for("记忆.jiyi")
    assert place.parent == engine.context.home / "exports"
    for name in ("../../x", "/etc/x", "a/b", "C:x", "con"):
        with pytest.raises(InvalidInput, match="bad_file_name"):
            engine.transfer.place_for(name)


def test_a_recalled_list_does_not_come_in_again(engine, tmp_path):
    for number in range(5):
        remember(engine, f"Die Kaffeemaschine {number} steht in der Küche")
    block = engine.pack(PackRequest("Kaffeemaschine")).text
    path = json_lines(tmp_path / "1.jsonl", {"text": block}, {"text": f"neu: {block[:20]}"})
    for _ in range(5):
        report = bring_in(engine, path)
    assert report.own_blocks == 1
    assert engine.list(limit=100).total == 6


def test_what_an_import_replaces_leaves_no_names_behind(engine, tmp_path):
    remember(engine, "M2", participants=["小雨"])
    replaced = remember(engine, "M1", participants=["小雨"], topics=["灯塔计划"])
    other = remember(engine, "M3 ohne Namen", participants=["小雨"])
    lines = export(engine, tmp_path / "1.jiyi")
    uid, new = engine.get(replaced).uid, engine.get(other).uid
    changed = next(line for line in lines if new in line and '"memory"' in line)
    path = tmp_path / "2.jsonl"
    path.write_text(lines[0] + "\n" + changed.replace(new, uid), "utf-8")
    bring_in(engine, path, collision="overwrite")
    with engine.context.database.read() as connection:
        assert graph.find_node(connection, NodeKey("person", "小雨")).memories == 3
        with pytest.raises(NotFound):
            graph.find_node(connection, NodeKey("topic", "灯塔计划"))


def test_memories_whose_atoms_never_came_get_them_derived(full, engine, tmp_path, filled):
    lines = export(full, tmp_path / "1.jiyi")
    cut = tmp_path / "cut.jsonl"
    cut.write_text("\n".join(line for line in lines if '"type":"atom"' not in line), "utf-8")
    bring_in(engine, cut)
    with engine.context.database.read() as connection:
        assert list(transfer.atoms(connection)) == []
        assert memory_layers.any_missing(connection)
    fill_layers.derive_missing(engine.context, 30.0)
    with engine.context.database.read() as connection:
        assert len(list(transfer.atoms(connection))) > 10
        assert not memory_layers.any_missing(connection)


def test_progress_is_told(filled, full, other, tmp_path):
    export(full, tmp_path / "1.jiyi")
    told: list[tuple[int, int]] = []
    request = ImportRequest(tmp_path / "1.jiyi")
    other.transfer.import_(request, CALLER, lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
