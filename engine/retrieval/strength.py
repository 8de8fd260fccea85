"""How strong a match is, whatever else is in the pool."""

from __future__ import annotations

from engine.domain.embedding import Calibration


def strength(cosine: float | None, coverage: float, calibration: Calibration) -> float:
    """Absolute strength in [0,1]: the query's rarity that is covered (``coverage``, 0-1), or
    calibrated similarity, whichever speaks louder, each adding to what the other leaves open."""
    related = calibration.related(cosine) if cosine is not None else 0.0
    return 1.0 - (1.0 - coverage) * (1.0 - related)
