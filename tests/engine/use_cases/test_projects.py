"""Which project a folder belongs to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.use_cases.shortcuts import within


def project(folder: Path, remote: str | None = None) -> Path:
    (folder / ".git").mkdir(parents=True)
    if remote:
        config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {remote}\n'
        (folder / ".git" / "config").write_text(config, encoding="utf-8")
    return folder


def test_outside_a_project_everything_is_global(engine: Engine, tmp_path: Path) -> None:
    assert engine.workspace_of(tmp_path) == "global"
    assert engine.workspace_of(tmp_path, adopt=True) == "global"


def test_a_project_is_known_from_any_of_its_folders(engine: Engine, tmp_path: Path) -> None:
    root = project(tmp_path / "我的 项目")
    (root / "a" / "b").mkdir(parents=True)
    assert engine.workspace_of(root / "a" / "b") is None
    assert engine.workspace_of(root / "a" / "b", adopt=True) == "我的 项目"
    assert engine.workspace_of(root) == "我的 项目"


def test_looking_for_a_project_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    engine.workspace_of(project(tmp_path / "web"))
    assert engine.statistics().by_workspace == {}
    with engine.context.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM workspace").fetchone()[0] == 0


def test_a_moved_project_keeps_its_memories(engine: Engine, tmp_path: Path) -> None:
    root = project(tmp_path / "web", "git@example.com:team/web.git")
    assert engine.workspace_of(root, adopt=True) == "web"
    moved = root.rename(tmp_path / "elsewhere")
    assert engine.workspace_of(moved) == "web"


def test_two_projects_of_one_name_are_two_workspaces(engine: Engine, tmp_path: Path) -> None:
    one, two = project(tmp_path / "a" / "web"), project(tmp_path / "b" / "web")
    assert engine.workspace_of(one, adopt=True) == "web"
    assert engine.workspace_of(two, adopt=True) == "web-2"


@pytest.mark.parametrize("name", ["two  blanks", " led", "x" * 150, "记" * 80])
def test_whatever_a_folder_is_called_its_memories_are_stored_and_found(
    engine: Engine, tmp_path: Path, name: str
) -> None:
    workspace = engine.workspace_of(project(tmp_path / name), adopt=True)
    assert workspace is not None
    caller = Caller("test", workspace=workspace)
    stored = engine.memorize(MemorizeRequest({"text": "文"}), caller).memory
    assert stored.workspace == workspace
    assert engine.list(within(workspace, exact=True)).total == 1
    assert engine.workspace_of(tmp_path / name) == workspace


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes exist on Linux alone")
def test_a_folder_name_that_is_no_text_stops_nothing(engine: Engine, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    workspace = engine.workspace_of(project(folder), adopt=True)
    assert workspace == "\ufffd\ufffd"
    assert engine.workspace_of(folder) == workspace


@pytest.mark.parametrize("content", ["", "[remote", "\x00", '[remote "origin"]\n', "url = x"])
def test_an_unreadable_git_file_costs_the_remote_alone(
    engine: Engine, tmp_path: Path, content: str
) -> None:
    root = project(tmp_path / "web", "x")
    (root / ".git" / "config").write_text(content, encoding="utf-8")
    assert engine.workspace_of(root, adopt=True) == "web"


def test_a_worktree_is_known_by_its_path(engine: Engine, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / ".git").write_text("gitdir: /elsewhere/.git/worktrees/tree\n", encoding="utf-8")
    assert engine.workspace_of(root, adopt=True) == "tree"


def test_a_token_in_a_remote_address_is_not_stored(engine: Engine, tmp_path: Path) -> None:
    root = project(tmp_path / "web", "https://me:ghp_secret@example.com/team/web.git")
    engine.workspace_of(root, adopt=True)
    with engine.context.database.read() as connection:
        values = [row[0] for row in connection.execute("SELECT value FROM workspace_root")]
    assert "https://example.com/team/web.git" in values
    assert not any("secret" in value for value in values)


def test_a_home_folder_in_version_control_is_no_project(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = project(tmp_path / "person")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    (home / "notes").mkdir()
    assert engine.workspace_of(home / "notes", adopt=True) == "global"
