"""The measured thresholds of the embedded model."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from engine.model_clients import labelled
from engine.model_clients.calibration import MEASURED, calibration_of, thresholds_of
from engine.model_clients.e5.embedder import E5Embedder
from engine.model_clients.e5.space import E5_SMALL
from engine.model_clients.loaded import LocalModel


def test_the_thresholds_are_those_its_labelled_pairs_give(e5: E5Embedder) -> None:
    calibration, thresholds = labelled.measure(LocalModel(e5), 30.0)
    assert astuple(thresholds) == pytest.approx(astuple(MEASURED[E5_SMALL]), abs=0.005)
    assert thresholds_of(E5_SMALL) == MEASURED[E5_SMALL]
    measured = calibration_of(E5_SMALL)
    assert calibration.middle == pytest.approx(measured.middle, abs=0.03)
    assert calibration.slope == pytest.approx(measured.slope, rel=0.2)
