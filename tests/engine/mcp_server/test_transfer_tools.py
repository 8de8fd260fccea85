"""The tools on files, through the official client in the same process."""

from __future__ import annotations

import json

import pytest

from tests.engine.mcp_server.talking import Talk, talk


@pytest.fixture
def one(tmp_path):
    with talk(tmp_path, toolsets=["core", "admin"]) as connected:
        yield connected


def test_an_archive_goes_out_and_in_by_name_alone(one: Talk, tmp_path):
    one.ask("memorize", text="咖啡机在厨房")
    assert "1 memories" in one.ask("export_memories", name="记忆.jiyi")
    assert len(list(tmp_path.rglob("exports/记忆.jiyi"))) == 1
    said = one.ask("import_memories", name="记忆.jiyi")
    assert said.startswith("Nothing was written")
    assert "the same: 1" in said
    notes = json.loads(one.ask("export_memories", name="notes", form="markdown", format="json"))
    assert notes["counts"]["memory"] == 1
    done = json.loads(one.ask("import_memories", name="notes", apply="yes", format="json"))
    assert (done["same"], done["written"], done["dry_run"]) == (1, 0, False)


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..\\x", "C:\\x", "a/b", "con"])
def test_no_name_leads_out_of_the_folder(one: Talk, name):
    for tool in ("export_memories", "import_memories"):
        assert "plain file name" in one.refused(tool, name=name)
