"""Sets are measured in stores of their own, which are used again."""

from __future__ import annotations

import time

import pytest

from engine.domain.errors import Busy, InvalidInput
from engine.evaluation.metrics import MEASURES, measure_named
from engine.evaluation.session import EvaluationRequest
from engine.evaluation.trial import LEASE, Setup
from engine.storage import leases
from engine.storage.database import FILE_NAME, open_database
from tests.engine.evaluation.sets import MEMORIES, QUERIES, write_lines, write_set
from tests.engine.use_cases.shortcuts import remember


class Stages:
    """Remembers how far each stage came."""

    def __init__(self):
        self.seen: dict[str, int] = {}

    def __call__(self, name, stage, done, total):
        self.seen[stage] = done


def evaluate(engine, *paths, stages=None, **given):
    request = EvaluationRequest(paths=paths, **given)
    return engine.evaluate(request, stages or Stages())


def files(engine):
    return sorted((engine.context.home / "cache" / "evaluation").iterdir())


def stores(engine):
    return [path for path in files(engine) if path.is_dir()]


def trial_rows(engine, sql):
    (home,) = stores(engine)
    database = open_database(home)
    try:
        with database.read() as connection:
            return [tuple(row) for row in connection.execute(sql)]
    finally:
        database.close()


def test_every_question_finds_its_memory_in_its_own_space(engine, tmp_path):
    (report,) = evaluate(engine, write_set(tmp_path / "small"))
    (outcome,) = report.outcomes
    assert report.name == "small"
    assert outcome.overall.n == 3
    assert outcome.overall.values["recall@1"] == 1.0
    assert {name: score.n for name, score in outcome.by_space.items()} == {"a": 2, "b": 1}
    assert {name: score.n for name, score in outcome.by_category.items()} == {
        "plans": 1,
        "things": 2,
    }
    assert report.without_gold == 1
    assert outcome.query_ms_p95 >= outcome.query_ms_p50 > 0


def test_nothing_is_written_to_the_store_at_hand(engine, tmp_path):
    remember(engine, "The kettle is new")
    evaluate(engine, write_set(tmp_path / "small"))
    assert engine.statistics().total == 1


def test_a_set_is_written_and_embedded_once(engine, tmp_path):
    folder, first, second = write_set(tmp_path / "small"), Stages(), Stages()
    evaluate(engine, folder, stages=first)
    (home,) = stores(engine)
    evaluate(engine, folder, stages=second)
    assert first.seen["write"] == 5
    assert "write" not in second.seen
    assert stores(engine) == [home]


def test_more_spaces_are_added_to_the_same_store(engine, tmp_path):
    folder, stages = write_set(tmp_path / "small"), Stages()
    (report,) = evaluate(engine, folder, spaces=("b",))
    assert report.outcomes[0].overall.n == 1
    evaluate(engine, folder, stages=stages)
    assert len(stores(engine)) == 1
    assert stages.seen["write"] == 5


def test_a_changed_set_gets_a_new_store_with_the_vectors_of_the_old(engine, tmp_path):
    evaluate(engine, write_set(tmp_path / "small"))
    more = {"id": "a9", "space": "a", "text": "The garden needs water", "time": "2024-03-09"}
    evaluate(engine, write_set(tmp_path / "small", [*MEMORIES, more]))
    assert len(stores(engine)) == 2
    database = open_database(
        max(stores(engine), key=lambda home: (home / FILE_NAME).stat().st_mtime)
    )
    with database.read() as connection:
        owners = connection.execute("SELECT owner_kind, count(*) FROM piece GROUP BY 1").fetchall()
    database.close()
    assert [tuple(row) for row in owners] == [("memory", 6)]


def test_memories_are_dated_as_the_set_dates_them(engine, tmp_path):
    evaluate(engine, write_set(tmp_path / "small"))
    rows = trial_rows(engine, "SELECT event_time, created_at FROM memory ORDER BY id")
    assert all(event is None or event == created for event, created in rows)
    dates = [created for _, created in rows]
    assert dates[:3] == sorted(dates[:3])


def test_a_turn_is_a_turn_of_a_session_of_its_space(engine, tmp_path):
    turn = {"id": "t", "space": "a", "text": "Hello", "who": "Ana", "session": "1", "kind": "turn"}
    evaluate(engine, write_set(tmp_path / "small", [*MEMORIES, turn]))
    rows = trial_rows(
        engine,
        """SELECT m.source, m.session_id, b.participants FROM memory m
        JOIN memory_body b ON b.memory_id = m.id WHERE b.source_ref = 't'""",
    )
    assert rows == [("conversation", "a/1", '["Ana"]')]


def test_a_question_sees_the_memories_before_it_alone(engine, tmp_path):
    memories = [
        {"id": f"m{n}", "space": "a", "text": f"The kettle cost {n} euro", "time": "2024-03-01"}
        for n in range(4)
    ]
    queries = [
        {"id": "early", "space": "a", "query": "kettle cost", "gold": ["m0", "m1"], "visible": 2},
        {"id": "late", "space": "a", "query": "kettle cost", "gold": ["m3"], "visible": 3},
    ]
    (report,) = evaluate(
        engine,
        write_set(tmp_path / "dated", memories, queries),
        measures=(*MEASURES, measure_named("precision@2")),
    )
    values = report.outcomes[0].overall.values
    assert values["recall@10"] == 0.5
    assert values["precision@2"] == 0.5


def test_two_setups_are_measured_side_by_side(engine, tmp_path):
    setups = (Setup(), Setup("hybrid-blend", "keyword"))
    (report,) = evaluate(engine, write_set(tmp_path / "small"), setups=setups)
    assert len(report.outcomes) == 2
    assert "embed" in report.outcomes[0].stages_ms
    assert "embed" not in report.outcomes[1].stages_ms


def test_a_question_is_embedded_once(engine, tmp_path):
    folder = write_set(tmp_path / "small")
    (first,) = evaluate(engine, folder)
    kept = [path for path in files(engine) if path.is_file()]
    assert [path.name for path in kept] == ["small.questions.npz"]
    (second,) = evaluate(engine, folder)
    assert first.outcomes[0].overall == second.outcomes[0].overall
    kept[0].write_bytes(b"damaged")
    (third,) = evaluate(engine, folder)
    assert third.outcomes[0].overall == first.outcomes[0].overall


def test_by_words_alone_nothing_is_embedded(engine, tmp_path):
    stages = Stages()
    evaluate(engine, write_set(tmp_path / "s"), setups=(Setup(None, "keyword"),), stages=stages)
    assert "embed" not in stages.seen
    assert trial_rows(engine, "SELECT count(*) FROM piece") == [(0,)]


def test_without_a_model_the_figures_say_so(keyword_engine, tmp_path):
    (report,) = evaluate(keyword_engine, write_set(tmp_path / "small"))
    assert report.without_vectors is not None
    assert report.outcomes[0].overall.values["recall@1"] == 1.0


def test_interrupted_work_is_taken_up(engine, tmp_path):
    folder = write_set(tmp_path / "small")

    def stop(name, stage, done, total):
        if stage == "write" and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(engine, folder, stages=stop)
    (report,) = evaluate(engine, folder)
    assert trial_rows(engine, "SELECT count(*) FROM memory") == [(5,)]
    assert report.outcomes[0].overall.values["recall@1"] == 1.0


def test_a_store_that_another_process_prepares_is_left_to_it(engine, tmp_path):
    folder = write_set(tmp_path / "small")
    evaluate(engine, folder)
    database = open_database(stores(engine)[0])
    with database.write() as connection:
        leases.take(connection, LEASE, "another", time.time(), 60.0)
    database.close()
    with pytest.raises(Busy, match="eval_busy"):
        evaluate(engine, folder)


def test_a_file_of_questions_asks_the_store_at_hand(engine, tmp_path):
    kettle = remember(engine, "The kettle is broken")
    rows: list[dict[str, object]] = [
        {"query": "kettle", "relevant": [f"#{kettle}"], "category": "things"},
        {"query": "kettle", "relevant": [engine.get(kettle).uid, "#999"]},
        {"query": ""},
    ]
    (report,) = evaluate(engine, write_lines(tmp_path / "gold.jsonl", rows))
    assert report.name == "gold"
    assert report.outcomes[0].overall.values["recall@10"] == 0.75
    assert [problem.params["number"] for problem in report.problems] == [3]


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({}, "eval_nothing"),
        ({"spaces": ("c",)}, "eval_no_space"),
        ({"setups": (Setup("nonsense"),)}, "unknown_preset"),
        ({"setups": (Setup(None, "nonsense"),)}, "not_allowed"),
    ],
)
def test_what_cannot_be_measured_is_said_first(engine, tmp_path, given, key):
    paths = [write_set(tmp_path / "small")] if given else []
    with pytest.raises(Exception, match=key):
        evaluate(engine, *paths, **given)


def test_two_sets_of_one_name_are_told_apart(engine, tmp_path):
    folders = [write_set(tmp_path / name / "small") for name in ("one", "two")]
    assert [report.name for report in evaluate(engine, *folders)] == ["small", "small (2)"]


def test_an_unknown_folder_stops_before_anything_is_made(engine, tmp_path):
    with pytest.raises(InvalidInput, match="eval_no_folder"):
        evaluate(engine, write_set(tmp_path / "small"), tmp_path / "none")
    assert not (engine.context.home / "cache" / "evaluation").exists()


def test_categories_are_those_of_the_questions(engine, tmp_path):
    queries = [{**query, "category": None} for query in QUERIES]
    (report,) = evaluate(engine, write_set(tmp_path / "small", queries=queries))
    assert set(report.outcomes[0].by_category) == {""}
