"""What the READMEs tell people to type works, in the order it stands there."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_commands_of_a_readme_work(jiyi, name, tmp_path, monkeypatch):
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    commands = [line.split("#")[0] for line in lines if line.startswith("    jiyi ")]
    assert len(commands) >= 40
    Path("notes.md").write_text("# Garden\n\nThe roses are cut in March.\n", encoding="utf-8")
    for command in commands:
        answer = jiyi(*shlex.split(command)[1:])
        assert answer.code == 0, (command, answer.err)
