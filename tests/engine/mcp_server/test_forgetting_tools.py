"""purge_expired, through the official client in the same process."""

from __future__ import annotations

import json

from tests.engine.mcp_server.talking import talk


def test_it_shows_what_is_past_its_time_and_reclaims_it_when_told(tmp_path):
    settings = "trash:\n  keep_days: 0\nmaintenance:\n  enabled: false\n"
    (tmp_path / "config.yaml").write_text(settings, encoding="utf-8")
    with talk(tmp_path, toolsets=["core", "admin"]) as one:
        assert one.ask("purge_expired") == "Nothing is past its time."
        one.ask("memorize", text="thrown away")
        one.ask("memorize", text="kept")
        one.ask("delete_memory", id="1")
        shown = one.ask("purge_expired")
        assert "0 expired, 1 from the trash" in shown
        assert "- #1 in the trash since" in shown
        assert json.loads(one.ask("purge_expired", format="json"))["memories"][0]["id"] == 1
        done = json.loads(one.ask("purge_expired", apply="yes", format="json"))
        assert (done["applied"], done["counts"]) == (True, {"expired": 0, "trash": 1})
        assert one.ask("purge_expired", apply="yes") == "Nothing is past its time."
