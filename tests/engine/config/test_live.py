from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from engine.config.file import FILE_NAME
from engine.config.live import LiveSettings
from engine.config.reference import setting_rows
from engine.config.schema import declared
from engine.domain.clock import FixedClock

OTHER_VALUES: dict[str, object] = {
    "choice": None,
    "switch": False,
    "text": "Asia/Shanghai",
    "list": "core = a, manage = b",
    "expansion.relations": "related, supersedes",
}


def write(home: Path, text: str) -> None:
    (home / FILE_NAME).write_text(text, encoding="utf-8")


def test_without_a_file_the_defaults_hold(tmp_path):
    live = LiveSettings(tmp_path, {})
    assert live.current().recall.k == 5
    assert live.problem is None
    assert set(live.sources().values()) == {"default"}
    assert os.listdir(tmp_path) == []


def test_the_environment_wins_over_the_file_and_sources_say_so(tmp_path):
    write(tmp_path, "recall:\n  k: 7\n  pool: 200\n")
    live = LiveSettings(tmp_path, {"JIYI_RECALL__K": "9"})
    assert live.current().recall.k == 9
    assert live.current().recall.pool == 200
    assert live.sources()["recall.k"] == "env"
    assert live.sources()["recall.pool"] == "file"
    assert live.sources()["recall.preset"] == "default"


def test_every_change_is_in_force_on_the_next_call(tmp_path):
    live = LiveSettings(tmp_path, {})
    for k in (1, 2, 3, 9, 10, 100):
        write(tmp_path, f"recall:\n  k: {k}\n")
        assert live.current().recall.k == k
    (tmp_path / FILE_NAME).unlink()
    assert live.current().recall.k == 5


@pytest.mark.parametrize("key", list(declared()))
def test_each_setting_can_be_changed_while_a_process_runs(tmp_path, key):
    setting = declared()[key]
    value: object = OTHER_VALUES.get(key) or OTHER_VALUES.get(setting.kind, setting.high)
    if setting.kind == "choice":
        value = setting.choices[-1]
    live = LiveSettings(tmp_path, {})
    before = live.version()
    *sections, name = key.split(".")
    lines = [f"{'  ' * depth}{section}:" for depth, section in enumerate(sections)]
    write(tmp_path, "\n".join([*lines, f"{'  ' * len(sections)}{name}: {value}"]))
    assert live.problem is None
    assert live.sources()[key] == "file"
    unchanged = setting.read(live.current()) == setting.default
    assert (live.version() == before) == unchanged


@pytest.mark.parametrize("broken", ["recall: [", "recall:\n  k: 500\n", "recall: 5", "\x00"])
def test_a_broken_file_keeps_the_last_good_settings_until_it_is_mended(tmp_path, broken):
    write(tmp_path, "recall:\n  k: 7\n")
    live = LiveSettings(tmp_path, {})
    good = live.version()
    write(tmp_path, broken)
    assert live.current().recall.k == 7
    assert live.version() == good
    assert live.problem is not None
    write(tmp_path, "recall:\n  k: 8\n")
    assert live.current().recall.k == 8
    assert live.problem is None


def test_a_broken_file_at_the_start_leaves_defaults_and_environment(tmp_path):
    write(tmp_path, "recall:\n  k: 7\n  k: 8\n")
    live = LiveSettings(tmp_path, {"JIYI_RECALL__POOL": "50"})
    assert live.current().recall.k == 5
    assert live.current().recall.pool == 50
    assert live.problem is not None


def test_a_bad_variable_is_a_problem_and_the_file_still_counts(tmp_path):
    write(tmp_path, "recall:\n  k: 7\n")
    live = LiveSettings(tmp_path, {"JIYI_RECALL__K": "many"})
    assert live.current().recall.k == 7
    assert live.problem is not None


def test_an_unknown_key_is_a_warning_and_no_problem(tmp_path):
    write(tmp_path, "recall:\n  kk: 7\n")
    live = LiveSettings(tmp_path, {})
    assert live.problem is None
    assert len(live.warnings) == 1


def test_a_young_file_is_read_again_although_its_time_and_size_stand_still(tmp_path):
    path = tmp_path / FILE_NAME
    write(tmp_path, "recall:\n  k: 7\n")
    found = path.stat()
    clock = FixedClock(found.st_mtime + 1)
    live = LiveSettings(tmp_path, {}, clock)
    assert live.current().recall.k == 7
    write(tmp_path, "recall:\n  k: 8\n")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert live.current().recall.k == 8


def test_a_settled_file_is_not_opened_again(tmp_path, monkeypatch):
    write(tmp_path, "recall:\n  k: 7\n")
    live = LiveSettings(tmp_path, {}, FixedClock(time.time() + 60))
    first = live.current()
    monkeypatch.setattr(Path, "open", None)
    assert live.current() is first


def test_many_threads_see_only_whole_settings(tmp_path):
    live = LiveSettings(tmp_path, {})
    seen: set[tuple[int, int]] = set()

    def watch() -> None:
        for _ in range(200):
            recall = live.current().recall
            seen.add((recall.k, recall.pool))

    threads = [threading.Thread(target=watch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for k in range(10, 40):
        draft = tmp_path / "draft"
        draft.write_text(f"recall:\n  k: {k}\n  pool: {k * 10}\n", encoding="utf-8")
        draft.replace(tmp_path / FILE_NAME)
    for thread in threads:
        thread.join()
    assert seen <= {(5, 100)} | {(k, k * 10) for k in range(10, 40)}


def test_rows_show_value_default_source_range_and_help(tmp_path):
    write(tmp_path, "recall:\n  k: 7\n")
    live = LiveSettings(tmp_path, {"JIYI_TOOLSETS": "core,manage"})
    rows = {row.key: row for row in setting_rows(live, "zh")}
    assert list(rows) == list(declared())
    k = rows["recall.k"]
    assert (k.value, k.default, k.source, k.range, k.acts) == ("7", "5", "file", "1-100", "now")
    assert k.label == "返回条数"
    assert rows["mcp.toolsets"].source == "JIYI_TOOLSETS"
    assert rows["mcp.toolsets"].value == "core, manage"
    assert rows["recall.weights.recency"].value == "null"
