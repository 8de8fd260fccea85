"""Backups, going back to one, repair and rebuilt indexes, from the command line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest


def test_a_backup_is_made_listed_and_restored(jiyi):
    jiyi("remember", "书房路由器的口令")
    made = jiyi("backup", "--name", "首份", "--json").json
    assert made["memories"] == 1
    assert made["text_index"] == "ok"
    assert Path(made["path"]).stat().st_size == made["size_bytes"]
    jiyi("remember", "多余的一条")
    restored = jiyi("restore-backup", "首份", "--yes", "--json").json
    assert restored["memories"] == 1
    assert not restored["was_damaged"]
    assert [line[-1] for line in jiyi("list").lines] == ["书房路由器的口令"]
    reasons = {item["name"]: item["reason"] for item in jiyi("backup", "list", "--json").json}
    assert reasons == {"首份": "named", Path(restored["kept_as"]).stem: "restore"}


def test_nothing_is_restored_where_nobody_can_be_asked(jiyi):
    jiyi("remember", "一")
    jiyi("backup")
    jiyi("remember", "二")
    answer = jiyi("restore-backup", "newest")
    assert answer.code == 2
    assert "1 memories" in answer.err
    assert "--yes" in answer.err
    assert len(jiyi("list").lines) == 2


def test_a_copy_elsewhere_can_be_restored_by_its_file(jiyi, tmp_path):
    jiyi("remember", "一")
    copy = tmp_path / "我的 副本.db"
    assert jiyi("backup", "--to", str(copy)).code == 0
    jiyi("remember", "二")
    assert jiyi("restore-backup", "--file", str(copy), "--yes").code == 0
    assert len(jiyi("list").lines) == 1
    assert jiyi("backup", "--to", str(copy)).code == 1, "nothing is overwritten"


@pytest.mark.parametrize("name", ["../../x", "con", "a:b", "x" * 300, "中文/路径"])
def test_a_bad_name_is_refused_in_words(jiyi, name):
    jiyi("remember", "一")
    answer = jiyi("backup", "--name", name)
    assert answer.code == 1
    assert "cannot be the name" in answer.err
    assert jiyi("backup", "list", "--json").json == []


def test_outdated_backups_are_shown_before_they_are_removed(jiyi):
    jiyi("remember", "一")
    made = Path(jiyi("backup", "--json").json["path"])
    old = made.with_name(made.name.replace(made.name[:8], "20200101"))
    old.write_bytes(made.read_bytes())
    shown = jiyi("backup", "thin", "--json").json
    assert [item["name"] for item in shown["removed"]] == [old.stem]
    assert old.exists()
    applied = jiyi("backup", "thin", "--apply", "--json").json
    assert applied["removed"] == shown["removed"]
    assert not old.exists()
    assert made.exists()


def test_a_damaged_store_points_to_its_backups_and_is_restored(jiyi):
    jiyi("remember", "一")
    jiyi("backup")
    with (jiyi.home / "jiyi.db").open("r+b") as file:
        file.write(b"\xff" * 4096)
    answer = jiyi("doctor")
    assert answer.code == 2
    assert "jiyi restore-backup newest" in answer.err
    assert jiyi("restore-backup", "newest", "--yes", "--json").json["was_damaged"]
    assert jiyi("doctor").code == 0


def test_repair_shows_first_and_puts_right_when_told_to(jiyi):
    jiyi("remember", "书房路由器的口令")
    connection = sqlite3.connect(jiyi.home / "jiyi.db")
    connection.execute("DELETE FROM fts_row")
    connection.commit()
    connection.close()
    shown = jiyi("repair", "--json")
    assert shown.code == 1
    assert "text_missing" in shown.json["findings"]
    applied = jiyi("repair", "--apply", "--json")
    assert applied.code == 0
    assert applied.json["findings"] == shown.json["findings"]
    assert applied.json["left"] == {}
    assert jiyi("repair").code == 0


def test_indexes_are_rebuilt(jiyi):
    jiyi("remember", "书房路由器的口令")
    done = jiyi("rebuild-index", "--json").json
    assert done["memories"] == done["vectors"] == 1
    assert jiyi("rebuild-index", "graph").code == 1


def test_doctor_looks_around_the_store(jiyi):
    jiyi("remember", "一")
    names = {check["name"] for check in jiyi("doctor", "--json").json["checks"]}
    assert {"disk", "place", "backups", "journal", "index_files", "upkeep", "privacy"} <= names
