"""Which folders belong to which workspace, by settings: ``~/projects/acme = acme @ work``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class MappedFolder:
    """A folder whose whole tree belongs to ``workspace``; a new one is made in ``domain``."""

    path: str
    workspace: str
    domain: str | None = None


def parse_mapping(entry: str) -> MappedFolder:
    """Read ``PATH = WORKSPACE`` or ``PATH = WORKSPACE @ DOMAIN``. Raises ``ValueError``."""
    path, sign, target = entry.rpartition("=")
    workspace, _, domain = target.partition("@")
    parts = [" ".join(part.split()) for part in (workspace, domain)]
    if not sign or not path.strip() or not parts[0]:
        raise ValueError(entry)
    return MappedFolder(path.strip(), parts[0], parts[1] or None)


def mapped(entries: Iterable[str], folder: Path, base: Path) -> MappedFolder | None:
    """The entry whose path is ``folder`` or the longest above it. Relative paths lie in ``base``,
    ``~`` is the user's folder."""
    found = [
        (len(depth), entry)
        for entry in map(parse_mapping, entries)
        if (depth := within(entry.path, folder, base)) is not None
    ]
    return min(found, key=lambda item: item[0])[1] if found else None


def within(path: str, folder: Path, base: Path) -> tuple[str, ...] | None:
    """The parts of ``folder`` below ``path``, ``None`` outside it. Links are followed."""
    top = base / os.path.expanduser(path)
    for above, below in ((top, folder), (_real(top), _real(folder))):
        if below.is_relative_to(above):
            return below.relative_to(above).parts
    return None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
