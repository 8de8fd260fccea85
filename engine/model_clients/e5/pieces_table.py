"""The vocabulary as arrays: a text's substrings are found in it by a 64-bit hash.

Arrays of 4 MB replace a dictionary of 250,000 strings, which would cost 40 MB. Two pieces
never share a hash (checked when the table is built); that a substring outside the vocabulary
hits one has a chance of about 1e-14, and would cost one odd token.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FIRST_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SECOND_FACTOR = np.uint64(0xC2B2AE3D27D4EB4F)
_STEP_FACTOR = np.uint64(0x100000001B3)
_PAST_THE_END = 0x110000
"""Stands behind a text's last character; no character has this code."""


def substring_hashes(text: str, longest: int) -> NDArray[np.uint64]:
    """Shape (len(text), longest): row i, column k is the hash of ``text[i : i + k + 1]``,
    or one that matches nothing where the text ends before."""
    codes = np.full(len(text) + longest, _PAST_THE_END, dtype=np.uint64)
    codes[: len(text)] = _codes(text)
    mixed = _mixed(codes)
    hashes = np.empty((len(text), longest), dtype=np.uint64)
    running = np.zeros(len(text), dtype=np.uint64)
    for length in range(longest):
        running = running * _STEP_FACTOR + mixed[length : length + len(text)]
        hashes[:, length] = running
    return hashes


def piece_hashes(pieces: Sequence[str]) -> NDArray[np.uint64]:
    """The hash of each piece as a whole. Raises ``ValueError`` if two share one."""
    lengths = np.array([len(piece) for piece in pieces])
    starts = np.cumsum(lengths) - lengths
    mixed = _mixed(_codes("".join(pieces)).astype(np.uint64))
    hashes = np.zeros(len(pieces), dtype=np.uint64)
    for position in range(int(lengths.max())):
        longer = np.flatnonzero(lengths > position)
        hashes[longer] = hashes[longer] * _STEP_FACTOR + mixed[starts[longer] + position]
    if np.unique(hashes).size != hashes.size:
        raise ValueError("two pieces share a hash")
    return hashes


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # Neighbouring codes must not give neighbouring values: products would then coincide.
    spread = (codes + np.uint64(1)) * _FIRST_FACTOR
    spread ^= spread >> np.uint64(29)
    spread *= _SECOND_FACTOR
    spread ^= spread >> np.uint64(32)
    return spread
