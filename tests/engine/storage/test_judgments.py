"""Judgments are kept once for each query, workspace and memory."""

from __future__ import annotations

from dataclasses import replace

from engine.domain.judgment import Judgment
from engine.storage import judgments

FIRST = Judgment("Where is it?", "u1", True, grade=2.0, category="place", at=1.0, actor="cli")


def put(database, *given):
    with database.write() as connection:
        for judgment in given:
            judgments.put(connection, judgment, judgment.query.casefold())


def listed(database, folded=None):
    with database.read() as connection:
        return judgments.listed(connection, folded)


def test_a_later_judgment_takes_the_place_of_an_earlier_one(engine):
    database = engine.context.database
    later = replace(FIRST, relevant=False, grade=None, category=None, at=2.0)
    put(database, FIRST, later)
    assert listed(database) == [later]


def test_spellings_of_a_query_are_one_query(engine):
    database = engine.context.database
    other = replace(FIRST, query="WHERE is it?", memory_uid="u2", workspace="")
    put(database, FIRST, other)
    assert [item.query for item in listed(database)] == ["Where is it?"] * 2
    assert [item.memory_uid for item in listed(database, "where is it?")] == ["u1", "u2"]
    assert listed(database, "another") == []


def test_judgments_are_removed_of_a_query_or_of_some_memories(engine):
    database = engine.context.database
    put(database, FIRST, replace(FIRST, memory_uid="u2"), replace(FIRST, workspace="work"))
    with database.write() as connection:
        assert judgments.remove(connection, "where is it?", "", ["u2", "u3"]) == 1
        assert judgments.remove(connection, "where is it?", "", None) == 1
    assert [item.workspace for item in listed(database)] == ["work"]
