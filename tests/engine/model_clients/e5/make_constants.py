"""Makes the arrays shipped in ``assets/models``: run this module with ``python -m``.

Needs the weights (:mod:`engine.model_clients.e5.weights`) in the home folder's cache or
installed. Both arrays come from the numpy engine, which rounds nothing to 8 bits.
"""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.model_clients.e5 import conversion
from engine.model_clients.e5.language_subspace import LanguageSubspace, of_language_means
from engine.model_clients.e5.numpy_engine import NumpyEngine
from engine.model_clients.e5.self_test import GOLDEN_FILE, golden_rows
from engine.model_clients.e5.space import E5_SMALL, FIRST_ID, LAST_ID, TRANSFORM
from engine.model_clients.e5.tensors import TensorFile
from engine.model_clients.e5.tokenizer import Tokenizer, model_text
from engine.model_clients.unit_rows import unit_rows

ASSETS = Path(__file__).parents[4] / "assets" / "models"
SENTENCES = Path(__file__).with_name("language_sentences.toml")


def sentences() -> dict[str, list[str]]:
    """Every template of a language filled with every word of its slot."""
    languages = tomllib.loads(SENTENCES.read_text(encoding="utf-8"))
    return {name: list(filled(slots)) for name, slots in languages.items()}


def filled(slots: dict[str, list[str]]):
    """The sentences of one language."""
    for template in slots["templates"]:
        slot = template[template.index("{") + 1 : template.index("}")]
        for word in slots[slot]:
            yield template.format(**{slot: word})


def measured_subspace(tokenizer: Tokenizer, engine: NumpyEngine) -> LanguageSubspace:
    """From the mean of each language's sentences, as passages."""
    means = [
        unit_rows(engine.mean_states(passage_rows(tokenizer, texts)), "e5").astype(float).mean(0)
        for texts in sentences().values()
    ]
    return of_language_means(np.stack(means))


def passage_rows(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """Token rows of whole passages."""
    prefix = E5_SMALL.passage_prefix
    return [[FIRST_ID, *tokenizer.ids(prefix + model_text(text)), LAST_ID] for text in texts]


def golden_vectors(tokenizer: Tokenizer, engine: NumpyEngine) -> NDArray[np.float32]:
    """Raw vectors of the self-test's texts, of length one."""
    return unit_rows(engine.mean_states(golden_rows(tokenizer)), "e5")


def main() -> None:
    """Write both arrays."""
    with tempfile.TemporaryDirectory() as folder:
        converted = conversion.ensure(Path(folder))
        tensors = TensorFile(converted.weights, converted.tensors)
        tokenizer, engine = Tokenizer(tensors), NumpyEngine(tensors)
        subspace = measured_subspace(tokenizer, engine)
        ASSETS.mkdir(parents=True, exist_ok=True)
        np.save(ASSETS / f"e5-small-{TRANSFORM}.npy", subspace.constant())
        np.save(ASSETS / GOLDEN_FILE, golden_vectors(tokenizer, engine))


if __name__ == "__main__":
    main()
