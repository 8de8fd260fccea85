"""Filters as SQL conditions on the table alias ``m`` (memory)."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.scope import Filters, Scope
from engine.domain.text import scrub
from engine.storage.database import Connection

SqlValue = str | float | int | None


@dataclass(slots=True)
class Condition:
    """A growing conjunction with its named parameters."""

    clauses: list[str] = field(default_factory=list)
    parameters: dict[str, SqlValue] = field(default_factory=dict)

    @property
    def sql(self) -> str:
        """The conjunction, true when nothing was added."""
        return " AND ".join(self.clauses) or "1"

    def add(self, clause: str, **parameters: SqlValue) -> None:
        """One more clause with its named parameters."""
        self.clauses.append(clause)
        for name, value in parameters.items():
            self.parameters[name] = scrub(value) if isinstance(value, str) else value

    def add_one_of(self, column: str, name: str, values: tuple[str, ...]) -> None:
        """The column holds one of the values; nothing is added for no values."""
        if values:
            keys = [f"{name}_{i}" for i in range(len(values))]
            marks = ", ".join(f":{key}" for key in keys)
            self.add(f"{column} IN ({marks})", **dict(zip(keys, values, strict=True)))


def condition(filters: Filters, now: float) -> Condition:
    """The SQL form of ``filters``. Label values must have been folded by the caller."""
    where = Condition()
    _add_states(where, filters, now)
    _add_scope(where, filters.scope)
    where.add_one_of("m.kind", "kind", filters.kinds)
    where.add_one_of("m.source", "source", filters.sources)
    where.add_one_of("m.trust", "trust", filters.trusts)
    _add_labels(where, filters)
    _add_numbers(where, filters)
    return where


# The first of these that is so names the state of a memory.
_STATES = {
    "deleted": "m.deleted_at IS NOT NULL",
    "superseded": "m.superseded_at IS NOT NULL",
    "archived": "m.archived_at IS NOT NULL",
    "expired": "(m.expires_at IS NOT NULL AND m.expires_at <= :now)",
}


def _add_states(where: Condition, filters: Filters, now: float) -> None:
    if filters.state is not None:
        _add_state(where, filters.state, now)
        return
    where.add(f"m.deleted_at IS {'NOT ' if filters.deleted_only else ''}NULL")
    if filters.deleted_only:
        return
    if not filters.include_archived:
        where.add("m.archived_at IS NULL")
    if not filters.include_superseded:
        where.add("m.superseded_at IS NULL")
    if not filters.include_expired:
        where.add("(m.expires_at IS NULL OR m.expires_at > :now)", now=now)


def _add_state(where: Condition, state: str, now: float) -> None:
    where.parameters["now"] = now
    for name, clause in _STATES.items():
        if name == state:
            where.add(clause)
            return
        where.add(f"NOT {clause}")


def workspaces_within(connection: Connection, scope: Scope) -> tuple[int, ...] | None:
    """The workspaces of a scope, ``None`` for all."""
    if scope.kind == "all":
        return None
    chosen = _scope_condition(scope)
    rows = connection.execute(f"SELECT id FROM workspace WHERE {chosen.sql}", chosen.parameters)
    return tuple(int(row[0]) for row in rows)


def _add_scope(where: Condition, scope: Scope) -> None:
    if scope.kind == "all":
        return
    chosen = _scope_condition(scope)
    where.add(f"m.workspace_id IN (SELECT id FROM workspace WHERE {chosen.sql})")
    where.parameters |= chosen.parameters


def _scope_condition(scope: Scope) -> Condition:
    chosen = "name = :workspace"
    if scope.kind == "domain":
        chosen = "domain = (SELECT domain FROM workspace WHERE name = :workspace)"
    where = Condition()
    if scope.exact:
        where.add(chosen, workspace=scope.workspace or GLOBAL_WORKSPACE)
    else:
        where.add(
            f"({chosen} OR name = :global_workspace)",
            workspace=scope.workspace or GLOBAL_WORKSPACE,
            global_workspace=GLOBAL_WORKSPACE,
        )
    return where


def _add_labels(where: Condition, filters: Filters) -> None:
    for name, label in enumerate(filters.tags_all):
        _add_label(where, "tags", f"tag_all_{name}", (label,))
    _add_label(where, "tags", "tag_any", filters.tags_any)
    _add_label(where, "topics", "topic", filters.topics)
    _add_label(where, "participants", "participant", filters.participants)


def _add_label(where: Condition, label_field: str, name: str, values: tuple[str, ...]) -> None:
    if not values:
        return
    inner = Condition()
    inner.add_one_of("l.folded", name, values)
    where.add(
        f"""EXISTS (SELECT 1 FROM memory_label l WHERE l.field = '{label_field}'
        AND l.memory_id = m.id AND {inner.sql})""",
        **inner.parameters,
    )


def _add_numbers(where: Condition, filters: Filters) -> None:
    if filters.session_id is not None:
        where.add("m.session_id = :session_id", session_id=filters.session_id)
    if filters.persona_id is not None:
        where.add("m.persona_id = :persona_id", persona_id=filters.persona_id)
    if filters.min_importance is not None:
        where.add("m.importance >= :min_importance", min_importance=filters.min_importance)
    if filters.pinned is not None:
        where.add("m.pinned = :pinned", pinned=int(filters.pinned))
    column = "m.event_time" if filters.time_field == "event_time" else "m.created_at"
    if filters.up_to_id is not None:
        where.add("m.id <= :up_to_id", up_to_id=filters.up_to_id)
    if filters.moment is not None:
        moment = "coalesce(m.event_time, m.created_at)"
        where.add(f"{moment} >= :moment_start", moment_start=filters.moment[0])
        where.add(f"{moment} <= :moment_end", moment_end=filters.moment[1])
    if filters.since is not None:
        where.add(f"{column} >= :since", since=filters.since)
    if filters.until is not None:
        where.add(f"{column} <= :until", until=filters.until)
