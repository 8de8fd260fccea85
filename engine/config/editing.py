"""Changing values of the user's ``config.yaml`` in its text, so that all the rest stays.

Writing the document anew would lose comments, order and line ends. Instead the parser says
where a value stands, that stretch of the text is replaced, and the result is read again and
compared before it is saved.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pprint import pformat
from typing import TYPE_CHECKING, Any, Protocol

from engine.config.file import (
    default_config,
    draft_beside,
    ensure_user_config,
    parse_config,
    read_bytes,
)
from engine.config.placing import move_into_place
from engine.config.schema import checked, declared
from engine.config.setting import plain
from engine.domain.errors import ConfigInvalid

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_INDENT = 2
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_READ_AS_OTHERS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
# Valid in JSON as they stand, but a line end or no character at all for YAML.
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE_END = re.compile(r"\r\n|\n|\r")
_MASK_CHARACTERS = frozenset("•*")


def set_value(path: Path, key: str, value: object) -> None:
    """Set one setting in the file at ``path``; see :func:`set_values`."""
    set_values(path, {key: value})


def set_values(path: Path, values: Mapping[str, object], *, seen: str | None = None) -> None:
    """Set settings by their dotted keys, all of them or none; only their lines change.

    Values are typed or as typed by a person, or ``${NAME}`` of an environment variable. A
    file that is missing is made from the default first. Nothing is written when all values
    stand there already. ``seen`` is the :func:`fingerprint` that the wish rests on. Raises
    :class:`ConfigInvalid`, and then the file is as it was, for a value that is not allowed or
    is a mask, for a file that cannot be read or edited, and when someone else changed it
    meanwhile.
    """
    wanted = {key: _acceptable(path, key, value) for key, value in values.items()}
    before = _content(path)
    if seen is not None and fingerprint(before) != seen:
        raise ConfigInvalid("error.config_changed_meanwhile", path=path)
    bom = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
    text = _Document(path, before).changed(wanted)
    after = bom + text.encode("utf-8")
    if after != before:
        _refuse_contradiction(path, after)
        _replace(path, before, after)


def fingerprint(content: bytes | None) -> str:
    """What tells one content of the file from another; "" for no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def put_content(path: Path, content: bytes, *, seen: str) -> None:
    """Put an earlier content in the file's place. Raises :class:`ConfigInvalid` when it cannot
    be used, and when the file is no longer the one of the fingerprint ``seen``."""
    before = _content(path)
    if fingerprint(before) != seen:
        raise ConfigInvalid("error.config_changed_meanwhile", path=path)
    parse_config(content, path, {})
    if content != before:
        _replace(path, before, content)


def _refuse_contradiction(path: Path, content: bytes) -> None:
    """Other faults of the file are no reason not to mend one of them."""
    try:
        parse_config(content, path, {})
    except ConfigInvalid as error:
        if error.key == "error.weights_all_zero":
            raise


def written_value(path: Path, key: str) -> object:
    """What the file says for a setting, with ``${NAME}`` as it stands; ``None``: nothing."""
    content = read_bytes(path)
    if content is None:
        return None
    found: object = _Document(path, content).tree()
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _acceptable(path: Path, key: str, value: object) -> object:
    """The value as YAML would hand it back."""
    setting = declared()[key]
    if isinstance(value, str):
        if setting.secret and value.strip() and set(value.strip()) <= _MASK_CHARACTERS:
            raise ConfigInvalid("error.config_mask", name=key)
        if _REFERENCE.fullmatch(value.strip()):
            return value.strip()
        if setting.nullable and value.strip().lower() == "null":
            value = None
    typed = checked(key, value, str(path))
    if isinstance(typed, float) and typed.is_integer():
        return int(typed)
    return list(typed) if isinstance(typed, tuple) else typed


def _content(path: Path) -> bytes:
    content = read_bytes(path)
    if content is None:
        ensure_user_config(path.parent)
        content = read_bytes(path)
    return default_config() if content is None else content


class _Document:
    """The text of one file and what it means."""

    def __init__(self, path: Path, content: bytes) -> None:
        self._path = path
        self._content = content

    def tree(self) -> Mapping[object, object]:
        """The values of the whole file. Raises :class:`ConfigInvalid` when it is no YAML."""
        return self._tree(self._text())

    def changed(self, wanted: Mapping[str, object]) -> str:
        """The text with new values, proven to differ in nothing else."""
        text = self._text()
        for key, value in wanted.items():
            names = key.split(".")
            tree = self._tree(text)
            # Compared as text: there a not-a-number is itself, and true is not 1.
            aim = pformat(_with(tree, names, value))
            if aim != pformat(tree):
                text = self._patched(text, key, value)
                if pformat(self._tree(text)) != aim:
                    raise self._uneditable(key)
        return text

    def _patched(self, text: str, key: str, value: object) -> str:
        try:
            patched = _Patch(text, value).at(key.split("."))
            self._tree(patched)
        except (ConfigInvalid, _NoPlace) as error:
            raise self._uneditable(key) from error
        return patched

    def _uneditable(self, key: str) -> ConfigInvalid:
        return ConfigInvalid("error.config_uneditable", path=self._path, name=key)

    def _text(self) -> str:
        try:
            return self._content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigInvalid("error.config_encoding", path=self._path) from error

    def _tree(self, text: str) -> Mapping[object, object]:
        from ruamel.yaml.error import YAMLError

        try:
            tree = _yaml().load(text)
        except (YAMLError, ValueError, TypeError, RecursionError) as error:
            # Reading for use words the same fault with its line.
            parse_config(text.encode("utf-8"), self._path, {})
            raise ConfigInvalid("error.config_not_sections", path=self._path) from error
        if tree is not None and not isinstance(tree, Mapping):
            raise ConfigInvalid("error.config_not_sections", path=self._path)
        return tree or {}


class _Node(Protocol):
    """What the parser says of one value: ``id`` is ``scalar``, ``mapping`` or ``sequence``."""

    id: str
    value: Any
    start_mark: Any
    end_mark: Any
    style: str | None
    flow_style: bool | None


class _NoPlace(Exception):
    """The text has no place for the value: something else stands where its section should."""


@dataclass(frozen=True, slots=True)
class _Patch:
    """A value on its way into a text."""

    text: str
    value: object

    def at(self, names: Sequence[str]) -> str:
        """The text with the value at this path of section names and key."""
        root = section = _yaml().compose(self.text)
        if root is None:
            return self._appended(0, names)
        for place, name in enumerate(names):
            if not isinstance(section.value, list) or section.id != "mapping":
                raise _NoPlace
            pair = _pair(section, name)
            if pair is None:
                return self._inserted(section, names[place:], at_end=section is root)
            key, section = pair
            if _is_empty(section):
                return self._filled(key, names[place + 1 :])
        return self._replaced(section)

    def _filled(self, key: _Node, names: Sequence[str]) -> str:
        """A first value where nothing stands after the colon, or a first entry below it."""
        if names:
            return self._below(key.end_mark.index, key.start_mark.column + _INDENT, names)
        colon = self.text.index(":", key.end_mark.index) + 1
        return f"{self.text[:colon]} {_rendered(self.value)}{self.text[colon:]}"

    def _replaced(self, node: _Node) -> str:
        if node.id == "sequence" and not node.flow_style and self.value:
            return self._relisted(node)
        start, end = node.start_mark.index, _end(self.text, node)
        return self.text[:start] + _rendered(self.value) + self.text[end:]

    def _relisted(self, node: _Node) -> str:
        """A list of one entry a line keeps that form and the comments between the lines."""
        assert isinstance(self.value, list)
        text, items, kept = self.text, self.value, node.value[: len(self.value)]
        for gone in reversed(node.value[len(kept) :]):
            start = text.rfind("\n", 0, gone.start_mark.index) + 1
            text = text[:start] + text[_next_line(text, _end(text, gone)) :]
        lines = [" " * node.start_mark.column + "- " + _rendered(item) for item in items]
        text = _with_lines(text, _end(text, kept[-1]), lines[len(kept) :])
        for item, old in reversed(list(zip(items, kept, strict=False))):
            if old.value != item:
                start, end = old.start_mark.index, _end(text, old)
                text = text[:start] + _rendered(item) + text[end:]
        return text

    def _inserted(self, section: _Node, names: Sequence[str], *, at_end: bool) -> str:
        """A new last entry of a section."""
        if section.flow_style:
            return self._into_braces(section, names)
        column = section.value[0][0].start_mark.column
        if at_end:
            return self._appended(column, names)
        return self._below(_end(self.text, section), column, names)

    def _into_braces(self, section: _Node, names: Sequence[str]) -> str:
        entry = f"{names[-1]}: {_rendered(self.value)}"
        for name in reversed(names[:-1]):
            entry = f"{name}: {{{entry}}}"
        if not section.value:
            at = section.start_mark.index + 1
            return self.text[:at] + entry + self.text[at:]
        at = _end_of_pair(self.text, section.value[-1])
        return f"{self.text[:at]}, {entry}{self.text[at:]}"

    def _appended(self, column: int, names: Sequence[str]) -> str:
        return _with_lines(self.text, len(self.text), self._lines(column, names))

    def _below(self, index: int, column: int, names: Sequence[str]) -> str:
        return _with_lines(self.text, index, self._lines(column, names))

    def _lines(self, column: int, names: Sequence[str]) -> list[str]:
        lines = [" " * (column + depth * _INDENT) + f"{name}:" for depth, name in enumerate(names)]
        lines[-1] += f" {_rendered(self.value)}"
        return lines


def _pair(section: _Node, name: str) -> tuple[_Node, _Node] | None:
    return next((pair for pair in section.value if pair[0].value == name), None)


def _is_empty(node: _Node) -> bool:
    return node.id == "scalar" and bool(node.start_mark.index == node.end_mark.index)


def _end(text: str, node: _Node) -> int:
    """Where a value's own text ends; the parser counts what follows to a block."""
    if node.id == "scalar":
        end = int(node.end_mark.index)
        block = node.style in ("|", ">")
        return len(text[:end].rstrip()) if block else end
    if node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end_of_pair(text, last) if isinstance(last, tuple) else _end(text, last)


def _end_of_pair(text: str, pair: tuple[_Node, _Node]) -> int:
    key, value = pair
    # An alias stands here, but its node where the anchor is.
    is_alias = value.start_mark.index < key.start_mark.index
    return int(key.end_mark.index) if is_alias or _is_empty(value) else _end(text, value)


def _next_line(text: str, index: int) -> int:
    found = _LINE_END.search(text, index)
    return found.end() if found else len(text)


def _with_lines(text: str, index: int, lines: Sequence[str]) -> str:
    """The text with lines after the one that ``index`` is in, ended like the others."""
    if not lines:
        return text
    found = _LINE_END.search(text)
    line_end = found[0] if found else "\n"
    # At the end of a last line that is whole there is nothing to go past.
    at = index if index and text[index - 1] in "\r\n" else _next_line(text, index)
    body = line_end.join(lines)
    if at and text[at - 1] not in "\r\n":
        return text[:at] + line_end + body + text[at:]
    return text[:at] + body + line_end + text[at:]


def _with(tree: Mapping[object, object], names: Sequence[str], value: object) -> object:
    """A copy of a tree with one value set."""
    copy = dict(tree)
    if len(names) == 1:
        return copy | {names[0]: value}
    branch = copy.get(names[0])
    return copy | {names[0]: _with(branch if isinstance(branch, Mapping) else {}, names[1:], value)}


def _rendered(value: object) -> str:
    """A value as YAML on one line; text that could mean something else is quoted as in JSON."""
    if isinstance(value, list):
        return f"[{', '.join(map(_rendered, value))}]"
    if not isinstance(value, str):
        return plain(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _READ_AS_OTHERS:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _yaml() -> YAML:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True)


def _replace(path: Path, before: bytes, after: bytes) -> None:
    """Put the new content in the file's place, whole or not at all."""
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        draft = draft_beside(target, after, mode)
        try:
            if read_bytes(path) not in (before, None):
                raise ConfigInvalid("error.config_changed_meanwhile", path=path)
            move_into_place(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigInvalid(
            "error.config_unwritable", path=path, reason=error.strerror or str(error)
        ) from error
