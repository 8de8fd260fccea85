"""The one tree of errors the engine raises.

An error carries the *key* of a message and the values it names, never a finished
sentence: each surface looks the sentence up in its user's language
(:mod:`engine.config.messages`). Keys live in ``assets/messages``; a test checks that
every key used here exists in every language.
"""

from __future__ import annotations


class JiyiError(Exception):
    """Base of all expected failures.

    ``key`` names the message, ``params`` are its placeholders. ``key + ".hint"`` is an
    optional second sentence that says what to do.
    """

    def __init__(self, key: str, /, **params: object) -> None:
        super().__init__(key)
        self.key = key
        self.params = params

    def __str__(self) -> str:
        details = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{self.key} ({details})" if details else self.key


class InvalidInput(JiyiError):
    """The caller's value cannot be used; the message names it and what is allowed."""


class NotFound(JiyiError):
    """No such memory, setting or workspace."""


class Conflict(JiyiError):
    """The thing changed since the caller read it."""


class Busy(JiyiError):
    """Another process holds the store's write lock for longer than the time-out."""


class StoreUnavailable(JiyiError):
    """The store cannot be opened or written: permissions, full disk, a missing folder."""


class StorageDamaged(JiyiError):
    """The database file is not a readable Jiyi store."""


class NewerSchema(JiyiError):
    """The store was written by a newer version of the product."""


class ModelUnavailable(JiyiError):
    """The embedding model cannot be used now; keyword search goes on."""


class TextRefused(ModelUnavailable):
    """The model takes other texts, but not this one: too long, blank, or it breaks there."""


class ConfigInvalid(JiyiError):
    """The configuration file or an environment variable cannot be used."""
