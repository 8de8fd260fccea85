"""From a tool's arguments to the engine's requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.domain.fields import validated
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.scope import Filters, Scope
from engine.domain.times import parse_instant
from engine.domain.vocabulary import KINDS, MODES, SCOPES, TRUSTS, check
from engine.mcp_server.filter_text import spelled_out
from engine.mcp_server.pairs import read_pairs
from engine.mcp_server.parameters import Arguments, labels, plain_text, whole_number
from engine.mcp_server.toolset import MAX_RECALLED
from engine.use_cases.edit import EditRequest
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from engine.use_cases.time_bounds import time_bounds

_FACT_BORDER = re.compile(r"[|｜\n]")
_SWITCH_WORDS = {
    "true": True, "yes": True, "on": True, "1": True, "是": True,
    "false": False, "no": False, "off": False, "0": False, "否": False,
}  # fmt: skip
_TIME_FIELDS = ("created_at", "event_time")
_IMPORTANCE_STEPS = 10

_PLACES = ("workspace", "session", "persona", "ttl", "on_conflict")


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, and the zone in which a time without one is meant."""

    now: float
    zone: tzinfo | None

    def instant(self, value: object) -> float:
        """Epoch seconds of a time as given."""
        return parse_instant(value if isinstance(value, (int, float)) else str(value), self.zone)

    def bounds(self, since: object, until: object) -> tuple[float | None, float | None]:
        """Epoch seconds of the ends of a time filter, where they are given."""
        return time_bounds(_time_or_none(since), _time_or_none(until), self.now, self.zone)


Reader = Callable[[str, object, Moment], object]


def memorize_request(arguments: Arguments, moment: Moment) -> MemorizeRequest:
    """What to store. Raises InvalidInput before anything is written."""
    extra = _read_extra(arguments, _NEW_FIELDS, moment)
    given = extra | _authored(arguments, ("topics", "participants", "tags"))
    fields = {name: value for name, value in given.items() if value is not None}
    fields["text"] = arguments.text("text")
    if arguments.text("event_time") is not None:
        fields["event_time"] = moment.instant(arguments.text("event_time"))
    places = {name: _text_or_none(fields.pop(name, None)) for name in _PLACES}
    validated(fields)
    return MemorizeRequest(
        fields,
        ttl=places["ttl"],
        workspace=places["workspace"],
        session_id=places["session"],
        persona_id=places["persona"],
        on_conflict=places["on_conflict"],
    )


def edit_request(arguments: Arguments, moment: Moment) -> EditRequest:
    """What to change; ``name=null`` among the fields clears one."""
    extra = _read_extra(arguments, _CHANGED_FIELDS, moment)
    ttl = _text_or_none(extra.pop("ttl", None))
    fields = extra | _authored(arguments, ("tags",))
    if arguments.text("text") is not None:
        fields["text"] = arguments.text("text")
    return EditRequest(arguments.text("id") or "", fields, arguments.whole("revision"), ttl)


@dataclass(frozen=True, slots=True)
class Question:
    """A recall as asked: the engine's request, and whether to show why each result came."""

    request: RecallRequest
    explain: bool


def recall_question(arguments: Arguments, moment: Moment, current: str | None) -> Question:
    """A question, within the scope that the caller's ``current`` workspace means."""
    extra = read_named(arguments, "filters", _FILTERS | _RANKING, moment)
    ranking = {name: extra.pop(name, None) for name in _RANKING}
    strength = ranking["min_strength"]
    return Question(
        RecallRequest(
            query=arguments.text("query") or "",
            k=arguments.whole("k"),
            filters=_filters(arguments, extra, moment, current),
            mode=_text_or_none(ranking["mode"]) or MODES[0],
            preset=_text_or_none(ranking["preset"]),
            min_strength=strength if isinstance(strength, float) else None,
            touch=ranking["touch"] is not False,
        ),
        explain=ranking["explain"] is True,
    )


def list_filters(arguments: Arguments, moment: Moment, current: str | None) -> Filters:
    """The filters of a list."""
    extra = read_named(arguments, "filters", _FILTERS, moment)
    return _filters(arguments, extra, moment, current)


def read_named(
    arguments: Arguments, argument: str, readers: Mapping[str, Reader], moment: Moment
) -> dict[str, object]:
    """The named values of a ``pairs`` argument, each converted by its reader; those that are
    ``null`` are left out."""
    given = read_pairs(argument, spelled_out(arguments.pairs(argument), readers), readers)
    return {
        name: readers[name](name, value, moment)
        for name, value in given.items()
        if value is not None
    }


def importance_steps(importance: float) -> str:
    """An importance of 0-1 as assistants see it: 1-10, one decimal if it lies between."""
    return f"{round(importance * _IMPORTANCE_STEPS, 1):g}"


def default_k(configured: int) -> int:
    """How many results an assistant gets when it does not say."""
    return min(configured, MAX_RECALLED)


def _read_extra(
    arguments: Arguments, readers: Mapping[str, Reader], moment: Moment
) -> dict[str, object]:
    given = read_pairs("fields", arguments.pairs("fields"), readers)
    return {
        name: None if value is None else readers[name](name, value, moment)
        for name, value in given.items()
    }


def _authored(arguments: Arguments, label_names: tuple[str, ...]) -> dict[str, object]:
    found: dict[str, object] = {name: arguments.labels(name) for name in label_names}
    found["kind"] = arguments.text("kind")
    importance = arguments.whole("importance")
    found["importance"] = None if importance is None else importance / _IMPORTANCE_STEPS
    return {name: value for name, value in found.items() if value is not None}


def _filters(
    arguments: Arguments, extra: Mapping[str, object], moment: Moment, current: str | None
) -> Filters:
    kinds = labels("kind", arguments.text("kind") or ()) or extra.get("kinds", ())
    chosen: dict[str, object] = {
        _FILTER_NAMES.get(name, name): value for name, value in extra.items()
    }
    chosen["kinds"] = _each("kind", kinds, KINDS)
    chosen["trusts"] = _each("trust", chosen.get("trusts", ()), TRUSTS)
    chosen["scope"] = scope_of(arguments, current)
    since = arguments.text("since") or chosen.get("since")
    chosen["since"], chosen["until"] = moment.bounds(since, chosen.get("until"))
    return Filters(**chosen)  # type: ignore[arg-type]  # each reader gives its field's type


def scope_of(arguments: Arguments, current: str | None) -> Scope:
    """Where to look: the workspace named, else the current one, always with ``global``."""
    kind = check("scope", arguments.text("scope") or SCOPES[0], SCOPES)
    named = arguments.text("workspace")
    if kind == "all":
        if named is not None:
            raise InvalidInput("mcp.scope_all_with_workspace", name=named[:60])
        return Scope()
    return Scope(kind, named or current or GLOBAL_WORKSPACE)


def _each(name: str, values: object, allowed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(check(name, value, allowed) for value in labels(name, values))


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _time_or_none(value: object) -> str | float | None:
    return value if isinstance(value, (str, int, float)) and value != "" else None


def _text(name: str, value: object, moment: Moment) -> str:
    return plain_text(name, value)


def _labels(name: str, value: object, moment: Moment) -> tuple[str, ...]:
    return labels(name, value)


def _facts(name: str, value: object, moment: Moment) -> tuple[str, ...]:
    # A fact is a sentence and may have commas.
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return tuple(fact for part in _FACT_BORDER.split(value) if (fact := part.strip()))
    return labels(name, value)


def _whole(name: str, value: object, moment: Moment) -> int:
    number = whole_number(value)
    if number is None:
        raise InvalidInput("error.expected_number", name=name)
    return number


def _importance(name: str, value: object, moment: Moment) -> float:
    number = whole_number(value)
    if number is None or not 1 <= number <= _IMPORTANCE_STEPS:
        raise InvalidInput(
            "mcp.not_whole", name=name, value=str(value)[:40], low=1, high=_IMPORTANCE_STEPS
        )
    return number / _IMPORTANCE_STEPS


def _number(name: str, value: object, moment: Moment) -> float:
    try:
        return float(plain_text(name, value))
    except ValueError as error:
        raise InvalidInput("error.expected_number", name=name) from error


def _switch(name: str, value: object, moment: Moment) -> bool:
    known = _SWITCH_WORDS.get(plain_text(name, value).strip().lower())
    if known is None:
        raise InvalidInput("error.expected_switch", name=name)
    return known


def _instant(name: str, value: object, moment: Moment) -> float:
    return moment.instant(value)


def _as_given(name: str, value: object, moment: Moment) -> str | float:
    return value if isinstance(value, (int, float)) else plain_text(name, value)


def _time_field(name: str, value: object, moment: Moment) -> str:
    return check(name, plain_text(name, value), _TIME_FIELDS)


def _details(name: str, value: object, moment: Moment) -> object:
    return value if isinstance(value, Mapping) else plain_text(name, value)


_CHANGED_FIELDS: dict[str, Reader] = {
    "summary": _text,
    "persona_summary": _text,
    "key_facts": _facts,
    "sentiment": _text,
    "polarity": _whole,
    "pinned": _switch,
    "private": _switch,
    "source": _text,
    "source_ref": _text,
    "trust": _text,
    "expires_at": _instant,
    "ttl": _text,
    "kind": _text,
    "topics": _labels,
    "participants": _labels,
    "tags": _labels,
    "importance": _importance,
    "event_time": _instant,
    "details": _details,
}
_NEW_FIELDS: dict[str, Reader] = {
    "workspace": _text,
    **_CHANGED_FIELDS,
    "session": _text,
    "persona": _text,
    "on_conflict": _text,
}
_FILTERS: dict[str, Reader] = {
    "kinds": _labels,
    "tags": _labels,
    "tags_any": _labels,
    "tags_all": _labels,
    "topics": _labels,
    "participants": _labels,
    "source": _labels,
    "trust": _labels,
    "since": _as_given,
    "until": _as_given,
    "time_field": _time_field,
    "min_importance": _importance,
    "pinned": _switch,
    "session": _text,
    "persona": _text,
    "include_archived": _switch,
    "include_expired": _switch,
    "include_superseded": _switch,
}
_RANKING: dict[str, Reader] = {
    "mode": _text,
    "preset": _text,
    "min_strength": _number,
    "explain": _switch,
    "touch": _switch,
}
_FILTER_NAMES = {
    "tags": "tags_any",
    "source": "sources",
    "trust": "trusts",
    "session": "session_id",
    "persona": "persona_id",
}
