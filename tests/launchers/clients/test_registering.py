"""Registering in every client's settings, on every system, and taking it out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from engine.domain.errors import InvalidInput, JiyiError
from launchers.clients import registering
from launchers.clients.places import CLIENTS, Machine, Server
from launchers.clients.registering import Wish

SYSTEMS = ("linux", "darwin", "win32")
SERVER = Server("/opt/记忆 dir/jiyi", ("mcp", "--home", "/data"), {"A": "1"})
OTHERS = {
    True: '# mine\n[mcp_servers.other]\ncommand = "x" # keep\n\n[model]\nname = "m"\n',
    False: '{\n  // mine\n  "KEY": {\n    "other": {"command": "x"}, // keep\n  },\n  "z": 1\n}\n',
}


def wish(
    name: str, user: Path, system: str = "linux", project: Path | None = None, **more: object
) -> Wish:
    machine = Machine(system, user, {})
    given = {"server": SERVER, "instructions": "## Memory\nUse it."} | more
    return Wish(CLIENTS[name], machine, "jiyi", project, **given)  # type: ignore[arg-type]


def install(wanted: Wish, keep: Path) -> list[Path]:
    changes = registering.plan_registration(wanted)
    return [change.path for change in registering.carry_out(changes, keep)]


def uninstall(wanted: Wish, keep: Path) -> None:
    changes = registering.plan_removal(wanted, keep)
    registering.carry_out(changes, keep, removal=True)


def servers(wanted: Wish) -> dict[str, dict[str, object]]:
    text = wanted.client.settings_file(wanted.machine, wanted.project).read_text("utf-8")
    lines = (line.split(" //")[0].split("// ")[0] for line in text.splitlines())
    plain = "".join(lines).replace("},  }", "}  }")
    whole = tomllib.loads(text) if wanted.client.is_toml else json.loads(plain)
    found: dict[str, dict[str, object]] = whole[wanted.client.key]
    return found


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path / "用户 home"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", CLIENTS)
def test_a_fresh_client_gets_its_files_and_loses_them(
    name: str, system: str, user: Path, tmp_path: Path
) -> None:
    wanted = wish(name, user, system)
    written = install(wanted, tmp_path / "keep")
    assert all(user in path.parents for path in written)
    entry = servers(wanted)["jiyi"]
    command = entry["command"] if name != "opencode" else entry["command"][0]  # type: ignore[index]
    assert command == SERVER.command
    assert registering.is_registered(wanted)
    uninstall(wanted, tmp_path / "keep")
    assert tree(user) == {}
    assert not registering.is_registered(wanted)


@pytest.mark.parametrize("name", CLIENTS)
def test_other_servers_and_comments_stay_and_come_back_byte_for_byte(
    name: str, user: Path, tmp_path: Path
) -> None:
    wanted, keep = wish(name, user), tmp_path / "keep"
    path = wanted.client.settings_file(wanted.machine, None)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(OTHERS[wanted.client.is_toml].replace("KEY", wanted.client.key), "utf-8")
    path.chmod(0o640)
    guide = wanted.client.guidance_file(wanted.machine, None)
    if guide is not None:
        guide.parent.mkdir(parents=True, exist_ok=True)
        guide.write_bytes("# 我的规则\r\n不要空话".encode())
    before = tree(user)
    install(wanted, keep)
    text = path.read_text("utf-8")
    assert "mine" in text and "keep" in text and servers(wanted).keys() == {"other", "jiyi"}
    assert path.stat().st_mode & 0o777 == 0o640
    once = tree(user)
    assert install(wanted, keep) == [] and tree(user) == once
    uninstall(wanted, keep)
    assert tree(user) == before
    assert all(file.stat().st_mode & 0o077 == 0 for file in keep.iterdir())


@pytest.mark.parametrize("name", CLIENTS)
def test_what_was_changed_since_stays_when_it_is_taken_out(
    name: str, user: Path, tmp_path: Path
) -> None:
    wanted, keep = wish(name, user), tmp_path / "keep"
    install(wanted, keep)
    other = Wish(wanted.client, wanted.machine, "second", None, SERVER)
    install(other, tmp_path / "other")
    install(wish(name, user, server=Server("/new/jiyi", ("mcp",), {})), keep)
    uninstall(wanted, keep)
    assert servers(other).keys() == {"second"}


@pytest.mark.parametrize("content", [b'{"mcpServers": {', b"\xff\xfe{", b'{"mcpServers": []}'])
def test_a_broken_file_is_left_alone_unless_it_is_forced(
    content: bytes, user: Path, tmp_path: Path
) -> None:
    path = user / ".claude.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"install\.broken"):
        registering.plan_registration(wish("claude-code", user))
    assert tree(user) == {str(path): content}
    if content.startswith(b"{"):
        install(wish("claude-code", user, force=True), tmp_path / "keep")
        assert servers(wish("claude-code", user)).keys() == {"jiyi"}
        assert content in tree(tmp_path / "keep").values()


def test_a_folder_in_the_place_of_the_file_is_one_clear_error(user: Path) -> None:
    (user / ".claude.json").mkdir()
    with pytest.raises(JiyiError, match=r"install\.cannot_read"):
        registering.plan_registration(wish("claude-code", user))


def test_what_cannot_be_written_is_said_and_stays(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user / ".claude.json"
    path.write_text("{}")
    changes = registering.plan_registration(wish("claude-code", user))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(registering, "move_into_place", refuse)
    with pytest.raises(JiyiError, match=r"install\.cannot_write"):
        registering.carry_out(changes, tmp_path / "keep")
    assert tree(user) == {str(path): b"{}"}


def test_a_link_into_a_folder_of_ones_own_stays_a_link(user: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    (user / ".claude.json").symlink_to(real)
    install(wish("claude-code", user, instructions=""), tmp_path / "keep")
    assert (user / ".claude.json").is_symlink()
    assert "jiyi" in real.read_text()


@pytest.mark.parametrize("name", CLIENTS)
def test_a_project_has_files_of_its_own(name: str, user: Path, tmp_path: Path) -> None:
    project = tmp_path / "项目"
    project.mkdir()
    wanted = wish(name, user, project=project)
    if wanted.client.project_file is None:
        with pytest.raises(InvalidInput, match=r"install\.no_project"):
            registering.plan_registration(wanted)
        return
    written = install(wanted, tmp_path / "keep")
    assert tree(user) == {} and all(project in path.parents for path in written)
    assert "jiyi" in servers(wanted)
    uninstall(wanted, tmp_path / "keep")
    assert tree(project) == {}


def test_the_desktop_program_from_the_windows_store_reads_a_folder_of_its_own(user: Path) -> None:
    packages = user / "AppData" / "Local" / "Packages" / "Claude_abc"
    packages.mkdir(parents=True)
    wanted = wish("claude-desktop", user, "win32")
    assert packages in wanted.client.settings_file(wanted.machine, None).parents


def test_variables_move_the_files(user: Path, tmp_path: Path) -> None:
    places = {"CODEX_HOME": "codex", "COPILOT_HOME": "copilot", "CLAUDE_CONFIG_DIR": "claude-code"}
    for variable, name in places.items():
        machine = Machine("linux", user, {variable: str(tmp_path / variable)})
        assert tmp_path / variable in CLIENTS[name].settings_file(machine, None).parents
