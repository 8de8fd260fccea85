"""Small sets, written to a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Row = Mapping[str, object]

MEMORIES: Sequence[Row] = (
    {"id": "a1", "space": "a", "text": "The kettle in the kitchen is broken", "time": "2024-03-01"},
    {
        "id": "a2",
        "space": "a",
        "text": "Rent is paid on the first of the month",
        "time": "2024-03-02",
    },
    {
        "id": "a3",
        "space": "a",
        "text": "The bicycle was stolen at the station",
        "time": "2024-03-05",
    },
    {"id": "b1", "space": "b", "text": "The kettle was a present", "time": "2024-01-01"},
    {"id": "b2", "space": "b", "text": "Lessons in pottery begin in May", "time": None},
)
QUERIES: Sequence[Row] = (
    {"id": "q1", "space": "a", "query": "kettle", "gold": ["a1"], "category": "things"},
    {"id": "q2", "space": "a", "query": "bicycle stolen", "gold": ["a3"], "category": "things"},
    {"id": "q3", "space": "b", "query": "pottery lessons", "gold": ["b2"], "category": "plans"},
    {"id": "q4", "space": "b", "query": "who is the mayor", "gold": []},
)


def write_lines(path: Path, rows: Sequence[Row]) -> Path:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_set(
    folder: Path, memories: Sequence[Row] = MEMORIES, queries: Sequence[Row] = QUERIES
) -> Path:
    """A folder with a set."""
    write_lines(folder / "memories.jsonl", memories)
    write_lines(folder / "queries.jsonl", queries)
    return folder
