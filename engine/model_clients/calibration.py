"""What a cosine means in a space: measured for the bundled models, estimated for a provider's.

The logistic curve of the bundled models was measured on hand-made paraphrase pairs in four
languages. Related and unrelated texts overlap (USE: paraphrases at 0.17-0.37, their best of 330
unrelated ones at 0.27-0.36; e5: 0.38-0.51 and 0.41-0.48), so a value near the middle says
"cannot be told", and only clearly higher ones count as strong.

The thresholds named in the rules were set on another model's cosine; here stand the values that
let the same share of false pairs through (:mod:`engine.model_clients.labelled`).
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.domain.embedding import Calibration, SpaceIdentity, Thresholds
from engine.model_clients.e5.space import E5_SMALL
from engine.model_clients.spaces import USE_MULTILINGUAL, hashing

if TYPE_CHECKING:
    from engine.model_clients.loaded import LoadedModel

DATA_VERSION: Final = "1"
"""``version`` of ``assets/models/calibration.toml``, known without reading it."""

_UNKNOWN: Final = Calibration(middle=0.6, slope=12.0)
_CALIBRATIONS: Final = {
    E5_SMALL: Calibration(middle=0.40, slope=20.0),
    USE_MULTILINGUAL: Calibration(middle=0.28, slope=14.0),
}

_REFERENCE: Final = Thresholds(0.92, 0.80, 0.75, 0.40, 0.30)
"""As the rules name them; for a space of which nothing is known yet."""

MEASURED: Final = {
    E5_SMALL: Thresholds(0.919, 0.846, 0.833, 0.465, 0.406),
    USE_MULTILINGUAL: Thresholds(0.923, 0.815, 0.786, 0.407, 0.278),
    hashing(): Thresholds(0.861, 0.686, 0.640, 0.472, 0.472),
}
"""By space of the bundled models."""


def calibration_of(
    identity: SpaceIdentity | None, models_folder: Path | None = None
) -> Calibration:
    """The calibration of a space; a cautious one for a space that was not measured.

    What was estimated for a provider's model is kept in ``models_folder``.
    """
    if identity is None:
        return _UNKNOWN
    if identity in _CALIBRATIONS:
        return _CALIBRATIONS[identity]
    estimated = _estimated(identity, models_folder)
    return estimated[0] if estimated else _UNKNOWN


def thresholds_of(identity: SpaceIdentity | None, models_folder: Path | None = None) -> Thresholds:
    """The thresholds of a space; those of the rules for a space that was not measured."""
    if identity is None:
        return _REFERENCE
    if identity in MEASURED:
        return MEASURED[identity]
    estimated = _estimated(identity, models_folder)
    return estimated[1] if estimated else _REFERENCE


def is_known(identity: SpaceIdentity, models_folder: Path) -> bool:
    """Whether the space's cosines were measured or estimated."""
    return identity in MEASURED or _estimated(identity, models_folder) is not None


def estimate(model: LoadedModel, models_folder: Path, wait_s: float) -> bool:
    """Estimate a space from the built-in sentences, once: 192 texts and 16 queries of about
    3,000 tokens in all, each asked for within ``wait_s`` seconds.

    False when it is known already. Raises :class:`~engine.domain.errors.ModelUnavailable` when
    the model does not answer; then the cautious values go on.
    """
    if is_known(model.identity, models_folder):
        return False
    from engine.model_clients import labelled

    calibration, thresholds = labelled.measure(model, wait_s)
    record = {"calibration": asdict(calibration), "thresholds": asdict(thresholds)}
    # It can be estimated again: a folder that cannot be written must not stop anything.
    with suppress(OSError):
        _write(_file(model.identity, models_folder), json.dumps(record))
    return True


def _estimated(
    identity: SpaceIdentity, models_folder: Path | None
) -> tuple[Calibration, Thresholds] | None:
    if models_folder is None:
        return None
    try:
        record = json.loads(_file(identity, models_folder).read_text(encoding="utf-8"))
        return Calibration(**record["calibration"]), Thresholds(**record["thresholds"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _file(identity: SpaceIdentity, models_folder: Path) -> Path:
    name = hashlib.sha256(f"{DATA_VERSION} {identity.key}".encode()).hexdigest()[:16]
    return models_folder / f"calibration-{name}.json"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(text, encoding="utf-8")
    half.replace(path)
