"""What the model is called and how it is built; light to import, nothing is loaded."""

from __future__ import annotations

from typing import Final

from engine.domain.embedding import SpaceIdentity

HIDDEN: Final = 384
INNER: Final = 1_536
LAYERS: Final = 12
HEADS: Final = 12
WORDS: Final = 250_037
"""Rows of the word table; the last few have no text."""
BLOCK: Final = 32
"""Weights that share one scale."""
MAX_TOKENS: Final = 512
"""Tokens of one pass, with the first and the last one."""
EPSILON: Final = 1e-12
"""Of every layer normalisation."""

FIRST_ID: Final = 0
PAD_ID: Final = 1
LAST_ID: Final = 2
UNKNOWN_ID: Final = 3
MASK_ID: Final = 250_001

TRANSFORM: Final = "langsub-1"
"""Version of :mod:`engine.model_clients.e5.language_subspace`'s constant."""

E5_SMALL: Final = SpaceIdentity(
    provider="embedded",
    model="multilingual-e5-small-q4",
    revision="1571fc98",
    dims=HIDDEN,
    query_prefix="query: ",
    passage_prefix="passage: ",
    transform=TRANSFORM,
)
"""The space of the embedded model. ``revision`` begins the weights file's SHA-256; vectors
are handed out transformed, so another transform is another space."""
