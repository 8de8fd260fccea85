"""Records: memories of a structured kind, and answers that close a question.

The body is put together from the details, so that every part of a record can be found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.config.messages import text as sentence
from engine.context import EngineContext
from engine.domain import details
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.ids import parse_ref
from engine.domain.memory import FieldValue, Memory
from engine.domain.text import scrub
from engine.domain.vocabulary import check
from engine.extraction.summary import language_of
from engine.storage import journal, memories
from engine.storage.database import Connection
from engine.storage.journal import Stamp
from engine.writing import links
from engine.writing import memories as writing
from engine.writing.layers import derive

REFINES = "refines"
RECORD_KINDS = (*details.FIELDS_BY_KIND, "directive")
_LEADING = {
    "decision": "what",
    "resolved": "problem",
    "question": "question",
    "knowledge": "statement",
}


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """What to record. ``details`` are those of its kind, for a directive its one ``text``.
    ``fields`` are further authored fields. ``answers`` names an open question that is answered
    by it."""

    kind: str
    details: Mapping[str, object]
    fields: Mapping[str, object] = field(default_factory=dict)
    workspace: str | None = None
    answers: str | int | None = None


@dataclass(frozen=True, slots=True)
class Composed:
    """The authored fields of the memory that a record becomes."""

    fields: Mapping[str, object]
    workspace: str | None


def record(
    context: EngineContext,
    request: RecordRequest,
    caller: Caller,
    store: Callable[[Composed], Memory],
) -> tuple[Memory, Memory | None]:
    """Store a record; return it, and the question that it closed, if any.

    ``store`` writes the memory. The link and the closing of the question join its group in the
    journal, so that one undo takes all of it back. Raises InvalidInput, NotFound, and Conflict
    for a question that is not open; then nothing is written.
    """
    composed = Composed(_fields(request), request.workspace)
    if request.answers is not None:
        with context.database.read() as connection:
            _open_question(connection, request.answers)
    stored = store(composed)
    if request.answers is None:
        return stored, None
    with context.database.write() as connection:
        question = _open_question(connection, request.answers)
        return stored, _close(context, connection, question, stored, caller)


def _fields(request: RecordRequest) -> dict[str, object]:
    kind = check("kind", request.kind, RECORD_KINDS)
    given = {name: value for name, value in request.details.items() if value}
    if kind == "directive":
        return {**request.fields, "kind": kind, "text": str(given.get("text", ""))}
    checked = details.checked(given)
    details.require_fitting(kind, checked)
    values = details.read(checked)
    if _LEADING[kind] not in values:
        raise InvalidInput("error.record_needs", kind=kind, name=_LEADING[kind])
    return {**request.fields, "kind": kind, "details": given, "text": _body(kind, values)}


def _body(kind: str, values: Mapping[str, details.DetailValue]) -> str:
    """The leading part bare, the others each on a line of its own behind its name."""
    shown = {name: _shown(value) for name, value in values.items() if not isinstance(value, int)}
    leading = shown[_LEADING[kind]]
    language = language_of(list(shown.values()))
    order = [name for name in details.FIELDS_BY_KIND[kind] if name in shown and name != "status"]
    rest = [
        sentence(f"records.{name}", language, value=shown[name])
        for name in order
        if name != _LEADING[kind]
    ]
    return "\n".join([leading, *rest])


def _shown(value: details.DetailValue) -> str:
    return "; ".join(value) if isinstance(value, tuple) else str(value)


def _open_question(connection: Connection, ref: str | int) -> Memory:
    memory = memories.find(connection, parse_ref(ref))
    if memory.kind != "question" or memory.deleted_at is not None:
        raise Conflict("error.no_question", ref=f"#{memory.id}", kind=memory.kind)
    if details.read(memory.details).get("status", "open") != "open":
        raise Conflict("error.question_closed", ref=f"#{memory.id}")
    return memory


def _close(
    context: EngineContext,
    connection: Connection,
    question: Memory,
    answer: Memory,
    caller: Caller,
) -> Memory:
    group = journal.history(connection, answer.id)[0].group_uid
    stamp = Stamp(caller.actor, context.clock.now(), group)
    known = details.read(question.details) | {
        "status": "answered",
        "answer": scrub(answer.text)[: details.MAX_DETAIL_CHARS],
    }
    values: dict[str, FieldValue] = {"details": details.checked(known)}
    fields = writing.authored(question) | values
    layers = derive(context, fields, None, question.created_at)
    closed = writing.edit(connection, question, values, layers, stamp)
    links.put(connection, answer, question, REFINES, stamp)
    return closed
