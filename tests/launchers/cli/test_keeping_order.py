"""Listing, showing, editing, forgetting."""

from __future__ import annotations

import sys

import pytest

EVIL = "a\x1b]0;title\x07b\u202ec\x9bd"


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """Sets EDITOR to a program that applies a Python expression to the text ``t``."""

    def use(expression: str) -> None:
        script = tmp_path / "editor.py"
        script.write_text(
            "import sys, pathlib\n"
            "p = pathlib.Path(sys.argv[1])\n"
            "t = p.read_bytes().decode()\n"
            f"p.write_bytes(({expression}).encode())\n",
            encoding="utf-8",
        )
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f'"{sys.executable}" "{script}"')

    return use


def test_a_list_is_newest_first_and_its_cursor_goes_on(jiyi):
    for number in range(5):
        jiyi("remember", f"text {number}")
    page = jiyi("list", "--limit", "2")
    assert [line[0] for line in page.lines] == ["#5", "#4"]
    cursor = page.err.split("--cursor ")[1].strip()
    assert [line[0] for line in jiyi("list", "--limit", "3", "--cursor", cursor).lines] == [
        "#3",
        "#2",
        "#1",
    ]
    record = jiyi("list", "--limit", "2", "--json").json
    assert (record["total"], record["next_cursor"]) == (5, cursor)


def test_a_row_of_tab_separated_values_is_one_line_whatever_the_text_holds(jiyi):
    jiyi("remember", "-", stdin=b"one\ttwo\nthree\\four")
    [row] = jiyi("list").lines
    assert row[-1] == "one\\ttwo\\nthree\\\\four"


def test_control_and_direction_characters_never_reach_a_terminal(jiyi):
    jiyi("remember", EVIL, "--topic", EVIL, "-w", EVIL)
    for command in (["list"], ["show", "1"], ["show", "1", "--text"], ["recall", "title"]):
        shown = jiyi.terminal(*command, "--lang", "en").out
        assert "\\x1b" in shown
        for character in "\x1b\x07\x9b\u202e":
            assert character not in shown.replace("\x1b[1m", "").replace("\x1b[0m", "")


def test_json_keeps_those_characters_and_pipes_get_the_exact_text(jiyi):
    jiyi("remember", EVIL)
    assert jiyi("show", "1", "--text").out == EVIL
    answer = jiyi("show", "1", "--json")
    assert answer.json["text"] == EVIL
    assert "\u202e" not in answer.out


def test_brackets_in_a_memory_are_shown_as_they_are(jiyi):
    jiyi("remember", "[/x] [bold]a[/bold] :smile:")
    assert "[/x] [bold]a[/bold] :smile:" in jiyi.terminal("list").out


def test_history_tells_what_happened_and_who_did_it(jiyi):
    jiyi("remember", "text")
    jiyi("edit", "1", "--tag", "a")
    history = jiyi("show", "1", "--history", "--json").json["history"]
    assert [entry["actor"] for entry in history] == ["cli", "cli"]
    assert history[1]["changes"]["tags"] == {"before": [], "after": ["a"]}


def test_every_form_of_a_reference_is_understood(jiyi):
    uid = jiyi("remember", "text", "--json").json["uid"]
    for ref in ("1", "#1", uid, uid[-8:]):
        assert jiyi("show", ref, "--text").out == "text"
    assert jiyi("show", "7").code == 1


def test_an_edit_changes_what_is_named_and_keeps_the_rest(jiyi):
    jiyi("remember", "text", "--tag", "a", "--topic", "t")
    record = jiyi("edit", "1", "--text", "new", "--tag", "b", "--clear", "topics", "--json").json
    assert sorted(record["changed"]) == ["tags", "text", "topics"]
    memory = record["memory"]
    assert (memory["text"], memory["tags"], memory["topics"]) == ("new", ["b"], [])
    assert memory["source"] == "cli"


def test_an_edit_that_changes_nothing_says_so(jiyi):
    jiyi("remember", "text", "--tag", "a")
    assert "nothing changed" in jiyi("edit", "1", "--tag", "a").err


def test_an_edit_of_an_old_revision_is_refused(jiyi):
    jiyi("remember", "text")
    jiyi("edit", "1", "--text", "new")
    answer = jiyi("edit", "1", "--text", "newer", "--revision", "1")
    assert answer.code == 1
    assert jiyi("show", "1", "--text").out == "new"


def test_the_editor_gets_the_whole_text_and_its_line_end_is_not_kept(jiyi, editor):
    text = "汉" * 9955 + "尾标QX7"
    jiyi("remember", "-", stdin=text.encode())
    editor("t.replace('QX7', 'QX8') + chr(10)")
    assert jiyi("edit", "1").code == 0
    assert jiyi("show", "1", "--text").out == text.replace("QX7", "QX8")


def test_an_editor_that_changes_nothing_writes_nothing(jiyi, editor):
    jiyi("remember", "text")
    editor("t")
    assert "nothing changed" in jiyi("edit", "1").err
    assert jiyi("show", "1", "--json").json["revision"] == 1


def test_what_was_typed_is_kept_when_it_cannot_be_saved(jiyi, editor):
    jiyi("remember", "text")
    jiyi("edit", "1", "--text", "changed meanwhile")
    editor("'typed by hand'")
    answer = jiyi("edit", "1", "--revision", "1")
    assert answer.code == 1
    kept = answer.err.splitlines()[-1].split(" in ")[-1]
    with open(kept, encoding="utf-8") as file:
        assert file.read() == "typed by hand"


def test_forgetting_goes_to_the_trash_and_can_be_undone(jiyi):
    jiyi("remember", "one")
    jiyi("remember", "two")
    assert jiyi("forget", "1", "2").code == 0
    assert jiyi("list").out == ""
    assert len(jiyi("list", "--trash").lines) == 2
    assert jiyi("show", "1", "--json").json["state"] == "deleted"
    assert jiyi("restore", "1").code == 0
    assert [line[0] for line in jiyi("list").lines] == ["#1"]


def test_a_terminal_is_told_how_to_undo(jiyi):
    jiyi("remember", "one")
    assert "jiyi restore #1" in jiyi.terminal("forget", "1").out


def test_of_several_references_the_good_ones_are_done_and_the_bad_one_is_named(jiyi):
    jiyi("remember", "one")
    answer = jiyi("forget", "9", "1", "--json")
    assert answer.code == 1
    assert "#9" in answer.err
    assert (answer.json["failed"], len(answer.json["results"])) == (1, 1)


def test_erasing_wants_a_yes_and_shows_what_would_go(jiyi):
    jiyi("remember", "a secret")
    refused = jiyi("forget", "1", "--erase", stdin=b"yes\n")
    assert refused.code == 2
    assert "a secret" in refused.err
    assert jiyi("list", "--json").json["total"] == 1
    erased = jiyi("forget", "1", "--erase", "--yes")
    assert erased.code == 0
    assert "not reached" in erased.err
    assert jiyi("show", "1").code == 1
