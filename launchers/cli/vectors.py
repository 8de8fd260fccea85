"""Vectors of a process that ends soon: made before it ends, or said to be waiting."""

from __future__ import annotations

from engine.bootstrap import Engine
from engine.domain.errors import JiyiError
from engine.use_cases.embed_pending import count_waiting
from launchers.cli.output import Output

BUDGET_S = 10.0


def settled_vectors(engine: Engine) -> int:
    """Embed what waits, within the budget; return how many memories still wait."""
    engine.drain(BUDGET_S)
    return count_waiting(engine.context)


def tell_waiting(output: Output, waiting: int, reason: JiyiError | None) -> None:
    """Say that memories are found by keyword only until they have their vectors."""
    if waiting and reason is not None and reason.key != "error.model_loading":
        output.note("cli.waiting_because", count=waiting, reason=output.sentence(reason))
    elif waiting:
        output.note("cli.waiting", count=waiting)
