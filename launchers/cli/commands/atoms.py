"""``jiyi atoms``: facts, their types and how long they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.config.live import LiveSettings
from engine.domain.atom import ATOM_TYPES, Atom, AtomFilters, Classification
from engine.domain.scope import Filters
from engine.domain.times import day, iso, parse_instant, zone_named
from engine.domain.vocabulary import check
from engine.use_cases.atoms import AtomView, classify
from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session
from launchers.cli.streams import read_stdin

ACTIONS = ("list", "show", "classify", "reinforce", "expire", "wake", "type")
_ON_ONE = ("show", "reinforce", "expire", "wake", "type")


@dataclass(frozen=True, slots=True)
class AtomOptions:
    """What narrows the list, and the moment of a classification."""

    type: Annotated[list[str] | None, option("--type", key="atom_type")] = None
    state: Annotated[list[str] | None, option("--state", key="atom_state")] = None
    limit: Annotated[int, option("--limit", "-n", key="limit")] = 20
    cursor: Annotated[str | None, option("--cursor", key="cursor")] = None
    now: Annotated[str | None, option("--now", key="atom_now", metavar="ISO")] = None


def atoms_command(
    context: typer.Context,
    general: GeneralOptions,
    given: AtomOptions,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[list|show|classify|reinforce|expire|wake|type]",
            help="cli.argument.atom_action",
        ),
    ] = "list",
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[NUMBER [TYPE]]", help="cli.argument.atom_ref")
    ] = None,
) -> int:
    """List atoms, show or change one, or classify the lines of standard input."""
    session = open_session(context, general)
    chosen = check("action", action, ACTIONS)
    named = words or []
    _refuse_surplus(chosen, named)
    if chosen == "classify":
        return _classify(session, given.now)
    with session.engine() as engine:
        if chosen == "list":
            return _list(session, engine, given)
        if chosen == "show":
            return _show(session.output, engine, engine.atom(named[0]))
        atom = _change(session, engine, chosen, named)
    return _tell(session.output, engine, atom)


def _refuse_surplus(action: str, named: Sequence[str]) -> None:
    wanted = 2 if action == "type" else int(action in _ON_ONE)
    if len(named) > wanted:
        raise Misuse("cli.usage.surplus", words=" ".join(named[wanted:]))
    if action in _ON_ONE and not named:
        raise Misuse("cli.atoms.needs_ref", action=action)
    if action == "type" and len(named) < wanted:
        raise Misuse("cli.atoms.needs_type", allowed=", ".join(ATOM_TYPES))


def _classify(session: Session, moment: str | None) -> int:
    """Needs no store and makes none."""
    now, zone = _reading(session, moment)
    lines = [line.strip() for line in read_stdin().splitlines()]
    found = classify([line for line in lines if line], session.home, now, zone)
    output = session.output
    if output.format == "json":
        output.json([_fact_record(fact, zone) for fact in found.facts])
    else:
        names = ("type", "confidence", "deadline", "rule", "text")
        _rows(output, names, [_fact_cells(output, fact, zone) for fact in found.facts])
    for problem in found.problems:
        output.error(problem)
    return 0


def _reading(session: Session, moment: str | None) -> tuple[float, tzinfo | None]:
    """The moment and the zone in which days begin: the one that the moment names, else the
    configured one."""
    name = LiveSettings(session.home, session.environ).current().timezone
    zone = zone_named(name) if name else None
    if moment is None:
        return datetime.now(UTC).timestamp(), zone
    now = parse_instant(moment, zone)
    return now, _offset(moment) or zone


def _offset(moment: str) -> tzinfo | None:
    try:
        return datetime.fromisoformat(moment.strip()).tzinfo
    except ValueError:
        return None


def _fact_record(fact: Classification, zone: tzinfo | None) -> dict[str, object]:
    """The day of a deadline, in the zone of the reading."""
    return {
        "text": fact.text,
        "type": fact.type,
        "confidence": fact.confidence,
        "deadline": None if fact.deadline is None else day(fact.deadline, zone),
        "rule": fact.rule,
    }


def _fact_cells(output: Output, fact: Classification, zone: tzinfo | None) -> list[object]:
    record = _fact_record(fact, zone)
    named = output.say(f"cli.atoms.type.{fact.type}") if output.format == "table" else fact.type
    return [named, fact.confidence, record["deadline"] or "-", fact.rule, fact.text]


def _list(session: Session, engine: Engine, given: AtomOptions) -> int:
    filters = AtomFilters(
        types=tuple(given.type or ()),
        states=tuple(given.state or ()),
        memories=Filters(
            scope=session.scope(engine), include_expired=True, include_superseded=True
        ),
    )
    page = engine.atoms(filters, limit=given.limit, cursor=given.cursor)
    output, zone = session.output, engine.context.zone
    if output.format == "json":
        records = [_atom_record(view, zone) for view in page.atoms]
        output.json({"atoms": records, "next_cursor": page.next_cursor, "total": page.total})
        return 0
    names = ("id", "type", "state", "value", "until", "text")
    _rows(output, names, [_atom_cells(output, view, zone) for view in page.atoms])
    if not page.atoms:
        output.note("cli.atoms.empty")
    if page.next_cursor is not None:
        output.note("cli.atoms.more", total=page.total, cursor=page.next_cursor)
    return 0


def _atom_cells(output: Output, view: AtomView, zone: tzinfo | None) -> list[object]:
    atom = view.atom
    words = (atom.type, atom.state)
    if output.format == "table":
        words = (
            output.say(f"cli.atoms.type.{atom.type}"),
            output.say(f"cli.atoms.state.{atom.state}"),
        )
    return [f"#{atom.id}", *words, f"{view.value:.2f}", _until(atom, zone), atom.text]


def _show(output: Output, engine: Engine, view: AtomView) -> int:
    zone = engine.context.zone
    record = _atom_record(view, zone)
    if output.format == "json":
        output.json(record)
    elif output.format == "tsv":
        output.tsv(record.items())
    else:
        output.table((Column(""), Column("", wraps=True)), record.items())
    return 0


def _atom_record(view: AtomView, zone: tzinfo | None) -> dict[str, object]:
    atom = view.atom

    def moment(instant: float | None) -> str | None:
        return None if instant is None else iso(instant, zone)

    return {
        "id": atom.id,
        "text": atom.text,
        "type": atom.type,
        "state": atom.state,
        "value": round(view.value, 4),
        "confidence": atom.confidence,
        "importance": atom.importance,
        "polarity": atom.polarity,
        "deadline": moment(atom.deadline),
        "event_time": moment(atom.event_time),
        "created_at": moment(atom.created_at),
        "refreshed_at": moment(atom.refreshed_at),
        "expires_at": moment(atom.expires_at),
        "ttl_days": atom.ttl_days,
        "curve": atom.curve,
        "reinforcement_count": atom.reinforcement_count,
        "superseded_by": atom.superseded_by,
        "rule": atom.rule,
        "memories": list(view.memory_ids),
    }


def _change(session: Session, engine: Engine, action: str, named: Sequence[str]) -> Atom:
    caller = session.reader()
    if action == "type":
        return engine.correct_atom_type(named[0], named[1], caller)
    change = {
        "reinforce": engine.reinforce_atom,
        "expire": engine.expire_atom,
        "wake": engine.wake_atom,
    }[action]
    return change(named[0], caller)


def _tell(output: Output, engine: Engine, atom: Atom) -> int:
    zone = engine.context.zone
    if output.format == "json":
        output.json({"id": atom.id, "type": atom.type, "state": atom.state})
    state = output.say(f"cli.atoms.state.{atom.state}")
    output.note("cli.atoms.changed", ref=f"#{atom.id}", state=state, until=_until(atom, zone))
    return 0


def _until(atom: Atom, zone: tzinfo | None) -> str:
    return "-" if atom.expires_at is None else day(atom.expires_at, zone)


def _rows(output: Output, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    if output.format == "tsv":
        output.tsv(rows)
    elif rows:
        columns = [
            Column(output.say(f"cli.atoms.column.{name}"), wraps=name == "text") for name in names
        ]
        output.table(columns, rows)
