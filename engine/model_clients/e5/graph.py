"""The network as an ONNX graph over the converted weights.

A BERT encoder (Devlin et al. 2018) of 12 layers. The operations that work on 4-bit weights
and the fused ones are onnxruntime's own (domain ``com.microsoft``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from engine.model_clients.e5.onnx_format import (
    FLOAT,
    INT4,
    INT32,
    INT64,
    UINT8,
    ExternalTensor,
    Node,
    Port,
    model_bytes,
)
from engine.model_clients.e5.space import BLOCK, EPSILON, HEADS, HIDDEN, INNER, LAYERS, WORDS
from engine.model_clients.e5.tensors import Tensor

TOKENS: Final = "tokens"
POSITIONS: Final = "positions"
MASK: Final = "mask"
STATES: Final = "states"

# Activations are rounded to 8 bits inside a product: four times as fast, cosine .999.
_INT8_PRODUCTS = 4
_ELEMENT_TYPES = {"<f4": FLOAT, "|u1": UINT8}
_NOT_IN_GRAPH = "vocabulary."


def graph_bytes(tensors: Sequence[Tensor], weights_name: str) -> bytes:
    """The graph file: ``tokens`` int64 (rows, length), ``positions`` int64 (length,) and
    ``mask`` int32 (rows, length; 1 where there is a token) to ``states`` float32
    (rows, length, 384)."""
    constants = [
        _constant(tensor, weights_name)
        for tensor in tensors
        if not tensor.name.startswith(_NOT_IN_GRAPH)
    ]
    inputs = [
        Port(TOKENS, INT64, ("rows", "length")),
        Port(POSITIONS, INT64, ("length",)),
        Port(MASK, INT32, ("rows", "length")),
    ]
    outputs = [Port(STATES, FLOAT, ("rows", "length", HIDDEN))]
    return model_bytes(list(_nodes()), constants, inputs, outputs)


def _constant(tensor: Tensor, weights_name: str) -> ExternalTensor:
    shape, element_type = tensor.shape, _ELEMENT_TYPES[tensor.dtype]
    if tensor.name == "words.values":
        # Two 4-bit values a byte, which numpy has no type for.
        shape, element_type = (WORDS, HIDDEN), INT4
    return ExternalTensor(
        tensor.name, element_type, shape, weights_name, tensor.offset, tensor.size_bytes
    )


def _nodes() -> Iterator[Node]:
    yield from _embedding("layer0.in")
    for layer in range(LAYERS):
        out = STATES if layer == LAYERS - 1 else f"layer{layer + 1}.in"
        yield from _attention(f"layer{layer}", f"layer{layer}.in", f"layer{layer}.middle")
        yield from _feed_forward(f"layer{layer}", f"layer{layer}.middle", out)


def _embedding(out: str) -> Iterator[Node]:
    yield Node(
        "GatherBlockQuantized",
        ("words.values", TOKENS, "words.scales"),
        ("word",),
        contrib=True,
        attributes={"gather_axis": 0, "quantize_axis": 1, "block_size": BLOCK},
    )
    yield Node("Gather", ("positions.values", POSITIONS), ("position",))
    yield Node("Add", ("word", "position"), ("placed",))
    yield _norm("placed", "embedding.norm", out)


def _attention(layer: str, states: str, out: str) -> Iterator[Node]:
    for part in ("query", "key", "value"):
        yield _product(states, f"{layer}.{part}", HIDDEN, HIDDEN)
    yield Node(
        "MultiHeadAttention",
        (
            *(f"{layer}.{part}.product" for part in ("query", "key", "value")),
            f"{layer}.attention.bias",
            MASK,
        ),
        (f"{layer}.context",),
        contrib=True,
        attributes={"num_heads": HEADS, "scale": 1.0 / math.sqrt(HIDDEN / HEADS)},
    )
    yield _product(f"{layer}.context", f"{layer}.mix", HIDDEN, HIDDEN)
    yield from _sum_and_norm(states, f"{layer}.mix", f"{layer}.middle_norm", out)


def _feed_forward(layer: str, states: str, out: str) -> Iterator[Node]:
    yield _product(states, f"{layer}.widen", INNER, HIDDEN)
    yield Node("Add", (f"{layer}.widen.product", f"{layer}.widen.bias"), (f"{layer}.wide",))
    yield Node("Gelu", (f"{layer}.wide",), (f"{layer}.bent",), contrib=True)
    yield _product(f"{layer}.bent", f"{layer}.narrow", HIDDEN, INNER)
    yield from _sum_and_norm(states, f"{layer}.narrow", f"{layer}.out_norm", out)


def _product(states: str, name: str, out_size: int, in_size: int) -> Node:
    return Node(
        "MatMulNBits",
        (states, f"{name}.values", f"{name}.scales"),
        (f"{name}.product",),
        contrib=True,
        attributes={
            "K": in_size,
            "N": out_size,
            "bits": 4,
            "block_size": BLOCK,
            "accuracy_level": _INT8_PRODUCTS,
        },
    )


def _sum_and_norm(states: str, name: str, norm: str, out: str) -> Iterator[Node]:
    """LayerNorm(product + bias + states)."""
    yield Node("Add", (f"{name}.product", f"{name}.bias"), (f"{name}.biased",))
    yield Node("Add", (f"{name}.biased", states), (f"{name}.sum",))
    yield _norm(f"{name}.sum", norm, out)


def _norm(states: str, norm: str, out: str) -> Node:
    return Node(
        "LayerNormalization",
        (states, f"{norm}.scale", f"{norm}.shift"),
        (out,),
        attributes={"axis": 2, "epsilon": EPSILON},
    )
