"""Folders of Markdown notes: our own, and those of basic-memory or any notebook like it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from engine.domain.errors import InvalidInput, JiyiError
from engine.exchange import basic_memory, bytes_in, notes
from engine.exchange.notes import Note
from engine.exchange.records import (
    BASIC_MEMORY,
    MARKDOWN,
    Item,
    Placed,
    SavedLink,
    SavedMemory,
    Unreadable,
)
from engine.exchange.source import Source

_MAX_NOTE_BYTES = 16 << 20
_ENDINGS = (".md", ".markdown")


@dataclass(slots=True)
class _Index:
    """Uids of notes by the names that links use: file name, title, permalink."""

    uids: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, uid: str) -> None:
        self.uids.setdefault(name.casefold(), uid)

    def find(self, name: str) -> str | None:
        folded = name.casefold()
        return self.uids.get(folded) or self.uids.get(folded.rpartition("/")[2])


def open_folder(folder: Path, zone: tzinfo | None) -> Source:
    """The notes of a folder and of those in it; links and folders that are links are not followed.
    Raises :class:`InvalidInput` for a folder without notes."""
    paths = list(_notes_in(folder))
    if not paths:
        raise InvalidInput("error.import_no_notes", path=str(folder))
    own = any(_is_own(path) for path in paths[:20])
    return Source(MARKDOWN if own else BASIC_MEMORY, _items(folder, paths, zone), bytes_in.UTF_8)


def open_note(path: Path, zone: tzinfo | None) -> Source:
    """A single note."""
    name = MARKDOWN if _is_own(path) else BASIC_MEMORY
    return Source(name, _items(path.parent, [path], zone), bytes_in.UTF_8)


def _notes_in(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(root) / name
            ours = name.lower().endswith(_ENDINGS) and not name.startswith(".")
            if ours and not path.is_symlink():
                yield path


def _items(folder: Path, paths: list[Path], zone: tzinfo | None) -> Iterator[Item]:
    """Memories first, then the links between them, when every name is known."""
    index = _Index()
    for path in paths:
        place = path.relative_to(folder).as_posix()
        try:
            item = _memory(_read(path), place, zone)
        except (JiyiError, OSError) as error:
            yield Unreadable(place, _as_ours(error))
            continue
        if isinstance(item, Placed) and isinstance(item.record, SavedMemory):
            _index(index, path, place, item.record)
        yield item
    for path in paths:
        yield from _links(path, path.relative_to(folder).as_posix(), index)


def _memory(note: Note, place: str, zone: tzinfo | None) -> Item:
    if notes.is_own(note):
        return notes.read_memory(note, place, zone)
    return Placed(place, basic_memory.memory(note, place, zone))


def _index(index: _Index, path: Path, place: str, record: SavedMemory) -> None:
    index.add(path.stem, record.uid)
    index.add(place.rpartition(".")[0], record.uid)
    for name in basic_memory.names_of(_read(path)):
        index.add(name, record.uid)


def _links(path: Path, place: str, index: _Index) -> Iterator[Item]:
    try:
        note = _read(path)
    except (JiyiError, OSError):
        return
    source = index.find(place.rpartition(".")[0])
    if source is None:
        return
    named = note.links if notes.is_own(note) else basic_memory.relations(note)
    for relation, targets in named.items():
        for target in map(index.find, targets):
            if target is not None and target != source:
                yield Placed(place, SavedLink(source, target, relation))


def _read(path: Path) -> Note:
    if path.stat().st_size > _MAX_NOTE_BYTES:
        limit = _MAX_NOTE_BYTES / (1 << 20)
        raise InvalidInput("error.import_line_too_long", limit_mb=limit)
    raw = path.read_bytes()
    encoding = bytes_in.encoding_of(raw)
    try:
        return notes.read_note(raw.decode(encoding))
    except UnicodeDecodeError as error:
        raise InvalidInput("error.import_undecodable", encoding=encoding) from error


def _is_own(path: Path) -> bool:
    try:
        return notes.is_own(_read(path))
    except (JiyiError, OSError):
        return False


def _as_ours(error: JiyiError | OSError) -> JiyiError:
    if isinstance(error, JiyiError):
        return error
    return InvalidInput("error.import_unreadable", reason=error.strerror or str(error))
