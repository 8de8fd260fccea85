"""``jiyi install`` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from launchers.clients.places import CLIENTS


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with nothing in it."""
    folder = tmp_path / "user"
    folder.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_server_is_registered_checked_and_taken_out(jiyi, user: Path):
    jiyi("remember", "灯塔在海边")
    done = jiyi("install", "claude-code", "--yes", "--verify", "--json")
    assert done.code == 0, done.err
    assert done.json["memories"] == 1
    assert files_of(user) == [".claude.json", ".claude/CLAUDE.md"]
    listed = {row["client"]: row["state"] for row in jiyi("install", "--json").json}
    assert listed.keys() == CLIENTS.keys()
    assert (listed["claude-code"], listed["codex"]) == ("registered", "missing")
    again = jiyi("install", "claude-code", "--yes")
    assert again.code == 0 and "already" in again.err and again.out == ""
    gone = jiyi("install", "claude-code", "--uninstall", "--yes")
    assert gone.code == 0 and files_of(user) == []
    assert "nothing was changed" in jiyi("install", "claude-code", "--uninstall", "--yes").err


def test_nothing_is_written_unasked(jiyi, user: Path):
    shown = jiyi("install", "codex", "--dry-run")
    assert shown.code == 0 and "+[mcp_servers.jiyi]" in shown.out
    refused = jiyi("install", "codex", stdin=b"")
    assert refused.code == 2 and "--yes" in refused.err
    printed = jiyi("install", "opencode", "--print", "--toolsets", "core,links", "--env", "A=1")
    entry = json.loads(printed.out)["mcp"]["jiyi"]
    assert entry["command"][-2:] == ["--toolsets", "core,links"]
    assert entry["environment"] == {"A": "1"}
    assert files_of(user) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("claude-cod",), "claude-code"),
        (("windsurf", "--project"), "--project"),
        (("zed", "--name", "a b"), "a b"),
        (("zed", "--env", "novalue"), "NAME=VALUE"),
    ],
)
def test_a_mistake_is_one_sentence(jiyi, user: Path, arguments, said):
    answer = jiyi("install", *arguments, "--yes")
    assert answer.code in (1, 2) and said in answer.err
    assert "Traceback" not in answer.err and files_of(user) == []


def test_a_broken_settings_file_is_left_alone(jiyi, user: Path):
    (user / ".claude.json").write_text('{\n"mcpServers": {')
    answer = jiyi("install", "claude-code", "--yes", "--lang", "zh")
    assert answer.code == 1 and "第 2 行" in answer.err
    assert (user / ".claude.json").read_text() == '{\n"mcpServers": {'


def test_a_server_that_does_not_start_is_said(jiyi, monkeypatch):
    monkeypatch.setattr("launchers.cli.commands.install.jiyi_command", lambda: ["/nowhere/jiyi"])
    answer = jiyi("install", "zed", "--yes", "--verify")
    assert answer.code == 1 and "does not answer" in answer.err


def test_a_check_run_says_that_the_server_is_ready(jiyi):
    jiyi("remember", "灯塔在海边")
    answer = jiyi("mcp", "--check")
    assert answer.code == 0 and "ready" in answer.out and "1 memories" in answer.out
