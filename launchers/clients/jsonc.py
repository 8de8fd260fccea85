"""JSON with comments, changed in one place: all other bytes stay as they are.

Settings files of editors have comments and commas at the end that a JSON library refuses, and
writing a parsed document again would lose them. Texts are cut at the positions that the reader
reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_LITERAL = re.compile(r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_REMARK = re.compile(r"[ \t]*//[^\r\n]*")
_LINE_START = re.compile(r"[ \t]*")
_DEEPEST = 100
_UNIT = "  "


class BrokenJson(ValueError):
    """The text is no JSON; ``line`` is where it goes wrong, counted from 1."""

    def __init__(self, text: str, position: int) -> None:
        self.line = text.count("\n", 0, position) + 1
        super().__init__(f"line {self.line}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value in the text from ``start`` to ``end``. ``children`` are the members of an object,
    by name, or the elements of a list, without names; ``None`` for any other value."""

    start: int
    end: int
    value: object
    children: tuple[Child, ...] | None = None

    @property
    def is_object(self) -> bool:
        """Whether it is an object."""
        return isinstance(self.value, dict)


@dataclass(frozen=True, slots=True)
class Child:
    """A member or element: its text begins at ``start`` (the name of a member)."""

    name: str
    start: int
    node: Node


def parse(text: str) -> Node:
    """The document of a text. Raises :class:`BrokenJson`."""
    start = _blank(text, 1 if text.startswith("\ufeff") else 0)
    node = _read(text, start, 0)
    if _blank(text, node.end) != len(text):
        raise BrokenJson(text, _blank(text, node.end))
    return node


def value_at(text: str, path: Sequence[str]) -> object:
    """The value under the names of ``path``, ``None`` when there is none."""
    node = _find(parse(text), path) if text.strip("\ufeff \t\r\n") else None
    return None if node is None else node.value


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """The text with a value under the names of ``path``; what is missing on the way is made.

    Raises :class:`BrokenJson`, also where something on the way is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    node = parse(text)
    for depth, name in enumerate(path):
        if not node.is_object:
            raise BrokenJson(text, node.start)
        child = _named(node, name)
        if child is None:
            for wrapped in reversed(path[depth + 1 :]):
                value = {wrapped: value}
            return _inserted(text, node, value, name)
        node = child.node
    if json.dumps(node.value, sort_keys=True) == json.dumps(value, sort_keys=True):
        return text
    indent = _indent_at(text, node.start)
    return f"{text[: node.start]}{_written(text, value, indent)}{text[node.end :]}"


def without(text: str, path: Sequence[str]) -> str:
    """The text without the member under ``path``; as it is when there is none."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    parent = _find(parse(text), path[:-1])
    if parent is None or not parent.is_object:
        return text
    for place, child in enumerate(parent.children or ()):
        if child.name == path[-1]:
            return _cut(text, parent, place)
    return text


def with_element(text: str, path: Sequence[str], value: object) -> str:
    """The text with one more element at the end of the list under ``path``."""
    node = None if not text.strip("\ufeff \t\r\n") else _find(parse(text), path)
    if node is None:
        return with_value(text, path, [value])
    if not isinstance(node.value, list):
        raise BrokenJson(text, node.start)
    return _inserted(text, node, value)


def without_elements(text: str, path: Sequence[str], goes: Callable[[object], bool]) -> str:
    """The text without those elements of the list under ``path``."""
    while text.strip("\ufeff \t\r\n"):
        node = _find(parse(text), path)
        if node is None or not isinstance(node.value, list):
            break
        places = [place for place, item in enumerate(node.value) if goes(item)]
        if not places:
            break
        text = _cut(text, node, places[-1])
    return text


def _find(node: Node, path: Sequence[str]) -> Node | None:
    for name in path:
        child = _named(node, name) if node.is_object else None
        if child is None:
            return None
        node = child.node
    return node


def _named(node: Node, name: str) -> Child | None:
    # Of members with one name the last one counts, as everywhere.
    found = [child for child in node.children or () if child.name == name]
    return found[-1] if found else None


def _inserted(text: str, parent: Node, value: object, name: str | None = None) -> str:
    head = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    newline = "\r\n" if "\r\n" in text else "\n"
    if not parent.children:
        outer = _indent_at(text, parent.start)
        indent = outer + _unit(text)
        inside = text[parent.start + 1 : parent.end - 1].rstrip()
        new = f"{newline}{indent}{head}{_written(text, value, indent)}{newline}{outer}"
        return f"{text[: parent.start + 1]}{inside}{new}{text[parent.end - 1 :]}"
    last = parent.children[-1]
    comma = _blank(text, last.node.end)
    has_comma = text[comma] == ","
    at = comma + 1 if has_comma else last.node.end
    mark = "" if has_comma else ","
    if "\n" not in text[parent.start : last.start]:
        new = f"{mark} {head}{json.dumps(value, ensure_ascii=False)}"
        return f"{text[:at]}{new}{text[at:]}"
    # A comment behind the last one on its line stays with it.
    found = _REMARK.match(text, at)
    remark = found[0] if found else ""
    indent = _indent_at(text, last.start)
    new = f"{mark}{remark}{newline}{indent}{head}{_written(text, value, indent)}"
    return f"{text[:at]}{new}{text[at + len(remark) :]}"


def _cut(text: str, parent: Node, place: int) -> str:
    children = parent.children or ()
    child = children[place]
    if len(children) == 1:
        end = _after_comma(text, child.node.end)
        inside = text[parent.start + 1 : child.start] + text[end : parent.end - 1]
        return (
            f"{text[: parent.start + 1]}{inside if inside.strip() else ''}{text[parent.end - 1 :]}"
        )
    if place == 0:
        return text[: child.start] + text[children[1].start :]
    before = children[place - 1].node.end
    comma = _blank(text, before)
    if not text[comma + 1 : child.start].strip():
        return text[:before] + text[child.node.end :]
    # A comment between the two belongs to the one that stays.
    if place < len(children) - 1:
        return text[: child.start] + text[children[place + 1].start :]
    kept = f"{text[:comma]}{text[comma + 1 : child.start].rstrip()}"
    return kept + text[_after_comma(text, child.node.end) :]


def _after_comma(text: str, position: int) -> int:
    at = _blank(text, position)
    return at + 1 if at < len(text) and text[at] == "," else position


def _written(text: str, value: object, indent: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{newline}{indent}".join(lines)


def _unit(text: str) -> str:
    """The indentation of one level as this text has it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else _UNIT


def _indent_at(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    found = _LINE_START.match(text, start)
    return found[0] if found else ""


def _blank(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


def _read(text: str, at: int, depth: int) -> Node:
    mark = text[at : at + 1]
    if depth > _DEEPEST or not mark:
        raise BrokenJson(text, at)
    if mark in "{[":
        return _read_children(text, at, depth)
    if mark == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    found = _LITERAL.match(text, at)
    if found is None:
        raise BrokenJson(text, at)
    return Node(at, found.end(), json.loads(found[0]))


def _read_children(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    children: list[Child] = []
    at = _blank(text, start + 1)
    while text[at : at + 1] != close:
        child = _read_child(text, at, is_object, depth)
        children.append(child)
        at = _blank(text, child.node.end)
        if text[at : at + 1] == ",":
            at = _blank(text, at + 1)
        elif text[at : at + 1] != close:
            raise BrokenJson(text, at)
    value: object = [child.node.value for child in children]
    if is_object:
        value = {child.name: child.node.value for child in children}
    return Node(start, at + 1, value, tuple(children))


def _read_child(text: str, at: int, is_object: bool, depth: int) -> Child:
    if not is_object:
        return Child("", at, _read(text, at, depth + 1))
    if text[at : at + 1] != '"':
        raise BrokenJson(text, at)
    name, end = _string(text, at)
    colon = _blank(text, end)
    if text[colon : colon + 1] != ":":
        raise BrokenJson(text, colon)
    return Child(name, at, _read(text, _blank(text, colon + 1), depth + 1))


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    try:
        if found is not None:
            return str(json.loads(found[0])), found.end()
    except ValueError as error:
        raise BrokenJson(text, at) from error
    raise BrokenJson(text, at)
