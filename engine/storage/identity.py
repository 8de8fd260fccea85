"""New identifiers: UUIDv7, ordered by time of making."""

from __future__ import annotations


def new_uid() -> str:
    """A UUIDv7 in its canonical lower-case text form."""
    import uuid_utils

    return str(uuid_utils.uuid7())
