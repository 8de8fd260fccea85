"""Documents become memories, and follow their files."""

import pytest

from engine.domain.errors import NotFound
from engine.use_cases.ingest import IngestRequest
from engine.use_cases.recall import RecallRequest
from engine.use_cases.undo import UndoRequest
from tests.engine.use_cases.shortcuts import CALLER, found

FIRST = "灯塔计划的预算是三十万，由小雨负责，六月底交付第一版给客户，七月开始收尾款。"
SECOND = "部署在杭州的机房，每周三晚上发布，出问题先看日志再回滚，谁发布谁盯到半夜。"
THIRD = "验收标准有三条：能搜到、搜得准、断电不丢，由老林签字确认，少一条都不算完。"


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "docs" / "plan.md"
    path.parent.mkdir()
    _write(path, FIRST, SECOND)
    return path


def _write(path, *paragraphs, encoding="utf-8"):
    path.write_bytes("\n\n".join(["# 计划", *paragraphs]).encode(encoding))


def _ingest(engine, *paths, **given):
    return engine.documents.ingest(IngestRequest(paths, **given), CALLER)


def _texts(engine):
    return sorted(memory.text for memory in engine.list().memories)


def test_a_document_becomes_memories_that_say_where_they_come_from(engine, document):
    done = _ingest(engine, document)
    assert (done.files[0].added, done.files[0].chunks) == (2, 2)
    memory = engine.get(found(engine, "部署 机房")[0])
    assert memory.text == SECOND
    assert (memory.source, memory.trust) == ("ingest", "external")
    assert memory.source_ref == f"{document.as_posix()}#计划"


def test_an_unchanged_document_writes_nothing(engine, document):
    _ingest(engine, document)
    entries = engine.context.database
    with entries.read() as connection:
        before = connection.execute("SELECT count(*), max(id) FROM journal").fetchone()[:]
    again = _ingest(engine, document)
    with entries.read() as connection:
        after = connection.execute("SELECT count(*), max(id) FROM journal").fetchone()[:]
    assert again.files[0].unchanged and again.group_uid is None
    assert tuple(before) == tuple(after)


def test_a_changed_document_replaces_only_what_changed_and_one_undo_takes_it_back(
    engine, document, clock
):
    _ingest(engine, document)
    kept = found(engine, "灯塔计划 预算")[0]
    before = _texts(engine)
    clock.advance(60)
    _write(document, FIRST, THIRD)
    done = _ingest(engine, document)
    assert (done.files[0].added, done.files[0].kept, done.files[0].removed) == (1, 1, 1)
    assert engine.get(kept).revision == 1
    assert THIRD in _texts(engine) and SECOND not in _texts(engine)
    engine.journal.undo(CALLER, UndoRequest(group=done.group_uid))
    assert _texts(engine) == before
    clock.advance(60)
    again = _ingest(engine, document)
    assert (again.files[0].added, again.files[0].removed) == (1, 1)


def test_a_dry_run_says_what_will_be_done_and_does_nothing(engine, document, clock):
    dry = _ingest(engine, document, dry_run=True)
    assert engine.list().total == 0
    real = _ingest(engine, document)
    assert _counts(dry) == _counts(real)
    clock.advance(60)
    _write(document, THIRD)
    dry = _ingest(engine, document, dry_run=True)
    assert _counts(dry) == _counts(_ingest(engine, document))


def _counts(done):
    return [(file.path, file.added, file.kept, file.removed, file.unchanged) for file in done.files]


def test_folders_are_read_through_and_bad_files_told(engine, document):
    folder = document.parent
    (folder / "notes.txt").write_bytes(THIRD.encode("gb18030"))
    text = "\ufeff# 标题\r\n\r\n" + "内容很多，说的是灯塔计划的细节。" * 3
    (folder / "windows.md").write_bytes(text.encode())
    (folder / "picture.md").write_bytes(b"\x89PNG\x00\x01\x02" * 100)
    (folder / "code.py").write_text("x = 1", encoding="utf-8")
    (folder / ".hidden.md").write_text("secret plan", encoding="utf-8")
    done = _ingest(engine, folder)
    told = {file.path.name: file for file in done.files}
    assert set(told) == {"plan.md", "notes.txt", "windows.md", "picture.md"}
    assert told["picture.md"].error is not None
    assert THIRD in _texts(engine)
    assert told["windows.md"].added == 1


def test_a_path_that_is_not_there_stops_before_anything_is_written(engine, document):
    with pytest.raises(NotFound):
        _ingest(engine, document, document.parent / "missing.md")
    assert engine.list().total == 0


def test_secrets_of_documents_are_masked_and_told(engine, document, clock):
    _write(document, f"{FIRST}密码是 hunter2。")
    done = _ingest(engine, document)
    assert done.files[0].notices[0].key == "secrets.masked.password"
    assert "hunter2" not in _texts(engine)[0]
    clock.advance(60)
    _write(document, f"{FIRST}密码是 hunter2。", SECOND)
    assert _ingest(engine, document).files[0].kept == 1


def test_workspaces_have_documents_of_their_own(engine, document):
    _ingest(engine, document, workspace="a")
    done = _ingest(engine, document, workspace="b")
    assert done.files[0].added == 2
    assert engine.list().total == 4


def test_a_chunk_taken_out_by_hand_stays_out(engine, document):
    _ingest(engine, document)
    engine.delete(found(engine, "部署 机房")[0], CALLER)
    assert _ingest(engine, document).files[0].unchanged
    assert _texts(engine) == [f"# 计划\n\n{FIRST}"]


def test_what_is_read_is_recalled_with_its_trust(engine, document):
    _ingest(engine, document)
    (hit, *_) = engine.recall(RecallRequest("验收 发布 回滚")).hits
    assert hit.memory.trust == "external"
