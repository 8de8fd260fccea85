"""Reading sets that others wrote, with what may be wrong in them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.domain.errors import InvalidInput
from engine.evaluation.dataset import read_set
from engine.evaluation.pairs import is_pairs, read_pairs
from tests.engine.evaluation.sets import MEMORIES, QUERIES, write_lines, write_set


def read(folder):
    return read_set(folder, UTC)


def at(moment):
    return datetime.fromisoformat(f"{moment}+00:00").timestamp()


def test_a_set_has_records_and_questions_with_gold(tmp_path):
    found = read(write_set(tmp_path / "small"))
    assert found.name == "small"
    assert found.spaces == ("a", "b")
    assert [record.ref for record in found.records] == ["a1", "a2", "a3", "b1", "b2"]
    assert [query.ref for query in found.queries] == ["q1", "q2", "q3"]
    assert found.without_gold == 1
    assert found.problems == ()


def test_a_question_is_asked_at_the_end_of_its_day_or_month(tmp_path):
    asked = [
        {**QUERIES[0], "id": "day", "asked_at": "2024-02-03"},
        {**QUERIES[0], "id": "month", "asked_at": "2024-02"},
        {**QUERIES[0], "id": "moment", "asked_at": "2024-02-03T04:05:06"},
    ]
    day, month, moment = read(write_set(tmp_path, queries=asked)).queries
    assert day.asked_at == pytest.approx(at("2024-02-04T00:00:00"), abs=1)
    assert month.asked_at == pytest.approx(at("2024-03-01T00:00:00"), abs=1)
    assert moment.asked_at == at("2024-02-03T04:05:06")


def test_gold_that_is_not_among_the_memories_does_not_count(tmp_path):
    queries = [
        {**QUERIES[0], "gold": ["a1", "gone"]},
        {**QUERIES[1], "gold": ["gone"]},
        {**QUERIES[2], "gold": ["a1"]},
    ]
    found = read(write_set(tmp_path, queries=queries))
    assert [dict(query.gold) for query in found.queries] == [{"a1": 1.0}]
    assert found.without_gold == 2


def test_grades_say_how_relevant_a_memory_is(tmp_path):
    queries = [{**QUERIES[0], "gold": ["a1", "a2"], "grades": {"a2": 3, "a3": 0, "a1": 0.5}}]
    (query,) = read(write_set(tmp_path, queries=queries)).queries
    assert dict(query.gold) == {"a1": 0.5, "a2": 3.0}


def test_a_set_without_spaces_is_one_space(tmp_path):
    memories = [{"id": "m", "text": "The kettle is broken"}]
    queries = [{"query": "kettle", "relevant": ["m"]}]
    found = read(write_set(tmp_path, memories, queries))
    assert found.spaces == ("all",)
    assert found.queries[0].space == "all"


def test_broken_lines_are_left_out_and_named_by_file_and_number(tmp_path):
    folder = write_set(tmp_path)
    with (folder / "memories.jsonl").open("ab") as file:
        file.write(b'{"id": "x"\n\n[1]\n\xff\xfe\n{"id": "y", "space": "a", "text": "  "}\n')
        file.write(b'{"id": "z", "space": "a", "text": "late", "time": "soon"}\n')
    with (folder / "queries.jsonl").open("ab") as file:
        file.write(b'{"space": "a", "query": "kettle", "gold": "a1"}\n')
        file.write(b'{"space": "a", "query": "kettle", "gold": ["a1"], "visible": -1}\n')
    found = read(folder)
    places = [(p.params["path"][-14:], p.params["number"]) for p in found.problems]
    assert [number for path, number in places if path == "memories.jsonl"] == [6, 8, 9, 10, 11]
    assert [number for path, number in places if path != "memories.jsonl"] == [5, 6]
    assert [p.params["reason"].key for p in found.problems] == [
        "error.eval_not_json",
        "error.eval_not_object",
        "error.eval_not_json",
        "error.eval_lacks",
        "error.bad_time",
        "error.eval_gold",
        "error.eval_count",
    ]
    assert len(found.records) == 5


def test_of_two_memories_with_one_reference_the_first_counts(tmp_path):
    found = read(write_set(tmp_path, memories=[*MEMORIES, {**MEMORIES[0], "text": "another"}]))
    assert [problem.key for problem in found.problems] == ["error.eval_twice"]
    assert found.records[0].text == MEMORIES[0]["text"]


def test_a_byte_order_mark_and_windows_line_ends_are_nothing(tmp_path):
    folder = write_set(tmp_path)
    for name in ("memories.jsonl", "queries.jsonl"):
        content = (folder / name).read_bytes().replace(b"\n", b"\r\n")
        (folder / name).write_bytes(b"\xef\xbb\xbf" + content)
    assert read(folder).problems == ()


@pytest.mark.parametrize(
    ("spoil", "key"),
    [
        (lambda folder: (folder / "queries.jsonl").unlink(), "error.eval_no_file"),
        (lambda folder: (folder / "memories.jsonl").unlink(), "error.eval_no_file"),
        (lambda folder: (folder / "queries.jsonl").write_bytes(b""), "error.eval_no_queries"),
    ],
)
def test_a_set_that_lacks_a_part_is_refused(tmp_path, spoil, key):
    folder = write_set(tmp_path)
    spoil(folder)
    with pytest.raises(InvalidInput) as caught:
        read(folder)
    assert caught.value.key == key


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="eval_no_folder"):
        read(tmp_path / "none")


def test_pairs_share_one_space_with_negatives_and_distractors(tmp_path):
    rows = [
        {"type": "pair", "id": "p1", "group": "en", "query": "food", "memory": "Shrimp, no",
         "hard_negative": "The food court"},
        {"type": "distractor", "id": "d1", "memory": "Rain"},
    ]  # fmt: skip
    path = write_lines(tmp_path / "pairs.jsonl", rows)
    assert is_pairs(path)
    found = read_pairs(path)
    assert [record.ref for record in found.records] == ["p1", "p1/negative", "d1"]
    assert found.queries[0].gold == {"p1": 1.0}
    assert found.queries[0].category == "en"
