"""The network in numpy, for systems where onnxruntime does not run: about 45 ms for a short
text, and 85 MB for the weights, which are unpacked."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.model_clients.e5.space import BLOCK, EPSILON, HEADS, HIDDEN, INNER, LAYERS
from engine.model_clients.e5.tensors import TensorFile

Floats = NDArray[np.float32]


class NumpyEngine:
    """Safe to use from several threads."""

    name = "numpy"

    def __init__(self, tensors: TensorFile) -> None:
        from threadpoolctl import ThreadpoolController

        self._threads = ThreadpoolController()
        self._words = tensors.array("words.values")
        self._word_scales = tensors.array("words.scales")
        small = ("bias", "scale", "shift")
        self._vectors = {
            name: tensors.floats(name)
            for name in tensors.tensors
            if name.rpartition(".")[2] in small or name == "positions.values"
        }
        self._matrices = {
            f"layer{layer}.{name}": _unpacked(tensors, f"layer{layer}.{name}", columns)
            for layer in range(LAYERS)
            for name, columns in _COLUMNS.items()
        }

    def mean_states(self, rows: list[list[int]]) -> Floats:
        """The mean of each row's token states, shape (len(rows), 384)."""
        # More threads slow each other down on a busy machine.
        with self._threads.limit(limits=1, user_api="blas"):
            return np.stack([self._states(row).mean(axis=0) for row in rows])

    def _states(self, row: list[int]) -> Floats:
        states = self._embedded(np.array(row))
        for layer in range(LAYERS):
            states = self._layer(f"layer{layer}", states)
        return states

    def _embedded(self, ids: NDArray[np.intp]) -> Floats:
        values = _halves(np.asarray(self._words[ids], dtype=np.uint8) ^ np.uint8(0x88))
        scales = np.asarray(self._word_scales[ids], dtype=np.float32)
        words = _scaled(values.reshape(len(ids), -1, BLOCK), scales)
        return self._normed(words + self._vectors["positions.values"][: len(ids)], "embedding.norm")

    def _layer(self, layer: str, states: Floats) -> Floats:
        context = self._attention(layer, states)
        mixed = self._product(f"{layer}.mix", context) + self._vectors[f"{layer}.mix.bias"]
        middle = self._normed(states + mixed, f"{layer}.middle_norm")
        wide = self._product(f"{layer}.widen", middle) + self._vectors[f"{layer}.widen.bias"]
        narrow = self._product(f"{layer}.narrow", _gelu(wide))
        return self._normed(
            middle + narrow + self._vectors[f"{layer}.narrow.bias"], f"{layer}.out_norm"
        )

    def _attention(self, layer: str, states: Floats) -> Floats:
        biases = self._vectors[f"{layer}.attention.bias"].reshape(3, HIDDEN)
        query, key, value = (
            (self._product(f"{layer}.{part}", states) + bias)
            .reshape(len(states), HEADS, -1)
            .transpose(1, 0, 2)
            for part, bias in zip(("query", "key", "value"), biases, strict=True)
        )
        weights = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(HIDDEN // HEADS))
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        context: Floats = (weights @ value).transpose(1, 0, 2).reshape(len(states), HIDDEN)
        return context

    def _product(self, name: str, states: Floats) -> Floats:
        product: Floats = states @ self._matrices[name]
        return product

    def _normed(self, states: Floats, name: str) -> Floats:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        normed: Floats = (
            centred / spread * self._vectors[f"{name}.scale"] + self._vectors[f"{name}.shift"]
        )
        return normed


_COLUMNS = {
    "query": HIDDEN,
    "key": HIDDEN,
    "value": HIDDEN,
    "mix": HIDDEN,
    "widen": HIDDEN,
    "narrow": INNER,
}


def _unpacked(tensors: TensorFile, name: str, columns: int) -> Floats:
    """The matrix as float32, turned so that states stand on its left."""
    values = _halves(np.asarray(tensors.array(f"{name}.values"), dtype=np.uint8))
    scales = tensors.floats(f"{name}.scales").reshape(-1, columns // BLOCK)
    rows = _scaled(values.reshape(len(scales), -1, BLOCK), scales)
    return np.ascontiguousarray(rows.T)


def _halves(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The 4-bit values of each byte, the low half first: twice as many in the last axis."""
    pairs = np.stack([packed & np.uint8(15), packed >> np.uint8(4)], axis=-1)
    return pairs.reshape(*packed.shape[:-1], -1)


def _scaled(values: NDArray[np.uint8], scales: Floats) -> Floats:
    weights = (values.astype(np.float32) - 8) * scales[..., None]
    return weights.reshape(len(values), -1)


def _gelu(x: Floats) -> Floats:
    """x Φ(x), with the error function after Abramowitz and Stegun 7.1.26 (error < 1.5e-7)."""
    size = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    erf = np.copysign(1 - series * np.exp(-np.square(size)), x)
    gelu: Floats = x * np.float32(0.5) * (1 + erf)
    return gelu
