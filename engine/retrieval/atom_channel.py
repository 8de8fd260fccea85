"""The atom channel: memories by the facts they state, as far as those still hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.language.terms import QueryTerms
from engine.lifecycle.atoms import temporal_factor, value_now
from engine.retrieval.lookups import affordable, matches_of
from engine.retrieval.reach import Reach
from engine.storage import atom_search, fulltext
from engine.storage.atom_search import AtomRow
from engine.storage.database import Connection
from engine.storage.fulltext import ATOMS, Match

_MAX_POSTINGS = 5_000
# For each memory asked for: rows taken (one memory may have several facts that fit), and atoms
# looked at before states and filters thin them out.
_ROWS, _LOOKED_AT = 2, 5


@dataclass(frozen=True, slots=True)
class AtomHit:
    """The best atom of a memory for a query. ``score`` is BM25 times ``value``, what the
    atom's curve leaves of it (0-1)."""

    atom_id: int
    score: float
    value: float


def atom_candidates(
    connection: Connection, terms: QueryTerms, within: Reach, limit: int
) -> dict[int, AtomHit]:
    """Memories in reach whose active atoms hold terms of the query, best first.

    Score: BM25 of the atom times its curve value; a memory has that of its best atom.
    """
    lookups = _lookups(connection, terms, within)
    looked_at = None if within.ids is not None else _LOOKED_AT * limit
    limits = (_ROWS * limit, looked_at)
    rows = atom_search.matching(connection, lookups, within.filters, within.now, limits)
    best: dict[int, AtomHit] = {}
    for row in rows:
        hit = _hit(row, within.now)
        if row.memory_id not in best or hit.score > best[row.memory_id].score:
            best[row.memory_id] = hit
    ordered = sorted(best.items(), key=lambda item: (-item[1].score, -item[0]))
    return dict(ordered[:limit])


def temporal_factors(
    connection: Connection, memory_ids: Iterable[int], now: float
) -> dict[int, float]:
    """The temporal factor of memories that have atoms; that of all others is 1."""
    lives = atom_search.lives(connection, memory_ids)
    return {memory_id: temporal_factor(found, now) for memory_id, found in lives.items()}


def _hit(row: AtomRow, now: float) -> AtomHit:
    value = value_now(row.life, now)
    return AtomHit(row.atom_id, row.bm25 * value, value)


def _lookups(connection: Connection, terms: QueryTerms, within: Reach) -> list[Match]:
    matches = matches_of(terms)
    if within.ids is not None:
        return matches
    frequencies = fulltext.document_frequencies(connection, matches, ATOMS, within.workspaces)
    return affordable(frequencies, _MAX_POSTINGS)
