"""Short ways to say what most tests say: remember this, who is found."""

from __future__ import annotations

from collections.abc import Iterable

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.domain.scope import Filters, Scope
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import Hit, RecallRequest

HASHING = {"JIYI_EMBEDDING__PROVIDER": "hashing"}
KEYWORDS = {"JIYI_EMBEDDING__PROVIDER": "none"}
CALLER = Caller("test")


def remember(engine: Engine, text: str, workspace: str | None = None, **fields: object) -> int:
    """Store one memory and return its id."""
    request = MemorizeRequest({"text": text} | fields, workspace=workspace)
    return engine.memorize(request, CALLER).memory.id


def remember_all(engine: Engine, texts: Iterable[str], workspace: str | None = None) -> list[int]:
    """Store several memories and return their ids."""
    requests = [MemorizeRequest({"text": text}, workspace=workspace) for text in texts]
    return [item.memory.id for item in engine.memorize_many(requests, CALLER)]


def hits(
    engine: Engine,
    query: str,
    k: int | None = None,
    mode: str = "auto",
    filters: Filters | None = None,
) -> tuple[Hit, ...]:
    """The hits of a query."""
    request = RecallRequest(query, k=k, mode=mode, filters=filters or Filters())
    return engine.recall(request).hits


def found(
    engine: Engine,
    query: str,
    k: int | None = None,
    mode: str = "auto",
    filters: Filters | None = None,
) -> list[int]:
    """The ids of the hits of a query, best first."""
    return [hit.memory.id for hit in hits(engine, query, k, mode, filters)]


def within(workspace: str, *, exact: bool = False) -> Filters:
    """Filters that look into one workspace, and ``global`` unless ``exact``."""
    return Filters(scope=Scope("workspace", workspace, exact=exact))
