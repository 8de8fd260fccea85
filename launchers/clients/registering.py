"""What registering and taking out would change, and carrying it out.

A plan is made first and shown; nothing is written while it is made. What a file was before is kept
in the home folder, so that taking out gives it back byte for byte as long as nobody changed it
since; else only what was added is cut out.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.config.file import draft_beside
from engine.config.placing import move_into_place
from engine.domain.errors import InvalidInput, JiyiError
from launchers.clients import guidance, jsonc, tomls
from launchers.clients.places import Client, Machine, Server

_PRIVATE, _COMMON = 0o600, 0o644


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be registered: under which name, for the user or in a ``project``, with which
    instructions (none: no file of instructions is touched). ``force`` writes a new file in the
    place of one that cannot be read; it is kept."""

    client: Client
    machine: Machine
    name: str
    project: Path | None = None
    server: Server | None = None
    instructions: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file and its text before and after; ``None``: it is not there. ``bare`` is the text
    without anything of ours, where something is put in."""

    path: Path
    before: str | None
    after: str | None
    bare: str | None = None

    @property
    def does_something(self) -> bool:
        """Whether the two differ."""
        return self.before != self.after


def plan_registration(wish: Wish) -> list[FileChange]:
    """The changes that register a server. Raises InvalidInput for a file that cannot be read."""
    assert wish.server is not None
    path = wish.client.settings_file(wish.machine, wish.project)
    before = _read(path)
    entry = wish.client.entry(wish.server)
    put = tomls.with_table if wish.client.is_toml else jsonc.with_value
    try:
        after = put(before or "", (wish.client.key, wish.name), entry)
        bare = None if before is None else _without_entry(wish, before)
    except ValueError as error:
        if not wish.force:
            raise _broken(path, error) from error
        after, bare = put("", (wish.client.key, wish.name), entry), before
    return [FileChange(path, before, after, bare), *_guidance(wish, wish.instructions)]


def plan_removal(wish: Wish, keep: Path) -> list[FileChange]:
    """The changes that take a server out again; ``keep`` is where the former texts lie."""
    path = wish.client.settings_file(wish.machine, wish.project)
    before = _read(path)
    changes = []
    if before is not None:
        try:
            after = _former(keep, path, before, lambda text: _without_entry(wish, text))
        except ValueError as error:
            raise _broken(path, error) from error
        changes.append(FileChange(path, before, after))
    file = wish.client.guidance_file(wish.machine, wish.project)
    text = None if file is None else _read(file)
    if file is not None and text is not None and guidance.is_in(text):
        changes.append(FileChange(file, text, _former(keep, file, text, guidance.without_block)))
    return changes


def carry_out(
    changes: Sequence[FileChange], keep: Path, *, removal: bool = False
) -> list[FileChange]:
    """Write what differs, each file whole or not at all; return what was written.

    Raises JiyiError where a file cannot be written; those before it stay as written.
    """
    written = [change for change in changes if change.does_something]
    for change in written:
        try:
            _copy(keep, change)
            if not removal:
                _note(keep, change)
            _write(change)
            if removal:
                _record_of(keep, change.path).unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise JiyiError("install.cannot_write", path=str(change.path), reason=reason) from error
    return written


def is_registered(wish: Wish) -> bool:
    """Whether the client's file names the server. A file that cannot be read names none."""
    path = wish.client.settings_file(wish.machine, wish.project)
    try:
        text = _read(path) or ""
        value_at = tomls.value_at if wish.client.is_toml else jsonc.value_at
        return value_at(text, (wish.client.key, wish.name)) is not None
    except (ValueError, JiyiError):
        return False


def _guidance(wish: Wish, instructions: str) -> list[FileChange]:
    file = wish.client.guidance_file(wish.machine, wish.project)
    if file is None or not instructions:
        return []
    before = _read(file)
    after = guidance.with_block(before, instructions, file.suffix)
    bare = guidance.without_block(before) if before and guidance.is_in(before) else before
    return [FileChange(file, before, after, bare)]


def _without_entry(wish: Wish, text: str) -> str | None:
    """The text without the entry, and without the names that only led to it; ``None`` when
    nothing is left."""
    path = (wish.client.key, wish.name)
    if wish.client.is_toml:
        return tomls.without_table(text, path)
    if jsonc.value_at(text, path) is None:
        return text
    text = jsonc.without(text, path)
    if jsonc.value_at(text, path[:1]) == {}:
        text = jsonc.without(text, path[:1])
    return text


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _broken(path, error) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise JiyiError("install.cannot_read", path=str(path), reason=reason) from error


def _broken(path: Path, error: ValueError) -> InvalidInput:
    if isinstance(error, jsonc.BrokenJson):
        return InvalidInput("install.broken_at", path=str(path), line=error.line)
    return InvalidInput("install.broken", path=str(path), reason=str(error)[:120])


def _write(change: FileChange) -> None:
    # A settings file that is a link into a folder of one's own stays one.
    target = change.path.resolve()
    if change.after is None:
        target.unlink(missing_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = target.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = _COMMON if target.suffix in (".md", ".mdc") else _PRIVATE
    draft = draft_beside(target, change.after.encode("utf-8"), mode)
    try:
        move_into_place(draft, target)
    finally:
        draft.unlink(missing_ok=True)


# ---- what files were before


def _copy(keep: Path, change: FileChange) -> None:
    keep.mkdir(parents=True, exist_ok=True, mode=0o700)
    if change.before is not None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        copy = keep / f"{change.path.name}.{stamp}.{_digest(change.before)[:8]}"
        _put(copy, change.before)


def _note(keep: Path, change: FileChange) -> None:
    record = _record_of(keep, change.path)
    former = _recorded(record)
    is_as_left = former is not None and former["after"] == _digest(change.before)
    # Registered once more: what it was before the first time counts.
    original = former["before"] if former is not None and is_as_left else change.bare
    fields = {"path": str(change.path), "before": original, "after": _digest(change.after)}
    _put(record, json.dumps(fields, ensure_ascii=False))


def _former(keep: Path, path: Path, text: str, cut: guidance.Cut) -> str | None:
    """What a file was before it was changed, if it is still as it was left; else without what
    was added."""
    former = _recorded(_record_of(keep, path))
    if former is None:
        return cut(text)
    if former["after"] == _digest(text):
        return former["before"]
    left = cut(text)
    nothing_left = left is None or left.strip("\ufeff \t\r\n") in ("", "{}")
    return None if former["before"] is None and nothing_left else left


def _record_of(keep: Path, path: Path) -> Path:
    return keep / f"{_digest(str(path))[:16]}.json"


def _recorded(record: Path) -> dict[str, str | None] | None:
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
        return {"before": found["before"], "after": found["after"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _put(path: Path, content: str) -> None:
    draft = draft_beside(path, content.encode("utf-8"), _PRIVATE)
    move_into_place(draft, path)


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()
