"""Summing up what happened."""

from __future__ import annotations

from collections.abc import Callable

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.reflection import Reflected, ReflectRequest
from engine.use_cases import reflect


class Reflection:
    """Summing up what happened."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def reflect(
        self,
        request: ReflectRequest,
        caller: Caller,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Reflected:
        """Sum up memories of one theme; see :func:`engine.use_cases.reflect.reflect`."""
        return reflect.reflect(self._context, request, caller, on_progress)
