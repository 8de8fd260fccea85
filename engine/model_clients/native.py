"""The order in which two native libraries may be loaded into one process.

onnxruntime crashes while it is loaded when usearch is there already (onnxruntime 1.32, usearch
2.26, Linux); the other order is safe. So it is loaded before usearch wherever it is installed,
and not at all after it: the numpy engine computes the same vectors.
"""

from __future__ import annotations

import importlib
import sys
import threading
from contextlib import suppress
from types import ModuleType

_LOADING = threading.Lock()


def load_onnxruntime() -> ModuleType:
    """onnxruntime, loaded now if need be. Raises ``ImportError`` when it is not installed or
    would come too late."""
    with _LOADING:
        if "usearch" in sys.modules and "onnxruntime" not in sys.modules:
            raise ImportError("onnxruntime cannot be loaded after usearch")
        return importlib.import_module("onnxruntime")


def make_way_for_usearch() -> None:
    """Call before usearch is imported."""
    with suppress(ImportError):
        load_onnxruntime()
