"""Every sentence exists in every language, is used, and gets the values it names."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache

from engine.config.messages import LANGUAGES, Language, catalogue
from tests.architecture.source import ROOT, Source, sources

KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
TEMPLATES = ROOT / "web_panel" / "templates"
IN_TEMPLATE = re.compile(r"""words\(["']([a-z][a-z0-9_.]*)["']""")
ALWAYS_KEYS = ("error.", "setting.")
"""Any literal that begins so is a key, wherever it stands."""

COMPOSED = ("setting.",)
"""Looked up for every declared setting; tests/engine/config checks that none is missing."""


def placeholders(template: str) -> set[str]:
    """The names a sentence wants values for."""
    names = (name for _, name, _, _ in string.Formatter().parse(template) if name)
    return {re.split(r"[.\[]", name)[0] for name in names}


@cache
def literals() -> dict[str, str]:
    """String literals that look like keys, with one place of each."""
    return {
        node.value: f"{source.name}:{node.lineno}"
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and KEY.fullmatch(node.value)
    }


@cache
def in_templates() -> frozenset[str]:
    """Keys that templates name, and beginnings of those that they put together."""
    texts = (file.read_text("utf-8") for file in sorted(TEMPLATES.glob("*.html")))
    return frozenset(key for text in texts for key in IN_TEMPLATE.findall(text))


def test_every_key_of_a_template_exists():
    keys = [key for key in in_templates() if not key.endswith((".", "_"))]
    assert [key for key in sorted(keys) if key not in catalogue("en")] == []


def composed_prefixes() -> set[str]:
    """Beginnings of keys that are put together: f"doctor.state.{name}", "doctor.state." + name."""
    found = set(COMPOSED)
    for source in sources():
        for node in ast.walk(source.tree):
            first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found |= set(re.findall(r"^[a-z][a-z0-9_]*\.(?:[a-z0-9_.]*)$", first.value))
    return {prefix for prefix in found if prefix.endswith((".", "_")) and prefix != "error."}


def calls() -> Iterator[tuple[str, set[str], str]]:
    """Key, names of values and place of every call that names a key and its values."""
    for source in sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and node.args and all(k.arg for k in node.keywords):
                yield from calls_of(source, node)


def calls_of(source: Source, node: ast.Call) -> Iterator[tuple[str, set[str], str]]:
    """One entry for each key its first argument can be."""
    given = {keyword.arg for keyword in node.keywords if keyword.arg}
    first = node.args[0]
    options = (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,)
    for option in options:
        if isinstance(option, ast.Constant) and option.value in catalogue("en"):
            yield str(option.value), given, f"{source.name}:{node.lineno}"


def test_every_key_used_exists_in_every_language():
    missing = [
        f"{key} ({language}), {place}"
        for key, place in literals().items()
        for language in LANGUAGES
        if key.startswith(ALWAYS_KEYS) and key not in catalogue(language)
    ]
    assert missing == []


def test_all_languages_have_the_same_keys_with_the_same_placeholders():
    english, chinese = (
        {key: placeholders(template) for key, template in catalogue(language).items()}
        for language in ("en", "zh")
    )
    assert set(english) ^ set(chinese) == set()
    assert [key for key in english if english[key] != chinese[key]] == []


def test_no_sentence_is_left_over():
    used = set(literals()) | in_templates()
    together = {key for key in in_templates() if key.endswith((".", "_"))}
    prefixes = tuple(composed_prefixes() | together)
    left_over = [
        key
        for key in catalogue("en")
        if key.removesuffix(".hint") not in used and not key.startswith(prefixes)
    ]
    assert left_over == []


def test_whoever_names_a_sentence_gives_every_value_it_wants():
    lacking = [
        f"{place}: {key} wants {sorted(placeholders(catalogue('en')[key]) - given)}"
        for key, given, place in calls()
        if not placeholders(catalogue("en")[key]) <= given
    ]
    assert lacking == []


def test_no_key_is_defined_twice():
    import tomllib

    from tests.architecture.source import ROOT

    for language in LANGUAGES:
        keys = [
            key
            for path in sorted((ROOT / "assets" / "messages").glob(f"*.{language}.toml"))
            for key in flat(tomllib.loads(path.read_text(encoding="utf-8")), "")
        ]
        assert sorted(keys) == sorted(set(keys)), language


def flat(table: dict[str, object], prefix: str) -> Iterator[str]:
    """The dotted keys of a table."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_no_sentence_is_empty():
    empty: list[tuple[Language, str]] = [
        (language, key)
        for language in LANGUAGES
        for key, template in catalogue(language).items()
        if not template.strip()
    ]
    assert empty == []
