"""Folders that the settings give to a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from tests.engine.use_cases.shortcuts import HASHING


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A tree: projects/{web, notes/deep}, acme/{site, lab/inner}, one of them under git."""
    for name in ("projects/web", "projects/notes/deep", "acme/site", "acme/lab/inner", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "acme" / "site" / ".git").mkdir()
    return tmp_path


@pytest.fixture
def mapped(folders: Path, home: Path) -> Iterator[Engine]:
    """An engine whose settings map the tree."""
    entries = f"{folders / 'acme'} = acme @ work, {folders / 'acme' / 'lab'}=实验室"
    environ = HASHING | {
        "JIYI_WORKSPACES__ROOT": str(folders / "projects"),
        "JIYI_WORKSPACES__MAP": entries,
    }
    with open_engine(home, environ=environ) as engine:
        yield engine


def test_children_of_the_root_are_workspaces(mapped: Engine, folders: Path) -> None:
    projects = folders / "projects"
    assert mapped.workspace_of(projects / "notes" / "deep") is None
    assert mapped.workspace_of(projects / "notes" / "deep", adopt=True) == "notes"
    assert mapped.workspace_of(projects / "notes") == "notes"
    assert mapped.workspace_of(projects) == "global"
    assert mapped.workspace("notes").domain == "personal"


def test_the_map_wins_over_version_control(mapped: Engine, folders: Path) -> None:
    assert mapped.workspace_of(folders / "acme" / "site", adopt=True) == "acme"
    assert mapped.workspace("acme").domain == "work"


def test_the_longest_path_wins(mapped: Engine, folders: Path) -> None:
    assert mapped.workspace_of(folders / "acme" / "lab" / "inner", adopt=True) == "实验室"
    assert mapped.workspace("实验室").domain == "personal"


def test_outside_the_map_nothing_changes(mapped: Engine, folders: Path) -> None:
    assert mapped.workspace_of(folders / "other", adopt=True) == "global"
    assert mapped.workspaces() == []


def test_a_relative_path_lies_in_the_home_folder(home: Path) -> None:
    environ = HASHING | {"JIYI_WORKSPACES__MAP": "notes = 笔记"}
    with open_engine(home, environ=environ) as engine:
        assert engine.workspace_of(home / "notes" / "x", adopt=True) == "笔记"


def test_an_entry_that_says_nothing_is_a_problem_of_the_settings(home: Path) -> None:
    environ = HASHING | {"JIYI_WORKSPACES__MAP": "just a path"}
    with open_engine(home, environ=environ) as engine:
        assert engine.context.settings.workspaces.map == ()
        assert engine.context.live.problem is not None
