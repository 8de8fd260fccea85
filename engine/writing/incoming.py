"""A memory of a file, checked as anybody's would be and made complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from engine.context import EngineContext
from engine.domain import details, vocabulary
from engine.domain import fields as authored_fields
from engine.domain.atom import ATOM_STATES, ATOM_TYPES, CURVES
from engine.domain.errors import InvalidInput
from engine.domain.fact import MAX_TERM_CHARS, Period
from engine.domain.graph import NODE_TYPES
from engine.domain.memory import GLOBAL_WORKSPACE, FieldValue
from engine.domain.notices import Notice
from engine.domain.text import content_hash, scrub
from engine.domain.vocabulary import RELATIONS
from engine.exchange.records import (
    SavedAlias,
    SavedAtom,
    SavedFact,
    SavedLink,
    SavedMemory,
    SavedStrength,
    SavedVector,
)
from engine.extraction.kinds import kind_of
from engine.storage.aliases import MERGE, RENAME
from engine.storage.embeddings import EmbeddedPiece
from engine.storage.transfer import ATOM
from engine.writing.embed import Embedded
from engine.writing.entrance import entered
from engine.writing.workspace_names import workspace_name

_MAX_NAME_CHARS = 500
_ATOM_WORDS = {"type": ATOM_TYPES, "state": ATOM_STATES, "curve": CURVES}
_ATOM_MAY_LACK = ("event_time", "deadline", "expires_at", "reinforced", "needs_repair")
_ATOM_NUMBERS = tuple(
    name for name in ATOM if name not in (*_ATOM_WORDS, "text", "content_hash", "rule")
)


@dataclass(frozen=True, slots=True)
class Incoming:
    """A memory about to come in from a file, all of it checked. Times are epoch seconds.

    ``states`` are those of ``archived_at``, ``superseded_at``, ``deleted_at`` and
    ``review_state`` that it has; ``notices`` say which keys and passwords were in it.
    ``imposed`` fields are those of the import, not of the file: they hold for what is new alone.
    """

    uid: str
    fields: Mapping[str, FieldValue]
    workspace: str
    created_at: float
    updated_at: float
    revision: int
    position: int | None = None
    scope: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, FieldValue] = field(default_factory=dict)
    superseded_by: str | None = None
    strength: SavedStrength | None = None
    vectors: tuple[SavedVector, ...] = ()
    notices: tuple[Notice, ...] = ()
    imposed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Filling:
    """What fills in for a file that does not say: ``stated`` fields hold whatever the file says,
    ``missing`` ones where it says nothing; ``workspace`` likewise, and ``now`` for its date."""

    now: float
    stated: Mapping[str, object] = field(default_factory=dict)
    missing: Mapping[str, object] = field(default_factory=dict)
    workspace: str | None = None
    into: str | None = None


def checked(context: EngineContext, saved: SavedMemory, filling: Filling) -> Incoming:
    """The memory as it can be stored. Raises :class:`InvalidInput` for what nobody could store."""
    raw = dict(filling.missing) | dict(saved.fields) | dict(filling.stated)
    came = entered(context, {"text": ""} | raw)
    given = came.fields
    created_at = filling.now if saved.created_at is None else saved.created_at
    fields = authored_fields.defaults() | given
    if raw.get("kind") is None:
        fields["kind"] = _kind(context, fields, created_at)
    if raw.get("importance") is None:
        fields["importance"] = context.settings.memory.default_importance
    details.require_fitting(str(fields["kind"]), fields["details"])
    unchanged = fields["text"] == saved.fields.get("text")
    return Incoming(
        uid=saved.uid,
        fields=fields,
        workspace=workspace_name(
            filling.into or saved.workspace or filling.workspace or GLOBAL_WORKSPACE
        ),
        created_at=created_at,
        updated_at=saved.updated_at or created_at,
        revision=max(1, saved.revision or 1),
        position=saved.position,
        scope={name: _name(name, value) for name, value in saved.scope.items()},
        states=_states(saved),
        superseded_by=saved.superseded_by,
        strength=saved.strength,
        vectors=saved.vectors if unchanged else (),
        notices=came.notices,
        imposed=frozenset(filling.stated),
    )


def embedded(incoming: Incoming, space: Embedded | None) -> Embedded | None:
    """The vectors that came along, if they fit the space (of which ``space`` has no pieces)."""
    if space is None or not incoming.vectors:
        return None
    text = str(incoming.fields["text"])
    if not all(_fits(item, len(text), space.identity.dims) for item in incoming.vectors):
        return None
    pieces = (
        EmbeddedPiece(item.start, item.end, item.content_hash, item.vector)
        for item in incoming.vectors
    )
    return Embedded(space.identity, tuple(pieces))


def _kind(context: EngineContext, fields: Mapping[str, FieldValue], created_at: float) -> str:
    detailed = details.kind_of(fields["details"])
    if detailed is not None:
        return detailed
    event_time = fields["event_time"]
    at = float(event_time) if isinstance(event_time, (int, float)) else created_at
    default = context.settings.memory.default_kind
    return kind_of(str(fields["text"]), at, context.zone, default).kind


def _states(saved: SavedMemory) -> dict[str, FieldValue]:
    states = dict(saved.states)
    if saved.superseded_by is not None and "superseded_at" not in states:
        states["superseded_at"] = saved.updated_at or saved.created_at
    return {name: value for name, value in states.items() if value is not None}


def _name(name: str, value: str) -> str:
    if len(value) > _MAX_NAME_CHARS:
        raise InvalidInput("error.too_long", name=name, length=len(value), limit=_MAX_NAME_CHARS)
    return scrub(value)


def _fits(item: SavedVector, length: int, dims: int) -> bool:
    import numpy as np

    if not 0 <= item.start < item.end <= length or len(item.vector) != 2 * dims:
        return False
    vector = np.frombuffer(item.vector, dtype="<f2").astype(np.float32)
    return bool(np.isfinite(vector).all()) and abs(float(vector @ vector) - 1.0) < 0.1


def checked_atom(atom: SavedAtom) -> SavedAtom:
    """An atom whose columns can be stored. Raises :class:`InvalidInput`."""
    values = dict(atom.values)
    values["content_hash"] = content_hash(str(values.get("text", "")))
    missing = [name for name in ATOM if name not in values and name not in _ATOM_MAY_LACK]
    unknown = [name for name in values if name not in ATOM]
    if missing or unknown:
        raise InvalidInput("error.import_record", type="atom", reason=(missing + unknown)[0])
    for name, allowed in _ATOM_WORDS.items():
        values[name] = vocabulary.check(name, str(values[name]), allowed)
    for name in _ATOM_NUMBERS:
        value = values.get(name)
        if value is not None and (isinstance(value, (bool, str)) or not abs(value) < 1e12):
            raise InvalidInput("error.expected_number", name=name)
    whole = {name: values.get(name) for name in ATOM}
    return replace(atom, values=whole | {"text": scrub(str(values["text"]))})


def checked_fact(fact: SavedFact) -> SavedFact:
    """A fact that can be stored. Raises :class:`InvalidInput`."""
    Period(fact.valid_from, fact.valid_to).required()
    return replace(
        fact,
        subject=_term("subject", fact.subject),
        predicate=_term("predicate", fact.predicate),
        object=_term("object", fact.object),
    )


def _term(name: str, value: str) -> str:
    term = " ".join(scrub(value).split())
    if not term:
        raise InvalidInput("error.empty_text", name=name)
    if len(term) > MAX_TERM_CHARS:
        raise InvalidInput("error.too_long", name=name, length=len(term), limit=MAX_TERM_CHARS)
    return term


def checked_link(link: SavedLink) -> SavedLink:
    """A link that can be stored. Raises :class:`InvalidInput`."""
    if link.source == link.target:
        raise InvalidInput("error.import_self_link")
    return replace(link, relation=vocabulary.check("relation", link.relation, RELATIONS))


def checked_alias(alias: SavedAlias) -> SavedAlias:
    """A name that can be stored. Raises :class:`InvalidInput`."""
    vocabulary.check("type", alias.node_type, NODE_TYPES)
    vocabulary.check("origin", alias.origin, (MERGE, RENAME))
    return SavedAlias(
        **{name: scrub(value)[:_MAX_NAME_CHARS] for name, value in asdict(alias).items()}
    )
