"""One call of every tool of every toolset, in an order in which each has something to work on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

Step = tuple[str, dict[str, object], str]
"""A tool, its arguments, and what its answer must hold."""

ITEMS = [
    {"text": "小明住在杭州", "tags": ["测试"]},
    {"text": "The server runs on port 8787", "kind": "semantic", "importance": 7},
    "我们决定用 SQLite",
]


def steps(home: Path) -> Iterator[Step]:
    """All calls; ``home`` is the project's folder, where session notes are put."""
    (home / "session.md").write_text("# now\n" * 120, encoding="utf-8")
    yield "memorize", {"text": "the lighthouse is by the sea", "tags": "sea,light"}, "Stored #1"
    yield "memorize_many", {"items": ITEMS}, "Stored 3"
    yield "recall", {"query": "lighthouse", "k": "2"}, "│ the lighthouse"
    yield "get_memory", {"id": "#1"}, "revision 1"
    yield "list_memories", {"limit": "5"}, "│ 小明住在杭州"
    yield "edit_memory", {"id": 1, "importance": 9}, "Changed #1: importance"
    yield "memory_context", {}, "Briefing of"
    yield from _keeping()
    yield from _linking()
    yield from _recording()
    yield from _facts()
    yield from _looking_back()
    yield from _standing()
    yield from _files()
    yield "delete_memory", {"id": 1}, "in the trash"
    yield "delete_memories", {"tag": "测试", "confirm": "yes"}, "1 memories are in the trash"


def _keeping() -> Iterator[Step]:
    yield "pin_memory", {"id": 1}, "is pinned"
    yield "archive_memory", {"id": 2}, "archived"
    yield "restore_memory", {"id": 2}, "#2 is back from the archive"
    yield "reinforce_memory", {"id": 1}, "salience"
    yield "undo", {"action": "preview"}, "Would be undone"
    yield "consolidate_memories", {"scope": "all"}, "Nothing to merge"
    yield "search_atoms", {"query": "小明住在哪里"}, "杭州"
    yield "recall_pack", {"query": "lighthouse", "token_budget": "200"}, "lighthouse"
    yield "auto_context", {"task": "where is the lighthouse by the sea"}, ""
    yield "refresh_briefing", {}, "lighthouse"


def _linking() -> Iterator[Step]:
    yield "link_memories", {"source": 1, "target": 3, "relation": "refines"}, "#1 refines #3"
    yield "neighbors", {"id": 1}, "→ refines #3"
    yield "unlink_memories", {"source": 1, "target": 3}, "refines"
    yield "find_conflicts", {"scope": "all"}, "No conflicts"
    yield "graph_neighbourhood", {"name": "小明"}, "小明 (person)"
    yield "memorize", {"text": "The server runs on port 9000 now"}, "Stored #5"
    yield "supersede_memory", {"old": 3, "new": 5}, "#5 stands in place of #3"


def _recording() -> Iterator[Step]:
    yield "record_question", {"question": "Which database?", "priority": "1"}, "Recorded #6"
    yield (
        "record_decision",
        {"what": "Use SQLite", "why": "one file", "alternatives": "Postgres; files", "answers": 6},
        "answers question #6",
    )
    yield "record_resolved", {"problem": "slow start", "fix": "lazy imports"}, "resolved"
    yield "record_knowledge", {"statement": "FTS5 is built in", "reference": "docs"}, "knowledge"
    yield "record_directive", {"text": "Always answer in Chinese"}, "directive"
    yield "summarize_memory", {"conversation": "I like tea.\nTea it is."}, "I like tea"


def _facts() -> Iterator[Step]:
    living: dict[str, object] = {"subject": "Ana", "predicate": "lives in", "object": "Oslo"}
    yield "fact_add", living, "Oslo"
    yield "fact_query", {"entity": "Ana"}, "Oslo"
    yield "fact_timeline", {"entity": "Ana"}, "Oslo"
    yield "fact_stats", {}, "1"
    yield "fact_invalidate", {"id": "1"}, "Oslo"


def _looking_back() -> Iterator[Step]:
    yield "journal_tail", {"n": "5"}, "journal entries"
    yield "history", {"id": 1}, "memorize"
    yield "state_at", {"moment": "8000-01-01", "scope": "all"}, "lighthouse"
    yield "get_at", {"id": 1, "moment": "8000-01-01"}, "lighthouse"


def _standing() -> Iterator[Step]:
    yield "memory_stats", {}, "kind:"
    yield "memory_status", {}, "model_state"
    yield "metrics", {}, "recalls"
    yield "memory_maintenance", {"jobs": ["purge"], "apply": "no"}, ""
    yield "purge_expired", {}, ""
    yield "reflect", {}, ""
    yield "session_check", {}, "too long"


def _files() -> Iterator[Step]:
    yield "export_memories", {"name": "all.jiyi"}, "all.jiyi"
    yield "import_memories", {"name": "all.jiyi"}, ""


def json_of(text: str) -> dict[str, object]:
    """An answer in JSON: one object, never a bare list."""
    found = json.loads(text)
    assert isinstance(found, dict)
    return found
