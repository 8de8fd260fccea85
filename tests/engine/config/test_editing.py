"""Saving a setting changes its line and nothing else, or nothing at all."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import placing
from engine.config.editing import set_value, set_values, written_value
from engine.config.file import read_config
from engine.config.setting import MASK
from engine.domain.errors import ConfigInvalid

HAND_WRITTEN = (
    "\ufeff# my notes\r\n"
    "recall:\r\n"
    "    k:   5    # five is enough\r\n"
    "    preset: 'balanced'\r\n"
    "mcp:\r\n"
    "    toolsets:\r\n"
    "        - core   # always\r\n"
    "        # between two items\r\n"
    '        - "manage"\r\n'
    "my_own: {a: 1, b: .nan}\r\n"
    "log: {level: info}\r\n"
    "# the end"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


def change(path: Path, text: str, key: str, value: object) -> tuple[list[str], list[str]]:
    """The lines that are gone and the lines that are new after one setting was set."""
    write(path, text)
    set_value(path, key, value)
    after = path.read_bytes().decode("utf-8")
    pairs = list(difflib.ndiff(text.splitlines(True), after.splitlines(True)))
    return [p[2:] for p in pairs if p[0] == "-"], [p[2:] for p in pairs if p[0] == "+"]


def value_of(path: Path, key: str) -> object:
    return read_config(path, {}).values[key]


def test_a_slider_changes_one_line_of_a_hand_written_file(path: Path) -> None:
    gone, new = change(path, HAND_WRITTEN, "recall.k", 7)
    assert gone == ["    k:   5    # five is enough\r\n"]
    assert new == ["    k:   7    # five is enough\r\n"]


@pytest.mark.parametrize(
    ("text", "key", "value", "gone", "new"),
    [
        ("recall:\n    k: 5\n", "recall.pool", 50, [], ["    pool: 50\n"]),
        ("recall:\n  k: 5\n\nlog:\n", "recall.pool", 50, [], ["  pool: 50\n"]),
        ("log:\n", "recall.k", 3, [], ["recall:\n", "  k: 3\n"]),
        ("", "language", "zh", [], ["language: zh\n"]),
        ("recall:\n", "recall.k", 3, [], ["  k: 3\n"]),
        (
            "recall:\n  k: 5\n",
            "recall.weights.recency",
            0.25,
            [],
            ["  weights:\n", "    recency: 0.25\n"],
        ),
        ("recall:\n  k: # five\n", "recall.k", 3, ["  k: # five\n"], ["  k: 3 # five\n"]),
        ("recall: {k: 5}\n", "recall.k", 3, ["recall: {k: 5}\n"], ["recall: {k: 3}\n"]),
        (
            "recall: {k: 5}\n",
            "recall.pool",
            50,
            ["recall: {k: 5}\n"],
            ["recall: {k: 5, pool: 50}\n"],
        ),
        ("log: {}\n", "log.level", "debug", ["log: {}\n"], ["log: {level: debug}\n"]),
        ('a: &x 5\n"recall":\n  k: *x\nlog:\n', "recall.pool", 50, [], ["  pool: 50\n"]),
    ],
)
def test_every_form_of_a_section_takes_a_value(
    path: Path, text: str, key: str, value: object, gone: list[str], new: list[str]
) -> None:
    assert change(path, text, key, value) == (gone, new)


def test_a_list_of_lines_keeps_its_form_and_the_comments_between(path: Path) -> None:
    gone, new = change(path, HAND_WRITTEN, "mcp.toolsets", "core, links, admin")
    assert gone == ['        - "manage"\r\n']
    assert new == ["        - links\r\n", "        - admin\r\n"]
    gone, new = change(path, HAND_WRITTEN, "mcp.toolsets", ("core",))
    assert (gone, new) == (['        - "manage"\r\n'], [])


def test_a_broken_value_can_be_put_right(path: Path) -> None:
    assert change(path, "recall:\n  k: many\n", "recall.k", "8")[1] == ["  k: 8\n"]


def test_the_default_file_is_made_first_when_there_is_none(path: Path) -> None:
    set_value(path, "recall.k", 9)
    assert value_of(path, "recall.k") == 9
    assert "# Settings of Jiyi" in path.read_text(encoding="utf-8")


def test_several_settings_are_written_together_or_not_at_all(path: Path) -> None:
    write(path, HAND_WRITTEN)
    with pytest.raises(ConfigInvalid):
        set_values(path, {"recall.k": 7, "recall.pool": 0})
    assert path.read_bytes() == HAND_WRITTEN.encode("utf-8")
    set_values(path, {"recall.k": 7, "log.level": "debug", "embedding.model": "bge"})
    assert [value_of(path, key) for key in ("recall.k", "log.level")] == [7, "debug"]


def test_a_value_that_stands_there_already_leaves_the_file_alone(path: Path) -> None:
    write(path, HAND_WRITTEN)
    before = path.stat()
    set_value(path, "recall.k", "5")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    ("text", "key", "value", "fault"),
    [
        ("recall:\n  k: 5\n", "recall.k", 101, "error.config_value"),
        ("embedding:\n  api_key: sk-1\n", "embedding.api_key", MASK, "error.config_mask"),
        ("embedding:\n  api_key: sk-1\n", "embedding.api_key", " **** ", "error.config_mask"),
        ("recall: 3\n", "recall.k", 7, "error.config_uneditable"),
        ("a: &x 5\nrecall:\n  k: *x\n", "recall.k", 7, "error.config_uneditable"),
        ("recall:\n  k: &x 5\na: *x\n", "recall.k", 7, "error.config_uneditable"),
        ("recall:\n  k: [\n", "recall.k", 7, "error.config_syntax"),
        ("k: 1\nk: 2\n", "recall.k", 7, "error.config_duplicate"),
        ("- 1\n", "recall.k", 7, "error.config_not_sections"),
    ],
)
def test_what_cannot_be_saved_is_said_and_the_file_stays(
    path: Path, text: str, key: str, value: object, fault: str
) -> None:
    write(path, text)
    with pytest.raises(ConfigInvalid) as refused:
        set_value(path, key, value)
    assert refused.value.key == fault
    assert "sk-1" not in str(refused.value)
    assert path.read_bytes() == text.encode("utf-8")
    assert list(path.parent.iterdir()) == [path]


def test_a_reference_to_a_variable_is_kept_as_written(path: Path) -> None:
    change(path, "embedding:\n  api_key: sk-1\n", "embedding.api_key", "${MY_KEY}")
    assert written_value(path, "embedding.api_key") == "${MY_KEY}"
    assert read_config(path, {"MY_KEY": "sk-2"}).values["embedding.api_key"] == "sk-2"


@given(value=st.text(max_size=40))
def test_any_text_comes_back_as_it_was_given(
    tmp_path_factory: pytest.TempPathFactory, value: str
) -> None:
    path = tmp_path_factory.mktemp("text") / "config.yaml"
    change(path, "embedding:\n  model: a # b\nlog:\n  level: info\n", "embedding.model", value)
    assert value_of(path, "embedding.model") == value
    assert value_of(path, "log.level") == "info"


@pytest.mark.skipif(os.name == "nt", reason="permissions are inherited from the folder")
@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_permissions_stay(path: Path, mode: int) -> None:
    write(path, HAND_WRITTEN)
    path.chmod(mode)
    set_value(path, "recall.k", 7)
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_a_linked_file_stays_a_link(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "mine.yaml"
    real.parent.mkdir()
    write(real, HAND_WRITTEN)
    path.symlink_to(real)
    set_value(path, "recall.k", 7)
    assert path.is_symlink()
    assert value_of(real, "recall.k") == 7


def test_a_change_made_meanwhile_is_not_overwritten(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, HAND_WRITTEN)
    fsync = os.fsync

    def someone_else_saves(handle: int) -> None:
        fsync(handle)
        path.write_bytes(b"recall:\n  k: 42\n")

    monkeypatch.setattr(os, "fsync", someone_else_saves)
    with pytest.raises(ConfigInvalid) as refused:
        set_value(path, "recall.k", 7)
    assert refused.value.key == "error.config_changed_meanwhile"
    assert value_of(path, "recall.k") == 42
    assert list(path.parent.iterdir()) == [path]


class Refusing:
    """``os.replace`` as Windows has it while another program holds the file."""

    def __init__(self, times: int, *codes: int) -> None:
        self.times = times
        self.tries = 0
        self._codes = codes
        self._replace = os.replace

    def __call__(self, source: Path, target: Path) -> None:
        self.tries += 1
        if self.tries <= self.times:
            error = PermissionError(13, "Access is denied")
            if self._codes:
                vars(error)["winerror"] = self._codes[self.tries % len(self._codes)]
            raise error
        self._replace(source, target)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "REPLACE_PAUSES_S", (0.0, 0.0, 0.0, 0.0))


def refuse(monkeypatch: pytest.MonkeyPatch, times: int, *codes: int) -> Refusing:
    refusing = Refusing(times, *codes)
    monkeypatch.setattr(os, "replace", refusing)
    return refusing


@pytest.mark.usefixtures("no_pauses")
def test_a_file_held_by_a_scanner_is_saved_when_it_lets_go(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, HAND_WRITTEN)
    refuse(monkeypatch, 3, 5, 32)
    set_value(path, "recall.k", 7)
    assert value_of(path, "recall.k") == 7


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(("codes", "tries"), [((5, 32), 5), ((), 1)])
def test_a_refusal_that_stays_leaves_the_old_file_and_no_draft(
    path: Path, monkeypatch: pytest.MonkeyPatch, codes: tuple[int, ...], tries: int
) -> None:
    write(path, HAND_WRITTEN)
    refusing = refuse(monkeypatch, 1_000, *codes)
    with pytest.raises(ConfigInvalid) as refused:
        set_value(path, "recall.k", 7)
    assert refused.value.key == "error.config_unwritable"
    assert refusing.tries == tries
    assert path.read_bytes() == HAND_WRITTEN.encode("utf-8")
    assert list(path.parent.iterdir()) == [path]
