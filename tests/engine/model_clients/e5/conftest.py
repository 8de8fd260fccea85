"""The model as a user has it: weights found, converted once for the whole run.

Without the weights (on systems for which their package is not made) these tests are
skipped; nothing else can stand in for 70 MB of weights.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.model_clients.e5 import conversion, embedder, weights
from engine.model_clients.e5.embedder import E5Embedder
from engine.model_clients.e5.tensors import TensorFile
from engine.model_clients.e5.tokenizer import Tokenizer


@pytest.fixture(scope="session")
def source_file() -> Path:
    """The weights file as the installed package has it."""
    found = weights.find(Path("no-such-folder"))
    if found is None:
        pytest.skip("the weights' package is not installed here")
    return found


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory, source_file: Path) -> Path:
    """A folder with the converted weights; not to be changed."""
    folder = tmp_path_factory.mktemp("models")
    conversion.ensure(folder)
    return folder


@pytest.fixture(scope="session")
def tensors(models_folder: Path) -> TensorFile:
    """The converted weights, mapped."""
    converted = conversion.ensure(models_folder)
    return TensorFile(converted.weights, converted.tensors)


@pytest.fixture(scope="session")
def tokenizer(tensors: TensorFile) -> Tokenizer:
    """The model's tokenizer."""
    return Tokenizer(tensors)


@pytest.fixture(scope="session")
def e5(models_folder: Path) -> E5Embedder:
    """The loaded model."""
    return embedder.load(models_folder)
