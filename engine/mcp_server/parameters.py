"""Parameters of tools: declared once, shown to clients as a flat schema, read leniently.

Models write numbers as text, lists with commas and ``null`` for "not given"; all of that is
accepted. What cannot be understood becomes one sentence that says what to change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.domain.errors import InvalidInput
from engine.domain.text import scrub
from engine.domain.vocabulary import check, nearest

ParameterType = Literal["text", "name", "whole", "labels", "pairs", "items"]
Value = str | int | tuple[str, ...] | Mapping[str, object]
Schema = dict[str, object]

_JSON_TYPES = {"whole": "integer", "labels": "array"}
_NOTHING = ("", "null", "none", "undefined")
_LABEL_BORDER = re.compile(r"[,，、\n]")
_WHOLE = re.compile(r"[+-]?\d{1,15}(?:\.0*)?")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool.

    ``type`` is ``text`` (kept as it is), ``name`` (a short word; blank and ``null`` mean not
    given), ``whole`` (a whole number from ``low`` to ``high``), ``labels`` (a list of short
    texts), ``pairs`` (several values in one text, see :mod:`engine.mcp_server.pairs`) or
    ``items`` (a JSON list as text, or as the list itself).
    """

    name: str
    type: ParameterType
    about: str = ""
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int | None = None
    default: int | None = None
    required: bool = False

    def schema(self) -> Schema:
        """Its JSON schema: one plain type, bounds and a short description."""
        shown: Schema = {"type": _JSON_TYPES.get(self.type, "string")}
        if self.type == "labels":
            shown["items"] = {"type": "string"}
        if self.choices:
            shown["enum"] = list(self.choices)
        if self.type == "whole":
            shown["minimum"] = self.low
            shown |= {} if self.high is None else {"maximum": self.high}
            shown |= {} if self.default is None else {"default": self.default}
        return shown | ({"description": self.about} if self.about else {})

    def read(self, value: object) -> Value | None:
        """The value as a tool uses it, ``None`` for not given. Raises InvalidInput."""
        if value is None or (self.type != "text" and _is_nothing(value)):
            return None
        if self.type == "whole":
            return self._whole(value)
        if self.type == "labels":
            return labels(self.name, value)
        if self.type == "pairs" and isinstance(value, Mapping):
            return value
        if self.type == "items" and isinstance(value, (list, Mapping)):
            return scrub(json.dumps(value, ensure_ascii=False))
        text = plain_text(self.name, value)
        return check(self.name, text, self.choices) if self.choices else text

    def _whole(self, value: object) -> int:
        number = whole_number(value)
        if number is None or number < self.low or (self.high is not None and number > self.high):
            raise InvalidInput(
                "mcp.not_whole" if self.high is not None else "mcp.not_whole_from",
                name=self.name,
                value=_shown(value),
                low=self.low,
                high=self.high,
            )
        return number


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call, read; what was not given is absent."""

    values: Mapping[str, Value]

    def text(self, name: str) -> str | None:
        """A text argument."""
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def whole(self, name: str) -> int | None:
        """A number argument."""
        value = self.values.get(name)
        return value if isinstance(value, int) else None

    def labels(self, name: str) -> tuple[str, ...] | None:
        """A list argument."""
        value = self.values.get(name)
        return value if isinstance(value, tuple) else None

    def pairs(self, name: str) -> str | Mapping[str, object]:
        """The text or object of a ``pairs`` argument, empty when not given."""
        value = self.values.get(name, "")
        return value if isinstance(value, (str, Mapping)) else ""


def read_arguments(
    tool: str, parameters: Sequence[Parameter], given: Mapping[str, object]
) -> Arguments:
    """The arguments of a call of ``tool``. Raises :class:`InvalidInput` with one sentence for
    an unknown, missing or unusable one."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            raise _unknown(tool, name, known)
    values = {name: known[name].read(value) for name, value in given.items()}
    for parameter in parameters:
        if parameter.required and values.get(parameter.name) is None:
            raise InvalidInput("mcp.missing_argument", tool=tool, name=parameter.name)
    return Arguments({name: value for name, value in values.items() if value is not None})


def plain_text(name: str, value: object) -> str:
    """A text, also from a number or a switch."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, (int, float)):
        return json.dumps(value)
    raise InvalidInput("error.expected_text", name=name)


def whole_number(value: object) -> int | None:
    """A whole number from itself, ``5.0`` or ``"5"``; ``None`` for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return value if isinstance(value, int) else None


def labels(name: str, value: object) -> tuple[str, ...]:
    """Short texts from a list, a JSON list in a text, or a text with commas."""
    if isinstance(value, str):
        value = _listed(value)
    if not isinstance(value, Sequence):
        raise InvalidInput("error.expected_list", name=name)
    found = (plain_text(name, item).strip() for item in value if item is not None)
    return tuple(label for label in found if label)


def _listed(text: str) -> list[object]:
    if text.lstrip().startswith("["):
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = None
        if isinstance(parsed, list):
            return parsed
    return list(_LABEL_BORDER.split(text))


def _is_nothing(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _NOTHING


def _unknown(tool: str, name: str, known: Mapping[str, Parameter]) -> InvalidInput:
    near = nearest(name, known)
    return InvalidInput(
        "mcp.unknown_argument_near" if near else "mcp.unknown_argument",
        tool=tool,
        name=scrub(name)[:60],
        nearest=near,
        allowed=", ".join(known),
    )


def _shown(value: object) -> str:
    return scrub(value if isinstance(value, str) else json.dumps(value, default=str))[:40]
