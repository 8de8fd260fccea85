"""Secrets in a store that was written without looking for them."""

import gzip

import pytest

from engine.bootstrap import open_engine
from engine.domain.fact import FactRequest
from engine.use_cases.edit import EditRequest
from engine.use_cases.journal import trim_journal
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember

KEY = "sk-sp-ABCDEFGH12345678.abcdefgh12345678_XYZ"


@pytest.fixture
def careless(home, clock):
    """A store into which secrets were let: memories, the history, the trash."""
    environ = HASHING | {"JIYI_SECRETS__POLICY": "off"}
    with open_engine(home, environ=environ, clock=clock) as engine:
        remember(engine, "路由器密码是 hunter2，贴在背面", tags=("家", "密码：hunter2"))
        second = remember(engine, f"DashScope 的 key {KEY}")
        engine.edit(EditRequest(second, {"text": "DashScope 的 key 在保险箱"}), CALLER)
        third = remember(engine, f"备用 key {KEY} 过期了", kind="knowledge")
        engine.delete(third, CALLER)
        remember(engine, "小雨在灯塔计划里管预算")
        yield engine


def test_a_scan_names_every_place_and_shows_no_secret(careless):
    scanned = careless.documents.scan_secrets(CALLER)
    places = {(one.place, one.id, one.field) for one in scanned.findings}
    assert {("memory", 1, "text"), ("memory", 1, "tags"), ("trash", 3, "text")} <= places
    assert "journal" in {one.place for one in scanned.findings}
    assert not any(KEY in one.text or "hunter2" in one.text for one in scanned.findings)
    assert not scanned.masked
    assert "hunter2" in careless.get(1).text


def test_masking_leaves_nothing_anywhere_and_a_second_scan_finds_nothing(careless, home):
    careless.documents.scan_secrets(CALLER, apply=True)
    assert careless.get(1).text == "路由器密码是 [masked]，贴在背面"
    assert careless.get(1).tags == ("家", "密码：[masked]")
    assert careless.documents.scan_secrets(CALLER).places == 0
    careless.close()
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"hunter2" not in kept
    assert KEY.encode() not in kept


def test_masked_memories_stay_where_they_are_and_are_found(careless):
    before = [memory.id for memory in careless.list().memories]
    careless.documents.scan_secrets(CALLER, apply=True)
    assert [memory.id for memory in careless.list().memories] == before
    assert 1 in found(careless, "路由器密码")
    assert 3 not in found(careless, "备用 key")
    careless.restore(3, CALLER)
    assert "sk-sp-…[masked]" in careless.get(3).text


def test_a_fact_that_names_a_password_is_masked(careless):
    careless.facts.add(FactRequest("路由器", "密码", "hunter2"), CALLER)
    careless.documents.scan_secrets(CALLER, apply=True)
    assert careless.documents.scan_secrets(CALLER).places == 0


def test_a_clean_store_is_not_written(engine):
    remember(engine, "小雨在灯塔计划里管预算")
    scanned = engine.documents.scan_secrets(CALLER, apply=True)
    assert (scanned.places, scanned.masked, scanned.memories) == (0, False, 1)
    assert engine.get(1).revision == 1


def test_no_undo_brings_a_masked_secret_back(careless):
    careless.documents.scan_secrets(CALLER, apply=True)
    careless.journal.undo(CALLER)
    assert careless.documents.scan_secrets(CALLER).places == 0


def test_files_of_the_archived_journal_are_masked_too(careless, clock, home):
    clock.advance(200 * 86_400)
    trim_journal(careless.context)
    files = list((home / "journal").glob("*.gz"))
    assert files and KEY.encode() in gzip.decompress(files[0].read_bytes())
    looked = careless.documents.scan_secrets(CALLER)
    assert "archive" in {one.place for one in looked.findings}
    scanned = careless.documents.scan_secrets(CALLER, apply=True)
    assert scanned.archived == len(files)
    assert not any(KEY.encode() in gzip.decompress(path.read_bytes()) for path in files)
