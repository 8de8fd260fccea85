"""pin_memory, archive_memory, reinforce_memory and memory_maintenance, through the official
client in the same process."""

from __future__ import annotations

import json
import time

from tests.engine.mcp_server.talking import talk

TOOLS = ["core", "manage", "atoms", "admin"]


def test_pin_and_archive_take_hold_and_can_be_taken_back(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        one.ask("memorize", text="the lighthouse is by the sea")
        assert one.ask("pin_memory", id="1") == "#1 is pinned."
        assert "already" in one.ask("pin_memory", id="#1", pinned="yes")
        assert one.ask("pin_memory", id="1", pinned="no") == "#1 is pinned no longer."
        assert "archived" in one.ask("archive_memory", id="1")
        assert "back" in one.ask("archive_memory", id="1", archived="no")
        assert "#9" in one.refused("archive_memory", id="9")


def test_a_memory_or_a_fact_is_reinforced(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        one.ask("memorize", text="小明住在杭州")
        assert one.ask("reinforce_memory", id="1") == "#1: salience 1.00 → 1.20 (2.00 at most)."
        assert one.ask("reinforce_memory", atom="1").startswith("Fact 1 was reinforced")
        assert "either" in one.refused("reinforce_memory")


def maintained(one, **how):
    """An answer of the tool once the background has done what was due at the start."""
    deadline = time.monotonic() + 20.0
    while (answer := json.loads(one.ask("memory_maintenance", format="json", **how)))["elsewhere"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return answer["jobs"]


def test_upkeep_says_what_each_job_did(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        one.ask("memorize", text="the lighthouse is by the sea")
        looked = maintained(one, jobs=["decay", "purge"], apply="no")
        assert [(job["job"], job["dry_run"]) for job in looked] == [
            ("decay", True),
            ("purge", True),
        ]
        done = one.ask("memory_maintenance", jobs=["purge"])
        assert done == "- purge: expired 0, trash 0"
        assert "allowed: decay" in one.refused("memory_maintenance", jobs=["nothing"])
