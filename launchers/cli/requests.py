"""From options to the engine's requests."""

from __future__ import annotations

from engine.bootstrap import Engine
from engine.domain.errors import InvalidInput
from engine.domain.scope import Filters
from engine.domain.times import parse_instant
from engine.domain.vocabulary import KINDS, TRUSTS, check
from engine.use_cases.time_bounds import time_bounds
from launchers.cli.options import FieldOptions, FilterOptions
from launchers.cli.session import Session

TIME_FIELDS = ("created_at", "event_time")
FIELD_NAMES = {
    "topic": "topics",
    "participant": "participants",
    "fact": "key_facts",
    "tag": "tags",
    "pin": "pinned",
    "detail": "details",
}
"""Options whose field has another name."""

_INSTANTS = ("event_time", "expires_at")


def authored_fields(engine: Engine, given: FieldOptions) -> dict[str, object]:
    """The fields that were given on the command line, by their stored name."""
    found: dict[str, object] = {}
    for name in FieldOptions.__dataclass_fields__:
        value = getattr(given, name)
        if name == "ttl" or value is None or value == []:
            continue
        if name in _INSTANTS:
            value = parse_instant(value, engine.context.zone)
        elif name == "detail":
            value = _details(value)
        found[FIELD_NAMES.get(name, name)] = value
    return found


def _details(given: list[str]) -> dict[str, object]:
    """Details from ``name=value``; a name given several times has a list."""
    found: dict[str, list[str]] = {}
    for pair in given:
        name, sign, value = pair.partition("=")
        if not sign:
            raise InvalidInput("error.expected_details")
        found.setdefault(name.strip(), []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def filters(
    engine: Engine, session: Session, given: FilterOptions, *, trash: bool = False
) -> Filters:
    """What a recall or list is narrowed to."""
    now, zone = engine.context.clock.now(), engine.context.zone
    since, until = time_bounds(given.since, given.until, now, zone)
    return Filters(
        scope=session.scope(engine),
        kinds=_checked("--kind", given.kind, KINDS),
        tags_all=tuple(given.tag or ()),
        tags_any=tuple(given.any_tag or ()),
        topics=tuple(given.topic or ()),
        participants=tuple(given.participant or ()),
        sources=tuple(given.source or ()),
        trusts=_checked("--trust", given.trust, TRUSTS),
        session_id=given.session,
        persona_id=given.persona,
        min_importance=given.min_importance,
        since=since,
        until=until,
        time_field=check("--time-field", given.time_field, TIME_FIELDS),
        pinned=given.pinned,
        include_archived=not given.no_archived,
        include_expired=given.include_expired,
        include_superseded=given.include_superseded,
        deleted_only=trash,
    )


def _checked(name: str, values: list[str] | None, allowed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(check(name, value, allowed) for value in values or ())
