"""Labelled sentences, and what a model's cosines on them say about its space.

A threshold is the cosine above which lies the same share of false pairs as above the named
value on the model that the value was set on. Which pairs are false depends on what is asked:
between stored texts those that differ in one detail (the hardest to tell from the same
statement), for ``pin`` related texts that do not answer the query, for ``floor`` unrelated ones.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from engine.domain.embedding import Calibration, Thresholds
from engine.domain.errors import ModelUnavailable
from engine.model_clients.loaded import LoadedModel
from engine.model_clients.protocol import CutOutcome

FILE = "calibration.toml"
_WORDINGS = 2
# Chosen so that the bundled models' estimates meet what was measured on many more pairs:
# e5 0.39 and 22 for 0.40 and 20, USE 0.27 and 13 for 0.28 and 14.
_MIDDLE_IN_DEVIATIONS = 1.0
_SLOPE_TIMES_DEVIATION = 1.8
_SLOPES = (4.0, 40.0)


@dataclass(frozen=True, slots=True)
class Topic:
    """Sentences of one theme: of each fact two wordings and one with a detail changed.
    ``ask`` is a question that the first fact answers."""

    language: str
    ask: str
    facts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Cosines:
    """Cosines by what the pair is, in no order: ``changed`` between a sentence and one that
    differs in a detail; between a question and an ``answer``, a ``related`` sentence, an
    ``unrelated`` one; ``nearest_unrelated`` has the best of each question."""

    changed: NDArray[np.float32]
    answer: NDArray[np.float32]
    related: NDArray[np.float32]
    unrelated: NDArray[np.float32]
    nearest_unrelated: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Labels:
    """The labelled sentences, and the share of false pairs that each threshold lets through."""

    version: str
    topics: tuple[Topic, ...]
    rates: Thresholds


@cache
def labels() -> Labels:
    """What stands in ``assets/models/calibration.toml``."""
    table = tomllib.loads((files("assets") / "models" / FILE).read_text("utf-8"))
    return Labels(
        version=table["version"],
        topics=tuple(
            Topic(item["language"], item["ask"], tuple(map(tuple, item["facts"])))
            for item in table["topic"]
        ),
        rates=Thresholds(**table["false_positive_rates"]),
    )


def measure(model: LoadedModel, wait_s: float) -> tuple[Calibration, Thresholds]:
    """Calibration and thresholds of the model's space. Raises :class:`ModelUnavailable`."""
    topics = labels().topics
    passages = [text for topic in topics for fact in topic.facts for text in fact]
    vectors = np.stack([_vector(outcome) for outcome in model.embed_texts(passages, wait_s)])
    queries = np.stack([model.embed_query(topic.ask, wait_s) for topic in topics])
    return derived(cosines(vectors, queries))


def cosines(passages: NDArray[np.float32], queries: NDArray[np.float32]) -> Cosines:
    """Cosines by kind of pair, within each language.

    ``passages`` (n, dims) are the unit vectors of all sentences in the file's order, ``queries``
    (topics, dims) those of the questions.
    """
    themes = labels().topics
    per_topic = passages.reshape(len(themes), -1, _WORDINGS + 1, passages.shape[-1])
    wordings, changed = per_topic[:, :, :_WORDINGS], per_topic[:, :, _WORDINGS:]
    asked = np.einsum("qd,tfwd->qtfw", queries, wordings)
    language = np.array([topic.language for topic in themes])
    same = np.eye(len(themes), dtype=bool)
    other = (language[:, None] == language[None, :]) & ~same
    unrelated = [asked[i][other[i]].ravel() for i in range(len(themes))]
    return Cosines(
        changed=np.sum(wordings * changed, axis=-1).ravel(),
        answer=asked[same][:, 0].ravel(),
        related=asked[same][:, 1:].ravel(),
        unrelated=np.concatenate(unrelated),
        nearest_unrelated=np.array([values.max() for values in unrelated]),
    )


def derived(found: Cosines) -> tuple[Calibration, Thresholds]:
    """What the cosines say about their space."""
    rates = labels().rates
    nearest, low, high = found.nearest_unrelated, *_SLOPES
    calibration = Calibration(
        middle=float(nearest.mean() + _MIDDLE_IN_DEVIATIONS * nearest.std()),
        slope=float(np.clip(_SLOPE_TIMES_DEVIATION / max(found.answer.std(), 1e-6), low, high)),
    )
    floor = _exceeded_by(found.unrelated, rates.floor)
    return calibration, Thresholds(
        near_duplicate=_exceeded_by(found.changed, rates.near_duplicate),
        conflict=_exceeded_by(found.changed, rates.conflict),
        reflect=_exceeded_by(found.changed, rates.reflect),
        pin=max(floor, _exceeded_by(found.related, rates.pin)),
        floor=floor,
    )


def _exceeded_by(values: NDArray[np.float32], share: float) -> float:
    return round(float(np.quantile(values, 1.0 - share)), 4)


def _vector(outcome: CutOutcome) -> NDArray[np.float32]:
    if isinstance(outcome, ModelUnavailable):
        raise outcome
    return outcome[0].vector
