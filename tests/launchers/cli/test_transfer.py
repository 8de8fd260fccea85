"""``jiyi export``, ``jiyi import`` and ``jiyi info``."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def archive(jiyi, tmp_path):
    """An archive of two memories."""
    jiyi("remember", "咖啡机在厨房", "--tag", "家", "-w", "甲")
    jiyi("remember", "We chose SQLite", "--kind", "decision")
    path = tmp_path / "资料 ①" / "记忆①.jiyi"
    assert jiyi("export", str(path)).code == 0
    return path


def test_out_and_in_again(jiyi, archive, tmp_path):
    other = str(tmp_path / "其他")
    said = jiyi("import", str(archive), "--dry-run", "--home", other, "--json").json
    assert (said["new"], said["dry_run"], said["written"]) == (2, True, 2)
    assert jiyi("list", "--home", other, "--json").json["memories"] == []
    done = jiyi("import", str(archive), "--home", other, "--json").json
    assert (done["new"], done["same"], done["bad"]) == (2, 0, 0)
    assert done["group"]
    assert "咖啡机在厨房" in jiyi("list", "--home", other).out
    again = jiyi("import", str(archive), "--home", other).lines
    assert ["same", "2"] in again
    assert ["new", "0"] in again


def test_an_export_says_what_it_wrote_and_never_writes_over_a_file(jiyi, archive):
    answer = jiyi("export", str(archive))
    assert answer.code == 1
    assert "--overwrite" in answer.err
    table = jiyi.terminal("export", str(archive), "--overwrite").out
    assert "2 memories" in table
    counts = jiyi("export", str(archive), "--overwrite", "-w", "甲", "--json").json["counts"]
    assert counts["memory"] == 1


def test_info_needs_no_store(jiyi, archive, tmp_path):
    nowhere = tmp_path / "nowhere"
    record = jiyi("info", str(archive), "--home", str(nowhere), "--json").json
    assert record["format"] == "archive"
    assert record["counts"]["memory"] == 2
    assert record["complete"]
    assert not nowhere.exists()
    assert "hashing" in jiyi.terminal("info", str(archive)).out
    assert "记忆" in jiyi("info", str(archive), "--lang", "zh").out


def test_bad_lines_are_told_with_number_and_reason(jiyi, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "gut"}\n{"text": \n', encoding="utf-8")
    answer = jiyi("import", str(path))
    assert answer.code == 0
    assert "2: No JSON" in answer.err
    path.write_text("nonsense\n", encoding="utf-8")
    assert jiyi("import", str(path)).code == 1
    missing = jiyi("import", str(tmp_path / "none.jsonl"))
    assert missing.code == 1
    assert "none.jsonl" in missing.err


def test_notes_for_a_notebook(jiyi, archive, tmp_path):
    folder = tmp_path / "notes"
    assert jiyi("export", str(folder), "--form", "markdown", "--json").json["counts"]["memory"] == 2
    assert len(list(folder.rglob("*.md"))) == 2
    record = jiyi("import", str(folder), "--json").json
    assert (record["format"], record["same"]) == ("markdown", 2)


def test_texts_beyond_the_console_go_through(jiyi, archive, tmp_path):
    odd = "记忆★🎉\u00a0 [/] [red]红[/]"
    jiyi("remember", odd)
    path = tmp_path / "odd.jsonl"
    jiyi("export", str(path))
    texts = [json.loads(line).get("text") for line in path.read_text("utf-8").splitlines()]
    assert odd in texts
