"""Several values in one text argument: ``name=value; name="a; b"``.

Rarely used values share one parameter, because every parameter of a tool costs the model
tokens. A ``;`` ends a value only where another ``name=`` follows; quotes keep anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping

from engine.domain.errors import InvalidInput
from engine.domain.vocabulary import nearest

_HEAD = re.compile(r"[\s;；]*([A-Za-z_]\w*)\s*[=＝]\s*")
_NEXT = re.compile(r"[;；\n]\s*[A-Za-z_]\w*\s*[=＝]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?=[;；\n]|$)', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BORDERS = " \t\r\n;；"


def read_pairs(
    argument: str, given: str | Mapping[str, object], allowed: Collection[str]
) -> dict[str, object]:
    """The values by name; ``null`` is ``None``. ``given`` may also be an object, or one
    written as JSON. Raises :class:`InvalidInput`."""
    found = _from_text(argument, given, allowed) if isinstance(given, str) else dict(given)
    for name in found:
        if name not in allowed:
            raise _unknown(argument, name, allowed)
    return {name: _none_or(value) for name, value in found.items()}


def _from_text(argument: str, text: str, allowed: Collection[str]) -> dict[str, object]:
    if text.lstrip().startswith("{"):
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = None
        if isinstance(parsed, dict):
            return parsed
    return _scanned(argument, text.rstrip(_BORDERS), allowed)


def _scanned(argument: str, text: str, allowed: Collection[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    position = 0
    while position < len(text):
        head = _HEAD.match(text, position)
        if head is None:
            raise InvalidInput(
                "mcp.not_pairs",
                argument=argument,
                value=text[position : position + 40].strip(_BORDERS),
                allowed=", ".join(allowed),
            )
        if head[1] in found:
            raise InvalidInput("mcp.named_twice", argument=argument, name=head[1])
        found[head[1]], position = _value(text, head.end())
    return found


def _value(text: str, start: int) -> tuple[str, int]:
    quoted = _QUOTED.match(text, start)
    if quoted:
        return _ESCAPED.sub(r"\1", quoted[1]), quoted.end()
    following = _NEXT.search(text, start)
    end = following.start() if following else len(text)
    return text[start:end].strip(_BORDERS), end


def _none_or(value: object) -> object:
    return None if isinstance(value, str) and value.strip().lower() in ("null", "none") else value


def _unknown(argument: str, name: str, allowed: Collection[str]) -> InvalidInput:
    near = nearest(name, allowed)
    return InvalidInput(
        "mcp.unknown_pair_near" if near else "mcp.unknown_pair",
        argument=argument,
        name=name[:60],
        nearest=near,
        allowed=", ".join(allowed),
    )
