"""``jiyi prune|purge|forecast``, ``stats --health`` and deadlines on the command line."""

from __future__ import annotations

import pytest


@pytest.fixture
def store(jiyi):
    jiyi("remember", "hardly worth a line", "--importance", "0.04")
    jiyi("remember", "kept for ever", "--importance", "0.04", "--pin")
    jiyi("remember", "worth a lot", "--importance", "0.9")
    return jiyi


def test_prune_shows_and_does_nothing_unless_told(store):
    shown = store("prune", "--json").json
    assert [memory["id"] for memory in shown["memories"]] == [1]
    assert (shown["considered"], shown["applied"], shown["group"]) == (2, False, None)
    assert store("list", "--json").json["total"] == 3
    later = store("prune", "--now", "300d", "--json").json
    assert [memory["id"] for memory in later["memories"]] == [1, 3]
    done = store("prune", "--apply", "--json").json
    assert done["memories"][0]["id"] == 1
    assert done["applied"]
    assert store("prune", "--apply").out == ""
    assert [memory["id"] for memory in store("list", "--trash", "--json").json["memories"]] == [1]


def test_prune_takes_its_numbers_and_refuses_nonsense(store):
    assert store("prune", "--min-score", "0.01").out == ""
    assert store("prune", "--rate", "0.2", "--now", "20d").lines[0][0] == "#1"
    for wrong in (["--rate", "-1"], ["--min-score", "7"], ["--apply", "--now", "5d"]):
        answer = store("prune", *wrong)
        assert answer.code == 1
        assert answer.err


def test_purge_names_what_is_past_its_time(store):
    store("forget", "3")
    assert store("purge").out == ""
    shown = store("purge", "--now", "31d", "--json").json
    assert [(memory["id"], memory["why"]) for memory in shown["memories"]] == [(3, "trash")]
    assert shown["counts"] == {"expired": 0, "trash": 1}
    table = store("purge", "--now", "31d", "--format", "table")
    assert "worth a lot" in table.out
    assert "--apply" in table.err
    store("config", "set", "trash.keep_days", "0")
    done = store("purge", "--apply", "--json").json
    assert done["applied"]
    assert store("show", "3").code == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_forecast_shows_the_curve_and_what_happens(store, language):
    curve = store("forecast", "3", "--days", "30").lines
    assert len(curve) == 31
    assert curve[0][2:] == ["0.900", "1.000", "0.900"]
    assert float(curve[30][2]) == pytest.approx(0.9 * 0.99**30, abs=0.01)
    table = store("forecast", "3", "--format", "table", "--lang", language)
    assert "0.05" in table.out
    assert "cli." not in table.out
    record = store("forecast", "3", "--json").json
    assert [turn["kind"] for turn in record["turns"]] == ["faded", "at_risk"]
    assert len(record["points"]) == 366


def test_an_atom_has_a_forecast_too(jiyi):
    jiyi("remember", "阿丽讨厌香菜")
    record = jiyi("forecast", "1", "--atom", "--json").json
    assert [turn["kind"] for turn in record["turns"]] == ["expires", "forgotten", "purged"]
    assert record["points"][0]["value"] == pytest.approx(1.0, abs=0.01)
    assert jiyi("forecast", "9", "--atom").code == 1
    assert jiyi("forecast", "1", "--days", "0").code == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_health_equals_what_prune_says(store, language):
    health = store("stats", "--health", "--json").json
    assert health["at_risk"] == len(store("prune", "--json").json["memories"]) == 1
    assert (health["live"], health["considered"]) == (3, 2)
    table = store("stats", "--health", "--format", "table", "--lang", language)
    assert "cli." not in table.out
    assert "0.0-0.1" in table.out


@pytest.mark.parametrize("ttl", ["-5", "0", "abc", "3650000000d"])
def test_a_deadline_that_makes_no_sense_is_refused(jiyi, ttl):
    assert jiyi("remember", "never stored", f"--ttl={ttl}").code == 1
    jiyi("remember", "stays")
    assert jiyi("edit", "1", f"--ttl={ttl}").code == 1
    assert jiyi("show", "1", "--json").json["expires_at"] is None


def test_a_deadline_is_set_extended_and_cleared(jiyi):
    jiyi("remember", "for a while", "--ttl", "7d")
    first = jiyi("show", "1", "--json").json["expires_at"]
    jiyi("edit", "1", "--ttl", "14d")
    assert jiyi("show", "1", "--json").json["expires_at"] > first
    jiyi("edit", "1", "--clear", "expires_at")
    assert jiyi("show", "1", "--json").json["expires_at"] is None
    both = jiyi("edit", "1", "--ttl", "1d", "--expires-at", "2099-01-01")
    assert both.code == 1
