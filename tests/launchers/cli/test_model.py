"""``jiyi model``: which model answers, and giving memories what they lack."""

from __future__ import annotations

import pytest

from tests.launchers.cli.conftest import Jiyi


def test_the_model_and_the_memories_with_vectors_are_shown(jiyi: Jiyi) -> None:
    jiyi("remember", "灯塔计划")
    shown = jiyi("model", "--json").json
    assert shown["chosen"]["provider"] == "hashing"
    assert (shown["embedded"], shown["live"], shown["remaining"]) == (1, 1, 0)


def test_memories_without_vectors_get_them_on_request(
    jiyi: Jiyi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JIYI_EMBEDDING__PROVIDER", "none")
    jiyi("remember", "灯塔计划")
    monkeypatch.setenv("JIYI_EMBEDDING__PROVIDER", "hashing")
    before = jiyi("model", "status", "--json").json
    assert before["remaining"] == 1
    after = jiyi("model", "embed", "--json").json
    assert (after["embedded"], after["remaining"]) == (1, 0)


def test_an_unknown_action_names_the_known_ones(jiyi: Jiyi) -> None:
    refused = jiyi("model", "stats")
    assert refused.code == 1 and "status" in refused.err
