"""Details of structured kinds: which fields, which values, one canonical form."""

from __future__ import annotations

import json

import pytest

from engine.domain.details import FIELDS_BY_KIND, checked, kind_of, read, require_fitting
from engine.domain.errors import InvalidInput

DECISION = {"what": "用 Rust", "why": "快", "alternatives": ["Go", "C++"]}


def refusal(value: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        checked(value)
    return caught.value


def test_details_come_back_as_they_were_given() -> None:
    assert read(checked(DECISION)) == DECISION | {"alternatives": ("Go", "C++")}
    assert read(None) == {}


def test_equal_details_are_equal_texts_in_whatever_order_and_form() -> None:
    assert checked(DECISION) == checked(dict(reversed(DECISION.items())))
    assert checked(DECISION) == checked(json.dumps(DECISION))


@pytest.mark.parametrize("value", [{}, "{}", {"what": None}, {"what": " "}, {"alternatives": []}])
def test_details_without_any_value_are_none(value: object) -> None:
    assert checked(value) is None


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("what", "error.expected_details"),
        ("[1]", "error.expected_details"),
        (7, "error.expected_details"),
        ("[" * 10_000, "error.expected_details"),
        ({"whta": "x"}, "error.not_allowed_near"),
        ({"what": 7}, "error.expected_text"),
        ({"what": "x" * 20_001}, "error.too_long"),
        ({"alternatives": 7}, "error.expected_list"),
        ({"alternatives": ["x"] * 51}, "error.too_many"),
        ({"priority": 0}, "error.out_of_range"),
        ({"priority": 4}, "error.out_of_range"),
        ({"priority": "high"}, "error.expected_number"),
        ({"priority": True}, "error.expected_number"),
        ({"status": "done"}, "error.not_allowed"),
    ],
)
def test_what_does_not_fit_is_named(value: object, key: str) -> None:
    assert refusal(value).key == key


def test_a_priority_may_be_written_as_text_and_one_alternative_without_a_list() -> None:
    assert read(checked({"priority": "1", "status": "OPEN"})) == {"priority": 1, "status": "open"}
    assert read(checked({"alternatives": "Go"})) == {"alternatives": ("Go",)}


def test_each_kind_takes_its_own_fields_alone() -> None:
    for kind, fields in FIELDS_BY_KIND.items():
        for name in fields:
            value: object = {"priority": 2, "status": "open", "alternatives": ["x"]}.get(name, "x")
            stored = checked({name: value})
            require_fitting(kind, stored)
            assert kind_of(stored) == kind
            for other in set(FIELDS_BY_KIND) - {kind}:
                with pytest.raises(InvalidInput, match="details_of_kind"):
                    require_fitting(other, stored)
            with pytest.raises(InvalidInput, match="kind_without_details"):
                require_fitting("semantic", stored)


def test_fields_of_two_kinds_fit_none() -> None:
    assert kind_of(checked({"what": "x", "fix": "y"})) is None
    assert kind_of(None) is None
