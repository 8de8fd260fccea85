"""Authored fields: what is accepted, what it becomes, what clears it."""

from __future__ import annotations

import math

import pytest

from engine.domain.errors import InvalidInput
from engine.domain.fields import FIELDS, MAX_LABELS, defaults, validated

TEXTS = ("text", "summary", "persona_summary", "source", "source_ref")
LISTS = ("topics", "participants", "key_facts", "tags")
NUMBERS = ("polarity", "importance", "event_time", "expires_at")
SWITCHES = ("pinned", "private")
# Details have tests of their own.
CHOICES = {"kind": "decision", "sentiment": "negative", "trust": "external"}


def refusal(raw: dict[str, object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        validated(raw)
    return caught.value


def test_every_field_belongs_to_one_of_the_groups_tested_here() -> None:
    assert {*TEXTS, *LISTS, *NUMBERS, *SWITCHES, *CHOICES} | {"details"} == set(FIELDS)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", [7, 0.5, True, ["a"], {"a": 1}, b"a"])
def test_a_text_field_takes_text_alone(name: str, value: object) -> None:
    assert refusal({name: value}).key == "error.expected_text"


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["1", True, False, [1], "", {}])
def test_a_number_field_takes_numbers_alone_and_no_switch(name: str, value: object) -> None:
    assert refusal({name: value}).key == "error.expected_number"


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, -1e300])
def test_a_number_must_be_finite_and_within_its_range(name: str, value: float) -> None:
    assert refusal({name: value}).key == "error.out_of_range"


@pytest.mark.parametrize(("value", "fits"), [(0, True), (1, True), (-0.01, False), (1.01, False)])
def test_importance_runs_from_0_to_1(value: float, fits: bool) -> None:
    if fits:
        assert validated({"importance": value}) == {"importance": float(value)}
    else:
        assert refusal({"importance": value}).params["high"] == 1.0


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", [0, 1, "true", "", []])
def test_a_switch_takes_true_and_false_alone(name: str, value: object) -> None:
    assert refusal({name: value}).key == "error.expected_switch"
    assert validated({name: True}) == {name: True}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", ["a,b", b"ab", 7, {"a"}, {"a": 1}, [1], ["a", None]])
def test_a_list_field_takes_lists_of_texts_alone(name: str, value: object) -> None:
    assert refusal({name: value}).key == "error.expected_list"


@pytest.mark.parametrize("name", LISTS)
def test_labels_are_trimmed_and_blank_and_repeated_ones_dropped(name: str) -> None:
    assert validated({name: [" a  b ", "", " ", "c", "a b"]}) == {name: ("a b", "c")}


def test_too_many_and_too_long_labels_are_refused() -> None:
    assert refusal({"tags": [str(i) for i in range(MAX_LABELS + 1)]}).key == "error.too_many"
    assert refusal({"tags": ["x" * 501]}).key == "error.too_long"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000"])
def test_a_blank_text_is_refused(text: str) -> None:
    assert refusal({"text": text}).key == "error.empty_text"


def test_the_text_keeps_its_blanks_and_line_ends() -> None:
    assert validated({"text": " 一\r\n\t二 \n"}) == {"text": " 一\r\n\t二 \n"}


@pytest.mark.parametrize("name", ["summary", "persona_summary", "source_ref"])
def test_a_blank_short_text_clears_it_and_an_endless_one_is_refused(name: str) -> None:
    assert validated({name: "  "}) == {name: None}
    assert refusal({name: "x" * 20_001}).key == "error.too_long"


def test_a_blank_source_is_refused() -> None:
    assert refusal({"source": " "}).key == "error.empty_text"


@pytest.mark.parametrize(("name", "value"), CHOICES.items())
def test_a_choice_is_read_without_regard_to_case_and_blanks(name: str, value: str) -> None:
    assert validated({name: f" {value.upper()} "}) == {name: value}


def test_a_slip_in_a_choice_names_the_nearest() -> None:
    error = refusal({"kind": "decison"})
    assert error.key == "error.not_allowed_near"
    assert error.params["nearest"] == "decision"
    assert refusal({"sentiment": 3}).key == "error.expected_text"


def test_a_slip_in_a_field_name_names_the_nearest() -> None:
    error = refusal({"tag": ["a"]})
    assert error.params["nearest"] == "tags"
    assert "importance" in str(error.params["allowed"])


def test_null_clears_every_field_but_the_text() -> None:
    names = [name for name in FIELDS if name != "text"]
    assert validated(dict.fromkeys(names)) == defaults()
    assert refusal({"text": None}).key == "error.not_clearable"


@pytest.mark.parametrize("name", ["text", "summary", "source"])
def test_half_an_emoji_and_nul_become_a_replacement_mark(name: str) -> None:
    assert validated({name: "前\ud83d中\x00后"}) == {name: "前\ufffd中\ufffd后"}
    assert validated({"tags": ["\ud83d"]}) == {"tags": ("\ufffd",)}


@pytest.mark.parametrize("value", [0.5, -0.9, 10**400])
def test_a_stance_is_a_whole_number(value):
    with pytest.raises(InvalidInput):
        validated({"polarity": value})


def test_a_number_beyond_all_bounds_is_refused():
    with pytest.raises(InvalidInput):
        validated({"importance": 10**400})
