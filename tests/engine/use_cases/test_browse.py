"""Looking memories up, and the store as a whole."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.clock import FixedClock
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.ids import short_uid
from engine.domain.scope import Filters
from engine.use_cases.browse import workspace_names
from tests.engine.use_cases.shortcuts import CALLER, remember, remember_all, within


def test_a_memory_is_read_by_every_form_of_its_name(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    uid = engine.get(memory_id).uid
    for form in (memory_id, str(memory_id), f"#{memory_id}", uid, uid.upper(), short_uid(uid)):
        assert engine.get(form).id == memory_id
    for form in ("#99", "99", uid.replace(uid[:4], "ffff"), "ffffffff"):
        with pytest.raises(NotFound):
            engine.get(form)
    with pytest.raises(InvalidInput):
        engine.get("文")


def test_a_list_is_newest_first_and_pages_join(engine: Engine, clock: FixedClock) -> None:
    ids = []
    for number in range(7):
        ids.append(remember(engine, f"文 {number}"))
        clock.advance(number % 2)
    first = engine.list(limit=3)
    second = engine.list(limit=3, cursor=first.next_cursor)
    remember(engine, "新")
    third = engine.list(limit=3, cursor=second.next_cursor)
    listed = [memory.id for page in (first, second, third) for memory in page.memories]
    assert listed == ids[::-1]
    assert (first.total, third.total, third.next_cursor) == (7, 8, None)


@pytest.mark.parametrize("limit", [0, -1, 1001, 10**30])
def test_a_limit_out_of_range_is_refused(engine: Engine, limit: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.list(limit=limit)
    assert caught.value.params["name"] == "limit"


def test_labels_in_filters_are_compared_folded(engine: Engine) -> None:
    memory_id = remember(engine, "文", tags=["ＧｉｔＨｕｂ", "測試"], participants=["Mrs. Bell"])
    for filters in (
        Filters(tags_all=("github", "测试")),
        Filters(tags_any=("GITHUB",)),
        Filters(participants=("mrs.  bell",)),
    ):
        assert [memory.id for memory in engine.list(filters).memories] == [memory_id]
    assert engine.list(Filters(tags_all=("git",))).total == 0
    assert engine.get(memory_id).tags == ("ＧｉｔＨｕｂ", "測試")


def test_history_tells_what_happened_in_order(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    engine.delete(memory_id, CALLER)
    engine.restore(f"#{memory_id}", CALLER)
    operations = [entry.operation for entry in engine.history(memory_id)]
    assert operations == ["memorize", "delete", "restore"]
    with pytest.raises(NotFound):
        engine.history(99)


def test_statistics_count_what_is_there(engine: Engine, clock: FixedClock) -> None:
    remember_all(engine, ["一", "二"], workspace="甲")
    remember(engine, "三", kind="decision", tags=["A", "a", "b"], source="import", pinned=True)
    gone = remember(engine, "四", tags=["a"], expires_at=clock.now() + 5)
    engine.delete(remember(engine, "五"), CALLER)
    clock.advance(10)
    numbers = engine.statistics()
    assert (numbers.total, numbers.pinned, numbers.vectors) == (4, 1, 5)
    assert numbers.by_kind == {"semantic": 3, "decision": 1}
    assert numbers.by_workspace == {"global": 2, "甲": 2}
    assert numbers.by_source == {"chat": 3, "import": 1}
    assert numbers.by_state == {"live": 3, "deleted": 1, "expired": 1}
    assert numbers.by_tag == {"a": 2, "b": 1}
    assert numbers.journal_entries == 6
    assert engine.get(gone).state(clock.now()) == "expired"


def test_a_healthy_store_is_said_to_be_healthy(engine: Engine) -> None:
    remember_all(engine, ["一", "二"])
    diagnosis = engine.diagnose()
    assert diagnosis.healthy
    assert diagnosis.writable
    assert diagnosis.store_bytes > 0
    assert (diagnosis.vectors.embedded, diagnosis.vectors.pending) == (2, 0)
    assert diagnosis.model.state == "ready"
    assert diagnosis.probe_ms is not None
    assert {"python", "sqlite", "usearch", "jiyi"} <= set(diagnosis.versions)


def test_without_a_model_the_diagnosis_warns_and_nothing_fails(keyword_engine: Engine) -> None:
    remember(keyword_engine, "一")
    diagnosis = keyword_engine.diagnose(wait_s=0.1)
    assert diagnosis.healthy
    assert diagnosis.model.state == "off"
    statuses = {check.name: check.status for check in diagnosis.checks}
    assert (statuses["model"], statuses["vectors"]) == ("warning", "warning")


def test_workspaces_are_listed_and_narrow_a_list(engine: Engine) -> None:
    remember(engine, "一", workspace="乙")
    remember(engine, "二", workspace="甲")
    remember(engine, "三")
    assert workspace_names(engine.context) == ["global", *sorted(["乙", "甲"])]
    assert engine.list(within("甲")).total == 2
    assert engine.list(within("甲", exact=True)).total == 1
