"""What other memory programs leave behind comes in once, with its dates, names and relations."""

from __future__ import annotations

import dataclasses
import gzip
import json
import sqlite3
from contextlib import closing

import pytest

from engine.domain.errors import InvalidInput
from engine.domain.fact import FactQuery
from engine.storage import transfer
from tests.engine.use_cases.archives import bring_in, counts, json_lines
from tests.engine.use_cases.shortcuts import found


def run_sql(path, *statements):
    """Make a database as another program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def taken(engine, path):
    """Import a file after a dry run that must have said the same."""
    said = bring_in(engine, path, dry_run=True)
    done = bring_in(engine, path)
    fixed = dataclasses.replace(said, dry_run=False, problems=done.problems)
    assert fixed == dataclasses.replace(done, group_uid=None)
    return done


def memories(engine):
    return {one.text: one for one in engine.list(limit=100).memories}


def links(engine):
    with engine.context.database.read() as connection:
        rows = list(transfer.links(connection))
    return [(engine.get(row.source_id).text[:9], row.relation) for row in rows]


def test_the_memory_server_of_the_protocol(engine, tmp_path):
    path = json_lines(
        tmp_path / "memory.jsonl",
        {
            "type": "entity",
            "name": "小雨",
            "entityType": "person",
            "observations": ["喜欢喝茶", "住在北京"],
        },
        {"type": "entity", "name": "Jiyi", "entityType": "project", "observations": []},
        {"type": "relation", "from": "小雨", "to": "不存在", "relationType": "认识"},
        {"type": "relation", "from": "小雨", "to": "不存在", "relationType": "认识"},
        {"type": "entity", "name": 7},
    )
    report = taken(engine, path)
    assert (report.format, report.new, report.facts, report.bad) == ("memory-server", 4, 1, 0)
    kept = memories(engine)
    assert kept["小雨: 喜欢喝茶"].participants == ("小雨",)
    assert kept["小雨: 喜欢喝茶"].trust == "external"
    facts = engine.facts.query(FactQuery("小雨"))
    assert [(fact.predicate, fact.object) for fact in facts] == [("认识", "不存在")]
    again = bring_in(engine, path)
    assert (again.new, again.same, again.facts) == (0, 4, 0)


def test_mem0(engine, tmp_path):
    path = tmp_path / "mem0.json"
    entry = {
        "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "memory": "Name is Ana",
        "user_id": "ana",
        "run_id": "s1",
        "categories": ["personal_details"],
        "metadata": {"importance": 8},
        "created_at": "2026-05-01T09:30:00-07:00",
        "updated_at": None,
    }
    relation = {"source": "ana", "relationship": "lives_in", "target": "oslo"}
    document = {"results": [entry, {"id": "x"}], "relations": [relation]}
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    report = taken(engine, path)
    assert (report.format, report.new, report.facts, report.bad) == ("mem0", 1, 1, 1)
    kept = engine.list().memories[0]
    assert kept.uid == entry["id"]
    assert (kept.topics, kept.user_id, kept.session_id) == (("personal_details",), "ana", "s1")
    assert (kept.importance, kept.created_at) == (0.8, 1777653000.0)
    path.write_text(json.dumps([entry]), encoding="utf-8")
    assert counts(bring_in(engine, path)) == (0, 1, 0, 0, 0)


def test_basic_memory_notes(engine, tmp_path):
    folder = tmp_path / "basic-memory"
    (folder / "coffee").mkdir(parents=True)
    (folder / "coffee" / "brewing.md").write_text(
        "---\ntitle: Coffee Brewing\ntype: note\npermalink: coffee/coffee-brewing\n"
        "tags: [coffee, brewing]\ncreated: 2026-05-01\n---\n\n# Coffee Brewing\n\n"
        "## Observations\n- [method] Pour over gives more clarity #light (tested)\n"
        "- [ ] buy filters\n\n## Relations\n- refines [[Water]]\n- pairs_well_with [[Cake]]\n"
        "See also [[water]].\n",
        encoding="utf-8",
    )
    (folder / "water.md").write_text("---\ntitle: Water\n---\nSoft water.\n", encoding="utf-8")
    (folder / "broken.md").write_text("---\na: [1\n---\nx", encoding="utf-8")
    report = taken(engine, folder)
    assert (report.format, report.new, report.bad, report.links) == ("basic-memory", 2, 1, 2)
    note = next(one for one in engine.list().memories if one.source_ref == "coffee/brewing.md")
    assert note.key_facts == ("Pour over gives more clarity",)
    assert note.tags == ("coffee", "brewing", "light")
    assert sorted(relation for _, relation in links(engine)) == ["refines", "related"]
    assert bring_in(engine, folder).same == 2


def test_the_store_of_mcp_memory_service(engine, tmp_path):
    path = tmp_path / "sqlite_vec.db"
    run_sql(
        path,
        """CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT, content TEXT,
        tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL,
        created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL)""",
        "CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, created_at REAL)",
        """INSERT INTO memories VALUES
        (1,'h1','A note','a,b','note','{}',1777599000.5,1777599001,'x','x',NULL),
        (2,'h2','A decision','','decision','{bad',1777599002,NULL,'x',NULL,NULL),
        (3,'h3','gone','','note','{}',1,1,'x','x',5.0),
        (4,'h4',' ','','note','{}',1,1,'x','x',NULL)""",
        "INSERT INTO memory_graph VALUES ('h1','h2',1777599003)",
    )
    report = taken(engine, path)
    assert (report.format, report.new, report.bad, report.links) == ("memory-service", 2, 1, 1)
    kept = memories(engine)
    assert kept["A note"].tags == ("a", "b", "note")
    assert kept["A note"].created_at == 1777599000.5
    assert kept["A decision"].kind == "decision"
    assert counts(bring_in(engine, path)) == (0, 2, 0, 0, 1)


@pytest.fixture
def living(tmp_path):
    """A data folder of Aokun Memory."""
    folder = tmp_path / "data"
    folder.mkdir()
    meta = {
        "topics": ["茶"],
        "participants": ["小雨"],
        "key_facts": ["小雨喜欢茶，尤其绿茶"],
        "sentiment": "positive",
        "importance": 0.8,
        "pinned": True,
        "session_id": "s1",
        "persona_id": "p1",
        "access_count": 4,
        "create_time": 1777599000.25,
        "last_access_time": 1777600000,
    }
    archived = json.dumps({"status": "archived", "importance": 0.2, "create_time": 1777599001})
    run_sql(
        folder / "aokun_memory.db",
        """CREATE TABLE documents (id INTEGER PRIMARY KEY, doc_id TEXT, text TEXT, metadata TEXT,
        created_at TEXT, updated_at TEXT)""",
        """CREATE TABLE memory_atoms (id INTEGER PRIMARY KEY, parent_memory_id INTEGER,
        content TEXT, status TEXT)""",
        "INSERT INTO documents VALUES (1,'d1',"
        f"'【原始时间 / original time: 2026-05-01 09:30】小雨请大家喝茶','{json.dumps(meta)}',"
        f"'2026-05-01 00:00:00',''),(2,'d2','旧事','{archived}','','')",
        "INSERT INTO memory_atoms VALUES (1,1,'小雨住在北京','active'),(2,1,'忘了','forgotten')",
    )
    run_sql(folder / "aokun_memory_graph_documents.db", "CREATE TABLE documents (id INTEGER)")
    return folder


def test_the_three_layer_store(engine, living):
    for path in (living, living / "aokun_memory.db"):
        report = taken(engine, path)
        assert report.format == "living-memory"
    assert (report.new, report.same, report.bad) == (0, 2, 0)
    kept = memories(engine)["小雨请大家喝茶"]
    assert kept.key_facts == ("小雨喜欢茶，尤其绿茶", "小雨住在北京")
    assert (kept.sentiment, kept.importance, kept.pinned) == ("positive", 0.8, True)
    assert (kept.session_id, kept.persona_id) == ("s1", "p1")
    assert (kept.created_at, kept.event_time) == (1777599000.25, 1777627800.0)
    with engine.context.database.read() as connection:
        strength = transfer.strengths(connection, [kept.id])[kept.id]
    assert (strength["access_count"], strength["last_access"]) == (4, 1777600000.0)
    assert memories(engine)["旧事"].archived_at is not None
    assert kept.id in found(engine, "绿茶")


def test_the_export_file_of_the_three_layer_store(engine, tmp_path):
    path = tmp_path / "export.json"
    entry = {
        "original_id": 7,
        "content": "会议在三点",
        "importance": 9,
        "metadata": {"topics": ["会"]},
    }
    table = {"format": "livingmemory", "schema_version": 1, "memories": [entry, {"content": ""}]}
    path.write_text(json.dumps(table), encoding="utf-8")
    report = taken(engine, path)
    assert (report.format, report.new, report.bad) == ("living-memory", 1, 1)
    assert memories(engine)["会议在三点"].importance == 0.9


def test_ahkai_archives(engine, tmp_path):
    first = {
        "id": "11111111-1111-4111-8111-111111111111",
        "text": "Run make release",
        "type": "procedural",
        "tags": ["deploy"],
        "importance": 0.7,
        "created_at": 1777599000.0,
        "last_accessed": 1777599500.0,
        "access_count": 3,
        "links": [{"to": "22222222-2222-4222-8222-222222222222", "rel": "refines"}],
        "superseded_by": "22222222-2222-4222-8222-222222222222",
        "superseded_at": 1777599600.0,
        "polarity": 1,
        "expires_at": 0.0,
        "embedding": [0.1, 0.2],
    }
    second = {
        "id": "22222222-2222-4222-8222-222222222222",
        "text": "Run make ship",
        "type": "feedback",
        "importance": 0.5,
        "created_at": 1777599100.0,
        "access_count": 0,
        "links": [],
    }
    header = {"format": "ahkai", "version": 1, "embedding_model": "all-MiniLM-L6-v2"}
    path = tmp_path / "dump.ahkai"
    lines = "\n".join(json.dumps(table) for table in (header, first, second))
    path.write_bytes(gzip.compress(lines.encode()))
    report = taken(engine, path)
    assert (report.format, report.new, report.links, report.pending) == ("houkai", 2, 1, 2)
    old, new = engine.get(first["id"]), engine.get(second["id"])
    assert (old.superseded_by, old.superseded_at) == (new.id, 1777599600.0)
    assert (old.kind, old.tags, old.polarity) == ("procedural", ("deploy",), 1)
    assert bring_in(engine, path).same == 2


def test_a_database_of_an_unknown_program_is_refused(engine, tmp_path):
    run_sql(tmp_path / "x.db", "CREATE TABLE secrets (a)")
    with pytest.raises(InvalidInput, match="import_unknown_database"):
        bring_in(engine, tmp_path / "x.db")
    (tmp_path / "y.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(InvalidInput, match="import_database"):
        bring_in(engine, tmp_path / "y.db")
