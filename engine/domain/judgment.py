"""A person's word on whether a memory answers a question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judgment:
    """Whether a memory answers a query asked in a workspace (empty: in all of them).

    ``grade`` says how well, above 0 (``None``: simply relevant); ``category`` groups queries;
    ``at`` is epoch seconds.
    """

    query: str
    memory_uid: str
    relevant: bool
    grade: float | None = None
    category: str | None = None
    workspace: str = ""
    at: float = 0.0
    actor: str = ""
