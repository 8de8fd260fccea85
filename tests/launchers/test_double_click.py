"""Files to double-click: each starts what it says, from wherever the checkout lies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "launchers"
COMMANDS = {"panel": "panel", "browser": "tui", "check": "mcp --check"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_files_of_windows_are_plain_ascii_with_its_line_ends(name: str) -> None:
    content = (FOLDER / f"{name}.bat").read_bytes()
    assert content.isascii() and content.count(b"\n") == content.count(b"\r\n") > 3
    text = content.decode()
    assert text.count(f"launchers\\start.py {COMMANDS[name]})") == 2
    assert 'cd /d "%~dp0.."' in text and text.rstrip().endswith("pause")


def test_git_keeps_those_line_ends() -> None:
    attributes = (FOLDER.parent / ".gitattributes").read_text(encoding="utf-8")
    assert "*.bat      text eol=crlf" in attributes
    assert "*.command  text eol=lf" in attributes


@pytest.mark.skipif(sys.platform == "win32", reason="runs a shell script")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("code", [0, 3])
def test_the_others_start_it_and_keep_the_window_open_after_a_failure(
    name: str, code: int, tmp_path: Path
) -> None:
    place = tmp_path / "新 文件夹" / "launchers"
    place.mkdir(parents=True)
    for suffix in ("command", "desktop"):
        shutil.copy2(FOLDER / f"{name}.{suffix}", place)
    fake = tmp_path / "bin" / "python3"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$PWD" "$@"\nexit {code}\n')
    fake.chmod(0o755)
    environ = dict(os.environ) | {"PATH": f"{fake.parent}:{os.environ['PATH']}"}
    answer = subprocess.run(
        [place / f"{name}.command"], env=environ, input="\n", capture_output=True, text=True
    )
    assert answer.returncode == code
    assert f"{place.parent} launchers/start.py {COMMANDS[name]}\n" in answer.stdout
    assert ("Enter" in answer.stdout) == (code != 0 or name == "check")
    entry = (place / f"{name}.desktop").read_text(encoding="utf-8")
    assert "Terminal=true" in entry and f"{name}.command" in entry and "Name[zh_CN]=" in entry
