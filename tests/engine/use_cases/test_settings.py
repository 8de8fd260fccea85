"""Changing the settings, and taking changes back."""

from __future__ import annotations

import os
import stat

import pytest

from engine.bootstrap import Engine
from engine.config.history import FOLDER, KEPT, position, versions
from engine.domain.caller import Caller
from engine.domain.errors import ConfigInvalid, NotFound

ME = Caller("test")


def content(engine: Engine) -> bytes:
    return engine.settings.live.path.read_bytes()


def test_nothing_to_undo_is_said(engine: Engine) -> None:
    with pytest.raises(NotFound):
        engine.settings.undo(ME)


def test_the_same_again_is_no_version(engine: Engine) -> None:
    engine.settings.change({"recall.k": 6}, ME)
    assert engine.settings.change({"recall.k": 6}, ME).changed is False
    assert len(versions(engine.context.home)) == 2


def test_what_was_changed_by_hand_is_a_step_of_its_own(engine: Engine) -> None:
    engine.settings.change({"recall.k": 6}, ME)
    engine.settings.live.path.write_bytes(content(engine).replace(b"k: 6", b"k: 7"))
    engine.settings.undo(ME)
    assert b"k: 6" in content(engine)
    engine.settings.redo(ME)
    assert b"k: 7" in content(engine)


def test_all_or_none_of_several_values_is_written(engine: Engine) -> None:
    before = content(engine)
    with pytest.raises(ConfigInvalid):
        engine.settings.change({"recall.k": 6, "recall.pool": 1}, ME)
    assert content(engine) == before


def test_keys_are_masked_in_history_and_files_are_private(engine: Engine) -> None:
    engine.settings.change({"embedding.api_key": "sk-test-ABCDEFG-123456"}, ME)
    lines = [line for view in engine.settings.history() for line in view.difference]
    assert any("api_key" in line for line in lines)
    assert not any("ABCDEFG" in line for line in lines)
    folder = engine.context.home / FOLDER
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_old_versions_go(engine: Engine) -> None:
    for number in range(12):
        engine.settings.change({"recall.k": 1 + number % 9}, ME)
    kept = versions(engine.context.home)
    assert len(kept) <= KEPT
    assert position(kept[-3:]).later is None
