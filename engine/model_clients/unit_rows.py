"""The one check every vector passes before it leaves a model client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.domain.errors import ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.model_clients.protocol import Matrix

_SHORTEST = 1e-6


def unit_rows(raw: NDArray[np.floating], model: str) -> Matrix:
    """Rows of ``raw`` (n, dims) as float32 of length one.

    Raises :class:`ModelUnavailable` when a row is not finite or has no direction: such a
    vector would rank first for every query, or be near everything.
    """
    import numpy as np

    rows = np.asarray(raw, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > _SHORTEST).all()):
        raise ModelUnavailable("error.model_bad_vector", model=model)
    return np.ascontiguousarray(rows / lengths, dtype=np.float32)
