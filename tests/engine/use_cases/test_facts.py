"""Temporal facts: what is true now, what was true then, and how one takes another's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.config.editing import set_values
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.domain.fact import AddedFact, Fact, FactQuery, FactRequest
from engine.domain.prompts import PromptForm
from engine.domain.scope import Scope
from engine.domain.times import parse_instant
from engine.storage import journal
from engine.storage.facts import COLUMNS
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.use_cases import undo
from engine.use_cases.memory_context import ContextRequest
from engine.use_cases.undo import UndoRequest
from engine.writing import facts as writing
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, remember


def year(number: int) -> float:
    return parse_instant(f"{number}-01-01T00:00:00+00:00", None)


def add(engine: Engine, *terms: str, **more: object) -> AddedFact:
    for name, stored in (("since", "valid_from"), ("until", "valid_to")):
        if name in more:
            more[stored] = year(int(str(more.pop(name))))
    return engine.facts.add(FactRequest(*terms, **more), CALLER)  # type: ignore[arg-type]


def objects(engine: Engine, entity: str, as_of: int | None = None, **more: str) -> list[str]:
    at = None if as_of is None else year(as_of)
    found = engine.facts.query(FactQuery(entity, as_of=at, **more))  # type: ignore[arg-type]
    return [fact.object for fact in found]


def periods(engine: Engine, entity: str) -> list[tuple[str, float | None, float | None]]:
    found = engine.facts.timeline(FactQuery(entity))
    return [(fact.object, fact.valid_from, fact.valid_to) for fact in found]


@pytest.fixture
def moved(keyword_engine: Engine) -> Engine:
    """Someone who moved."""
    add(keyword_engine, "Ana", "lives in", "Oslo", since=2015)
    add(keyword_engine, "Ana", "lives_in", "Bergen", since=2020)
    return keyword_engine


def test_a_functional_fact_ends_the_earlier_one(moved: Engine):
    assert objects(moved, "Ana") == ["Bergen"]
    assert periods(moved, "Ana") == [
        ("Oslo", year(2015), year(2020)),
        ("Bergen", year(2020), None),
    ]


def test_what_was_true_at_a_moment(moved: Engine):
    assert objects(moved, "Ana", 2014) == []
    assert objects(moved, "Ana", 2015) == ["Oslo"]
    assert objects(moved, "Ana", 2019) == ["Oslo"]
    assert objects(moved, "Ana", 2020) == ["Bergen"]


def test_valid_time_is_not_recorded_time(moved: Engine, clock: FixedClock):
    fact = moved.facts.timeline(FactQuery("Ana"))[0]
    assert fact.created_at == clock.now() != fact.valid_from


def test_another_word_for_the_predicate_ends_it_too_in_either_language(keyword_engine: Engine):
    add(keyword_engine, "小明", "住在", "上海", since=2015)
    closed = add(keyword_engine, "小明", "搬到", "杭州", since=2021).closed
    assert [fact.object for fact in closed] == ["上海"]
    add(keyword_engine, "小明", "lives in", "成都", since=2023)
    assert objects(keyword_engine, "小明", predicate="居住地") == ["成都"]


def test_other_subjects_and_other_predicates_are_left_alone(moved: Engine):
    add(moved, "Tom", "lives in", "Rome", since=2010)
    add(moved, "Ana", "knows", "Tom")
    add(moved, "Ana", "knows", "Eve")
    add(moved, "Ana", "lives in", "Paris", since=2024)
    assert objects(moved, "Tom", direction="subject") == ["Rome"]
    assert objects(moved, "Ana", predicate="knows") == ["Tom", "Eve"]


def test_a_fact_of_another_workspace_is_left_alone(keyword_engine: Engine):
    add(keyword_engine, "server", "status", "up", workspace="atlas")
    done = add(keyword_engine, "server", "status", "down", workspace="lyra")
    assert done.closed == ()
    scope = Scope("workspace", "atlas", exact=True)
    found = keyword_engine.facts.query(FactQuery("server", scope=scope))
    assert [fact.object for fact in found] == ["up"]


def test_without_a_start_what_takes_a_place_starts_now(moved: Engine, clock: FixedClock):
    done = add(moved, "Ana", "lives in", "Paris")
    assert done.fact.valid_from == clock.now()
    assert [fact.valid_to for fact in done.closed] == [clock.now()]
    first = add(moved, "Tom", "lives in", "Rome").fact
    assert first.valid_from is None
    assert objects(moved, "Tom", 1990) == ["Rome"]


def test_history_told_late_falls_into_its_place(moved: Engine):
    done = add(moved, "Ana", "lives in", "Trondheim", since=2010)
    assert done.closed == ()
    assert done.fact.valid_to == year(2015)
    assert objects(moved, "Ana") == ["Bergen"]
    assert objects(moved, "Ana", 2012) == ["Trondheim"]


def test_what_goes_on_after_an_interruption_is_resumed(moved: Engine):
    done = add(moved, "Ana", "lives in", "Tokyo", since=2022, until=2023)
    assert [(fact.object, fact.valid_from) for fact in done.resumed] == [("Bergen", year(2023))]
    assert [objects(moved, "Ana", at) for at in (2021, 2022, 2023)] == [
        ["Bergen"],
        ["Tokyo"],
        ["Bergen"],
    ]


def test_a_stated_period_that_runs_into_a_later_fact_is_refused(moved: Engine):
    before = periods(moved, "Ana")
    with pytest.raises(Conflict) as refused:
        add(moved, "Ana", "lives in", "Paris", since=2010, until=2022)
    assert refused.value.key == "error.fact_overlaps"
    with pytest.raises(Conflict):
        add(moved, "Ana", "lives in", "Paris", until=2018)
    assert periods(moved, "Ana") == before


def test_moving_back_is_a_new_version(moved: Engine):
    add(moved, "Ana", "lives in", "Oslo", since=2024)
    assert [name for name, _, _ in periods(moved, "Ana")] == ["Oslo", "Bergen", "Oslo"]
    assert objects(moved, "Ana") == ["Oslo"]


def test_the_same_fact_again_completes_the_known_one(moved: Engine):
    done = add(moved, "ANA", "Lives-In", "bergen")
    assert (done.added, done.closed) == (False, ())
    earlier = add(moved, "Ana", "lives in", "Bergen", since=2018)
    assert (earlier.added, earlier.fact.valid_from) == (False, year(2018))
    assert objects(moved, "Ana", 2019) == ["Bergen"]
    ended = add(moved, "Ana", "lives in", "Bergen", since=2018, until=2025)
    assert ended.fact.valid_to == year(2025)
    assert len(periods(moved, "Ana")) == 2


def test_who_says_so_may_have_two_at_once_or_only_one(keyword_engine: Engine):
    add(keyword_engine, "Ana", "lives in", "Oslo", since=2015)
    add(keyword_engine, "Ana", "lives in", "Rome", since=2020, functional=False)
    assert objects(keyword_engine, "Ana") == ["Oslo", "Rome"]
    add(keyword_engine, "Ana", "drinks", "tea", since=2015)
    add(keyword_engine, "Ana", "drinks", "mate", since=2020, functional=True)
    assert objects(keyword_engine, "Ana", predicate="drinks") == ["mate"]


def test_a_predicate_of_the_users_own_is_functional(keyword_engine: Engine, home: Path):
    set_values(home / "config.yaml", {"facts.functional": "favourite bar|常去的酒吧"})
    add(keyword_engine, "Ana", "favourite bar", "Blå", since=2015)
    add(keyword_engine, "Ana", "常去的酒吧", "Kulturhuset", since=2020)
    assert objects(keyword_engine, "Ana") == ["Kulturhuset"]


def test_an_entity_is_found_by_every_name_that_the_graph_knows(keyword_engine: Engine):
    remember(keyword_engine, "小明和阿丽去爬山", participants=["小明", "阿丽"])
    remember(keyword_engine, "明哥升职了", participants=["明哥"])
    add(keyword_engine, "小明", "住在", "上海", since=2015)
    keyword_engine.merge_nodes("明哥", "小明", CALLER)
    assert objects(keyword_engine, "明哥") == ["上海"]
    assert [f.object for f in add(keyword_engine, "明哥", "住在", "杭州").closed] == ["上海"]
    keyword_engine.separate_name("明哥", CALLER)
    assert objects(keyword_engine, "小明") == []
    assert objects(keyword_engine, "明哥") == ["杭州"]


def test_an_entity_is_found_at_the_end_that_is_asked_for(keyword_engine: Engine):
    add(keyword_engine, "Tom", "manages", "Ana")
    add(keyword_engine, "Ana", "likes", "tea")
    subjects = keyword_engine.facts.query(FactQuery("Ana", direction="object"))
    assert [fact.subject for fact in subjects] == ["Tom"]
    assert objects(keyword_engine, "Ana", direction="subject") == ["tea"]
    assert objects(keyword_engine, "Ana") == ["Ana", "tea"]
    with pytest.raises(InvalidInput):
        objects(keyword_engine, "Ana", direction="sideways")


def test_ending_a_fact_keeps_its_history(moved: Engine, clock: FixedClock):
    ref = moved.facts.query(FactQuery("Ana"))[0].id
    ended = moved.facts.invalidate(f"f{ref}", CALLER)
    assert (ended.changed, ended.fact.valid_to) == (True, clock.now())
    assert objects(moved, "Ana") == []
    assert objects(moved, "Ana", 2021) == ["Bergen"]
    clock.advance(60)
    assert not moved.facts.invalidate(ref, CALLER).changed
    corrected = moved.facts.invalidate(ref, CALLER, year(2022))
    assert (corrected.changed, corrected.fact.valid_to) == (True, year(2022))


def test_an_end_before_the_start_is_refused(moved: Engine):
    with pytest.raises(InvalidInput):
        add(moved, "Tom", "lives in", "Rome", since=2020, until=2019)
    ref = moved.facts.query(FactQuery("Ana"))[0].id
    with pytest.raises(InvalidInput):
        moved.facts.invalidate(ref, CALLER, year(2019))
    assert objects(moved, "Ana") == ["Bergen"]


@pytest.mark.parametrize(
    "terms",
    [("", "likes", "tea"), ("Ana", " ", "tea"), ("Ana", "likes", "\u200b"), ("x" * 501,) * 3],
)
def test_terms_that_say_nothing_or_never_end_are_refused(keyword_engine: Engine, terms):
    with pytest.raises(InvalidInput):
        add(keyword_engine, *terms)
    assert keyword_engine.facts.stats().facts == 0


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_that_is_none_is_refused(keyword_engine: Engine, confidence):
    with pytest.raises(InvalidInput):
        add(keyword_engine, "Ana", "likes", "tea", confidence=confidence)


def test_references_that_nobody_has_are_refused(keyword_engine: Engine):
    for ref in ("7", "f7", "#7", "nonsense", "9" * 40, ""):
        with pytest.raises(NotFound):
            keyword_engine.facts.invalidate(ref, CALLER)
    with pytest.raises(NotFound):
        add(keyword_engine, "Ana", "likes", "tea", memory=99)


def test_a_fact_is_of_its_memorys_workspace_and_time(keyword_engine: Engine):
    memory = remember(keyword_engine, "Ana moved to Oslo", "atlas", event_time=year(2018))
    fact = add(keyword_engine, "Ana", "lives in", "Oslo", memory=memory).fact
    assert (fact.workspace, fact.valid_from, fact.memory_id) == ("atlas", year(2018), memory)


def test_a_memory_in_the_trash_states_nothing(keyword_engine: Engine):
    memory = remember(keyword_engine, "Ana likes tea")
    add(keyword_engine, "Ana", "likes", "tea", memory=memory)
    keyword_engine.delete(memory, CALLER)
    assert objects(keyword_engine, "Ana") == []
    assert keyword_engine.facts.stats().facts == 0
    keyword_engine.restore(memory, CALLER)
    assert objects(keyword_engine, "Ana") == ["tea"]


def test_counts(moved: Engine):
    add(moved, "Ana", "knows", "Tom", since=2999)
    found = moved.facts.stats()
    assert (found.facts, found.active, found.ended, found.upcoming) == (3, 1, 1, 1)
    assert (found.entities, found.predicates) == (4, 2)
    assert dict(found.by_predicate)["knows"] == 1


def entries(engine: Engine) -> list[tuple[str, int, int | None, set[str]]]:
    with engine.context.database.read() as connection:
        rows = connection.execute(
            "SELECT * FROM journal WHERE subject_kind = 'fact' ORDER BY id"
        ).fetchall()
    found = [journal.entry_of(row) for row in rows]
    return [(e.operation, e.subject_id, e.other_id, set(e.changes)) for e in found]


def test_the_journal_holds_every_field_of_a_new_fact_and_what_changed_of_others(moved: Engine):
    whole = set(COLUMNS)
    assert entries(moved) == [
        ("fact", 1, None, whole),
        ("fact", 1, None, {"valid_to"}),
        ("fact", 2, None, whole),
    ]


def test_one_call_is_one_group_of_the_journal(moved: Engine):
    done = add(moved, "Ana", "lives in", "Tokyo", since=2022, until=2023)
    with moved.context.database.read() as connection:
        count = connection.execute(
            "SELECT count(*) FROM journal WHERE group_uid = ?", (done.group_uid,)
        ).fetchone()[0]
    assert count == 3


def test_facts_go_with_the_memory_that_is_reclaimed_or_erased(keyword_engine: Engine):
    memory = remember(keyword_engine, "Ana likes tea")
    add(keyword_engine, "Ana", "likes", "tea", memory=memory)
    stamp = Stamp("test", 1.0, new_uid())
    with keyword_engine.context.database.write() as connection:
        assert writing.remove_of_memory(connection, memory, stamp) == 1
    assert entries(keyword_engine)[-1][3] == set(COLUMNS)
    add(keyword_engine, "Ana", "likes", "tea", memory=memory)
    with keyword_engine.context.database.write() as connection:
        writing.erase_of_memory(connection, memory)
    assert objects(keyword_engine, "Ana") == []
    assert all(not fields for *_, fields in entries(keyword_engine))


def shown(engine: Engine, workspace: str = "atlas") -> list[str]:
    request = ContextRequest(None, "project", workspace, form=PromptForm("en"))
    sections = engine.memory_context(request).prompt.sections
    return [line.text for s in sections if s.name == "active_facts" for line in s.lines]


def test_what_holds_now_stands_in_the_context_of_a_project(home: Path, clock: FixedClock):
    settings = KEYWORDS | {"JIYI_TIMEZONE": "UTC"}
    with open_engine(home, environ=settings, clock=clock) as engine:
        add(engine, "Ana", "lives in", "Oslo", since=2015, workspace="atlas")
        assert shown(engine) == ["- (fact, since 2015-01-01) Ana · lives in · Oslo [f1]"]
        add(engine, "Ana", "lives in", "Bergen", since=2020, workspace="atlas")
        add(engine, "Tom", "likes", "tea", workspace="lyra")
        engine.briefing("atlas", PromptForm("en"), refresh=True)
        assert shown(engine) == ["- (fact, since 2020-01-01) Ana · lives in · Bergen [f2]"]


def test_a_fact_that_ended_is_not_served_from_a_briefing_made_before(keyword_engine: Engine):
    fact = add(keyword_engine, "Ana", "likes", "tea", workspace="atlas").fact
    memory = remember(keyword_engine, "Tom says he likes mate", "atlas")
    add(keyword_engine, "Tom", "likes", "mate", memory=memory)
    assert len(shown(keyword_engine)) == 2
    keyword_engine.facts.invalidate(fact.id, CALLER)
    keyword_engine.delete(memory, CALLER)
    assert shown(keyword_engine) == []


def test_a_fact_from_outside_is_marked(keyword_engine: Engine):
    memory = remember(keyword_engine, "Tom likes mate", "atlas", trust="external")
    add(keyword_engine, "Tom", "likes", "mate", memory=memory)
    assert "external" in shown(keyword_engine)[0]


def test_a_caller_says_where_a_fact_belongs(keyword_engine: Engine):
    request = FactRequest("Ana", "likes", "tea")
    fact: Fact = keyword_engine.facts.add(request, Caller("test", "atlas")).fact
    assert fact.workspace == "atlas"


def test_what_took_a_facts_place_is_undone_and_redone_in_one_step(moved: Engine):
    before = periods(moved, "Ana")
    done = add(moved, "Ana", "lives in", "Tokyo", since=2022, until=2023)
    after = periods(moved, "Ana")
    taken_back = undo.undo(moved.context, UndoRequest(group=done.group_uid), CALLER)
    assert periods(moved, "Ana") == before
    assert len(taken_back.entries) == 3
    undo.redo(moved.context, CALLER)
    assert periods(moved, "Ana") == after


def test_an_ended_fact_holds_again_after_undo(moved: Engine):
    ref = moved.facts.query(FactQuery("Ana"))[0].id
    moved.facts.invalidate(ref, CALLER)
    undo.undo(moved.context, UndoRequest(), CALLER)
    assert objects(moved, "Ana") == ["Bergen"]
