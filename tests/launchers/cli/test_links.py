"""Links, conflicts and merging from the command line."""

from __future__ import annotations

import io
import sys

import pytest

from launchers.cli.main import main

WEDNESDAY, THURSDAY = "例会每周三上午十点开", "例会每周四上午十点开"


def remember(jiyi, *texts: str) -> None:
    for text in texts:
        assert jiyi("remember", text, "-w", "甲", "--kind", "semantic").code == 0


def test_link_neighbors_unlink(jiyi):
    remember(jiyi, "一 alpha", "二 bravo", "三 charlie")
    linked = jiyi("link", "1", "2", "-r", "refines", "--json").json
    assert linked == {"from": 1, "to": 2, "relations": ["refines"]}
    assert jiyi("link", "1", "2", "-r", "refines", "--json").json["relations"] == []
    assert jiyi("link", "2", "3").lines == [["#2", "#3", "related"]]
    near = jiyi("neighbors", "1", "--depth", "2").lines
    assert [(line[0], line[1], line[2]) for line in near] == [
        ("1", "#1 refines →", "#2"),
        ("2", "#2 related →", "#3"),
    ]
    assert jiyi("neighbors", "1", "--direction", "in", "--json").json == []
    table = jiyi("neighbors", "2", "--format", "table").out
    assert "links away" in table
    assert jiyi("unlink", "1", "2", "--json").json["relations"] == ["refines"]
    assert jiyi("unlink", "1", "2", "--format", "table").out.strip().startswith("There is no")


@pytest.mark.parametrize(
    "arguments",
    [
        ("link", "1", "1"),
        ("link", "1", "9"),
        ("link", "1", "2", "-r", "friend"),
        ("neighbors", "1", "--depth", "9"),
        ("supersede", "2", "2"),
    ],
)
def test_what_cannot_be_is_one_sentence(jiyi, arguments):
    remember(jiyi, "一 alpha", "二 bravo")
    answer = jiyi(*arguments)
    assert answer.code == 1
    assert len(answer.err.strip().splitlines()) <= 2
    assert answer.out == ""


def test_supersede_and_restore_say_what_they_did(jiyi):
    remember(jiyi, "一 alpha", "二 bravo")
    assert jiyi("supersede", "1", "2").lines == [["#1", "#2", "superseded"]]
    assert "already" in jiyi("supersede", "1", "2", "--format", "table").out
    assert jiyi("restore", "1", "--json").json["results"][0]["was"] == "superseded"
    jiyi("supersede", "1", "2")
    assert "in its place" in jiyi("restore", "1", "--format", "table").out
    jiyi("forget", "1")
    assert "trash" in jiyi("restore", "1", "--format", "table").out


def test_remember_tells_refuses_and_replaces(jiyi):
    remember(jiyi, WEDNESDAY)
    arguments = ("remember", THURSDAY, "-w", "甲", "--kind", "semantic")
    refused = jiyi(*arguments, "--on-conflict", "reject")
    assert (refused.code, refused.out) == (1, "")
    assert "#1" in refused.err
    told = jiyi(*arguments, "--json")
    assert [clash["verdict"] for clash in told.json["conflicts"]] == ["contradiction"]
    assert "#1" in told.err
    jiyi("forget", "2")
    assert "superseded" in jiyi(*arguments, "--on-conflict", "supersede").err
    assert jiyi("show", "1", "--json").json["superseded_by"] == 3


def test_conflicts_are_listed(jiyi):
    remember(jiyi, WEDNESDAY, THURSDAY, "午饭吃了面条")
    found = jiyi("conflicts", "--json").json
    assert (found["total"], found["scanned"]) == (1, 3)
    assert found["conflicts"][0]["older"] == {"id": 1, "text": WEDNESDAY, "part": "周三"}
    assert jiyi("conflicts", "2").lines[0][:3] == ["contradicts", "#1", "#2"]
    assert "contradicts" in jiyi("conflicts", "--format", "table").out
    assert jiyi("conflicts", "--settle", stdin=b"").code == 2


def test_consolidate_shows_first_and_merges_with_apply(jiyi):
    remember(jiyi, WEDNESDAY, WEDNESDAY, "午饭吃了面条")
    shown = jiyi("consolidate", "--json").json
    assert (shown["applied"], shown["trashed"]) == (False, 1)
    assert len(jiyi("list").lines) == 3
    done = jiyi("consolidate", "--apply", "--json").json
    assert done["groups"] == shown["groups"]
    assert len(jiyi("list").lines) == 2
    assert "Nothing to merge" in jiyi("consolidate", "--format", "table").err


@pytest.mark.parametrize(
    ("answer", "left"), [("b\n", [1, 2]), ("s\n", [2]), ("m\n", [2]), ("q\n", [1, 2]), ("", [1, 2])]
)
def test_conflicts_are_settled_one_by_one(jiyi, monkeypatch, answer, left):
    remember(jiyi, WEDNESDAY, THURSDAY)
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert main(("conflicts", "--settle")) == 0
    assert sorted(memory["id"] for memory in jiyi("list", "--json").json["memories"]) == left
