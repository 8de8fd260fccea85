"""What a cosine means in each bundled space.

Measured on hand-made paraphrase pairs in four languages. Related and unrelated texts overlap
(USE: paraphrases at 0.17-0.37, their best of 330 unrelated ones at 0.27-0.36; e5: 0.38-0.51
and 0.41-0.48), so a value near the
middle says "cannot be told", and only clearly higher ones count as strong.
"""

from __future__ import annotations

from engine.domain.embedding import Calibration, SpaceIdentity
from engine.model_clients.e5.space import E5_SMALL

_USE_MULTILINGUAL = Calibration(middle=0.28, slope=14.0)
_E5_SMALL = Calibration(middle=0.40, slope=20.0)
_UNKNOWN = Calibration(middle=0.6, slope=12.0)


def calibration_of(identity: SpaceIdentity | None) -> Calibration:
    """The calibration of a space; a cautious one for a space that was not measured."""
    if identity is not None and identity.model.startswith("use-multilingual"):
        return _USE_MULTILINGUAL
    if identity is not None and identity.model == E5_SMALL.model:
        return _E5_SMALL
    return _UNKNOWN
