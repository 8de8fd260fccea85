"""The bootstrap: what it decides, what it says, and (on request) a real installation."""

from __future__ import annotations

import ast
import os
import re
import string
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from launchers.bootstrap import failures, installing, lock, logged, speech
from launchers.bootstrap.environment import (
    Checkout,
    Stamp,
    condition,
    installed_entries,
    project_hash,
    read_stamp,
    site_packages,
    write_stamp,
)

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ".".join(map(str, sys.version_info[:2]))


def installed_checkout(root: Path, extras: tuple[str, ...] = ()) -> Checkout:
    """A folder that looks like a finished installation."""
    checkout = Checkout(root)
    packages = site_packages(checkout, PYTHON)
    packages.mkdir(parents=True)
    (packages / "numpy").mkdir()
    (packages / "numpy-2.0.dist-info").mkdir()
    checkout.python.parent.mkdir(exist_ok=True)
    for program in (checkout.python, checkout.jiyi):
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
    (checkout.venv / "pyvenv.cfg").write_text("version = 3.11.7\n", encoding="utf-8")
    (root / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    entries = installed_entries(checkout, PYTHON)
    stamp = Stamp(checkout.identity, project_hash(checkout), extras, PYTHON, entries)
    write_stamp(checkout.stamp, stamp)
    return checkout


def silent() -> speech.Speaker:
    return speech.Speaker("en", StringIO())


def test_a_finished_installation_is_ready_without_running_anything(tmp_path: Path) -> None:
    assert condition(installed_checkout(tmp_path), ()) == "ready"


def test_a_bare_checkout_has_no_environment(tmp_path: Path) -> None:
    assert condition(Checkout(tmp_path), ()) == "missing"


def test_a_changed_pyproject_or_a_new_extra_wants_an_update(tmp_path: Path) -> None:
    checkout = installed_checkout(tmp_path)
    assert condition(checkout, ("test",)) == "outdated"
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert condition(checkout, ()) == "outdated"


def test_test_tools_stay_good_for_a_plain_start(tmp_path: Path) -> None:
    assert condition(installed_checkout(tmp_path, ("test",)), ()) == "ready"


def test_a_moved_environment_is_unusable(tmp_path: Path) -> None:
    installed_checkout(tmp_path / "before")
    (tmp_path / "before").rename(tmp_path / "后来")
    assert condition(Checkout(tmp_path / "后来"), ()) == "unusable"


def test_an_environment_of_another_python_is_unusable(tmp_path: Path) -> None:
    checkout = installed_checkout(tmp_path)
    stamp = read_stamp(checkout.stamp)
    assert stamp is not None
    write_stamp(checkout.stamp, replace(stamp, python="3.10"))
    assert condition(checkout, ()) == "unusable"


@pytest.mark.parametrize("lost", ["python", "jiyi", "numpy"])
def test_a_damaged_environment_is_unusable(tmp_path: Path, lost: str) -> None:
    checkout = installed_checkout(tmp_path)
    if lost == "numpy":
        (site_packages(checkout, PYTHON) / "numpy").rmdir()
    else:
        (checkout.python if lost == "python" else checkout.jiyi).unlink()
    assert condition(checkout, ()) == "unusable"


def test_a_package_upgraded_by_hand_is_no_damage(tmp_path: Path) -> None:
    checkout = installed_checkout(tmp_path)
    packages = site_packages(checkout, PYTHON)
    (packages / "numpy-2.0.dist-info").rename(packages / "numpy-2.1.dist-info")
    assert condition(checkout, ()) == "ready"


def test_an_interrupted_installation_is_unusable(tmp_path: Path) -> None:
    checkout = installed_checkout(tmp_path)
    checkout.marker.touch()
    assert condition(checkout, ()) == "unusable"


def test_an_installation_pip_finished_after_its_start_was_killed_is_kept(tmp_path: Path) -> None:
    checkout = installed_checkout(tmp_path)
    checkout.marker.touch()
    checkout.log.write_text("Installing\nSuccessfully installed jiyi-0.1.0\n", encoding="utf-8")
    assert condition(checkout, ()) == "unknown"


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"checkout": "/x"}', '"\\ud83d"'])
def test_a_damaged_stamp_counts_as_none(tmp_path: Path, content: str) -> None:
    checkout = installed_checkout(tmp_path)
    checkout.stamp.write_text(content, encoding="utf-8")
    assert read_stamp(checkout.stamp) is None
    assert condition(checkout, ()) == "unknown"


def test_the_stamp_survives_a_path_with_chinese_and_undecodable_bytes(tmp_path: Path) -> None:
    stamp = Stamp("/工具 & 资料/\udce8", "hash", ("test",), "3.11", ("é", "numpy"))
    write_stamp(tmp_path / "stamp.json", stamp)
    assert read_stamp(tmp_path / "stamp.json") == stamp


def test_a_folder_without_pyproject_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(failures.SetupFailed, match="not_a_checkout"):
        project_hash(Checkout(tmp_path))


def test_the_path_file_of_a_chinese_folder_becomes_ascii(tmp_path: Path) -> None:
    root = tmp_path / "记忆 项目"
    path_file = tmp_path / "_jiyi.pth"
    path_file.write_bytes(os.fsencode(root) + b"\n/elsewhere\n")
    installing.make_path_file_portable(tmp_path, root)
    first, second = path_file.read_bytes().splitlines()
    assert first == installing.PARENT_OF_PREFIX and second == b"/elsewhere"


def test_a_lock_left_by_a_dead_process_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / ".venv" / "jiyi-start.lock"
    path.parent.mkdir()
    path.write_text("999999", encoding="ascii")
    with lock.held_lock(path, silent()):
        assert path.read_text(encoding="ascii") == str(os.getpid())


def test_a_second_start_waits_for_the_first_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "WAIT_LIMIT_S", 0.3)
    path = tmp_path / ".venv" / "jiyi-start.lock"
    said = StringIO()
    with lock.held_lock(path, silent()):
        waiting = lock.held_lock(path, speech.Speaker("en", said))
        with pytest.raises(failures.SetupFailed, match="busy"), waiting:
            pass
    assert f"process {os.getpid()}" in said.getvalue()
    with lock.held_lock(path, silent()):
        pass


def test_a_lock_ends_with_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / ".venv" / "jiyi-start.lock"
    code = (
        "import os, sys, pathlib; from launchers.bootstrap import lock, speech\n"
        "with lock.held_lock(pathlib.Path(sys.argv[1]), speech.Speaker('en', None)):\n"
        "    os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT).returncode == 9
    with lock.held_lock(path, silent()):
        pass


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"JIYI_LANGUAGE": "zh", "LC_ALL": "C"}, "zh"),
        ({"JIYI_LANGUAGE": "auto", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_first_language_variable_that_is_set_decides(
    environment: dict[str, str], language: str
) -> None:
    assert speech.language_of(environment) == language


def test_a_console_without_chinese_gets_english(tmp_path: Path) -> None:
    with (tmp_path / "console").open("w", encoding="cp1252") as console:
        assert speech.shown_language("zh", console) == "en"
    with (tmp_path / "console").open("w", encoding="gbk") as console:
        assert speech.shown_language("zh", console) == "zh"


def test_what_a_console_cannot_show_is_escaped(tmp_path: Path) -> None:
    with (tmp_path / "console").open("w", encoding="gbk", newline="\n") as stream:
        speech.Speaker("zh", stream).say("log", path="/🎉\u00a0\udce8")
    assert (tmp_path / "console").read_bytes().decode("gbk").endswith("/\\U0001f389\\xa0\\udce8\n")


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_both_languages_have_the_same_sentences_and_placeholders() -> None:
    english, chinese = speech.sentences("en"), speech.sentences("zh")
    assert english.keys() == chinese.keys()
    for key, sentence in english.items():
        assert sentence.strip() and chinese[key].strip()
        assert placeholders(sentence) == placeholders(chinese[key]), key


def test_every_sentence_the_bootstrap_uses_exists() -> None:
    source = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "launchers/bootstrap").glob("*.py")
    )
    used = set(re.findall(r'(?:say|sentence|SetupFailed)\(\s*"(\w+)"', source))
    signs = {key for key, _ in failures._PIP_SIGNS}
    assert used | signs <= speech.sentences("en").keys()
    assert all(f'"{key}"' in source for key in speech.sentences("en"))


@pytest.mark.parametrize(
    ("output", "key"),
    [
        ("NewConnectionError('... [Errno 111] Connection refused')", "no_network"),
        ("socket.gaierror: Temporary failure in name resolution", "no_network"),
        ("ReadTimeoutError: Read timed out. (read timeout=15)", "slow_network"),
        ("SSLError(SSLCertVerificationError(1, 'CERTIFICATE_VERIFY_FAILED'))", "certificate"),
        ("ERROR: No matching distribution found for numpy>=2", "no_packages"),
        ("ERROR: Failed building wheel for usearch", "build_failed"),
        ("OSError: [Errno 28] No space left on device", "disk_full"),
        ("PermissionError: [Errno 13] Permission denied: '/x'", "no_permission"),
        ("/x/.venv/bin/python: No module named pip", "venv_missing"),
        ("something nobody has seen before", "pip_failed"),
    ],
)
def test_pips_output_is_explained_in_a_persons_terms(output: str, key: str) -> None:
    assert failures.failure_of_pip(output) == key


def test_a_system_without_the_venv_package_is_told_to_install_it() -> None:
    debian = (
        "The virtual environment was not created successfully because ensurepip is not available."
    )
    assert failures.failure_of_venv(debian) == "venv_missing"
    assert failures.failure_of_venv("No module named venv") == "venv_missing"


def test_variables_that_would_install_elsewhere_do_not_reach_pip() -> None:
    given = {"PIP_TARGET": "/x", "PYTHONPATH": "/y", "PIP_USER": "1", "PIP_CERT": "/c"}
    assert logged.install_environment(given) == {
        "PIP_CERT": "/c",
        "PIP_USER": "0",
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
    }


def test_old_pythons_can_read_the_start_file() -> None:
    source = (ROOT / "launchers/start.py").read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 4))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.FunctionDef, ast.NamedExpr)
    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]
    assert source.startswith("# coding: utf-8")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    os.environ.get("JIYI_TEST_BOOTSTRAP") != "1",
    reason="installs everything anew; JIYI_TEST_BOOTSTRAP=1 runs it",
)
def test_a_fresh_checkout_installs_once_and_keeps_standard_output_clean(tmp_path: Path) -> None:
    root = tmp_path / "记忆 项目"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, names.decode().split("\0")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes((ROOT / name).read_bytes())
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    command = [sys.executable, str(root / "launchers/start.py"), "--help"]
    runs = [
        subprocess.run(command, cwd=tmp_path, env={**os.environ, **home}, capture_output=True)
        for _ in range(2)
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr.decode()
    assert runs[0].stdout == runs[1].stdout and b"remember" in runs[0].stdout
    assert runs[0].stderr and not runs[1].stderr
