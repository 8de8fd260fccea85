"""Our own archive: JSON lines, usually packed. The first line is a header.

Records follow one another so that whatever they refer to has been read: workspaces, names,
memories by when they were made, then links, facts, atoms and history. Two archives of the same
memories differ in the header's date alone.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import tzinfo
from functools import partial

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import InvalidInput
from engine.domain.fields import FIELDS
from engine.domain.memory import FieldValue
from engine.exchange import reading
from engine.exchange.records import (
    ARCHIVE,
    LINES,
    Item,
    Placed,
    Saved,
    SavedAlias,
    SavedAtom,
    SavedEntry,
    SavedFact,
    SavedLink,
    SavedMemory,
    SavedStrength,
    SavedVector,
    SavedWorkspace,
    Unreadable,
)
from engine.exchange.values_in import Value

FORMAT = "jiyi"
VERSION = 1
SCOPE = ("session_id", "persona_id", "user_id", "agent", "origin")
STATES = ("archived_at", "superseded_at", "deleted_at", "review_state")
_TIMES = ("event_time", "expires_at")
_STATE_TIMES = ("archived_at", "superseded_at", "deleted_at")
# "type" says what a record is; the type of an atom goes by another name.
_ATOM_NAMES = {"type": "atom_type"}
_ATOM_COLUMNS = {name: column for column, name in _ATOM_NAMES.items()}
_OWN = frozenset(
    {
        *("type", "uid", "workspace", "created_at", "updated_at", "revision", "position"),
        *("superseded_by", "strength", "vectors", *SCOPE, *STATES),
    }
)
NAMES = frozenset(FIELDS) | _OWN
"""Everything that a memory's record can say."""
_TYPES: dict[type[Saved], str] = {
    SavedWorkspace: "workspace",
    SavedAlias: "name",
    SavedMemory: "memory",
    SavedLink: "link",
    SavedFact: "fact",
    SavedAtom: "atom",
    SavedEntry: "history",
}


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line of an archive says: when it was made by which version of the product
    and of the store, in which space its vectors are (a key, or ``None``), with which options,
    and how many records of each kind follow."""

    exported_at: str
    product: str
    schema: int
    space: str | None
    options: Mapping[str, object]
    counts: Mapping[str, int]


def header_line(header: Header) -> str:
    """The first line of an archive."""
    return _line(
        {
            "type": "header",
            "format": FORMAT,
            "version": VERSION,
            "exported_at": header.exported_at,
            "product": header.product,
            "store": {"schema": header.schema},
            "space": None if header.space is None else json.loads(header.space),
            "options": dict(header.options),
            "counts": dict(header.counts),
        }
    )


def is_header(table: Mapping[str, object]) -> bool:
    """Whether an object is the first line of an archive."""
    return table.get("type") == "header" and table.get("format") == FORMAT


def read_header(table: Mapping[str, object]) -> Header:
    """The header that an object is. Raises :class:`InvalidInput` for one of a newer product."""
    version = table.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise InvalidInput("error.import_newer", found=str(version)[:20], known=VERSION)
    space = table.get("space")
    counts = reading.table_of(table.get("counts"))
    schema = reading.table_of(table.get("store")).get("schema")
    return Header(
        exported_at=reading.text(table.get("exported_at"))[:40],
        product=reading.text(table.get("product"))[:40],
        schema=schema if isinstance(schema, int) else 0,
        space=_space_key(space) if isinstance(space, Mapping) else None,
        options=reading.table_of(table.get("options")),
        counts={str(key): value for key, value in counts.items() if isinstance(value, int)},
    )


def kind_of(record: Saved) -> str:
    """How a record is called in the archive and in its counts."""
    return _TYPES[type(record)]


def record_line(record: Saved) -> str:
    """A record as a line of the archive; what says nothing is left out."""
    if isinstance(record, SavedMemory):
        table = _memory_table(record)
    elif isinstance(record, SavedAtom):
        table = {
            "number": record.number,
            "workspace": record.workspace,
            **{_ATOM_NAMES.get(name, name): value for name, value in record.values.items()},
            "mentions": record.mentions,
            "superseded_by": record.superseded_by,
        }
    else:
        table = asdict(record)
    stated = {name: value for name, value in table.items() if value not in (None, (), [])}
    return _line({"type": kind_of(record)} | stated)


def read_record(value: Value, zone: tzinfo | None, format_name: str = ARCHIVE) -> Item:
    """The record that an object of a file is, or why it is none. An object without a type is a
    memory with the names of our fields."""
    kind = value.table.get("type", "memory")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        error = InvalidInput("error.import_record_type", value=str(kind)[:40])
        return Unreadable(value.place, error)
    try:
        return Placed(value.place, reader(value.table, zone, format_name))
    except InvalidInput as error:
        return Unreadable(value.place, error)
    except (KeyError, TypeError, ValueError, OverflowError, Base64Error) as error:
        reason = InvalidInput("error.import_record", type=str(kind), reason=_reason(error))
        return Unreadable(value.place, reason)


def _memory_table(record: SavedMemory) -> dict[str, object]:
    strength = None if record.strength is None else asdict(record.strength)
    vectors = [
        [item.start, item.end, item.content_hash, b64encode(item.vector).decode("ascii")]
        for item in record.vectors
    ]
    return {
        "uid": record.uid,
        "workspace": record.workspace,
        **record.fields,
        **record.scope,
        "position": record.position,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "revision": record.revision,
        **record.states,
        "superseded_by": record.superseded_by,
        "strength": strength,
        "vectors": vectors,
    }


def _memory(table: Mapping[str, object], zone: tzinfo | None, format_name: str) -> SavedMemory:
    moment = partial(_moment, table, zone)
    authored = {name: value for name, value in table.items() if name not in _OWN}
    if format_name == LINES and "text" not in authored and "content" in authored:
        authored["text"] = authored.pop("content")
    key = authored.pop("id", None) if format_name == LINES else None
    for name in _TIMES:
        if authored.get(name) is not None:
            authored[name] = moment(name)
    states: dict[str, FieldValue] = {name: moment(name) for name in _STATE_TIMES}
    states["review_state"] = reading.name(table.get("review_state"))
    successor = table.get("superseded_by")
    return SavedMemory(
        uid=_uid(table, authored, key, format_name),
        fields=authored,
        workspace=reading.name(table.get("workspace")),
        created_at=moment("created_at"),
        updated_at=moment("updated_at"),
        revision=_whole(table.get("revision")),
        position=_whole(table.get("position")),
        scope=reading.names(**{name: table.get(name) for name in SCOPE}),
        states={name: value for name, value in states.items() if value is not None},
        superseded_by=None if successor is None else reading.as_uid(successor, format_name),
        strength=_strength(table.get("strength"), zone),
        vectors=_vectors(table.get("vectors")),
    )


def _uid(
    table: Mapping[str, object], authored: Mapping[str, object], key: object, format_name: str
) -> str:
    """The uid as given; without one a key, or the text with its date, stands for it."""
    if table.get("uid") is not None:
        return reading.as_uid(table["uid"], format_name)
    if key is not None:
        return reading.as_uid(key, format_name)
    text = reading.text(authored.get("text"))
    return reading.derived_uid(format_name, f"{table.get('created_at') or ''}\n{text}")


def _moment(table: Mapping[str, object], zone: tzinfo | None, name: str) -> float | None:
    return reading.moment(table.get(name), zone)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _strength(value: object, zone: tzinfo | None) -> SavedStrength | None:
    if not isinstance(value, Mapping):
        return None
    return SavedStrength(
        importance_now=_within(value["importance_now"], 0.0, 1.0),
        salience=_within(value.get("salience", 1.0), 0.0, 2.0),
        last_access=reading.moment(value.get("last_access"), zone),
        access_count=max(0, int(value.get("access_count", 0))),
        access_window=_within(value.get("access_window", 0.0), 0.0, 1e9),
        decayed_until=_within(value.get("decayed_until", 0.0), 0.0, 1e11),
    )


def _within(value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(str(value)[:40])
    return float(value)


def _vectors(value: object) -> tuple[SavedVector, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        SavedVector(int(start), int(end), str(digest), b64decode(packed, validate=True))
        for start, end, digest, packed in value
    )


def _link(table: Mapping[str, object], zone: tzinfo | None, format_name: str) -> SavedLink:
    return SavedLink(
        source=reading.as_uid(table["source"], format_name),
        target=reading.as_uid(table["target"], format_name),
        relation=_stated(table, "relation"),
        created_at=_moment(table, zone, "created_at"),
    )


def _fact(table: Mapping[str, object], zone: tzinfo | None, format_name: str) -> SavedFact:
    parts = {name: _stated(table, name) for name in ("subject", "predicate", "object")}
    moment = partial(_moment, table, zone)
    origin = table.get("memory")
    key = table.get("uid") or "\n".join([*parts.values(), str(table.get("valid_from") or "")])
    return SavedFact(
        uid=reading.as_uid(key, format_name),
        **parts,
        workspace=reading.name(table.get("workspace")),
        valid_from=moment("valid_from"),
        valid_to=moment("valid_to"),
        confidence=_within(table.get("confidence", 1.0), 0.0, 1.0),
        memory=None if origin is None else reading.as_uid(origin, format_name),
        created_at=moment("created_at"),
        updated_at=moment("updated_at"),
    )


def _atom(table: Mapping[str, object], zone: tzinfo | None, format_name: str) -> SavedAtom:
    own = ("type", "number", "workspace", "mentions", "superseded_by")
    mentions = table["mentions"]
    if not isinstance(mentions, list):
        raise TypeError("mentions")
    return SavedAtom(
        number=int(str(table["number"])),
        workspace=_stated(table, "workspace"),
        values={
            _ATOM_COLUMNS.get(name, name): _plain(value)
            for name, value in table.items()
            if name not in own
        },
        mentions=tuple((reading.as_uid(uid, format_name), float(at)) for uid, at in mentions),
        superseded_by=_whole(table.get("superseded_by")),
    )


def _plain(value: object) -> str | float | int | None:
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(str(value)[:40])


def _alias(table: Mapping[str, object], zone: tzinfo | None, format_name: str) -> SavedAlias:
    columns = [column.name for column in fields(SavedAlias)]
    return SavedAlias(**{name: _stated(table, name) for name in columns})


def _workspace(
    table: Mapping[str, object], zone: tzinfo | None, format_name: str
) -> SavedWorkspace:
    made = _moment(table, zone, "created_at")
    return SavedWorkspace(_stated(table, "name"), _stated(table, "domain"), made or 0.0)


def _entry(table: Mapping[str, object], zone: tzinfo | None, format_name: str) -> SavedEntry:
    at = _moment(table, zone, "at")
    texts = (_stated(table, name) for name in ("operation", "actor", "changes"))
    return SavedEntry(_stated(table, "uid"), at or 0.0, *texts)


def _stated(table: Mapping[str, object], name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str) or not value.strip():
        raise KeyError(name)
    return value


def _space_key(space: Mapping[str, object]) -> str:
    try:
        return SpaceIdentity(**space).key  # type: ignore[arg-type]
    except TypeError as error:
        raise InvalidInput("error.import_record", type="header", reason="space") from error


def _line(table: Mapping[str, object]) -> str:
    return json.dumps(table, ensure_ascii=False, separators=(",", ":"))


def _reason(error: Exception) -> str:
    return str(error.args[0] if error.args else error)[:60]


_Reader = Callable[[Mapping[str, object], "tzinfo | None", str], Saved]
_READERS: Mapping[str, _Reader] = {
    "memory": _memory,
    "link": _link,
    "fact": _fact,
    "atom": _atom,
    "workspace": _workspace,
    "name": _alias,
    "history": _entry,
}


def authored_of(values: Mapping[str, FieldValue]) -> dict[str, object]:
    """The authored fields of a memory as an archive states them: no empty ones."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if not (value is None or value is False or value == ())
    }
