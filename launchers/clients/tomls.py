"""Tables of a TOML file, changed without touching comments and order."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table


def value_at(text: str, path: Sequence[str]) -> object:
    """The table under ``path``, ``None`` when there is none. Raises ValueError."""
    found: object = _parsed(text)
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def with_table(text: str, path: Sequence[str], values: Mapping[str, object]) -> str:
    """The text with a table under the two names of ``path``. Raises ValueError."""
    document = _parsed(text)
    outer, name = path
    table = tomlkit.table()
    for key, value in values.items():
        if isinstance(value, Mapping):
            inline = tomlkit.inline_table()
            inline.update(value)
            table.add(key, inline)
        else:
            table.add(key, value)
    servers = document.get(outer)
    if servers is None:
        servers = tomlkit.table(is_super_table=True)
        document.add(outer, servers)
    if not isinstance(servers, MutableMapping):
        raise ValueError(f"{outer} is no table")
    servers[name] = table
    return str(tomlkit.dumps(document))


def without_table(text: str, path: Sequence[str]) -> str | None:
    """The text without the table under ``path``; ``None`` when nothing is left."""
    document = _parsed(text)
    outer, name = path
    servers = document.get(outer)
    if not isinstance(servers, MutableMapping) or name not in servers:
        return text
    del servers[name]
    if not servers and isinstance(servers, Table) and servers.is_super_table():
        del document[outer]
    left = str(tomlkit.dumps(document))
    return left if left.strip() else None


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ValueError(str(error)) from error
