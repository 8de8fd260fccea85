"""Reflection: what is taken, what becomes of it, and that the dry run tells the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.config.editing import set_values
from engine.config.file import ensure_user_config
from engine.config.messages import render
from engine.domain.clock import FixedClock
from engine.domain.errors import ConfigInvalid, InvalidInput, NotFound
from engine.domain.reflection import SOURCE, Reflected, Reflection, ReflectRequest
from engine.domain.scope import Filters
from engine.storage import reflections
from engine.use_cases import undo
from engine.use_cases.undo import UndoRequest
from engine.writing import reflections as writing
from tests.engine.model_clients.remote.mock_embedder import MockEmbedder, running
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember

ATLAS = (
    ("The atlas release was delayed to March because of tests", 0.9),
    ("The atlas release was delayed to March", 0.6),
    ("The atlas release was delayed once more to March", 0.3),
)
PARTY = ("Ana sang at the birthday party", "Ana sang at the birthday party again")


def happened(engine: Engine, text: str, importance: float = 0.5, **fields: object) -> int:
    workspace = fields.pop("workspace", None)
    named = str(workspace) if workspace is not None else None
    return remember(engine, text, named, kind="episodic", importance=importance, **fields)


def reflect(engine: Engine, **asked: object) -> Reflected:
    return engine.reflection.reflect(ReflectRequest(**asked), CALLER)  # type: ignore[arg-type]


def of(reflection: Reflection, name: str) -> object:
    return reflection.draft.fields[name]


def rows(engine: Engine, sql: str) -> list[tuple[object, ...]]:
    with engine.context.database.read() as connection:
        return [tuple(row) for row in connection.execute(sql)]


@pytest.fixture
def lived(engine: Engine) -> Engine:
    """Two themes and something that stands alone."""
    for text, importance in ATLAS:
        happened(engine, text, importance, tags=["atlas"], topics=["release"])
    for text in PARTY:
        happened(engine, text, participants=["Ana"])
    happened(engine, "A quiet day")
    return engine


def test_a_dry_run_tells_what_would_be_stored_and_stores_nothing(lived: Engine):
    before = lived.list().total
    result = reflect(lived)
    assert [item.source_ids for item in result.reflections] == [(1, 2, 3), (4, 5)]
    assert result.reflections[0].text.startswith("[summary of 3] The atlas release was delayed")
    assert (result.considered, result.applied, lived.list().total) == (6, False, before)
    assert all(item.memory is None for item in result.reflections)


def test_what_is_applied_equals_the_dry_run(lived: Engine):
    preview = reflect(lived, consolidate=True)
    done = reflect(lived, consolidate=True, apply=True)
    without = [replace(item, memory=None) for item in done.reflections]
    assert tuple(without) == preview.reflections
    for item in done.reflections:
        memory = item.memory
        assert memory is not None
        stored = lived.get(memory.id)
        for name in ("text", "kind", "tags", "importance", "trust", "source", "topics"):
            assert getattr(stored, name) == item.draft.fields[name]
        links = rows(
            lived,
            f"SELECT target_id, relation FROM link WHERE source_id = {memory.id} ORDER BY 1",
        )
        assert links == [(source, "derived_from") for source in sorted(item.source_ids)]


def test_a_summary_is_made_as_the_rules_say(lived: Engine):
    first, second = reflect(lived).reflections
    assert of(first, "kind") == "semantic"
    assert of(first, "tags") == ("reflection", "atlas")
    assert of(first, "importance") == pytest.approx(0.6)
    assert of(first, "topics") == ("release",)
    assert of(second, "participants") == ("Ana",)


def test_the_trust_is_the_weakest_and_what_is_private_stays_so(engine: Engine):
    happened(engine, PARTY[0], trust="user")
    happened(engine, PARTY[1], trust="external", private=True)
    (item,) = reflect(engine).reflections
    assert (of(item, "trust"), of(item, "private")) == ("external", True)


def test_done_twice_it_changes_nothing(lived: Engine):
    done = reflect(lived, apply=True)
    assert len(done.reflections) == 2
    again = reflect(lived, apply=True)
    assert again.reflections == ()
    assert again.considered == 1


def test_a_summary_that_was_thrown_away_is_not_made_again(lived: Engine):
    for item in reflect(lived, apply=True).reflections:
        assert item.memory is not None
        lived.delete(item.memory.id, CALLER)
    assert reflect(lived).reflections == ()


def test_sources_are_archived_never_deleted_and_pinned_ones_stay(lived: Engine):
    pinned = happened(lived, "The atlas release was delayed to March, said Tom", pinned=True)
    done = reflect(lived, consolidate=True, apply=True)
    assert done.archived == 5
    assert lived.get(1).archived_at is not None
    assert lived.get(pinned).archived_at is None
    assert lived.list(Filters(deleted_only=True)).total == 0


def test_a_summary_is_found(lived: Engine):
    done = reflect(lived, consolidate=True, apply=True)
    made = [item.memory.id for item in done.reflections if item.memory]
    filters = Filters(include_archived=False)
    assert found(lived, "atlas release delayed", k=1, filters=filters) == [made[0]]


def test_only_live_episodic_memories_are_taken(engine: Engine, clock: FixedClock):
    happened(engine, PARTY[0])
    gone = happened(engine, PARTY[1])
    engine.delete(gone, CALLER)
    remember(engine, PARTY[1], kind="semantic")
    happened(engine, PARTY[1], expires_at=clock.now() + 10)
    clock.advance(20)
    assert reflect(engine).considered == 1


def test_workspaces_are_summed_up_each_by_itself(engine: Engine):
    happened(engine, PARTY[0], workspace="atlas")
    happened(engine, PARTY[1], workspace="lyra")
    assert reflect(engine).reflections == ()
    happened(engine, PARTY[1], workspace="atlas")
    (item,) = reflect(engine, workspace="atlas", apply=True).reflections
    assert item.memory is not None and item.memory.workspace == "atlas"
    with pytest.raises(NotFound):
        reflect(engine, workspace="nowhere")


def test_opposite_polarities_share_no_summary(engine: Engine):
    happened(engine, PARTY[0], polarity=1)
    happened(engine, PARTY[1], polarity=-1)
    assert reflect(engine).reflections == ()


def test_a_higher_threshold_and_a_larger_least_group_leave_less(lived: Engine):
    assert len(reflect(lived, min_cluster=3).reflections) == 1
    assert reflect(lived, threshold=1.0).reflections == ()
    for wrong in ({"threshold": 1.5}, {"min_cluster": 1}, {"summarizer": "poet"}):
        with pytest.raises(InvalidInput):
            reflect(lived, **wrong)


def test_without_vectors_nothing_is_compared_and_it_is_said(keyword_engine: Engine):
    for text in PARTY:
        happened(keyword_engine, text)
    result = reflect(keyword_engine, apply=True)
    assert (result.reflections, result.considered, result.without_vectors) == ((), 0, 2)


def test_a_summary_whose_source_changed_meanwhile_is_left_out(lived: Engine, monkeypatch):
    create = writing.create

    def meddling(connection, draft, layers, sources, stamp):
        made = create(connection, draft, layers, sources, stamp)
        connection.execute("UPDATE memory SET revision = revision + 1 WHERE id = 4")
        return made

    monkeypatch.setattr(writing, "create", meddling)
    done = reflect(lived, apply=True)
    assert (done.skipped, [item.memory is None for item in done.reflections]) == (1, [False, True])
    assert rows(lived, "SELECT count(*) FROM memory WHERE source = 'reflection'") == [(1,)]


def test_one_run_is_one_group_of_the_journal(lived: Engine):
    done = reflect(lived, consolidate=True, apply=True)
    entries = rows(
        lived,
        f"""SELECT subject_kind, operation, count(*) FROM journal
        WHERE group_uid = '{done.group_uid}' AND subject_kind IN ('memory', 'link')
        GROUP BY 1, 2 ORDER BY 1, 2""",
    )
    assert entries[0] == ("link", "link", 5)
    assert ("memory", "archive", 5) in entries


def test_at_most_so_many_are_taken_and_the_rest_waits(lived: Engine, monkeypatch):
    monkeypatch.setattr("engine.use_cases.reflect._MOST_AT_ONCE", 2)
    result = reflect(lived)
    assert (result.considered, result.left_out) == (2, 4)


def test_progress_is_told(lived: Engine):
    heard: list[tuple[int, int]] = []
    lived.reflection.reflect(
        ReflectRequest(), CALLER, lambda done, total: heard.append((done, total))
    )
    assert heard == [(1, 2), (2, 2)]


@pytest.fixture
def chat() -> Iterator[MockEmbedder]:
    with running(reply="Ana sang. <think>hmm</think>") as server:
        yield server


@pytest.fixture
def talking(home: Path, clock: FixedClock, chat: MockEmbedder, monkeypatch) -> Iterator[Engine]:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    settings = HASHING | {
        "JIYI_CHAT__BASE_URL": chat.url,
        "JIYI_CHAT__MODEL": "mock-chat",
        "JIYI_CHAT__TIMEOUT_S": "2",
        "JIYI_REFLECT__SUMMARIZER": "chat",
    }
    with open_engine(home, environ=settings, clock=clock) as engine:
        for text, importance in zip(PARTY, (0.4, 0.8), strict=True):
            happened(engine, text, importance)
        yield engine


def test_a_chat_model_sums_up_what_happened_by_importance(talking: Engine, chat: MockEmbedder):
    (item,) = reflect(talking).reflections
    assert (item.text, item.summarizer, item.warning) == ("Ana sang.", "chat", None)
    (request,) = chat.requests
    assert request.body["model"] == "mock-chat"
    asked = request.body["messages"][-1]["content"]
    assert asked == f"1. {PARTY[1]}\n2. {PARTY[0]}"


def test_what_a_chat_model_says_is_stored_as_the_dry_run_showed_it(talking: Engine):
    preview = reflect(talking)
    done = reflect(talking, apply=True)
    assert [replace(item, memory=None) for item in done.reflections] == [*preview.reflections]


@pytest.mark.parametrize(
    "fault", [{"status": 404}, {"status": 500}, {"reply": " "}, {"reply": "<think>x</think>"}]
)
def test_where_the_chat_model_fails_texts_are_joined_with_a_warning(
    talking: Engine, chat: MockEmbedder, fault: dict[str, object]
):
    for name, value in fault.items():
        setattr(chat.switches, name, value)
    (item,) = reflect(talking, apply=True).reflections
    assert item.text.startswith("[summary of 2] ")
    assert item.summarizer == "extractive" and item.memory is not None
    assert item.warning is not None and render(item.warning, "zh")


def test_a_private_memory_is_never_sent_to_a_chat_model(talking: Engine, chat: MockEmbedder):
    happened(talking, "Ana sang at the birthday party, in secret", private=True)
    (item,) = reflect(talking).reflections
    assert item.warning is not None and item.warning.key == "error.chat_private"
    assert chat.requests == []


def test_a_chat_model_that_nobody_configured_is_named(lived: Engine):
    item = reflect(lived, summarizer="chat").reflections[0]
    assert item.warning is not None and item.warning.key == "error.chat_off"


@pytest.mark.parametrize(
    ("name", "value"),
    [("base_url", "not an address"), ("base_url", "ftp://x"), ("model", "two words")],
)
def test_an_address_or_name_that_cannot_be_one_is_refused(home: Path, name: str, value: str):
    path = ensure_user_config(home)
    with pytest.raises(ConfigInvalid) as refused:
        set_values(path, {f"chat.{name}": value})
    assert f"chat.{name}" in render(refused.value, "en")


def test_a_reflection_is_undone_in_one_step(lived: Engine):
    done = reflect(lived, consolidate=True, apply=True)
    undo.undo(lived.context, UndoRequest(group=done.group_uid), CALLER)
    assert lived.list(Filters(sources=(SOURCE,))).total == 0
    assert lived.get(1).archived_at is None
    assert rows(lived, "SELECT count(*) FROM link") == [(0,)]
    assert len(reflect(lived).reflections) == 2


def test_what_changed_since_does_not_hold_again_because_it_is_summed_up(engine: Engine):
    happened(engine, "Tom works at Acme", 0.9)
    happened(engine, "Tom no longer works at Acme", 0.8)
    before = rows(engine, "SELECT id, text, state, reinforced FROM atom")
    (item,) = reflect(engine, threshold=0.2, apply=True).reflections
    assert "Tom works at Acme" in item.text
    assert rows(engine, "SELECT id, text, state, reinforced FROM atom") == before


def test_the_summaries_that_may_quote_a_memory_are_known(lived: Engine):
    first, _ = reflect(lived, apply=True).reflections
    assert first.memory is not None
    with lived.context.database.read() as connection:
        assert reflections.made_of(connection, 2) == [first.memory.id]
        assert reflections.made_of(connection, 6) == []
