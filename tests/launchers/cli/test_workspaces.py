"""``jiyi workspaces``."""

from __future__ import annotations


def test_list_create_rename_move_copy_delete(jiyi):
    jiyi("remember", "咖啡机在厨房", "-w", "甲")
    assert jiyi("workspaces", "create", "乙", "--domain", "work").code == 0
    assert jiyi("workspaces", "move", "甲", "family").code == 0
    assert jiyi("workspaces", "rename", "甲", "新").code == 0
    copied = jiyi("workspaces", "copy", "新", "副本", "--json").json
    assert (copied["name"], copied["count"], copied["domain"]) == ("副本", 1, "family")
    deleted = jiyi("workspaces", "delete", "新", "--yes", "--json").json
    assert (deleted["count"], deleted["memories"], deleted["in_trash"]) == (1, 0, 1)
    rows = {row["name"]: row for row in jiyi("workspaces", "--json").json}
    assert {name: row["memories"] for name, row in rows.items()} == {"乙": 0, "副本": 1, "新": 0}
    assert rows["乙"]["domain"] == "work"
    assert next(line[:4] for line in jiyi("workspaces").lines) == ["乙", "work", "0", "0"]


def test_deleting_asks_first_and_deletes_nothing_where_nobody_answers(jiyi):
    jiyi("remember", "一", "-w", "甲")
    answer = jiyi("workspaces", "delete", "甲", stdin=b"")
    assert answer.code == 2
    assert "1" in answer.err
    assert "--yes" in answer.err
    assert jiyi("workspaces", "--json").json[0]["memories"] == 1


def test_misuse_is_one_sentence(jiyi):
    assert jiyi("workspaces", "copy", "甲").code == 2
    assert jiyi("workspaces", "explode").code == 1
    answer = jiyi("workspaces", "rename", "甲", "乙")
    assert answer.code == 1
    assert "甲" in answer.err
    assert jiyi("workspaces").err.strip() != ""


def test_the_table_names_its_columns(jiyi):
    jiyi("remember", "一", "-w", "甲")
    table = jiyi.terminal("workspaces").out
    assert "workspace" in table
    assert "甲" in table
