"""Text to token numbers: the SentencePiece unigram model of XLM-RoBERTa.

The best segmentation is the one whose pieces' log probabilities add up to most
(Kudo 2018, "Subword Regularization"), found by dynamic programming over the text's
substrings. Time grows linearly with the text: about 4 ms for 2,000 characters.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

from engine.model_clients.e5.pieces_table import substring_hashes
from engine.model_clients.e5.space import UNKNOWN_ID
from engine.model_clients.e5.tensors import TensorFile

MAX_CHARS = 2_000
_SPACE_MARK = "\u2581"
_UNKNOWN_PENALTY = 10.0
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# What SentencePiece's normaliser turns into a space, and other control characters, which it
# drops or does not know.
_BLANK = re.compile(r"[\x00-\x20\x7f-\x9f\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]+")


def model_text(text: str) -> str:
    """``text`` as the model reads it: compatibility forms folded (NFKC), control and
    invisible characters and lone surrogates out, runs of blanks made one, at most
    :data:`MAX_CHARS` characters."""
    # Cut before as well as after: NFKC makes up to 18 characters of one.
    folded = unicodedata.normalize("NFKC", _SURROGATE.sub(" ", text[:MAX_CHARS]))
    return _BLANK.sub(" ", folded)[:MAX_CHARS].strip(" ")


class Tokenizer:
    """Safe to use from several threads."""

    def __init__(self, tensors: TensorFile) -> None:
        # Copied, since every text searches all over it.
        self._hashes = np.array(tensors.array("vocabulary.hashes"), dtype=np.uint64)
        self._ids = np.array(tensors.array("vocabulary.ids"), dtype=np.int64)
        self._scores = np.array(tensors.array("vocabulary.scores"), dtype=np.float64)
        self._longest = int(tensors.array("vocabulary.longest")[0])
        self._unknown_score = float(self._scores.min()) - _UNKNOWN_PENALTY

    def ids(self, text: str) -> list[int]:
        """The numbers of the pieces of cleaned ``text`` (:func:`model_text`), without the
        model's first and last token."""
        marked = _SPACE_MARK + text.replace(" ", _SPACE_MARK)
        edges = self._edges(marked)
        return _best_path(len(marked), *edges)

    def _edges(self, marked: str) -> tuple[list[int], list[int], list[float], list[int]]:
        """Every way to go on in the text, in order of start: start, end, score, number."""
        hashes = substring_hashes(marked, self._longest)
        places = np.searchsorted(self._hashes, hashes)
        np.minimum(places, len(self._hashes) - 1, out=places)
        known = self._hashes[places] == hashes
        # One character is always a way, unknown at worst.
        unknown = np.zeros(len(marked), dtype=bool)
        unknown[:] = ~known[:, 0]
        known[:, 0] = True
        starts, lengths = np.nonzero(known)
        found = places[starts, lengths]
        ids, scores = self._ids[found], self._scores[found]
        lost = unknown[starts] & (lengths == 0)
        ids[lost], scores[lost] = UNKNOWN_ID, self._unknown_score
        ends: NDArray[np.intp] = starts + lengths + 1
        return starts.tolist(), ends.tolist(), scores.tolist(), ids.tolist()


def _best_path(
    length: int, starts: list[int], ends: list[int], scores: list[float], ids: list[int]
) -> list[int]:
    best = [0.0] + [float("-inf")] * length
    through = [-1] * (length + 1)
    for edge, (start, end, score) in enumerate(zip(starts, ends, scores, strict=True)):
        total = best[start] + score
        if total > best[end]:
            best[end] = total
            through[end] = edge
    path: list[int] = []
    position = length
    while position > 0:
        edge = through[position]
        # A run of unknown characters is one unknown token, as in training.
        if not (path and path[-1] == ids[edge] == UNKNOWN_ID):
            path.append(ids[edge])
        position = starts[edge]
    path.reverse()
    return path
