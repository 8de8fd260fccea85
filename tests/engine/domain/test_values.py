"""Texts, vocabularies, scopes, states and errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.embedding import Calibration, SpaceIdentity
from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.memory import Memory
from engine.domain.scope import Filters, Scope
from engine.domain.text import content_hash, scrub
from engine.domain.vocabulary import KINDS, check, nearest

MEMORY = Memory(1, "u", "t", "semantic", "global", 0.5, 0.0, 0.0, 1, "h")


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_can_be_stored_once_scrubbed(text: str) -> None:
    clean = scrub(text)
    assert len(clean) == len(text)
    assert "\x00" not in clean
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert scrub(clean) == clean
    assert len(content_hash(clean)) == 32


def test_whole_emoji_and_odd_blanks_stay_as_they_are() -> None:
    text = "记忆★🎉\u00a0\u200d\ufeff\r\n\t👨‍👩‍👧"
    assert scrub(text) == text


def test_texts_that_differ_in_one_blank_have_different_hashes() -> None:
    assert content_hash("a b") != content_hash("a  b")
    assert content_hash("a b") == content_hash("a b")


def test_a_vocabulary_names_what_is_allowed_and_nearest() -> None:
    assert check("kind", " Episodic ", KINDS) == "episodic"
    with pytest.raises(InvalidInput) as caught:
        check("kind", "x" * 100, KINDS)
    assert caught.value.key == "error.not_allowed"
    assert len(str(caught.value.params["value"])) == 60
    assert str(caught.value.params["allowed"]).split(", ") == list(KINDS)
    assert nearest("episodc", KINDS) == "episodic"
    assert nearest("zzz", KINDS) == ""


@pytest.mark.parametrize(
    "filters",
    [
        Filters(scope=Scope("workspace", "a")),
        Filters(scope=Scope("domain", "a")),
        Filters(kinds=("semantic",)),
        Filters(tags_all=("a",)),
        Filters(tags_any=("a",)),
        Filters(topics=("a",)),
        Filters(participants=("a",)),
        Filters(sources=("a",)),
        Filters(trusts=("user",)),
        Filters(session_id="s"),
        Filters(persona_id="p"),
        Filters(min_importance=0.0),
        Filters(since=0.0),
        Filters(until=0.0),
        Filters(pinned=False),
        Filters(deleted_only=True),
    ],
)
def test_any_condition_makes_filters_narrow(filters: Filters) -> None:
    assert not filters.is_broad


def test_filters_that_only_lift_or_hide_states_are_broad() -> None:
    assert Filters().is_broad
    assert Filters(include_archived=False, include_expired=True, include_superseded=True).is_broad


def test_the_strongest_state_is_named() -> None:
    states: dict[str, dict[str, Any]] = {
        "live": {},
        "expired": {"expires_at": 10.0},
        "archived": {"expires_at": 10.0, "archived_at": 1.0},
        "superseded": {"archived_at": 1.0, "superseded_at": 1.0},
        "deleted": {"superseded_at": 1.0, "deleted_at": 1.0},
    }
    assert {name: replace(MEMORY, **values).state(10.0) for name, values in states.items()} == {
        name: name for name in states
    }
    assert replace(MEMORY, expires_at=10.0).state(9.99) == "live"


def test_every_part_of_a_space_changes_its_key() -> None:
    space = SpaceIdentity("p", "m", "1", 8)
    others = [
        replace(space, provider="q"),
        replace(space, model="n"),
        replace(space, revision="2"),
        replace(space, dims=9),
        replace(space, query_prefix="q:"),
        replace(space, passage_prefix="p:"),
        replace(space, transform="t"),
        replace(space, recipe="r"),
    ]
    assert len({identity.key for identity in [space, *others]}) == 9
    assert SpaceIdentity("p", "m", "1", 8).key == space.key


def test_a_calibration_rises_from_0_to_1_with_a_half_in_its_middle() -> None:
    calibration = Calibration(middle=0.4, slope=12.0)
    values = [calibration.related(cosine / 10) for cosine in range(-10, 11)]
    assert values == sorted(values)
    assert 0 < values[0] < 0.01 < 0.99 < values[-1] < 1
    assert calibration.related(0.4) == 0.5


def test_an_error_shows_its_key_and_values_to_developers() -> None:
    assert str(JiyiError("error.x", name="k", value=1)) == "error.x (name='k', value=1)"
    assert str(JiyiError("error.x")) == "error.x"
