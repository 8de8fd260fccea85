"""Versions of the user's ``config.yaml``, kept so that a change can be taken back.

``<home>/config-history`` holds one file a version, as private as the settings themselves (keys
may stand in them). Its name says when it was saved, by whom, and what the saving was::

    01796022000000123-panel-save.yaml
    01796022000000456-panel-undo-01796022000000000.yaml

An undo names the version that it went back to, so that the order of steps can be told from the
names alone: what was undone can be redone until something else is saved.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.config.editing import fingerprint
from engine.config.file import draft_beside, read_bytes
from engine.config.placing import move_into_place
from engine.config.schema import declared
from engine.config.setting import MASK
from engine.domain.errors import ConfigInvalid, NotFound

FOLDER = "config-history"
SAVE, UNDO, REDO, BY_HAND = "save", "undo", "redo", "hand"
KEPT = 200
_NAME = re.compile(r"(\d{17})-([a-z0-9_.]{1,40})-(save|undo|redo|hand)(?:-(\d{17}))?\.yaml")


@dataclass(frozen=True, slots=True)
class Version:
    """One content that the file had: ``id`` names it, ``at`` is epoch seconds, ``operation`` is
    ``save``, ``undo``, ``redo`` or ``hand`` (changed by something else); ``target`` is the
    version that an undo or redo went to."""

    id: str
    at: float
    actor: str
    operation: str
    target: str | None
    path: Path

    def content(self) -> bytes:
        """The whole file as it was. Raises :class:`NotFound` when it is gone by now."""
        found = read_bytes(self.path)
        if found is None:
            raise NotFound("error.no_config_version", name=self.id)
        return found


@dataclass(frozen=True, slots=True)
class Position:
    """Where the file stands among its versions: ``earlier`` is what an undo brings back,
    ``later`` what a redo does."""

    earlier: Version | None
    later: Version | None


def versions(home: Path) -> list[Version]:
    """All versions kept, oldest first."""
    folder = home / FOLDER
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = ((name, _NAME.fullmatch(name)) for name in names)
    return [_version(folder / name, match) for name, match in found if match is not None]


def find_version(home: Path, version_id: str) -> Version:
    """A version by its id. Raises :class:`NotFound`."""
    for version in versions(home):
        if version.id == version_id:
            return version
    raise NotFound("error.no_config_version", name=version_id[:40])


def position(kept: Sequence[Version]) -> Position:
    """Where the steps in ``kept`` (oldest first) led to."""
    line: list[Version] = []
    at = -1
    for version in kept:
        place = next((n for n, one in enumerate(line) if one.id == version.target), None)
        if version.operation in (UNDO, REDO) and place is not None:
            at = place
        else:
            line, at = [*line[: at + 1], version], at + 1
    earlier = line[at - 1] if at > 0 else None
    return Position(earlier, line[at + 1] if at + 1 < len(line) else None)


def keep(
    home: Path, content: bytes, actor: str, at: float, step: tuple[str, str | None]
) -> Version | None:
    """Keep a content as the newest version, unless it is that already; ``step`` is the
    operation and the version it went to. Raises ``OSError``."""
    kept = versions(home)
    if kept and step[0] in (SAVE, BY_HAND) and _same(kept[-1], content):
        return None
    folder = home / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    # Two within a millisecond, or a clock that was set back, still come one after the other.
    number = max(int(at * 1000), int(kept[-1].id) + 1 if kept else 0)
    operation, target = step
    tail = f"-{target}" if target else ""
    name = f"{number:017d}-{_plain(actor)}-{operation}{tail}.yaml"
    draft = draft_beside(folder / name, content, 0o600)
    move_into_place(draft, folder / name)
    for old in kept[: max(0, len(kept) + 1 - KEPT)]:
        old.path.unlink(missing_ok=True)
    return find_version(home, f"{number:017d}")


def difference(before: bytes, after: bytes) -> list[str]:
    """Lines that differ, marked ``+``, ``-`` and ``@@`` as in a unified diff; keys are masked."""
    lines = difflib.unified_diff(_lines(before), _lines(after), n=1, lineterm="")
    return [_masked(line) for line in list(lines)[2:]]


def _version(path: Path, match: re.Match[str]) -> Version:
    number, actor, operation, target = match.groups()
    return Version(number, int(number) / 1000, actor, operation, target, path)


def _same(version: Version, content: bytes) -> bool:
    try:
        return fingerprint(version.content()) == fingerprint(content)
    except (NotFound, ConfigInvalid):
        return False


def _plain(actor: str) -> str:
    return re.sub(r"[^a-z0-9_.]", "_", actor.lower())[:40] or "someone"


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8-sig", "replace").splitlines()


def _masked(line: str) -> str:
    """A line that may hold a key, without it; ``${NAME}`` is no key."""
    names = "|".join({re.escape(k.rpartition(".")[2]) for k, s in declared().items() if s.secret})
    return re.sub(rf"((?:{names})[\"']?\s*:\s*)(?!\s*\$\{{\w+\}}\s*)[^\s#].*", rf"\1{MASK}", line)
