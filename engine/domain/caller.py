"""Who asks, and on whose behalf."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """The surface and client behind a request.

    ``actor`` stands in the journal: ``mcp:<client>``, ``cli``, ``library``, ``maintenance``.
    ``workspace`` is the current one: the default of writes and, for assistants, the start of
    reads. ``session_id`` groups what one conversation wrote.
    """

    actor: str = "library"
    workspace: str | None = None
    session_id: str | None = None
    agent: str | None = None
