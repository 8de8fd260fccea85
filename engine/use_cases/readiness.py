"""Wait until the embedding model can answer, for processes that ask once and end."""

from __future__ import annotations

from engine.context import EngineContext
from engine.domain.errors import ModelUnavailable


def wait_for_model(context: EngineContext, wait_s: float) -> bool:
    """Load the model if there is one, for at most ``wait_s`` seconds; tell if it is ready.

    A server answers by keywords while its model loads; a person at a command line would
    rather wait a little for the better answer.
    """
    if not context.settings.vectors.enabled:
        return False
    try:
        context.serving().embedder(wait_s)
    except ModelUnavailable:
        return False
    return True
