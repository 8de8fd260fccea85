"""``jiyi facts``: what is true of whom, and when it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import tzinfo
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.fact import Fact, FactQuery, FactRequest
from engine.domain.times import iso, parse_instant
from engine.domain.vocabulary import check
from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session

_TERMS = {"add": 3, "query": 1, "invalidate": 1, "timeline": 1, "stats": 0}
_TIMES = ("valid_from", "valid_to", "created_at", "updated_at")


@dataclass(frozen=True, slots=True)
class FactOptions:
    """What goes with an action."""

    start: Annotated[str | None, option("--from", key="fact_from", metavar="TIME")] = None
    end: Annotated[str | None, option("--to", key="fact_to", metavar="TIME")] = None
    confidence: Annotated[
        float | None, option("--confidence", key="fact_confidence", metavar="0-1")
    ] = None
    memory: Annotated[str | None, option("--memory", key="fact_memory", metavar="REF")] = None
    replace: Annotated[bool | None, option("--replace/--keep", key="fact_replace")] = None
    predicate: Annotated[str | None, option("--predicate", key="fact_predicate")] = None
    as_of: Annotated[str | None, option("--as-of", key="fact_as_of", metavar="TIME")] = None
    direction: Annotated[
        str, option("--direction", key="fact_direction", metavar="subject|object|both")
    ] = "both"
    at: Annotated[str | None, option("--at", key="fact_at", metavar="TIME")] = None


def facts_command(
    context: typer.Context,
    general: GeneralOptions,
    given: FactOptions,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[add|query|invalidate|timeline|stats]", help="cli.argument.fact_action"
        ),
    ] = "stats",
    terms: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="cli.argument.fact_terms")
    ] = None,
) -> int:
    """Add a fact, look facts up, or end one."""
    session = open_session(context, general)
    chosen, named = check("action", action, _TERMS), terms or []
    if len(named) != _TERMS[chosen]:
        raise Misuse("cli.facts.terms", action=chosen, count=_TERMS[chosen])
    with session.engine() as engine:
        if chosen == "add":
            return _add(session, engine, named, given)
        if chosen == "invalidate":
            return _invalidate(session, engine, named[0], given)
        if chosen == "stats":
            return _stats(session, engine)
        return _list(session, engine, chosen, _query(session, engine, named[0], given))


def _add(session: Session, engine: Engine, terms: Sequence[str], given: FactOptions) -> int:
    output, zone = session.output, engine.context.zone
    subject, predicate, value = terms
    request = FactRequest(
        subject,
        predicate,
        value,
        valid_from=_instant(given.start, zone),
        valid_to=_instant(given.end, zone),
        confidence=1.0 if given.confidence is None else given.confidence,
        memory=given.memory,
        functional=given.replace,
    )
    done = engine.facts.add(request, session.caller(engine))
    for notice in done.notices:
        output.note(notice.key, **notice.params)
    if output.format == "json":
        output.json(
            _record(done.fact, engine)
            | {
                "added": done.added,
                "closed": [_record(fact, engine) for fact in done.closed],
                "resumed": [_record(fact, engine) for fact in done.resumed],
                "group": done.group_uid,
            }
        )
        return 0
    _tell(output, "added" if done.added else "known", done.fact, engine)
    for key, some in (("closed", done.closed), ("resumed", done.resumed)):
        for fact in some:
            _tell(output, key, fact, engine)
    return 0


def _invalidate(session: Session, engine: Engine, ref: str, given: FactOptions) -> int:
    output, zone = session.output, engine.context.zone
    done = engine.facts.invalidate(ref, session.reader(), _instant(given.at, zone))
    if output.format == "json":
        output.json(_record(done.fact, engine) | {"changed": done.changed})
    else:
        key = "ended" if done.changed else "ended_before"
        _tell(output, key, done.fact, engine)
    return 0


def _query(session: Session, engine: Engine, name: str, given: FactOptions) -> FactQuery:
    return FactQuery(
        name,
        given.predicate,
        _instant(given.as_of, engine.context.zone),
        given.direction,
        session.scope(engine),
    )


def _list(session: Session, engine: Engine, action: str, query: FactQuery) -> int:
    look = engine.facts.timeline if action == "timeline" else engine.facts.query
    found, output = look(query), session.output
    if output.format == "json":
        output.json([_record(fact, engine) for fact in found])
    elif not found:
        output.note("cli.facts.none")
    elif output.format == "tsv":
        output.tsv(_row(output, fact, engine) for fact in found)
    else:
        names = ("", "_subject", "_predicate", "_object", "_period", "_state", "_memory")
        columns = [Column(output.say(f"cli.column.fact{name}"), wraps=True) for name in names]
        output.table(columns, [_row(output, fact, engine) for fact in found])
    return 0


def _stats(session: Session, engine: Engine) -> int:
    output, found = session.output, engine.facts.stats(session.scope(engine))
    if output.format == "json":
        output.json(asdict(found) | {"by_predicate": dict(found.by_predicate)})
    elif output.format == "tsv":
        counts = asdict(found)
        del counts["by_predicate"]
        output.tsv(counts.items())
    else:
        output.line(output.say("cli.facts.counts", **asdict(found)))
        if found.by_predicate:
            columns = (
                Column(output.say("cli.column.fact_predicate")),
                Column(output.say("cli.column.fact"), right=True),
            )
            output.table(columns, [(name, str(count)) for name, count in found.by_predicate])
    return 0


def _row(output: Output, fact: Fact, engine: Engine) -> tuple[str, ...]:
    state = output.say(f"fact.state.{fact.state(engine.context.clock.now())}")
    source = "" if fact.memory_id is None else f"#{fact.memory_id}"
    period = _period(output, fact, engine.context.zone)
    return f"f{fact.id}", fact.subject, fact.predicate, fact.object, period, state, source


def _record(fact: Fact, engine: Engine) -> dict[str, object]:
    record: dict[str, object] = {field.name: getattr(fact, field.name) for field in fields(fact)}
    for name in _TIMES:
        instant = getattr(fact, name)
        record[name] = None if instant is None else iso(instant, engine.context.zone)
    return record | {"state": fact.state(engine.context.clock.now())}


def _tell(output: Output, key: str, fact: Fact, engine: Engine) -> None:
    """What became of a fact: a sentence, or for a script the word and the fact's row."""
    if output.format == "tsv":
        output.tsv([(key, *_row(output, fact, engine))])
        return
    told = output.say(
        f"cli.facts.{key}",
        id=fact.id,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        period=_period(output, fact, engine.context.zone),
    )
    output.line(told)


def _period(output: Output, fact: Fact, zone: tzinfo | None) -> str:
    key, values = fact.period.told(zone)
    return output.say(key, **values)


def _instant(given: str | None, zone: tzinfo | None) -> float | None:
    return None if given is None else parse_instant(given, zone)
