"""How sure the conflict scan is in the spaces of the bundled models, on labelled pairs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from engine.bootstrap import open_engine
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.use_cases.shortcuts import CALLER

PAIRS = Path(__file__).parents[2] / "data" / "conflict_pairs.jsonl"


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["embedded", "lite"])
def test_precision_in_the_bundled_spaces(tmp_path: Path, provider: str) -> None:
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    environ = {"JIYI_EMBEDDING__PROVIDER": provider, "JIYI_EMBEDDING__WAIT_S": "60"}
    with open_engine(tmp_path / "store", environ=environ) as engine:
        requests = {
            side: [
                MemorizeRequest({"text": pair[side], "kind": "semantic"}, workspace=f"pair {n}")
                for n, pair in enumerate(pairs)
            ]
            for side in ("old", "new")
        }
        stored = engine.memorize_many(requests["old"], CALLER)
        if any(item.pending for item in stored):
            pytest.skip("no weights here")
        answers = engine.memorize_many(requests["new"], CALLER)
    seen = Counter(
        (pair["label"], answer.conflicts[0].verdict if answer.conflicts else "different")
        for pair, answer in zip(pairs, answers, strict=True)
    )
    for verdict in ("contradiction", "duplicate"):
        said = sum(count for (_, told), count in seen.items() if told == verdict)
        meant = sum(count for (label, _), count in seen.items() if label == verdict)
        right = seen[verdict, verdict]
        print(f"{provider} {verdict}: precision {right / said:.3f}, recall {right / meant:.3f}")
        assert right / said >= 0.9
        assert right / meant >= 0.7
