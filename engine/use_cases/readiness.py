"""Wait until the embedding model can answer, for processes that ask once and end."""

from __future__ import annotations

from engine.context import EngineContext
from engine.domain.errors import ModelUnavailable


def wait_for_model(context: EngineContext, wait_s: float) -> bool:
    """Load the model if there is one, for at most ``wait_s`` seconds; tell if it is ready.

    A server answers by keywords while its model loads; a person at a command line would
    rather wait a little for the better answer.
    """
    return context.settings.vectors.enabled and load_model(context, wait_s) is None


def load_model(context: EngineContext, wait_s: float) -> ModelUnavailable | None:
    """Load the model that serves, for at most ``wait_s`` seconds; the reason when it cannot."""
    try:
        context.serving().embedder(wait_s)
    except ModelUnavailable as reason:
        return reason
    return None
