"""Details of structured kinds through the tools."""

from __future__ import annotations

import json

from tests.engine.mcp_server.talking import talk


def test_details_travel_among_the_fields_and_name_what_is_wrong(tmp_path):
    with talk(tmp_path) as client:
        stored = client.ask(
            "memorize", text="Rust it is", fields='details={"what": "Rust", "why": "speed"}'
        )
        assert "decision" in stored
        assert "details" in stored
        shown = json.loads(client.ask("get_memory", id="1", format="json"))
        assert json.loads(shown["details"]) == {"what": "Rust", "why": "speed"}
        client.ask("edit_memory", id="1", fields={"details": {"what": "Go"}})
        assert '{"what": "Go"}' in client.ask("get_memory", id="1")
        refused = client.refused("edit_memory", id="1", fields={"details": {"fix": "x"}})
        assert "alternatives" in refused
        assert "details" in client.refused("memorize", text="a", fields="details=what")
