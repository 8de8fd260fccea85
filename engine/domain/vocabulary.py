"""Closed vocabularies, checked once, here, for every surface."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from engine.domain.errors import InvalidInput

KINDS = (
    "episodic",
    "semantic",
    "procedural",
    "feedback",
    "directive",
    "decision",
    "resolved",
    "question",
    "knowledge",
)
SENTIMENTS = ("positive", "neutral", "negative")
TRUSTS = ("user", "assistant", "external")
SCOPES = ("workspace", "domain", "all")
MODES = ("auto", "keyword", "semantic", "graph")
CONTEXT_MODES = ("quick", "chat", "coding", "project")
RELATIONS = ("supersedes", "refines", "derived_from", "example_of", "contradicts", "related")
CONFLICT_POLICIES = ("ignore", "warn", "supersede", "reject")
COLLISION_POLICIES = ("skip", "overwrite", "rename", "error")
BACKUP_REASONS = ("daily", "manual", "upgrade", "restore", "import")
# Where a memory came from: any text may, these two have a meaning of their own.
CONVERSATION = "conversation"
IMPORT = "import"
DOMAINS = ("work", "personal", "system")


def check(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``allowed``.

    Otherwise raise :class:`InvalidInput` naming the parameter, the bad value, the nearest
    allowed one and all of them.
    """
    options = tuple(allowed)
    folded = value.strip().casefold()
    if folded in options:
        return folded
    near = nearest(folded, options)
    raise InvalidInput(
        "error.not_allowed_near" if near else "error.not_allowed",
        name=name,
        value=value[:60],
        nearest=near,
        allowed=", ".join(options),
    )


def nearest(value: str, options: Iterable[str]) -> str:
    """The option most like ``value``, or an empty string when none is near."""
    matches = difflib.get_close_matches(value, list(options), n=1)
    return matches[0] if matches else ""
