"""Files written by hand are read by the runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.model_clients.e5.onnx_format import FLOAT, ExternalTensor, Node, Port, model_bytes
from engine.model_clients.e5.tensors import (
    TensorFile,
    tensors_from_json,
    tensors_to_json,
    write_tensors,
)


def test_a_graph_with_weights_in_another_file_runs(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    factors = np.arange(300, dtype=np.float32)
    with (tmp_path / "weights.bin").open("wb") as stream:
        _, tensor = write_tensors(stream, [("first", np.ones(3)), ("factors", factors)])
    graph = model_bytes(
        [
            Node("Mul", ("in", "factors"), ("scaled",)),
            Node("Softmax", ("scaled",), ("out",), attributes={"axis": 1}),
        ],
        [ExternalTensor("factors", FLOAT, (300,), "weights.bin", tensor.offset, tensor.size_bytes)],
        [Port("in", FLOAT, ("rows", 300))],
        [Port("out", FLOAT, ("rows", 300))],
    )
    (tmp_path / "model.onnx").write_bytes(graph)
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    out = session.run(["out"], {"in": np.full((2, 300), 0.01, dtype=np.float32)})[0]
    expected = np.exp(factors * 0.01) / np.exp(factors * 0.01).sum()
    assert np.allclose(out, [expected, expected], atol=1e-6)


def test_written_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[np.generic]] = {
        "bytes": np.arange(7, dtype=np.uint8).reshape(7, 1),
        "numbers": np.array([[1.5, -2.0]], dtype=np.float32),
        "empty": np.empty((0, 3), dtype=np.int32),
    }
    with (tmp_path / "file").open("wb") as stream:
        tensors = write_tensors(stream, arrays.items())
    read = TensorFile(tmp_path / "file", tensors_from_json(tensors_to_json(tensors)))
    for name, array in arrays.items():
        assert read.array(name).dtype == array.dtype
        assert np.array_equal(read.array(name), array)
