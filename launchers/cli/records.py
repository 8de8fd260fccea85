"""The JSON shapes that scripts rely on, and the short forms that people see.

Keys are only ever added, never renamed or removed.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import tzinfo
from typing import TYPE_CHECKING

from engine.domain import details
from engine.domain.memory import JournalEntry, Memory
from engine.domain.times import day, iso

if TYPE_CHECKING:
    from engine.use_cases.recall import Hit
    from launchers.cli.output import Output

_TIMES = (
    "created_at",
    "updated_at",
    "event_time",
    "expires_at",
    "archived_at",
    "superseded_at",
    "deleted_at",
)


def memory_record(memory: Memory, now: float, zone: tzinfo | None) -> dict[str, object]:
    """Every field of a memory and its ``state``; times are ISO 8601 with offset or null."""
    record: dict[str, object] = {
        field.name: getattr(memory, field.name) for field in fields(memory)
    }
    record["details"] = details.read(memory.details) or None
    for name in _TIMES:
        instant = getattr(memory, name)
        record[name] = None if instant is None else iso(instant, zone)
    return record | {"state": memory.state(now)}


def hit_record(hit: Hit, now: float, zone: tzinfo | None) -> dict[str, object]:
    """A memory with its place in an answer: score, strength and how the score came about."""
    signals = {
        line.signal: {
            "value": line.value,
            "weight": line.weight,
            "contribution": line.contribution,
        }
        for line in hit.signals
    }
    return memory_record(hit.memory, now, zone) | {
        "score": hit.score,
        "strength": hit.strength,
        "weak": hit.weak,
        "cosine": hit.cosine,
        "coverage": hit.coverage,
        "matched": list(hit.matched),
        "newer": hit.newer,
        "linked_from": None if hit.expansion is None else hit.expansion.source_id,
        "signals": signals,
    }


def journal_record(entry: JournalEntry, zone: tzinfo | None) -> dict[str, object]:
    """One change: what it was, who made it, and each field before and after."""
    return {
        "id": entry.id,
        "at": iso(entry.at, zone),
        "operation": entry.operation,
        "actor": entry.actor,
        "group": entry.group_uid,
        "kind": entry.subject_kind,
        "subject": entry.subject_id,
        "subject_uid": entry.subject_uid,
        "other": entry.other_id,
        "undoes": entry.undoes,
        "changes": {
            name: {"before": before, "after": after}
            for name, (before, after) in entry.changes.items()
        },
    }


def preview(content: str, limit: int, output: Output) -> str:
    """A text on one line; what is cut off is marked with the full length."""
    line = " ".join(content.split())
    if len(line) <= limit:
        return line
    return line[:limit] + output.say("cli.cut", count=len(content))


def shown_day(memory: Memory, zone: tzinfo | None) -> str:
    """The day it happened, or else the day it was learned."""
    return day(memory.created_at if memory.event_time is None else memory.event_time, zone)


def shown_state(state: str, output: Output) -> str:
    """A mark for a state other than live."""
    return "" if state == "live" else output.say(f"cli.state.{state}")
