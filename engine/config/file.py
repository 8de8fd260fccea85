"""The user's ``config.yaml``: made from the annotated default, read strictly, never rewritten."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config.environment import unknown_name
from engine.config.layer import Layer
from engine.config.placing import move_into_place
from engine.config.schema import check_together, checked, declared
from engine.domain.errors import ConfigInvalid
from engine.domain.vocabulary import nearest

if TYPE_CHECKING:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

FILE_NAME = "config.yaml"
MAX_BYTES = 1_000_000
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def read_config(path: Path, environ: Mapping[str, str]) -> Layer:
    """Read and check a configuration file; a missing file is an empty layer.

    Raises :class:`ConfigInvalid` with the line when the file cannot be read or a value
    cannot be used.
    """
    content = read_bytes(path)
    return Layer() if content is None else parse_config(content, path, environ)


def read_bytes(path: Path) -> bytes | None:
    """The file's content, ``None`` when there is none."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigInvalid(
            "error.config_unreadable", path=path, reason=error.strerror or str(error)
        ) from error
    if len(content) > MAX_BYTES:
        raise ConfigInvalid("error.config_too_large", path=path, limit=MAX_BYTES)
    return content


def parse_config(content: bytes, path: Path, environ: Mapping[str, str]) -> Layer:
    """Check the content of the file at ``path``; ``environ`` answers ``${NAME}`` values. Raises
    :class:`ConfigInvalid`, also for values that cannot hold together."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigInvalid("error.config_encoding", path=path) from error
    table = _load(text, path)
    layer = _Reader(text, path, environ).layer(table)
    check_together(layer.values)
    return layer


def ensure_user_config(home: Path) -> Path:
    """Write the annotated default to ``<home>/config.yaml`` if there is none; its path.

    The file appears whole or not at all, readable by its owner only, and never replaces
    one that another process wrote meanwhile. Raises :class:`ConfigInvalid`.
    """
    target = home / FILE_NAME
    if os.path.lexists(target):
        return target
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _publish(default_config(), target)
    except OSError as error:
        raise ConfigInvalid(
            "error.config_unwritable", path=target, reason=error.strerror or str(error)
        ) from error
    return target


def default_config() -> bytes:
    """The annotated default: packed with the assets, in a checkout beside them."""
    assets = files("assets")
    packed = assets / FILE_NAME
    if packed.is_file():
        return packed.read_bytes()
    with as_file(assets) as folder:
        return (folder.parent / FILE_NAME).read_bytes()


def _publish(content: bytes, target: Path) -> None:
    draft = draft_beside(target, content, 0o600)
    try:
        _move_unless_present(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def draft_beside(target: Path, content: bytes, mode: int) -> Path:
    """A new file in the folder of ``target`` with ``content`` safely on the disk, to be moved
    into its place. Raises ``OSError`` and leaves nothing behind."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(mode)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    return draft


def _move_unless_present(draft: Path, target: Path) -> None:
    # A link fails when the target exists; file systems without links get a plain rename.
    try:
        os.link(draft, target)
    except FileExistsError:
        return
    except OSError:
        if not target.exists():
            move_into_place(draft, target)


def _load(text: str, path: Path) -> Mapping[object, object]:
    from ruamel.yaml.error import YAMLError

    try:
        table = _yaml().load(text)
    except YAMLError as error:
        raise _syntax_error(error, text, path) from error
    except (ValueError, TypeError, RecursionError) as error:
        # Impossible dates and numbers, unhashable keys, bottomless nesting.
        raise ConfigInvalid(
            "error.config_syntax", path=path, line=1, reason=str(error)[:120]
        ) from error
    if table is None:
        return {}
    if not isinstance(table, Mapping):
        raise ConfigInvalid("error.config_not_sections", path=path)
    return table


def _yaml() -> YAML:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True)


def _syntax_error(error: YAMLError, text: str, path: Path) -> ConfigInvalid:
    from ruamel.yaml.constructor import DuplicateKeyError

    mark = getattr(error, "problem_mark", None)
    position = getattr(error, "position", 0)
    line = mark.line + 1 if mark else text.count("\n", 0, position) + 1
    if isinstance(error, DuplicateKeyError):
        return ConfigInvalid("error.config_duplicate", path=path, line=line)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "YAML"
    return ConfigInvalid("error.config_syntax", path=path, line=line, reason=str(reason)[:120])


class _Reader:
    """One pass over a parsed file."""

    def __init__(self, text: str, path: Path, environ: Mapping[str, str]) -> None:
        self._text = text
        self._path = path
        self._environ = environ
        self._warnings: list[ConfigInvalid] = []
        self._sections = {setting.group for setting in declared().values()} - {""}

    def layer(self, table: Mapping[object, object]) -> Layer:
        """Typed values of the known settings, warnings for the rest."""
        values = {key: self._checked(key, value) for key, value in self._known(table, "")}
        return Layer(values, warnings=tuple(self._warnings))

    def _known(self, table: Mapping[object, object], prefix: str) -> Iterator[tuple[str, object]]:
        for name, raw in table.items():
            key = f"{prefix}{name}"
            if key in self._sections:
                yield from self._section(key, raw)
            elif key not in declared():
                self._warn_unknown(key)
            elif (value := self._resolved(key, raw)) is not None:
                yield key, value

    def _section(self, key: str, raw: object) -> Iterator[tuple[str, object]]:
        if isinstance(raw, Mapping):
            yield from self._known(raw, f"{key}.")
        elif raw is not None:
            raise ConfigInvalid("error.config_not_section", place=self._place(key), name=key)

    def _resolved(self, key: str, raw: object) -> object:
        reference = _REFERENCE.fullmatch(raw.strip()) if isinstance(raw, str) else None
        if reference is None:
            return raw
        value = self._environ.get(reference[1])
        if not value:
            # Assistants often start servers without the user's variables: one missing key
            # must not switch off the rest of the file.
            self._warnings.append(
                ConfigInvalid(
                    "error.config_variable_missing",
                    place=self._place(key),
                    name=key,
                    variable=reference[1],
                )
            )
        return value or None

    def _checked(self, key: str, value: object) -> object:
        try:
            return checked(key, value, str(self._path))
        except ConfigInvalid as error:
            params = error.params | {"place": self._place(key)}
            raise ConfigInvalid(error.key, **params) from error

    def _warn_unknown(self, key: str) -> None:
        near = nearest(key, [*declared(), *self._sections])
        self._warnings.append(unknown_name(self._place(key), key, near))

    def _place(self, key: str) -> str:
        return f"{self._path}:{_line_of(self._text, key)}"


def _line_of(text: str, key: str) -> int:
    """The line of ``key``; composed only when something has to be reported."""
    node, line = _yaml().compose(text), 1
    for name in key.split("."):
        pairs = getattr(node, "value", ())
        found = [pair for pair in pairs if isinstance(pair, tuple) and pair[0].value == name]
        if not found:
            break
        node, line = found[0][1], found[0][0].start_mark.line + 1
    return line
