"""Two servers on one store see each other's changes at once, by word and by meaning."""

from __future__ import annotations

from tests.engine.mcp_server.process import ServerProcess


def test_a_write_an_edit_and_a_delete_are_seen_by_the_other_server_at_once(tmp_path):
    with ServerProcess(tmp_path) as one:
        one.initialize("one")
        one.ask("list_memories")
        with ServerProcess(tmp_path) as other:
            other.initialize("other")
            exchange(one, other)


def exchange(one: ServerProcess, other: ServerProcess) -> None:
    """One server writes, edits and deletes; what the other finds is checked each time."""
    one.ask("memorize", text="会议室的钥匙在蓝色抽屉里")
    for mode in ("keyword", "semantic"):
        assert "蓝色抽屉" in other.ask("recall", query="蓝色抽屉", filters=f"mode={mode}")
    other.ask("edit_memory", id=1, text="会议室的钥匙在前台小王那里")
    for mode in ("keyword", "semantic"):
        found = one.ask("recall", query="前台小王", filters=f"mode={mode}")
        assert "前台小王" in found and "蓝色" not in found
    one.ask("delete_memory", id=1)
    for mode in ("keyword", "semantic", "auto"):
        found = other.ask("recall", query="前台小王", filters=f"mode={mode}")
        assert found.startswith("Nothing found.")
    assert other.ask("list_memories") == "No memories."
