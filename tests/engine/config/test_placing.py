"""Files put in their place on systems that refuse for a moment, or to sync folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.bootstrap import open_engine
from engine.config import placing
from engine.config.editing import set_value
from engine.config.file import ensure_user_config
from tests.engine.use_cases.shortcuts import HASHING, found, remember


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "REPLACE_PAUSES_S", (0.0, 0.0, 0.0, 0.0))


def refuse(monkeypatch: pytest.MonkeyPatch, times: int, *codes: int) -> list[int]:
    replace, tries = os.replace, [0]

    def refusing(source: Path, target: Path) -> None:
        tries[0] += 1
        if tries[0] <= times:
            error = PermissionError(13, "Access is denied")
            if codes:
                vars(error)["winerror"] = codes[tries[0] % len(codes)]
            raise error
        replace(source, target)

    monkeypatch.setattr(os, "replace", refusing)
    return tries


@pytest.mark.usefixtures("no_pauses")
def test_a_backup_held_by_a_scanner_is_made_when_it_lets_go(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_engine(home, environ=HASHING) as engine:
        remember(engine, "一")
        refuse(monkeypatch, 3, 5, 32)
        assert engine.backups.make().contents.memories == 1


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(("codes", "tries"), [((5, 32), 5), ((), 1)])
def test_a_refusal_that_stays_leaves_no_file_behind(
    home: Path, monkeypatch: pytest.MonkeyPatch, codes: tuple[int, ...], tries: int
) -> None:
    with open_engine(home, environ=HASHING) as engine:
        counted = refuse(monkeypatch, 1_000, *codes)
        with pytest.raises(Exception, match="backup_unwritable"):
            engine.backups.make(name="one")
        assert counted[0] == tries
        assert list((home / "backups").iterdir()) == []


def test_folders_that_cannot_be_synced_are_no_fault(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, synced = os.open, os.fsync

    def opening(path: str | Path, flags: int, *rest: int) -> int:
        if os.path.isdir(path):
            raise PermissionError(13, "Access is denied")
        return opened(path, flags, *rest)

    def syncing(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise PermissionError(13, "Access is denied")
        synced(handle)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "fsync", syncing)
    with open_engine(home, environ=HASHING) as engine:
        set_value(ensure_user_config(home), "recall.k", 7)
        memory_id = remember(engine, "照常保存")
        assert engine.backups.make().contents.memories == 1
        assert found(engine, "照常保存", k=1) == [memory_id]


def test_a_file_that_cannot_be_synced_is_an_error(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_engine(home, environ=HASHING) as engine:

        def refusing(_handle: int) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", refusing)
        with pytest.raises(Exception, match="backup_unwritable"):
            engine.backups.make(name="one")
    assert list((home / "backups").iterdir()) == []
