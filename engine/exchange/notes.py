"""A memory as a Markdown note: its fields as front matter, its text as the body.

Values of the front matter are written as JSON, which YAML reads as well; links to other notes are
properties of their own, so that Obsidian shows them. Whatever tool wrote a note, YAML is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from engine.config.front_matter import read_front_matter
from engine.domain.errors import InvalidInput
from engine.domain.times import parse_instant
from engine.domain.vocabulary import RELATIONS
from engine.exchange.archive import NAMES, SCOPE, STATES, read_record
from engine.exchange.records import MARKDOWN, Item, SavedMemory
from engine.exchange.values_in import Value

MARK = "jiyi"
VERSION = 1
_FENCE = "---"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMES = ("created_at", "updated_at", "event_time", "expires_at", "archived_at")
_ALL_TIMES = frozenset((*_TIMES, "superseded_at", "deleted_at"))
_WIKILINK = re.compile(r"\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|[^\]]*)?\]\]")
# YAML 1.1 takes these for line ends, and readers differ about the others.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Note:
    """A file of a Markdown folder: its front matter, its body, and the notes that it names by
    relation."""

    front: Mapping[str, object]
    body: str
    links: Mapping[str, tuple[str, ...]]


def note_text(record: SavedMemory, links: Mapping[str, Sequence[str]], zone: tzinfo | None) -> str:
    """The whole file of a memory. ``links`` are names of notes by relation."""
    lines = [_FENCE, f"{MARK}: {VERSION}"]
    lines += [f"{name}: {_json(value)}" for name, value in _properties(record, zone)]
    for relation in RELATIONS:
        if links.get(relation):
            lines.append(f"{relation}: {_json([f'[[{name}]]' for name in links[relation]])}")
    return "\n".join([*lines, _FENCE, "", str(record.fields["text"]), ""])


def read_note(text: str) -> Note:
    """A note as its file gives it. Raises :class:`InvalidInput` for broken front matter."""
    text = text.removeprefix("\ufeff")
    if text.startswith(f"{_FENCE}\r\n") and "\n" not in text.replace("\r\n", ""):
        # A tool has given every line another end; ours is the one that was meant.
        text = text.replace("\r\n", "\n")
    front, body = _parted(text)
    return Note(front, body, _links_of(front))


def is_own(note: Note) -> bool:
    """Whether a note was written by this product."""
    return MARK in note.front


def read_memory(note: Note, place: str, zone: tzinfo | None) -> Item:
    """The memory that one of our notes is. Properties that other tools added are theirs."""
    table = {
        name: value
        for name, value in note.front.items()
        if name in NAMES and name != "type" and value is not None
    }
    table["text"] = note.body
    return read_record(Value(place, table), zone, MARKDOWN)


def _properties(record: SavedMemory, zone: tzinfo | None) -> Iterable[tuple[str, object]]:
    table: dict[str, object] = {"uid": record.uid, "workspace": record.workspace}
    table |= {name: value for name, value in record.fields.items() if name != "text"}
    table |= {name: record.scope.get(name) for name in SCOPE} | {"position": record.position}
    table |= {"created_at": record.created_at, "updated_at": record.updated_at}
    table |= {"revision": record.revision} | {name: record.states.get(name) for name in STATES}
    table["superseded_by"] = record.superseded_by
    for name, value in table.items():
        if value is not None:
            exact = name not in ("created_at", "updated_at")
            yield name, _moment(value, zone, exact=exact) if name in _ALL_TIMES else value


def _moment(value: object, zone: tzinfo | None, *, exact: bool) -> object:
    """A time as people read it; one that must come back exactly as a number where it would not."""
    if not isinstance(value, (int, float)):
        return value
    moment = (_EPOCH + timedelta(seconds=value)).astimezone(zone)
    shown = moment.isoformat(timespec="microseconds" if moment.microsecond else "seconds")
    return value if exact and parse_instant(shown, zone) != value else shown


def _parted(text: str) -> tuple[Mapping[str, object], str]:
    if not text.startswith(f"{_FENCE}\n"):
        return {}, text
    end = text.find(f"\n{_FENCE}\n", len(_FENCE))
    if end < 0:
        end = len(text) - len(_FENCE) - 1 if text.endswith(f"\n{_FENCE}") else -1
    if end < 0:
        raise InvalidInput("error.import_front_matter", reason="---")
    front = _fast(text[len(_FENCE) + 1 : end + 1])
    if front is None:
        front = read_front_matter(text[len(_FENCE) + 1 : end + 1])
    body = text[end + len(_FENCE) + 2 :]
    return front, body.removeprefix("\n").removesuffix("\n")


def _fast(front: str) -> Mapping[str, object] | None:
    """Front matter as we write it, read a hundred times as quickly; ``None`` for any other."""
    table: dict[str, object] = {}
    for line in front.splitlines():
        name, colon, value = line.partition(": ")
        if not colon or not name.isidentifier():
            return None
        try:
            table[name] = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return table


def _links_of(front: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for relation in RELATIONS:
        value = front.get(relation)
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        names = [name for text in texts for name in wikilinks(str(text))]
        if names:
            found[relation] = tuple(names)
    return found


def wikilinks(text: str) -> list[str]:
    """The notes that a text links to, by name."""
    return [match[1].strip() for match in _WIKILINK.finditer(text)]


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
