"""``jiyi eval``, ``jiyi tune`` and ``jiyi judge`` as they are typed."""

from __future__ import annotations

from tests.engine.evaluation.sets import write_set

MEASURES = ["n", "recall@1", "recall@5", "recall@10", "ndcg@10", "mrr"]


def test_eval_answers_with_the_documented_json(jiyi, tmp_path):
    answer = jiyi("eval", str(write_set(tmp_path / "small")), "--json")
    assert answer.code == 0
    assert list(answer.json) == ["sets"]
    found = answer.json["sets"]["small"]
    assert list(found) == ["overall", "by_category", "by_space", "query_ms"]
    assert list(found["overall"]) == MEASURES
    assert found["overall"]["n"] == 3
    assert found["overall"]["recall@1"] == 1.0
    assert list(found["by_category"]) == ["plans", "things"]
    assert list(found["by_space"]["a"]) == MEASURES
    assert list(found["query_ms"]) == ["p50", "p95"]


def test_eval_prints_a_table_in_per_cent(jiyi, tmp_path):
    answer = jiyi("eval", str(write_set(tmp_path / "small")), "--format", "table", "--no-vectors")
    lines = answer.out.splitlines()
    assert lines[0].split()[:4] == ["set", "part", "n", "recall@1"]
    assert lines[1].split()[:4] == ["small", "all", "3", "100.0"]
    assert len(lines) == 1 + 1 + 2 + 2


def test_eval_compares_two_presets(jiyi, tmp_path):
    folder = str(write_set(tmp_path / "small"))
    answer = jiyi("eval", folder, "--preset", "balanced", "--against", "dual-route", "--json")
    assert answer.json["against"]["preset"] == "dual-route"
    assert answer.json["against"]["sets"]["small"]["overall"]["n"] == 3
    table = jiyi("eval", folder, "--against", "dual-route", "--format", "table").out
    assert "dual-route" in table


def test_eval_takes_spaces_modes_and_more_measures(jiyi, tmp_path):
    folder = str(write_set(tmp_path / "small"))
    answer = jiyi(
        "eval", folder, "--spaces", "a", "--mode", "text", "--measure", "precision@5", "--json"
    )
    overall = answer.json["sets"]["small"]["overall"]
    assert overall["n"] == 2
    assert overall["precision@5"] == 0.2


def test_a_broken_line_is_named_and_fails_the_run_after_the_figures(jiyi, tmp_path):
    folder = write_set(tmp_path / "small")
    with (folder / "queries.jsonl").open("ab") as file:
        file.write(b"{broken\n")
    answer = jiyi("eval", str(folder), "--json")
    assert answer.code == 1
    assert answer.json["sets"]["small"]["overall"]["n"] == 3
    assert f"{folder / 'queries.jsonl'}, line 5: This is not JSON." in answer.err


def test_an_unknown_folder_is_one_sentence(jiyi, tmp_path):
    answer = jiyi("eval", str(tmp_path / "none"))
    assert answer.code == 1
    assert answer.err.strip() == f"There is no folder {tmp_path / 'none'}."
    assert answer.out == ""


def test_a_folder_without_questions_is_one_sentence(jiyi, tmp_path):
    folder = write_set(tmp_path / "small", queries=[])
    answer = jiyi("eval", str(folder))
    assert answer.code == 1
    assert answer.err.strip() == "small has no questions that can be used."


def test_a_terminal_sees_how_far_it_is(jiyi, tmp_path):
    answer = jiyi.terminal("eval", str(write_set(tmp_path / "small")))
    assert answer.code == 0
    assert "small: asking" in answer.err


def test_what_was_judged_is_listed_measured_and_taken_back(jiyi):
    jiyi("remember", "The kettle is broken")
    jiyi("remember", "Rent is due")
    kept = jiyi("judge", "what is broken", "1", "--not", "2", "--grade", "2")
    assert (kept.code, kept.err.strip()) == (0, "Kept: 1 relevant, 1 not.")
    listed = jiyi("judge", "--json").json
    assert [(row["query"], row["relevant"], row["grade"]) for row in listed] == [
        ("what is broken", True, 2.0),
        ("what is broken", False, None),
    ]
    assert jiyi("judge", "what is broken").lines[0][-1] == "The kettle is broken"
    measured = jiyi("eval", "--judgments", "--json")
    assert measured.json["sets"]["judgments"]["overall"]["n"] == 1
    assert jiyi("judge", "what is broken", "--remove").err.strip() == "Judgments taken back: 2"
    assert jiyi("judge").err.strip() == "Nothing has been judged."


def test_tune_proposes_and_changes_nothing(jiyi, tmp_path):
    folder = str(write_set(tmp_path / "small"))
    answer = jiyi("tune", folder, "--tune-on", "a", "--trials", "10", "--json")
    assert answer.code == 0
    assert answer.json["applied"] is False
    assert answer.json["searched"] == {"n": 2, "before": 1.0, "after": 1.0}
    assert answer.json["held_out"]["n"] == 1
    table = jiyi("tune", folder, "--trials", "5", "--format", "table")
    assert "No better weights were found." in table.err
