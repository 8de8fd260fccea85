"""What cosines mean: measured values of the bundled models, estimates for a provider's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from engine.domain.embedding import SpaceIdentity, Thresholds
from engine.domain.errors import ModelUnavailable
from engine.model_clients import labelled, use_multilingual
from engine.model_clients.calibration import (
    DATA_VERSION,
    MEASURED,
    calibration_of,
    estimate,
    thresholds_of,
)
from engine.model_clients.hashing import HashingEmbedder
from engine.model_clients.loaded import LocalModel
from engine.model_clients.protocol import Embedder
from engine.model_clients.spaces import USE_MULTILINGUAL, hashing

FOREIGN = SpaceIdentity(provider="openai", model="new-model", revision="", dims=256)


class Foreign(LocalModel):
    """A model nobody has measured; ``failing`` makes it refuse every text."""

    failing = False
    asked = 0

    @property
    def identity(self) -> SpaceIdentity:
        return FOREIGN

    def embed_texts(self, texts, wait_s=None):
        self.asked += 1
        if self.failing:
            return [ModelUnavailable("error.provider_paused")] * len(texts)
        return super().embed_texts(texts, wait_s)


@pytest.fixture
def foreign() -> Foreign:
    return Foreign(HashingEmbedder())


@pytest.mark.parametrize(
    ("load", "identity"),
    [(HashingEmbedder, hashing()), (use_multilingual.load, USE_MULTILINGUAL)],
    ids=["hashing", "lite"],
)
def test_the_thresholds_of_a_bundled_model_are_those_its_labelled_pairs_give(
    load: Callable[[], Embedder], identity: SpaceIdentity
) -> None:
    _, thresholds = labelled.measure(LocalModel(load()), 10.0)
    assert astuple(thresholds) == pytest.approx(astuple(MEASURED[identity]), abs=0.005)
    assert thresholds_of(identity) == MEASURED[identity]


def test_the_estimate_of_the_curve_meets_what_more_pairs_have_shown() -> None:
    calibration, _ = labelled.measure(LocalModel(use_multilingual.load()), 10.0)
    measured = calibration_of(USE_MULTILINGUAL)
    assert calibration.middle == pytest.approx(measured.middle, abs=0.03)
    assert calibration.slope == pytest.approx(measured.slope, rel=0.2)


def test_the_labelled_sentences_are_as_many_in_both_languages_and_all_different() -> None:
    topics = labelled.labels().topics
    assert [topic.language for topic in topics].count("zh") * 2 == len(topics)
    assert {len(fact) for topic in topics for fact in topic.facts} == {3}
    assert {len(topic.facts) for topic in topics} == {4}
    texts = [text for topic in topics for fact in topic.facts for text in fact]
    assert len(set(texts)) == len(texts) == 192
    assert labelled.labels().version == DATA_VERSION


def test_an_unmeasured_space_has_the_thresholds_of_the_rules(tmp_path: Path) -> None:
    assert thresholds_of(FOREIGN, tmp_path) == Thresholds(0.92, 0.80, 0.75, 0.40, 0.30)
    assert thresholds_of(None) == thresholds_of(FOREIGN)
    assert calibration_of(FOREIGN, tmp_path) == calibration_of(None)


def test_a_new_model_is_estimated_once(tmp_path: Path, foreign: Foreign) -> None:
    assert estimate(foreign, tmp_path, 5.0)
    found = astuple(thresholds_of(FOREIGN, tmp_path))
    assert found == pytest.approx(astuple(MEASURED[hashing()]), abs=0.005)
    assert calibration_of(FOREIGN, tmp_path) != calibration_of(None)
    assert not estimate(foreign, tmp_path, 5.0)
    assert foreign.asked == 1


def test_another_space_of_the_same_model_is_not_taken_for_it(
    tmp_path: Path, foreign: Foreign
) -> None:
    estimate(foreign, tmp_path, 5.0)
    prefixed = replace(FOREIGN, query_prefix="query: ")
    assert thresholds_of(prefixed, tmp_path) == thresholds_of(None)


def test_a_model_that_does_not_answer_is_estimated_later(tmp_path: Path, foreign: Foreign) -> None:
    foreign.failing = True
    with pytest.raises(ModelUnavailable):
        estimate(foreign, tmp_path, 5.0)
    assert list(tmp_path.iterdir()) == []
    foreign.failing = False
    assert estimate(foreign, tmp_path, 5.0)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"calibration": {"x": 1}}', b"\xff"])
def test_a_damaged_file_is_as_none_and_made_again(
    tmp_path: Path, foreign: Foreign, content: bytes
) -> None:
    estimate(foreign, tmp_path, 5.0)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert thresholds_of(FOREIGN, tmp_path) == thresholds_of(None)
    assert estimate(foreign, tmp_path, 5.0)
    assert thresholds_of(FOREIGN, tmp_path) != thresholds_of(None)


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path, foreign: Foreign) -> None:
    in_the_way = tmp_path / "models"
    in_the_way.write_bytes(b"")
    assert estimate(foreign, in_the_way, 5.0)
    assert thresholds_of(FOREIGN, in_the_way) == thresholds_of(None)
