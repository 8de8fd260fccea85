"""Making any text storable, once, at the entrance."""

from __future__ import annotations

import hashlib
import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# A NUL cuts strings in C libraries, a lone surrogate cannot be encoded as UTF-8: both are
# legal in JSON and would stop SQLite or the protocol writer later.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def scrub(text: str) -> str:
    """Return ``text`` with NUL and lone surrogates shown as U+FFFD; all else untouched."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def content_hash(text: str) -> str:
    """Identity of a text: the first 128 bits of its SHA-256, as 32 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
