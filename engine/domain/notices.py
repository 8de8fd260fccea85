"""Things a person should be told that are no failure."""

from __future__ import annotations


class Notice:
    """A catalogue message: ``key`` and the values of its placeholders."""

    __slots__ = ("key", "params")

    def __init__(self, key: str, /, **params: object) -> None:
        self.key = key
        self.params = params
