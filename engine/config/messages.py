"""Every sentence a person sees, by key, in Chinese and English.

The catalogue is ``assets/messages/<part>.<language>.toml``; tables and names joined by dots
are the keys, ``{name}`` is a placeholder in the style of :meth:`str.format`.
"""

from __future__ import annotations

import locale
import os
import string
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from engine.domain.errors import JiyiError

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE")


def text(key: str, language: str, /, **params: object) -> str:
    """The sentence called ``key``, its placeholders filled in.

    What a language lacks is shown in the other one; an unknown key is shown itself.
    """
    template = template_of(key, language)
    return key if template is None else _filled(template, params)


def template_of(key: str, language: str) -> str | None:
    """The sentence with its placeholders, ``None`` for an unknown key."""
    first: Language = "zh" if language == "zh" else "en"
    second: Language = "en" if first == "zh" else "zh"
    return catalogue(first).get(key) or catalogue(second).get(key)


def render(error: JiyiError, language: str) -> str:
    """What an error says, and what to do about it where the catalogue knows more.

    An error among its values (the reason of a failed item) is rendered in its place.
    """
    params = {
        name: render(value, language) if isinstance(value, JiyiError) else value
        for name, value in error.params.items()
    }
    sentence = text(error.key, language, **params)
    if template_of(f"{error.key}.hint", language) is None:
        return sentence
    gap = "" if language == "zh" else " "
    return sentence + gap + text(f"{error.key}.hint", language, **params)


def detect_language(setting: str, environ: Mapping[str, str]) -> Language:
    """The language of the interface: the setting, or for ``auto`` the locale; else English."""
    if setting in LANGUAGES:
        return "zh" if setting == "zh" else "en"
    named = next((environ[name] for name in _LOCALE_VARIABLES if environ.get(name)), "")
    return "zh" if _is_chinese(named or _system_locale()) else "en"


@cache
def catalogue(language: Language) -> Mapping[str, str]:
    """All sentences of one language by key."""
    entries: dict[str, str] = {}
    for source in sorted((files("assets") / "messages").iterdir(), key=lambda file: file.name):
        if source.name.endswith(f".{language}.toml"):
            entries.update(_flat(tomllib.loads(source.read_text(encoding="utf-8")), ""))
    return MappingProxyType(entries)


def _flat(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)


class _Gaps(dict[str, object]):
    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def _filled(template: str, params: Mapping[str, object]) -> str:
    try:
        return string.Formatter().vformat(template, (), _Gaps(params))
    except (ValueError, TypeError, LookupError, AttributeError):
        return template


def _is_chinese(name: str) -> bool:
    return name.lower().startswith(("zh", "chinese"))


def _system_locale() -> str:
    # Only Windows keeps the user's language out of the environment.
    return locale.getlocale()[0] or "" if os.name == "nt" else ""
