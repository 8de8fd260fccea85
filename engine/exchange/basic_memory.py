"""Notes of basic-memory, and of any Markdown notebook: front matter, observations, relations.

A note becomes one memory. Its observations (``- [category] text #tag (context)``) are key facts
as well; its relations (``- kind [[Note]]``) are links, and other ``[[Note]]`` in it related ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.domain.vocabulary import KINDS, RELATIONS
from engine.exchange import reading
from engine.exchange.notes import Note, wikilinks
from engine.exchange.records import BASIC_MEMORY, SavedMemory

_OBSERVATION = re.compile(r"^\s*[-*]\s+\[([^\[\]]{1,60})\]\s+(?!\()(.+?)\s*$", re.MULTILINE)
_RELATION = re.compile(r"^\s*[-*]\s+([^\[\]\n]{1,80}?)\s*\[\[([^\]|#]+)[^\]]*\]\]", re.MULTILINE)
_CONTEXT = re.compile(r"\s*\([^()]*\)\s*$")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_CHECKBOXES = ("x", "X", " ", "-")
_WORDS = {
    "refines": ("refines", "elaborates", "details", "extends", "细化", "补充"),
    "example_of": ("example_of", "instance_of", "示例"),
    "contradicts": ("contradicts", "conflicts_with", "矛盾"),
    "supersedes": ("supersedes", "replaces", "取代"),
    "derived_from": ("derived_from", "based_on", "source", "来源"),
}


def memory(note: Note, place: str, zone: tzinfo | None) -> SavedMemory:
    """The memory that a note is; ``place`` is its path, which stands for it where it has no
    permalink."""
    front = note.front
    title = reading.name(front.get("title")) or _stem(place)
    text = note.body if note.body.strip() else title
    if not text.strip():
        raise InvalidInput("error.import_no_text")
    kind = reading.text(front.get("type")).casefold()
    observed = list(_observations(note.body))
    inline = [tag for _, fact in observed for tag in _TAG.findall(fact)]
    key = reading.name(front.get("permalink")) or place.rpartition(".")[0]
    created_at = reading.moment(front.get("created") or front.get("date"), zone)
    changed_at = reading.moment(front.get("modified") or front.get("updated"), zone)
    return SavedMemory(
        uid=reading.derived_uid(BASIC_MEMORY, key),
        fields=reading.given(
            text=text,
            kind=kind if kind in KINDS else None,
            summary=title if note.body.strip() and title not in note.body[:200] else None,
            tags=reading.labels(front.get("tags"), inline),
            key_facts=reading.sentences([_plain(fact) for _, fact in observed]),
            source_ref=place,
        ),
        created_at=created_at if created_at is not None else changed_at,
        updated_at=changed_at,
    )


def names_of(note: Note) -> list[str]:
    """The names by which other notes link to this one."""
    named = (reading.name(note.front.get(key)) for key in ("title", "permalink"))
    aliases = note.front.get("aliases")
    listed = aliases if isinstance(aliases, list) else []
    return [name for name in (*named, *map(reading.name, listed)) if name]


def relations(note: Note) -> dict[str, list[str]]:
    """The notes that a note links to, by our relations."""
    found: dict[str, list[str]] = {}
    named: set[str] = set()
    for match in _RELATION.finditer(note.body):
        found.setdefault(_relation(match[1]), []).append(match[2].strip())
        named.add(match[2].strip())
    others = [name for name in wikilinks(note.body) if name not in named]
    if others:
        found.setdefault("related", []).extend(dict.fromkeys(others))
    return found


def _observations(body: str) -> Iterator[tuple[str, str]]:
    for match in _OBSERVATION.finditer(body):
        if match[1] not in _CHECKBOXES:
            yield match[1], match[2]


def _plain(fact: str) -> str:
    return " ".join(_TAG.sub("", _CONTEXT.sub("", fact)).split())


def _relation(named: str) -> str:
    folded = "_".join(named.casefold().replace("-", " ").split())
    if folded in RELATIONS:
        return folded
    return next((known for known, words in _WORDS.items() if folded in words), "related")


def _stem(place: str) -> str:
    return place.rpartition("/")[2].rpartition(".")[0]
