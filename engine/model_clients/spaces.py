"""Identities of the embedding spaces that ship with the product.

Apart from the models, so that a process knows its space without loading one.
"""

from __future__ import annotations

from engine.domain.embedding import SpaceIdentity

USE_MULTILINGUAL = SpaceIdentity(
    provider="embedded",
    model="use-multilingual-v3",
    revision="0.2",
    dims=512,
)
"""The embedded sentence encoder. ``revision`` is major.minor of the package whose weights
made the golden vector in :mod:`engine.model_clients.use_multilingual`."""

HASHING_DIMS = 256


def hashing(dims: int = HASHING_DIMS) -> SpaceIdentity:
    """The space of :class:`engine.model_clients.hashing.HashingEmbedder`."""
    return SpaceIdentity(provider="hashing", model="hashing", revision="1", dims=dims)
