"""The network on onnxruntime: about 12 ms for a short text on one core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.model_clients.e5.graph import MASK, POSITIONS, STATES, TOKENS
from engine.model_clients.e5.space import PAD_ID
from engine.model_clients.native import load_onnxruntime


class OnnxEngine:
    """Safe to use from several threads."""

    name = "onnxruntime"

    def __init__(self, graph: Path) -> None:
        """Load the graph and the weights beside it. Raises ``ImportError`` without
        onnxruntime, and errors of its own when it cannot run the graph."""
        onnxruntime = load_onnxruntime()
        options = onnxruntime.SessionOptions()
        # One thread is the caller's own: nothing to hang on after a fork.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # One pool that all threads take from: without it the C library keeps freed memory
        # for each thread, 20 MB apiece. Plans of memory by shape would come on top.
        options.enable_cpu_mem_arena = True
        options.enable_mem_pattern = False
        # The sums and norms it would fuse at a higher level are slower fused.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"]
        )

    def mean_states(self, rows: list[list[int]]) -> NDArray[np.float32]:
        """The mean of each row's token states, shape (len(rows), 384)."""
        lengths = np.array([len(row) for row in rows])
        positions = np.arange(int(lengths.max()), dtype=np.int64)
        tokens = np.full((len(rows), len(positions)), PAD_ID, dtype=np.int64)
        for number, row in enumerate(rows):
            tokens[number, : len(row)] = row
        mask = (positions < lengths[:, None]).astype(np.int32)
        feeds = {TOKENS: tokens, POSITIONS: positions, MASK: mask}
        states: NDArray[np.float32] = self._session.run([STATES], feeds)[0]
        sums = np.einsum("rth,rt->rh", states, mask.astype(np.float32))
        means: NDArray[np.float32] = sums / lengths[:, None].astype(np.float32)
        return means
