"""onnxruntime and usearch in one process: whichever is wanted first, nothing crashes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed"
)

BUILD = """
import numpy as np
from engine.vector_index.graph import Graph, GraphTuning
import engine.vector_index.graph as graph
graph.make_way_for_usearch()
import usearch.index
"""
LOAD = """
from engine.model_clients.native import load_onnxruntime
try:
    load_onnxruntime()
    print("loaded")
except ImportError:
    print("too late")
"""


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def test_the_graph_first_and_the_model_after_it() -> None:
    assert run(BUILD + LOAD) == "loaded"


def test_the_model_first_and_the_graph_after_it() -> None:
    assert run(LOAD + BUILD) == "loaded"


def test_a_usearch_that_somebody_else_loaded_leaves_the_model_to_numpy() -> None:
    assert run("import usearch.index" + LOAD) == "too late"
