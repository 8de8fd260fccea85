"""What a full-text index is asked for a query."""

from __future__ import annotations

from collections.abc import Mapping

from engine.language.terms import QueryTerms
from engine.storage.fulltext import CHARS, WORDS, Match

# The rarest terms are looked up until their rows add up to this many: the cost of a search
# then does not grow with the store, and a term this common says little.
MAX_POSTINGS = 10_000


def matches_of(terms: QueryTerms) -> list[Match]:
    """Every token of a query."""
    return [
        *(Match(WORDS, word) for word in terms.words),
        *(Match(CHARS, bigram) for bigram in terms.bigrams),
        *(Match(CHARS, single, prefix=True) for single in terms.singles),
    ]


def affordable(frequencies: Mapping[Match, int], postings: int = MAX_POSTINGS) -> list[Match]:
    """The rarest tokens whose rows together are at most ``postings``, and at least one; tokens
    that stand nowhere are left out."""
    chosen: list[Match] = []
    read = 0
    for match, frequency in sorted(frequencies.items(), key=lambda item: item[1]):
        if frequency == 0:
            continue
        read += frequency
        if chosen and read > postings:
            break
        chosen.append(match)
    return chosen
