"""Which engine may serve: the one that gives known texts their known vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5.language_subspace import asset
from engine.model_clients.e5.numpy_engine import NumpyEngine
from engine.model_clients.e5.onnx_engine import OnnxEngine
from engine.model_clients.e5.space import E5_SMALL, FIRST_ID, LAST_ID
from engine.model_clients.e5.tensors import TensorFile
from engine.model_clients.e5.tokenizer import Tokenizer, model_text

GOLDEN_TEXTS: Final = (
    "query: 我的猫喜欢在下雨天睡觉",
    "passage: My cat likes to sleep on rainy days; the vet is at 24 Lime Street.",
    "passage: 雨の日は猫がよく眠ります。비 오는 날엔 고양이가 잔다.",
)
"""Short, in all four languages, with digits; the self-test runs on every load."""
GOLDEN_FILE: Final = "e5-small-q4-golden.npy"
LEAST_COSINE: Final = 0.999


class Engine(Protocol):
    """The network: token rows to vectors."""

    name: str

    def mean_states(self, rows: list[list[int]]) -> NDArray[np.float32]:
        """The mean of each row's token states, shape (len(rows), 384), not normalised."""
        ...


def golden_rows(tokenizer: Tokenizer) -> list[list[int]]:
    """The golden texts as token rows."""
    texts = map(model_text, GOLDEN_TEXTS)
    return [[FIRST_ID, *tokenizer.ids(text), LAST_ID] for text in texts]


def agrees(engine: Engine, tokenizer: Tokenizer) -> bool:
    """Whether the engine gives every golden text its vector, in one batch."""
    golden = asset(GOLDEN_FILE, len(GOLDEN_TEXTS))
    found = engine.mean_states(golden_rows(tokenizer))
    lengths = np.linalg.norm(found, axis=1)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        return False
    cosines = np.einsum("rh,rh->r", golden, found) / lengths
    return bool((cosines >= LEAST_COSINE).all())


def chosen_engine(graph: Path, tensors: TensorFile, tokenizer: Tokenizer) -> Engine:
    """onnxruntime if it works here, else numpy.

    Raises :class:`ModelUnavailable` with ``error.e5_wrong_vectors`` if neither gives the
    known vectors: they would not fit those that are stored.
    """
    on_runtime = _working_onnx_engine(graph, tokenizer)
    if on_runtime is not None:
        return on_runtime
    in_numpy = NumpyEngine(tensors)
    if agrees(in_numpy, tokenizer):
        return in_numpy
    raise ModelUnavailable("error.e5_wrong_vectors", model=E5_SMALL.model)


def _working_onnx_engine(graph: Path, tokenizer: Tokenizer) -> Engine | None:
    # A missing, broken or old installation fails in ways of its own; it costs speed alone.
    try:
        engine = OnnxEngine(graph)
        return engine if agrees(engine, tokenizer) else None
    except Exception:
        return None
