"""Trying weights before they are saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.context import EngineContext
from engine.use_cases import preview, recall
from engine.use_cases.preview import Asked, Evaluated, Pools, Preview, WeightSet


class Tuning:
    """Trying weights before they are saved."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
        self._pools = Pools(recall.gathered)

    def in_force(self) -> WeightSet:
        """The weights that recall ranks by now."""
        return preview.weights_in_force(self._context.settings)

    def preview(self, asked: Asked, given: Sequence[WeightSet]) -> Preview:
        """One query by several weight sets; see :func:`engine.use_cases.preview.preview`."""
        return preview.preview(self._context, self._pools, asked, given)

    def evaluate(
        self, given: Sequence[WeightSet], on_progress: Callable[[int, int], None]
    ) -> Evaluated:
        """Several weight sets over all judgments; see
        :func:`engine.use_cases.preview.evaluate_weights`."""
        return preview.evaluate_weights(self._context, self._pools, given, on_progress)
