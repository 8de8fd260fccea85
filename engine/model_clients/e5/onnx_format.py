"""Writes the little of the ONNX file format that the model's graph needs.

Field numbers and element types are those of ``onnx.proto3``; messages are in protobuf's wire
format. It saves the product a dependency on the ``onnx`` package.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

FLOAT: Final = 1
UINT8: Final = 2
INT32: Final = 6
INT64: Final = 7
INT4: Final = 22

_IR_VERSION = 10
_STANDARD_OPSET = 21
_CONTRIB_OPSET = 1
CONTRIB: Final = "com.microsoft"
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2
_EXTERNAL = 1

Attribute: TypeAlias = int | float
Dimension: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Node:
    """One operation; an empty input name leaves an optional input out."""

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    contrib: bool = False
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExternalTensor:
    """A constant whose bytes lie in another file of the same folder."""

    name: str
    element_type: int
    shape: tuple[int, ...]
    file_name: str
    offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph; a dimension with a name may have any size."""

    name: str
    element_type: int
    shape: tuple[Dimension, ...]


def model_bytes(
    nodes: Sequence[Node],
    tensors: Sequence[ExternalTensor],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
) -> bytes:
    """A whole model file (ModelProto)."""
    graph = b"".join(
        [
            *(_nested(1, _node(node)) for node in nodes),
            _text(2, "encoder"),
            *(_nested(5, _tensor(tensor)) for tensor in tensors),
            *(_nested(11, _port(port)) for port in inputs),
            *(_nested(12, _port(port)) for port in outputs),
        ]
    )
    opsets = (("", _STANDARD_OPSET), (CONTRIB, _CONTRIB_OPSET))
    return b"".join(
        [
            _number(1, _IR_VERSION),
            _nested(7, graph),
            *(_nested(8, _text(1, domain) + _number(2, version)) for domain, version in opsets),
        ]
    )


def _node(node: Node) -> bytes:
    return b"".join(
        [
            *(_text(1, name) for name in node.inputs),
            *(_text(2, name) for name in node.outputs),
            _text(3, node.outputs[0]),
            _text(4, node.operation),
            *(_nested(5, _attribute(name, value)) for name, value in node.attributes.items()),
            _text(7, CONTRIB if node.contrib else ""),
        ]
    )


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _float(2, value) + _number(20, _ATTRIBUTE_FLOAT)
    return _text(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)


def _tensor(tensor: ExternalTensor) -> bytes:
    place = {
        "location": tensor.file_name,
        "offset": str(tensor.offset),
        "length": str(tensor.size_bytes),
    }
    return b"".join(
        [
            *_numbers(1, tensor.shape),
            _number(2, tensor.element_type),
            _text(8, tensor.name),
            *(_nested(13, _text(1, key) + _text(2, value)) for key, value in place.items()),
            _number(14, _EXTERNAL),
        ]
    )


def _port(port: Port) -> bytes:
    dimensions = b"".join(
        _nested(1, _text(2, size) if isinstance(size, str) else _number(1, size))
        for size in port.shape
    )
    tensor_type = _number(1, port.element_type) + _nested(2, dimensions)
    return _text(1, port.name) + _nested(2, _nested(1, tensor_type))


def _numbers(tag: int, values: Iterable[int]) -> Iterable[bytes]:
    return (_number(tag, value) for value in values)


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value)


def _float(tag: int, value: float) -> bytes:
    return _varint(tag << 3 | 5) + struct.pack("<f", value)


def _text(tag: int, value: str) -> bytes:
    return _nested(tag, value.encode("utf-8"))


def _nested(tag: int, content: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; the high bit says that more follow."""
    if value < 0:
        raise ValueError("negative numbers do not occur here")
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
