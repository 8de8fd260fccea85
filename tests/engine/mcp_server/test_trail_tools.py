"""undo and the tools over the journal, through the official client in the same process."""

from __future__ import annotations

import json

from tests.engine.mcp_server.talking import talk

TOOLSETS = ["core", "manage", "trail"]


def test_a_change_is_undone_and_redone_and_shown(tmp_path):
    with talk(tmp_path, toolsets=TOOLSETS) as one:
        one.ask("memorize", text="Ana lives in Lisbon")
        one.ask("edit_memory", id="1", text="Ana lives in Porto")
        assert "Would be undone: 1 entries" in one.ask("undo", action="preview")
        assert "Porto" in one.ask("get_memory", id="1")
        assert one.ask("undo").startswith("Undone: 1 entries")
        assert "Lisbon" in one.ask("get_memory", id="1")
        lines = one.ask("history", id="1").splitlines()
        assert ["edit (undone)" in line for line in lines[1:]].count(True) == 1
        assert one.ask("undo", action="redo").startswith("Redone")
        tail = json.loads(one.ask("journal_tail", n=50, operation="edit", format="json"))
        assert [entry["fields"] for entry in tail["entries"]] == [["text"]]
        done = json.loads(one.ask("undo", target=str(tail["entries"][0]["id"]), format="json"))
        assert (done["operation"], done["memories"], done["applied"]) == ("undo", [1], True)


def test_the_past_is_shown_as_data(tmp_path):
    with talk(tmp_path, toolsets=TOOLSETS) as one:
        one.ask("memorize", text="Ana lives in Lisbon")
        shown = one.ask("state_at", moment="0.001", scope="all")
        assert "Ana lives in Lisbon" in shown
        assert "As of " in shown
        page = json.loads(one.ask("state_at", moment="2020-01-01", format="json"))
        assert (page["total"], page["memories"]) == (0, [])
        assert "Ana lives in Lisbon" in one.ask("get_at", id="1", moment="0.001")
