"""What is derived from a memory's authored fields: tokens, labels, atoms, graph, vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.errors import InvalidInput
from engine.domain.fields import INDEXED_FIELDS, LABEL_FIELDS
from engine.domain.memory import FieldValue
from engine.extraction.graph import StatedFact
from engine.language.labels import folded_labels
from engine.storage.fulltext import Tokens
from engine.writing.atoms import AtomLayer, derive_atoms, rule_table
from engine.writing.embed import Embedded
from engine.writing.graph import GraphLayer, derive_layer


@dataclass(frozen=True, slots=True)
class Layers:
    """The derived layers of one memory.

    ``embedded`` is ``None`` while it must wait. ``settled`` is false as well when the vectors
    are those of an older model that still serves: those of the new one are to follow.
    ``atoms`` and ``graph`` are ``None`` when they are switched off; ``rules_version`` names what
    derived them.
    """

    tokens: Tokens
    labels: Mapping[str, tuple[str, ...]]
    embedded: Embedded | None
    settled: bool
    atoms: AtomLayer | None
    graph: GraphLayer | None
    rules_version: str


ATOMS_OFF = "atoms:off"
GRAPH_OFF = "graph:off"
GRAPH_RULES = "graph:2"


def derive(
    context: EngineContext,
    fields: Mapping[str, FieldValue],
    embedded: Embedded | None,
    stated_at: float | None = None,
) -> Layers:
    """Derive the layers of a memory from all its authored fields. Words of time without a date
    count from when it happened, else from when it was stated (epoch seconds; default: now)."""
    at = context.clock.now() if stated_at is None else stated_at
    atoms = derive_atoms(context, fields, at)
    return Layers(
        tokens=tokens_of(context, fields),
        labels=labels_of(fields),
        embedded=embedded,
        settled=embedded is not None and embedded.identity == context.models.identity(),
        atoms=atoms,
        graph=derive_layer(context, fields, _facts(fields, atoms)),
        rules_version=rules_version(context),
    )


def rules_version(context: EngineContext) -> str:
    """Names the rules by which atoms and graph are derived now; another one when one is off."""
    settings = context.settings
    atoms = rule_table(context).version if settings.atoms.enabled else ATOMS_OFF
    return f"{atoms}+{GRAPH_RULES if settings.graph.enabled else GRAPH_OFF}"


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


def _facts(fields: Mapping[str, FieldValue], atoms: AtomLayer | None) -> list[StatedFact]:
    """The facts of a memory: those of its atoms, or as the writer gave them."""
    if atoms is not None:
        return [StatedFact(draft.fact.text, draft.fact.confidence) for draft in atoms.drafts]
    return [StatedFact(text) for text in _strings(fields["key_facts"])]


def _lines(fields: Mapping[str, FieldValue]) -> list[str]:
    lines: list[str] = []
    for name in INDEXED_FIELDS:
        value = fields[name]
        lines.extend([value] if isinstance(value, str) else _strings(value))
    return lines


def _strings(value: FieldValue) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
