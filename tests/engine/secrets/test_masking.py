"""Which texts have secrets, and what is left of them."""

import json
import time
from pathlib import Path

import pytest

from engine.domain.memory import FieldValue
from engine.secrets.entries import masked_entry
from engine.secrets.fields import masked_fields
from engine.secrets.masking import masked
from engine.secrets.rules import KINDS, form_rules

LINES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "secret_lines.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def _is_hidden(line):
    return not any(secret in masked(line["text"]).text for secret in line["secrets"])


def test_the_labelled_lines_are_told_apart():
    secret = [line for line in LINES if line["secrets"]]
    harmless = [line for line in LINES if not line["secrets"]]
    hidden = sum(map(_is_hidden, secret))
    touched = sum(bool(masked(line["text"]).kinds) for line in harmless)
    assert len(LINES) >= 150
    assert hidden / len(secret) >= 0.95
    assert hidden / (hidden + touched) >= 0.97


def test_harmless_lines_stay_as_they_are():
    harmless = [line["text"] for line in LINES if not line["secrets"]]
    assert sum(masked(text).text == text for text in harmless) >= len(harmless) - 2


def test_masking_twice_changes_nothing():
    for line in LINES:
        once = masked(line["text"]).text
        assert masked(once).text == once


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("用 sk-sp-ABCDEFGH12345678.abcdefgh12345678_XYZ 调用", "用 sk-sp-…[masked] 调用"),
        ("智谱 0a1b2c3d4e5f60718293a4b5c6d7e8f9.ZpQr12。", "智谱 [masked]。"),
        ("ghp_" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ", "ghp_…[masked]"),
        ("ghp_" + "a" * 36, "ghp_…[masked]"),
        ("密码是 hunter2", "密码是 [masked]"),
        ("口令：芝麻开门", "口令：[masked]"),
        ("Authorization: Bearer eyJhbGciOiJIUzI1NiJ9", "Authorization: Bearer eyJ…[masked]"),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[masked]@db/x"),
        (
            "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIB\n-----END EC PRIVATE KEY-----",
            "-----BEGIN EC PRIVATE KEY-----\n[masked]\n-----END EC PRIVATE KEY-----",
        ),
    ],
)
def test_the_whole_value_goes_and_the_meaning_stays(text, shown):
    assert masked(text).text == shown


def test_a_private_key_whose_end_is_cut_off_goes_as_well():
    assert "MHcCAQ" not in masked("-----BEGIN PRIVATE KEY-----\nMHcCAQEEIB").text


def test_secrets_in_lists_and_details_are_masked_and_details_stay_json():
    details = json.dumps({"fix": '口令："a b\\"c1"', "why": "密码是 hunter2"}, ensure_ascii=False)
    plain = masked_fields({"details": details, "tags": ("密码：hunter2", "家"), "pinned": True})
    assert plain.fields["tags"] == ("密码：[masked]", "家")
    assert json.loads(str(plain.fields["details"]))["why"] == "密码是 [masked]"
    assert plain.fields["pinned"] is True
    assert set(plain.kinds_by_field) == {"details", "tags"}


def test_fields_without_secrets_are_the_very_same():
    fields: dict[str, FieldValue] = {
        "text": "灯塔计划六月交付",
        "details": '{"why": "x"}',
        "topics": ("灯塔",),
    }
    assert masked_fields(fields).fields == fields


def test_entries_of_the_journal_lose_secrets_before_and_after():
    changes = json.dumps({"text": ["密码是 hunter2", "密码是 hunter3"], "revision": [1, 2]})
    found = masked_entry(changes)
    assert json.loads(found.text) == {
        "text": ["密码是 [masked]", "密码是 [masked]"],
        "revision": [1, 2],
    }
    assert found.kinds == ("password", "password")


@pytest.mark.parametrize("changes", ["", "[]", "{}", '{"a": 1}', "{'", '{"details": ["{", null]}'])
def test_odd_entries_are_left_alone(changes):
    assert masked_entry(changes).text == changes


def test_every_rule_has_a_known_kind_and_lower_case_keywords():
    for rule in form_rules():
        assert rule.kind in KINDS
        assert all(word == word.lower() for word in rule.keywords), rule.name


@pytest.mark.parametrize(
    "piece",
    [
        *(".", "a", " ", '"', "a-", "sk-", "eyJ", "xoxb-", "密码 是 ", "Bearer ", "password for "),
        *("0123456789abcdef", "http://a:", "curl -u ", "cookie: a", "-----BEGIN PRIVATE KEY-----"),
    ],
)
def test_long_texts_of_any_kind_are_looked_through_in_time(piece):
    text = piece * (50_000 // len(piece))
    started = time.perf_counter()
    masked(text)
    assert time.perf_counter() - started < 3.0
