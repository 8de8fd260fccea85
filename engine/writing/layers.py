"""What is derived from a memory's authored fields: index tokens, folded labels, vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.errors import InvalidInput
from engine.domain.fields import INDEXED_FIELDS, LABEL_FIELDS
from engine.domain.memory import FieldValue
from engine.language.labels import folded_labels
from engine.storage.fulltext import Tokens
from engine.writing.embed import Embedded


@dataclass(frozen=True, slots=True)
class Layers:
    """The derived layers of one memory.

    ``embedded`` is ``None`` while it must wait. ``settled`` is false as well when the vectors
    are those of an older model that still serves: those of the new one are to follow.
    """

    tokens: Tokens
    labels: Mapping[str, tuple[str, ...]]
    embedded: Embedded | None
    settled: bool


def derive(
    context: EngineContext, fields: Mapping[str, FieldValue], embedded: Embedded | None
) -> Layers:
    """Derive the layers of a memory from all its authored fields."""
    settled = embedded is not None and embedded.identity == context.models.identity()
    return Layers(tokens_of(context, fields), labels_of(fields), embedded, settled)


def tokens_of(context: EngineContext, fields: Mapping[str, FieldValue]) -> Tokens:
    """What full-text search sees of a memory: its text, summary and lists."""
    terms = context.analyser.index_terms("\n".join(_lines(fields)))
    return Tokens(context.analyser.segmenter_id, terms.words, terms.chars)


def labels_of(fields: Mapping[str, FieldValue]) -> dict[str, tuple[str, ...]]:
    """Folded values of the list fields that filters match."""
    return {name: folded_labels(_strings(fields[name])) for name in LABEL_FIELDS}


def require_length(context: EngineContext, text: FieldValue) -> None:
    """Refuse a text above the documented limit before anything is stored."""
    limit = context.settings.memory.max_chars
    if isinstance(text, str) and len(text) > limit:
        raise InvalidInput("error.text_too_long", length=len(text), limit=limit)


def _lines(fields: Mapping[str, FieldValue]) -> list[str]:
    lines: list[str] = []
    for name in INDEXED_FIELDS:
        value = fields[name]
        lines.extend([value] if isinstance(value, str) else _strings(value))
    return lines


def _strings(value: FieldValue) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
