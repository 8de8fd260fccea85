"""Weights that cannot rank are refused wherever they are given, and the old ones go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import open_engine
from engine.config.editing import set_values
from engine.config.file import ensure_user_config
from engine.config.messages import render
from engine.config.preset import SIGNALS
from engine.domain.errors import ConfigInvalid
from engine.use_cases.recall import RecallRequest
from tests.engine.use_cases.shortcuts import HASHING, remember

ALL_ZERO = {f"recall.weights.{name}": 0 for name in SIGNALS}


def speaks_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


@pytest.mark.parametrize("value", ["-1", "NaN", "1e999", "abc", "", "0,3"])
def test_a_weight_that_is_none_is_refused_and_the_old_one_kept(home: Path, value: str) -> None:
    path = ensure_user_config(home)
    set_values(path, {"recall.weights.relevance": 0.7})
    before = path.read_bytes()
    with pytest.raises(ConfigInvalid) as refused:
        set_values(path, {"recall.weights.relevance": value})
    assert path.read_bytes() == before
    for language in ("zh", "en"):
        assert "recall.weights.relevance" in render(refused.value, language)
        assert speaks_chinese(render(refused.value, language)) == (language == "zh")


def test_all_weights_zero_are_refused(home: Path) -> None:
    path = ensure_user_config(home)
    before = path.read_bytes()
    with pytest.raises(ConfigInvalid) as refused:
        set_values(path, ALL_ZERO)
    assert refused.value.key == "error.weights_all_zero"
    assert speaks_chinese(render(refused.value, "zh"))
    assert not speaks_chinese(render(refused.value, "en"))
    assert path.read_bytes() == before


def test_the_last_weight_that_ranks_cannot_be_set_to_zero_alone(home: Path) -> None:
    path = ensure_user_config(home)
    kept = ALL_ZERO | {"recall.weights.relevance": 0.5}
    set_values(path, kept)
    before = path.read_bytes()
    with pytest.raises(ConfigInvalid) as refused:
        set_values(path, {"recall.weights.relevance": "0"})
    assert refused.value.key == "error.weights_all_zero"
    assert path.read_bytes() == before


def test_a_file_with_all_weights_zero_keeps_the_last_good_settings_and_says_so(home: Path) -> None:
    with open_engine(home, environ=HASHING) as engine:
        remember(engine, "保险箱口令规则")
        path = home / "config.yaml"
        set_values(path, {"recall.weights.importance": 0.9})
        before = engine.recall(RecallRequest("保险箱口令")).hits[0].score
        weights = "".join(f"    {name}: 0\n" for name in SIGNALS)
        path.write_text(f"recall:\n  weights:\n{weights}", encoding="utf-8")
        assert engine.recall(RecallRequest("保险箱口令")).hits[0].score == before
        problem = engine.context.live.problem
        assert problem is not None
        assert problem.key == "error.weights_all_zero"


def test_a_saved_weight_acts_on_the_next_recall(home: Path) -> None:
    with open_engine(home, environ=HASHING) as engine:
        remember(engine, "保险箱口令规则")
        before = engine.recall(RecallRequest("保险箱口令")).hits[0]
        set_values(home / "config.yaml", {"recall.weights.importance": 0.9})
        after = engine.recall(RecallRequest("保险箱口令")).hits[0]
        assert after.score == pytest.approx(before.score + (0.9 - 0.05) * 0.5)
