"""Labels (tags, topics, people) in the form in which they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.domain.scope import Filters
from engine.language.folding import fold


def folded_labels(values: Sequence[str]) -> tuple[str, ...]:
    """Labels without differences of case, width and script, and without doubles."""
    return tuple(dict.fromkeys(filter(None, map(fold, values))))


def folded_filters(filters: Filters) -> Filters:
    """Filters whose label values are folded, as storage compares them."""
    return replace(
        filters,
        tags_all=folded_labels(filters.tags_all),
        tags_any=folded_labels(filters.tags_any),
        topics=folded_labels(filters.topics),
        participants=folded_labels(filters.participants),
    )
