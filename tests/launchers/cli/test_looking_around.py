"""stats, doctor, config, demo, help and mistakes."""

from __future__ import annotations

import os
import re
import sqlite3
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from launchers import logs
from launchers.cli.commands import COMMANDS
from launchers.cli.commands import stats as stats_module


def test_stats_count_what_is_there(jiyi):
    jiyi("remember", "one", "--tag", "a")
    record = jiyi("stats", "--json").json
    assert (record["total"], record["by_tag"], record["by_kind"]) == (1, {"a": 1}, {"semantic": 1})
    assert "memories" in jiyi("stats", "--format", "table").out


def test_doctor_finds_a_new_store_healthy(jiyi):
    jiyi("remember", "one")
    answer = jiyi("doctor", "--json")
    assert answer.code == 0
    found = answer.json
    assert found["healthy"] is True
    assert found["store"] == str(jiyi.home / "jiyi.db")
    assert found["counts"]["live"] == found["counts"]["text_rows"] == 1
    assert found["model"]["dims"] > 0
    assert found["vectors"]["pending"] == 0
    assert {check["name"] for check in found["checks"]} >= {"store", "writable", "model", "privacy"}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_line_of_the_doctor_is_a_sentence_with_a_mark(jiyi, language):
    out = jiyi("doctor", "--format", "table", "--lang", language).out
    assert "✓" in out
    assert "doctor." not in out
    assert str(jiyi.home) in out


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_catalogue_has_every_sentence_of_the_doctor(language):
    source = Path(stats_module.__file__).parents[3] / "engine" / "use_cases" / "inspect.py"
    keys = set(re.findall(r'"doctor\.([a-z_]+)"', source.read_text(encoding="utf-8")))
    catalogue = files("assets") / "messages" / f"doctor.{language}.toml"
    assert keys <= tomllib.loads(catalogue.read_text(encoding="utf-8"))["doctor"].keys()


def test_both_languages_have_the_same_sentences_with_the_same_placeholders():
    for part in ("cli", "doctor"):
        english, chinese = (_flat(part, language) for language in ("en", "zh"))
        assert english.keys() == chinese.keys()
        for key, sentence in english.items():
            named = re.compile(r"\{(\w+)\}")
            assert set(named.findall(sentence)) == set(named.findall(chinese[key])), key


def test_doctor_warns_when_others_can_read_the_store(jiyi):
    if os.name == "nt":
        pytest.skip("a user's folder is private by inheritance")
    jiyi("remember", "one")
    jiyi.home.chmod(0o755)
    (jiyi.home / "jiyi.db").chmod(0o644)
    answer = jiyi("doctor")
    warned = [line for line in answer.lines if line[1] == "privacy"]
    assert warned[0][0] == "warning"
    assert "jiyi.db (0644)" in warned[0][2]
    assert answer.code == 0


def test_doctor_cannot_look_into_a_file_that_is_no_store(jiyi):
    jiyi.home.mkdir()
    (jiyi.home / "jiyi.db").write_bytes(b"not a database at all" * 100)
    answer = jiyi("doctor", "--json")
    assert answer.code == 2
    assert answer.json["healthy"] is None
    assert "Traceback" not in answer.err


def test_doctor_says_what_repair_can_mend(jiyi):
    jiyi("remember", "one")
    with sqlite3.connect(jiyi.home / "jiyi.db") as connection:
        connection.execute("DELETE FROM fts_row")
    connection.close()
    broken = jiyi("doctor")
    assert broken.code == 1
    assert "--repair" in broken.out
    assert jiyi("doctor", "--repair").code == 0


def test_broken_settings_need_a_person(jiyi):
    jiyi("stats")
    (jiyi.home / "config.yaml").write_text("recall:\n  k: many\n", encoding="utf-8")
    answer = jiyi("doctor")
    assert answer.code == 1
    assert "recall.k" in answer.out
    assert jiyi("config").code == 1


def test_config_shows_where_each_value_comes_from(jiyi, monkeypatch):
    monkeypatch.setenv("JIYI_RECALL__K", "9")
    rows = {line[0]: line[1:] for line in jiyi("config").lines}
    assert rows["recall.k"] == ["9", "5", "JIYI_RECALL__K"]
    [setting] = jiyi("config", "recall.k", "--json").json["settings"]
    assert (setting["range"], setting["acts"]) == ("1-100", "now")
    assert "Memories one recall returns" in jiyi("config", "recall.k", "--format", "table").out


def test_config_names_its_file_and_the_nearest_setting(jiyi):
    path = jiyi("config", "path").out.strip()
    assert path == str(jiyi.home / "config.yaml")
    answer = jiyi("config", "recall.kk")
    assert answer.code == 1
    assert "recall.k" in answer.err
    assert not jiyi.home.exists()


def test_a_new_store_beside_the_usual_one_is_told_on_stderr(jiyi, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    usual = str(tmp_path / "user" / ".jiyi")
    jiyi("remember", "one", "--home", usual)
    answer = jiyi("list")
    assert usual in answer.err
    assert jiyi("list").err == "No memories here.\n"


def test_unknown_names_in_the_users_file_are_told(jiyi):
    jiyi("stats")
    (jiyi.home / "config.yaml").write_text("recal:\n  k: 3\n", encoding="utf-8")
    assert "recal" in jiyi("config").err


def test_the_language_of_the_settings_file_holds_for_help_and_mistakes(jiyi):
    jiyi("stats")
    (jiyi.home / "config.yaml").write_text("language: zh\n", encoding="utf-8")
    assert "用法" in jiyi("recall", "--help").out
    assert "选项" in jiyi("recall", "x", "--wat").err
    assert "Usage" in jiyi("recall", "--help", "--lang", "en").out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_help_of_every_command_is_whole_sentences_in_both_languages(jiyi, command, language):
    page = jiyi(command, "--help", "--lang", language).out
    assert "cli." not in page
    assert "--home" in page


def test_help_names_every_command_and_version_the_version(jiyi):
    page = jiyi().out
    assert all(f"  {command} " in page for command in COMMANDS)
    assert re.fullmatch(r"jiyi \d+\.\d+\.\d+\n", jiyi("--version").out)


def test_general_options_hold_before_and_after_the_command(jiyi):
    jiyi("remember", "one")
    for arguments in (["--json", "list"], ["list", "--json"], ["list", "--format", "json"]):
        assert jiyi(*arguments).json["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lst"], "list"),
        (["list", "--limt", "3"], "--limit"),
        (["list", "--limit"], "--limit"),
        (["list", "--limit", "x"], "whole number"),
        (["remember", "x", "--importance", "y"], "number"),
        (["show"], "REF"),
        (["recall"], "QUERY"),
        (["list", "surplus"], "surplus"),
    ],
)
def test_a_mistake_is_answered_in_one_line_with_code_2(jiyi, arguments, said):
    answer = jiyi(*arguments)
    assert answer.code == 2
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1
    assert answer.out == ""


def test_a_defect_is_one_sentence_and_its_trace_without_content_is_in_the_log(jiyi, monkeypatch):
    def defect(*_: object) -> None:
        raise ValueError("标记QX8".replace("8", "9"))

    monkeypatch.setattr(stats_module, "_rows", defect)
    answer = jiyi("stats")
    log = logs.log_path(jiyi.home)
    assert answer.code == 1
    assert str(log) in answer.err.splitlines()[-1]
    assert "Traceback" not in answer.err
    written = log.read_text(encoding="utf-8")
    assert "ValueError" in written
    assert "QX9" not in written + answer.err
    if os.name != "nt":
        assert log.stat().st_mode & 0o077 == 0


def test_ctrl_c_ends_with_130(jiyi, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stats_module, "_rows", interrupted)
    assert jiyi("stats").code == 130


def test_no_colour_when_the_user_wants_none(jiyi, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    jiyi("remember", "one")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", jiyi.terminal("list").out)


def test_the_demonstration_recalls_both_languages_and_leaves_the_users_store_alone(
    jiyi, monkeypatch
):
    monkeypatch.delenv("JIYI_EMBEDDING__PROVIDER")
    answer = jiyi("demo", "--lang", "en")
    assert answer.code == 0
    assert "Asked in Chinese:" in answer.out
    assert "install claude-code --verify" in answer.out
    assert not jiyi.home.exists()


def test_the_demonstration_without_a_model_says_keywords_only(jiyi, monkeypatch, tmp_path):
    monkeypatch.setenv("JIYI_EMBEDDING__PROVIDER", "none")
    kept = tmp_path / "kept"
    answer = jiyi("demo", "--keep", str(kept))
    assert answer.code == 0
    assert "Keywords only" in answer.err
    assert jiyi("list", "--home", str(kept), "--json").json["total"] == 32
    assert jiyi("demo", "--keep", str(kept)).code == 2


def _flat(part: str, language: str) -> dict[str, str]:
    def walk(table: dict[str, object], prefix: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in table.items():
            if isinstance(value, dict):
                found |= walk(value, f"{prefix}{name}.")
            else:
                found[f"{prefix}{name}"] = str(value)
        return found

    text = (files("assets") / "messages" / f"{part}.{language}.toml").read_text(encoding="utf-8")
    return walk(tomllib.loads(text), "")
