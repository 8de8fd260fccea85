"""Taking out of a vector what only says which language its text is in.

Raw vectors of this model rank every memory in the query's language above every other one.
The means of 200 sentences that say the same in zh, en, ja and ko differ in three directions
``U`` (singular vectors of their differences from the common mean ``m``; after Yang et al.
2021, "A Simple and Effective Method To Eliminate the Self Language Bias"). With them and most
of the common mean taken out,

    v' = norm((v - U U'v) - 0.75 (m - U U'm))

vectors of one meaning come together. The constant is measured once and never changed under
one version (:data:`~engine.model_clients.e5.space.TRANSFORM`): vectors of another are of
another space.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5.space import E5_SMALL, HIDDEN, TRANSFORM

DIRECTIONS: Final = 3
_MEAN_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class LanguageSubspace:
    """``directions`` of shape (3, 384), orthonormal; ``mean`` (384,), at right angles to
    them."""

    directions: NDArray[np.float32]
    mean: NDArray[np.float32]

    def without(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rows (n, 384) of length one without the language's part; their length is left
        to the caller."""
        cleared = rows - (rows @ self.directions.T) @ self.directions
        return cleared - np.float32(_MEAN_SHARE) * self.mean

    def constant(self) -> NDArray[np.float32]:
        """All of it as the (4, 384) array that is shipped."""
        return np.vstack([self.directions, self.mean[None]]).astype(np.float32)


def of_language_means(means: NDArray[np.float64]) -> LanguageSubspace:
    """Measured from the mean vector of each language's sentences, shape (4, 384)."""
    common = means.mean(axis=0)
    directions = np.linalg.svd(means - common, full_matrices=False)[2][:DIRECTIONS]
    mean = common - directions.T @ (directions @ common)
    return LanguageSubspace(directions.astype(np.float32), mean.astype(np.float32))


def shipped() -> LanguageSubspace:
    """The constant of :data:`~engine.model_clients.e5.space.TRANSFORM`."""
    rows = asset(f"e5-small-{TRANSFORM}.npy", DIRECTIONS + 1)
    return LanguageSubspace(rows[:DIRECTIONS], rows[DIRECTIONS])


def asset(name: str, rows: int) -> NDArray[np.float32]:
    """A float32 array of shape (rows, 384) that comes with the product.

    Raises :class:`ModelUnavailable` when the installation lacks it or it is not readable.
    """
    try:
        packed = (files("assets") / "models" / name).read_bytes()
        array = np.load(BytesIO(packed), allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ModelUnavailable("error.e5_asset_missing", model=E5_SMALL.model, name=name) from error
    if array.shape != (rows, HIDDEN) or array.dtype != np.float32:
        raise ModelUnavailable("error.e5_asset_missing", model=E5_SMALL.model, name=name)
    return np.asarray(array, dtype=np.float32)
