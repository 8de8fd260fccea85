"""Erased for good: not in the journal, its archive, the caches, the backups, nor the file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import NotFound
from engine.domain.prompts import PromptForm
from engine.use_cases import purge
from engine.use_cases.edit import EditRequest
from engine.use_cases.judge import JudgeRequest
from tests.engine.use_cases.shortcuts import CALLER, remember

SECRET = "保险箱口令Xyzzy42在灯塔下面"
NEEDLES = ("Xyzzy42", "xyzzy42", "口令在", "灯塔下面")


def files_that_hold(home: Path, needles: tuple[str, ...] = NEEDLES) -> list[str]:
    """Every file under the home, unpacked where packed, in which a needle stands."""
    found = []
    for path in home.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            content = gzip.decompress(raw) if path.suffix == ".gz" else raw
            if any(needle.encode() in content for needle in needles):
                found.append(path.name)
    return found


def test_an_erased_memory_is_in_no_file_of_the_product(
    engine: Engine, clock: FixedClock, home: Path
) -> None:
    memory_id = remember(engine, SECRET, tags=["Xyzzy42"], key_facts=[f"事实：{SECRET}"])
    other = remember(engine, "another memory", summary=SECRET)
    clock.advance(100 * 86_400)
    engine.edit(EditRequest(memory_id, {"text": SECRET + "，改过"}), CALLER)
    engine.edit(EditRequest(other, {"summary": "no more"}), CALLER)
    engine.judge(JudgeRequest("Xyzzy42?", (memory_id,)), CALLER)
    engine.backups.make(reason="manual")
    engine.briefing("global", PromptForm(), refresh=True)
    engine.journal.trim()
    assert len(files_that_hold(home)) >= 2
    done = engine.erase_all([memory_id], CALLER)
    assert done.memories[0].id == memory_id
    assert len(done.backups) == 1
    assert [notice.key for notice in done.unreached] == ["erase.elsewhere"]
    engine.close()
    assert files_that_hold(home) == []


def test_what_was_erased_is_gone_from_archived_entries(
    engine: Engine, clock: FixedClock, home: Path
) -> None:
    memory_id = remember(engine, "plain")
    engine.edit(EditRequest(memory_id, {"text": SECRET}), CALLER)
    engine.edit(EditRequest(memory_id, {"text": "harmless again"}), CALLER)
    clock.advance(100 * 86_400)
    trimmed = engine.journal.trim()
    assert trimmed.archived_to is not None
    assert files_that_hold(home / "journal") == [trimmed.archived_to.name]
    done = engine.erase_all([memory_id], CALLER)
    assert done.archive_files == 1
    assert files_that_hold(home / "journal") == []
    with gzip.open(trimmed.archived_to, "rt", encoding="utf-8") as file:
        assert len(file.readlines()) == trimmed.removed


def test_snapshots_of_purged_memories_can_be_erased_too(
    engine: Engine, clock: FixedClock, home: Path
) -> None:
    memory_id = remember(engine, SECRET)
    engine.delete(memory_id, CALLER)
    clock.advance(40 * 86_400)
    purge.purge(engine.context, Caller("maintenance"), apply=True)
    assert files_that_hold(home) != []
    done = engine.erase_all([memory_id], CALLER)
    assert done.memories == ()
    assert done.purged == (memory_id,)
    engine.close()
    assert files_that_hold(home) == []


def test_backups_without_the_memory_stay(engine: Engine) -> None:
    remember(engine, "kept")
    engine.backups.make(reason="manual")
    memory_id = remember(engine, SECRET)
    done = engine.erase_all([memory_id], CALLER)
    assert done.backups == ()
    assert len(engine.backups.list()) == 1


def test_nothing_is_erased_when_a_reference_is_wrong(engine: Engine) -> None:
    memory_id = remember(engine, SECRET)
    with pytest.raises(NotFound):
        engine.erase_all([memory_id, 99], CALLER)
    assert engine.get(memory_id).text == SECRET
