from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from engine.config.home import resolve_home
from engine.config.messages import render
from engine.domain.errors import ConfigInvalid

WINDOWS = sys.platform == "win32"
USER_VARIABLE = "USERPROFILE" if WINDOWS else "HOME"


@pytest.fixture
def user(tmp_path) -> dict[str, str]:
    return {USER_VARIABLE: str(tmp_path)}


def test_the_option_comes_before_the_variable_and_the_variable_before_the_default(tmp_path, user):
    variable = user | {"JIYI_HOME": str(tmp_path / "variable")}
    assert resolve_home(str(tmp_path / "option"), variable) == tmp_path / "option"
    assert resolve_home(None, variable) == tmp_path / "variable"
    assert resolve_home(None, user) == tmp_path / ".jiyi"
    assert resolve_home("", user | {"JIYI_HOME": " "}) == tmp_path / ".jiyi"


def test_the_same_folder_is_named_from_every_folder_and_nothing_is_made(
    tmp_path, user, monkeypatch
):
    places = [Path(tmp_path.anchor), tmp_path, tmp_path / "a project"]
    places[-1].mkdir()
    found = set()
    for place in places:
        monkeypatch.chdir(place)
        found.add(resolve_home(None, user))
        found.add(resolve_home(None, user | {"JIYI_HOME": "~/.jiyi"}))
    assert found == {tmp_path / ".jiyi"}
    assert os.listdir(tmp_path) == ["a project"]


def test_a_tilde_and_dots_are_resolved(tmp_path, user):
    assert resolve_home("~/x/../我的 记忆", user) == tmp_path / "我的 记忆"
    assert resolve_home("~", user) == tmp_path


def test_a_relative_option_is_relative_to_the_current_folder(tmp_path, user, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve_home("store", user) == tmp_path / "store"


def refused(option: str | None, environ: dict[str, str]) -> str:
    with pytest.raises(ConfigInvalid) as caught:
        resolve_home(option, environ)
    assert "{" not in render(caught.value, "zh")
    return render(caught.value, "en")


def test_a_relative_variable_is_refused(user):
    assert "absolute" in refused(None, user | {"JIYI_HOME": "store"})


@pytest.mark.skipif(WINDOWS, reason="such paths are at home there")
@pytest.mark.parametrize("path", ["C:\\Users\\x\\.jiyi", "d:/data", "\\\\server\\share"])
def test_a_windows_path_on_another_system_is_refused(path, user):
    assert "Windows" in refused(None, user | {"JIYI_HOME": path})
    assert "Windows" in refused(path, user)


def test_an_unknown_user_and_a_nul_are_refused(user):
    refused("a\0b", user)
    if not WINDOWS:
        refused("~no-such-user-here/x", user)


@pytest.mark.skipif(WINDOWS, reason="the password database is POSIX")
def test_a_service_without_home_variable_uses_the_password_database(monkeypatch):
    import pwd

    monkeypatch.delenv("HOME")
    expected = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".jiyi"
    assert resolve_home(None, {}) == expected


def test_an_account_without_home_folder_gets_a_clear_message(monkeypatch):
    def no_home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", no_home)
    assert "JIYI_HOME" in refused(None, {})
    assert "JIYI_HOME" in refused(None, {USER_VARIABLE: "relative"})
