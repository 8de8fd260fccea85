"""The briefing: what is worth knowing before anything is asked.

It is baked into a file of the cache whenever something changed, and served from there with a
look at the memories it names: no search, no model.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from engine.config.file import draft_beside
from engine.context import EngineContext
from engine.domain.briefing import (
    DIRECTIVES,
    PINNED,
    SECTIONS,
    STANDING,
    Briefing,
    ServedBriefing,
    ServedFact,
    ServedSession,
    SessionNote,
)
from engine.domain.fact import ACTIVE, Fact
from engine.domain.memory import GLOBAL_WORKSPACE, Memory
from engine.domain.scope import Filters, Scope
from engine.storage import changes, facts, highlights, memories
from engine.storage.database import Connection

log = logging.getLogger("jiyi.briefing")

IMPORTANT_FROM = 0.8
_STANDING_MAX = 50
_SECTION_MAX = 20
_PREFIX = "briefing-"
_UNSAFE = re.compile(r"[^0-9A-Za-z_-]+")
_FORM = 2
# Newer changes than these are looked through for standing memories when a briefing is served.
_CHANGES_SEEN = 2_000
_DAY_S = 86_400.0
# Nobody may act on a file from outside: an order that came from the web is no directive.
_VOUCHED = ("user", "assistant")


def current_briefing(
    context: EngineContext, workspace: str, sections: Collection[str] = SECTIONS
) -> ServedBriefing:
    """The briefing of a workspace, also a stale one; baked now only when there is none.

    Only the memories of ``sections`` are fetched. Directives and pinned memories are always as
    they are now. A stale one asks the background for a new one.
    """
    found = _read(context, workspace) or _kept(context, workspace)
    served = _served(context, found, sections)
    if served.stale:
        _ask_for_another(context, workspace)
    return served


def refresh_briefing(context: EngineContext, workspace: str) -> ServedBriefing:
    """Bake the briefing of a workspace at once, and keep it as far as the cache takes it."""
    return _served(context, _kept(context, workspace), SECTIONS)


def refresh_stale_briefings(context: EngineContext) -> int:
    """Bake again what is stale, was asked for lately and is not too young; for the background.

    Returns how many were made.
    """
    settings, now = context.settings.briefing, context.clock.now()
    with context.database.read() as connection:
        mark = changes.history_uid(connection), changes.last(connection)
    made = 0
    for path in _folder(context).glob(f"{_PREFIX}*.json"):
        briefing = _parsed(path)
        if briefing is None or now - _asked_at(path) > settings.days * _DAY_S:
            continue
        is_young = 0 <= now - briefing.built_at < settings.interval_minutes * 60
        if not is_young and _is_stale(context, briefing, mark):
            _kept(context, briefing.workspace)
            made += 1
    return made


def _kept(context: EngineContext, workspace: str) -> Briefing:
    """A new briefing, written into the cache; asking for it is what keeps it being renewed."""
    asked_at = _asked_at(_path(context, workspace)) or context.clock.now()
    briefing = _baked(context, workspace)
    try:
        _write(context, briefing, asked_at)
    except OSError as error:
        # A cache that cannot be written costs time, not the answer.
        log.warning("the briefing cannot be kept: %s", error.strerror or error)
    return briefing


def _baked(context: EngineContext, workspace: str) -> Briefing:
    settings, now = context.settings.briefing, context.clock.now()
    with context.database.read() as connection:
        since = now - settings.days * _DAY_S
        return Briefing(
            workspace=workspace,
            built_at=now,
            change=changes.last(connection),
            history_uid=changes.history_uid(connection),
            sections=_sections(connection, workspace, now),
            sessions=tuple(
                highlights.sessions(
                    connection, _shown(workspace, since=since), now, settings.max_sessions
                )
            ),
            facts=tuple(
                facts.active_ids(connection, Scope("workspace", workspace), now, _SECTION_MAX)
            ),
        )


def _sections(connection: Connection, workspace: str, now: float) -> dict[str, tuple[int, ...]]:
    def of_kind(*kinds: str) -> list[int]:
        return highlights.newest(connection, _shown(workspace, kinds=kinds), now, _SECTION_MAX)

    def of_atoms(atom_type: str) -> list[int]:
        return highlights.with_atoms(connection, atom_type, shown, now, _SECTION_MAX)

    shown = _shown(workspace)
    standing = {
        DIRECTIVES: _shown(workspace, kinds=("directive",), trusts=_VOUCHED),
        PINNED: _shown(workspace, pinned=True),
    }
    important = _shown(workspace, min_importance=IMPORTANT_FROM)
    found = {
        name: highlights.most_important(connection, filters, now, _STANDING_MAX)
        for name, filters in standing.items()
    } | {
        "important": highlights.most_important(connection, important, now, _SECTION_MAX),
        "people": of_atoms("relational"),
        "preferences": _joined(of_kind("feedback"), of_atoms("preference")),
        "procedures": of_kind("procedural"),
        "decisions": of_kind("decision"),
        "resolved": of_kind("resolved"),
        "questions": highlights.open_questions(connection, shown, now, _SECTION_MAX),
        "facts": _joined(of_kind("knowledge"), of_atoms("factual")),
        "recent": highlights.newest(connection, shown, now, _SECTION_MAX),
    }
    return {name: tuple(found[name]) for name in SECTIONS}


def _joined(*groups: list[int]) -> list[int]:
    return list(dict.fromkeys(memory_id for group in groups for memory_id in group))[:_SECTION_MAX]


def _shown(
    workspace: str,
    *,
    kinds: tuple[str, ...] = (),
    trusts: tuple[str, ...] = (),
    pinned: bool | None = None,
    min_importance: float | None = None,
    since: float | None = None,
) -> Filters:
    """What is shown without being asked for: never archived, expired or superseded ones."""
    return Filters(
        scope=Scope("workspace", workspace),
        kinds=kinds,
        trusts=trusts,
        pinned=pinned,
        min_importance=min_importance,
        since=since,
        include_archived=False,
    )


def _served(
    context: EngineContext, briefing: Briefing, sections: Collection[str]
) -> ServedBriefing:
    now = context.clock.now()
    with context.database.read() as connection:
        mark = changes.history_uid(connection), changes.last(connection)
        stale = _is_stale(context, briefing, mark)
        changed = _changed_since(connection, briefing) if stale else []
        chosen = {name: briefing.sections[name] for name in SECTIONS if name in sections}
        wanted = [memory_id for ids in chosen.values() for memory_id in ids]
        wanted += [note.first_memory_id for note in briefing.sessions]
        known = facts.fetch(connection, briefing.facts)
        wanted += [fact.memory_id for fact in known.values() if fact.memory_id is not None]
        found = memories.fetch(connection, dict.fromkeys([*wanted, *changed]))
    alive = {i: memory for i, memory in found.items() if _may_show(memory, briefing, now)}
    return ServedBriefing(
        workspace=briefing.workspace,
        age_s=max(0.0, now - briefing.built_at),
        stale=stale,
        sections={
            name: tuple(_standing(name, [*ids, *changed], alive))
            if name in STANDING
            else tuple(alive[memory_id] for memory_id in ids if memory_id in alive)
            for name, ids in chosen.items()
        },
        sessions=tuple(
            ServedSession(note, alive[note.first_memory_id])
            for note in briefing.sessions
            if note.first_memory_id in alive
        ),
        facts=tuple(
            ServedFact(known[fact_id], alive.get(known[fact_id].memory_id or 0))
            for fact_id in briefing.facts
            if fact_id in known and _holds(known[fact_id], alive, now)
        ),
    )


def _holds(fact: Fact, alive: Mapping[int, Memory], now: float) -> bool:
    """Whether a fact is true, and what it rests on may be shown."""
    return fact.state(now) == ACTIVE and (fact.memory_id is None or fact.memory_id in alive)


def _standing(name: str, ids: Iterable[int], alive: Mapping[int, Memory]) -> Iterator[Memory]:
    """Those of ``ids`` that belong to a standing section as they are now."""
    for memory_id in dict.fromkeys(ids):
        memory = alive.get(memory_id)
        if memory is None:
            continue
        is_directive = memory.kind == "directive" and memory.trust in _VOUCHED
        if is_directive if name == DIRECTIVES else memory.pinned:
            yield memory


def _changed_since(connection: Connection, briefing: Briefing) -> list[int]:
    """Standing memories made or changed since the baking, the latest first."""
    if changes.history_uid(connection) != briefing.history_uid:
        return []
    return highlights.changed_standing(connection, briefing.change, _CHANGES_SEEN)


def _may_show(memory: Memory, briefing: Briefing, now: float) -> bool:
    here = memory.workspace in (briefing.workspace, GLOBAL_WORKSPACE)
    return here and memory.state(now) == "live"


def _is_stale(context: EngineContext, briefing: Briefing, mark: tuple[str, int]) -> bool:
    age_s = context.clock.now() - briefing.built_at
    too_old = not 0 <= age_s <= context.settings.briefing.max_age_minutes * 60
    return too_old or (briefing.history_uid, briefing.change) != mark


def _ask_for_another(context: EngineContext, workspace: str) -> None:
    with suppress(OSError):
        _mark_asked(_path(context, workspace), context.clock.now())
    context.background.wake()


def _mark_asked(path: Path, at: float) -> None:
    # The file's own time says when it was last asked for.
    os.utime(path, (at, at))


def _asked_at(path: Path) -> float:
    """When the file at ``path`` was last asked for; 0 where there is none."""
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _folder(context: EngineContext) -> Path:
    return context.home / "cache"


def _path(context: EngineContext, workspace: str) -> Path:
    """A name that every file system takes; the digest keeps like names apart."""
    digest = hashlib.sha256(workspace.encode("utf-8", "replace")).hexdigest()[:8]
    name = _UNSAFE.sub("_", workspace)[:40]
    return _folder(context) / f"{_PREFIX}{name}-{digest}.json"


def _write(context: EngineContext, briefing: Briefing, asked_at: float) -> None:
    document: dict[str, object] = {
        "form": _FORM,
        "workspace": briefing.workspace,
        "built_at": briefing.built_at,
        "change": briefing.change,
        "history_uid": briefing.history_uid,
        "sections": {name: list(ids) for name, ids in briefing.sections.items()},
        "sessions": [
            [note.session_id, note.started_at, note.first_memory_id, note.count]
            for note in briefing.sessions
        ],
        "facts": list(briefing.facts),
    }
    target = _path(context, briefing.workspace)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = draft_beside(target, json.dumps(document, ensure_ascii=False).encode(), 0o600)
    try:
        _mark_asked(draft, asked_at)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _read(context: EngineContext, workspace: str) -> Briefing | None:
    briefing = _parsed(_path(context, workspace))
    return briefing if briefing is not None and briefing.workspace == workspace else None


def _parsed(path: Path) -> Briefing | None:
    """The briefing of a file; none when it is missing, damaged or of another form."""
    try:
        document = json.loads(path.read_bytes())
        if document["form"] != _FORM:
            return None
        return Briefing(
            workspace=str(document["workspace"]),
            built_at=float(document["built_at"]),
            change=int(document["change"]),
            history_uid=str(document["history_uid"]),
            sections={
                name: tuple(int(memory_id) for memory_id in document["sections"].get(name, ()))
                for name in SECTIONS
            },
            sessions=tuple(
                SessionNote(str(session), float(at), int(first), int(count))
                for session, at, first, count in document["sessions"]
            ),
            facts=tuple(int(fact_id) for fact_id in document["facts"]),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
