"""Which memories a request may see, and the filters that narrow it.

All of this is applied inside SQL, before ranking, so that a filtered request for k
memories returns k when k exist.
"""

from __future__ import annotations

from dataclasses import dataclass

STATES = ("live", "archived", "expired", "superseded", "deleted")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look.

    ``kind`` is ``all``, ``workspace`` (the named workspace plus ``global``) or ``domain``
    (every workspace of the named one's domain, plus ``global``). ``exact`` leaves
    ``global`` out.
    """

    kind: str = "all"
    workspace: str | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions a memory must meet. Empty means no condition.

    Times are epoch seconds, both ends inclusive, on ``created_at`` or, with
    ``time_field="event_time"``, on that. Label values match exactly after folding.
    ``moment`` is a window (start, end) on the time a memory speaks of: ``event_time``, or
    ``created_at`` where there is none. ``up_to_id`` leaves out what was written after that
    memory. ``include_*`` lift the states that hide a memory;
    ``deleted_only`` is the trash view. ``state`` asks for exactly one of
    :data:`STATES` and makes the other four irrelevant.
    """

    scope: Scope = Scope()
    kinds: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    session_id: str | None = None
    persona_id: str | None = None
    min_importance: float | None = None
    since: float | None = None
    until: float | None = None
    time_field: str = "created_at"
    moment: tuple[float, float] | None = None
    up_to_id: int | None = None
    pinned: bool | None = None
    include_archived: bool = True
    include_expired: bool = False
    include_superseded: bool = False
    deleted_only: bool = False
    state: str | None = None

    @property
    def is_broad(self) -> bool:
        """True when at most the hidden states narrow the set: most memories qualify."""
        return (
            self.scope.kind == "all"
            and self.session_id is None
            and self.persona_id is None
            and self.min_importance is None
            and self.since is None
            and self.until is None
            and self.moment is None
            and self.up_to_id is None
            and self.pinned is None
            and not self.deleted_only
            and self.state is None
            and not any(
                (
                    self.kinds,
                    self.tags_all,
                    self.tags_any,
                    self.topics,
                    self.participants,
                    self.sources,
                    self.trusts,
                )
            )
        )
