"""Storing from the command line and finding it again."""

from __future__ import annotations

import subprocess

import pytest


def test_in_a_pipe_remember_prints_the_id_alone(jiyi):
    jiyi("stats")
    answer = jiyi("remember", "the spare key is at the neighbour's")
    assert (answer.code, answer.out, answer.err) == (0, "#1\n", "")


def test_on_a_terminal_remember_says_where_it_went(jiyi):
    shown = jiyi.terminal("remember", "tea").out.splitlines()
    assert shown[0] == "Remembered as #1 in global."
    assert "semantic" in shown[1]
    assert "default" in shown[1]
    assert jiyi.terminal("remember", "tea", "--kind", "semantic").out.count("\n") == 1


def test_details_are_given_by_name(jiyi):
    options = "--kind decision --detail what=Rust --detail alternatives=Go --detail alternatives=C"
    assert jiyi("remember", "Rust it is", *options.split()).code == 0
    details = jiyi("show", "1", "--json").json["details"]
    assert details == {"what": "Rust", "alternatives": ["Go", "C"]}
    refused = jiyi("remember", "x", "--kind", "decision", "--detail", "fix=y")
    assert refused.code == 1
    assert "alternatives" in refused.err


def test_every_field_given_by_option_is_stored(jiyi):
    options = "--kind decision --topic home --topic tea --participant Ana --fact f --tag t"
    options += " --importance 0.9 --source book --source-ref p12 --event-time 2026-05-01"
    options += " --session s1 --persona p --summary short --sentiment positive --polarity 1"
    options += " --pin --private --trust external --ttl 7d --workspace work"
    assert jiyi("remember", "text", *options.split()).code == 0
    stored = jiyi("show", "1", "--json").json
    assert stored["topics"] == ["home", "tea"]
    assert stored["participants"] == ["Ana"]
    assert (stored["key_facts"], stored["tags"]) == (["f"], ["t"])
    assert (stored["kind"], stored["importance"], stored["polarity"]) == ("decision", 0.9, 1)
    assert (stored["source"], stored["source_ref"]) == ("book", "p12")
    assert (stored["session_id"], stored["persona_id"]) == ("s1", "p")
    assert (stored["pinned"], stored["private"], stored["trust"]) == (True, True, "external")
    assert stored["workspace"] == "work"
    assert stored["event_time"].startswith("2026-05-01T00:00:00")
    assert stored["expires_at"] is not None


def test_without_options_the_user_vouches_and_the_source_is_the_command_line(jiyi):
    jiyi("remember", "text")
    stored = jiyi("show", "1", "--json").json
    assert (stored["trust"], stored["source"], stored["workspace"]) == ("user", "cli", "global")


def test_remember_json_has_its_documented_shape(jiyi):
    record = jiyi("remember", "text", "--json").json
    assert record.keys() == {
        "id",
        "uid",
        "workspace",
        "kind",
        "kind_rule",
        "suggested_kind",
        "importance",
        "importance_rule",
        "revision",
        "created_at",
        "twins",
        "pending",
        "conflicts",
        "secrets",
    }
    assert (record["twins"], record["pending"]) == ([], False)


def test_the_same_text_again_is_stored_and_said_on_stderr(jiyi):
    jiyi("remember", "text")
    again = jiyi("remember", "text")
    assert again.out == "#2\n"
    assert "#1" in again.err


def test_standard_input_is_read_as_utf8_whatever_the_locale_says(jiyi):
    text = "记忆★🎉\u00a0尾词\n第二行"
    jiyi("remember", "-", stdin=text.encode())
    assert jiyi("show", "1", "--json").json["text"] == text


def test_utf16_with_a_byte_order_mark_is_read_too(jiyi):
    jiyi("remember", "-", stdin="记忆".encode("utf-16"))
    assert jiyi("show", "1", "--text").out == "记忆"


def test_input_that_is_not_utf8_is_refused_and_nothing_is_stored(jiyi):
    answer = jiyi("remember", "-", stdin="记忆".encode("gbk"))
    assert answer.code == 1
    assert "UTF-8" in answer.err
    assert jiyi("list", "--json").json["total"] == 0


def test_a_long_memory_is_read_back_byte_for_byte(jiyi):
    text = "汉" * 9955 + "尾标QX7"
    jiyi("remember", "-", stdin=text.encode())
    assert jiyi("show", "1", "--text").out == text
    table = jiyi("recall", "尾标QX7", "--format", "table").out
    assert "…(9960charactersinall)" in "".join(table.split())
    table = jiyi("list", "--format", "table", "--lang", "zh").out
    assert "…（共9960字）" in "".join(table.split())


def test_a_process_without_a_model_says_that_the_vector_waits(jiyi, monkeypatch):
    monkeypatch.setenv("JIYI_EMBEDDING__PROVIDER", "none")
    answer = jiyi("remember", "text")
    assert answer.out == "#1\n"
    found = jiyi("recall", "text")
    assert "Keywords only" in found.err
    assert found.lines[0][0] == "#1"


def test_recall_json_has_its_documented_shape(jiyi):
    jiyi("remember", "小明喜欢吃火锅", "--tag", "food")
    answer = jiyi("recall", "火锅", "--json", "--explain").json
    assert answer.keys() == {
        "query",
        "results",
        "degraded",
        "switched_off",
        "cached",
        "pool",
        "cut",
        "preset",
        "config_version",
        "stages_ms",
    }
    [hit] = answer["results"]
    assert {"id", "uid", "text", "kind", "workspace", "state", "score", "strength", "weak"} <= set(
        hit
    )
    contributions = [signal["contribution"] for signal in hit["signals"].values()]
    assert sum(contributions) == pytest.approx(hit["score"])
    assert set(hit["signals"]["relevance"]) == {"value", "weight", "contribution"}


def test_recall_of_nothing_says_so_and_succeeds(jiyi):
    jiyi("stats")
    answer = jiyi("recall", "anything")
    assert (answer.code, answer.out, answer.err) == (0, "", "Nothing found.\n")


def test_words_of_a_query_need_no_quotes(jiyi):
    assert jiyi("recall", "spare", "key", "--json").json["query"] == "spare key"


def test_explain_shows_every_signal_and_the_sum(jiyi):
    jiyi("remember", "the spare key")
    shown = jiyi("recall", "key", "--explain").out
    for word in ("relevance", "importance", "recency", "sum", "preset balanced", "cosine"):
        assert word in shown


def test_filters_narrow_a_recall(jiyi):
    jiyi("remember", "red tea", "--tag", "a", "--kind", "decision", "-w", "one")
    jiyi("remember", "green tea", "--tag", "b", "-w", "two")

    def found(*options: str) -> list[str]:
        return [line[0] for line in jiyi("recall", "tea", *options).lines]

    assert sorted(found()) == ["#1", "#2"]
    assert found("--tag", "a") == ["#1"]
    assert found("--kind", "decision") == ["#1"]
    assert found("--workspace", "two") == ["#2"]
    assert found("--scope", "workspace", "--workspace", "one") == ["#1"]
    assert sorted(found("--since", "1d")) == ["#1", "#2"]
    assert found("--until", "2001-01-01") == []
    assert sorted(found("--any-tag", "a", "--any-tag", "b")) == ["#1", "#2"]
    assert sorted(found("--since", "昨天", "--until", "today")) == ["#1", "#2"]
    assert found("--until", "last week") == []
    assert len(found("-k", "1")) == 1


def test_a_project_folder_is_the_workspace_of_what_is_written_there(jiyi, tmp_path, monkeypatch):
    project = tmp_path / "heron"
    project.mkdir()
    (project / ".git").mkdir()
    monkeypatch.chdir(project)
    jiyi("remember", "text")
    monkeypatch.setenv("JIYI_WORKSPACE", "named")
    jiyi("remember", "other text")
    assert sorted(line[2] for line in jiyi("list").lines) == ["heron", "named"]


@pytest.mark.parametrize("option", ["--kind", "--trust", "--sentiment"])
def test_a_misspelt_choice_is_answered_with_the_nearest(jiyi, option):
    jiyi("stats")
    answer = jiyi("remember", "text", option, "semantik" if option == "--kind" else "x")
    assert answer.code == 1
    assert "Traceback" not in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_reader_that_closes_the_pipe_early_hears_no_complaint(run_command):
    for number in range(3):
        run_command("remember", f"text {number} " + "x" * 100_000)
    writer = run_command.start("list", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None and writer.stderr is not None
    writer.stdout.read(10)
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.stderr.close()
    assert writer.wait(30) in (0, 1, 141)


def test_rules_choose_kind_and_importance_and_are_named(jiyi):
    record = jiyi("remember", "我们决定改用 Rust 写解析器", "--importance", "auto", "--json").json
    assert (record["kind"], record["kind_rule"]) == ("decision", "zh.decision")
    assert (record["importance"], record["importance_rule"]) == (0.75, "zh.decision 0.75")
    given = jiyi("remember", "决定用 Go", "--kind", "semantic", "--json").json
    assert (given["kind"], given["kind_rule"], given["importance_rule"]) == ("semantic", None, None)
    shown = jiyi.terminal("remember", "Never push to main", "--lang", "en").out
    assert "jiyi edit #3 --kind directive" in shown
