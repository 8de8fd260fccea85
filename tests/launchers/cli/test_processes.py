"""Real processes: encodings, folders, exit codes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = "记忆★🎉\u00a0[/x] <tag>"

AWKWARD = {
    "gbk": {"PYTHONIOENCODING": "gbk"},
    "plain C": {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("name", AWKWARD)
def test_chinese_and_emoji_survive_any_console_encoding(run_command, name):
    awkward = AWKWARD[name]
    assert run_command("remember", TEXT, **awkward).stdout == b"#1\n"
    assert run_command("show", "1", "--text", **awkward).stdout.decode() == TEXT
    listed = run_command("list", "--json", **awkward)
    assert json.loads(listed.stdout.decode())["memories"][0]["text"] == TEXT


def test_a_home_with_chinese_in_its_path_works_in_a_plain_locale(run_command, tmp_path):
    home = tmp_path / "我的 记忆"
    awkward = AWKWARD["plain C"]
    assert run_command("remember", TEXT, "--home", str(home), **awkward).stdout == b"#1\n"
    assert (home / "jiyi.db").is_file()
    shown = run_command("config", "path", "--home", str(home), **awkward)
    assert shown.stdout.decode().strip() == str(home / "config.yaml")


@pytest.mark.skipif(os.name == "nt", reason="POSIX folders and permissions")
def test_every_folder_means_the_same_store_and_nothing_is_left_there(run_command, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
    user = tmp_path / "user"
    user.mkdir()
    stores = set()
    for folder in (Path("/"), user, locked):
        before = sorted(os.listdir(folder))
        done = run_command("doctor", "--json", cwd=folder, HOME=str(user), JIYI_HOME="")
        stores.add(json.loads(done.stdout)["store"])
        after = sorted(set(os.listdir(folder)) - {".jiyi"})
        assert after == [name for name in before if name != ".jiyi"]
    assert stores == {str(user / ".jiyi" / "jiyi.db")}
    locked.chmod(stat.S_IRWXU)


@pytest.mark.skipif(os.name == "nt", reason="a user's folder is private by inheritance")
def test_what_a_first_start_makes_is_readable_by_its_owner_only(run_command):
    run_command("remember", "text", umask=0o022)
    shown = json.loads(run_command("doctor", "--json").stdout)
    assert [c["status"] for c in shown["checks"] if c["name"] == "privacy"] == ["ok"]
    for path in (run_command.home, run_command.home / "jiyi.db", run_command.home / "config.yaml"):
        assert path.stat().st_mode & 0o077 == 0


def test_the_server_starts_without_the_machinery_of_other_commands(tmp_path):
    script = """
import sys, types
server = types.ModuleType("engine.mcp_server.server")
server.serve_stdio = lambda home, environ, toolsets: print(home, toolsets) or 0
sys.modules["engine.mcp_server.server"] = server
from launchers.cli.main import main
code = main(["mcp", "--home", sys.argv[1], "--toolsets=core,manage"])
heavy = {"typer", "rich", "ruamel", "pydantic", "sqlite3", "numpy", "engine.bootstrap"}
print(sorted(heavy & sys.modules.keys()), code)
"""
    home = str(tmp_path / "home")
    done = subprocess.run(
        [sys.executable, "-c", script, home], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{home} ('core', 'manage')", "[] 0"]
    assert not (tmp_path / "home").exists()
