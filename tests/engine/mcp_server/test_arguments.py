"""Arguments as models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.errors import InvalidInput
from engine.mcp_server.pairs import read_pairs
from engine.mcp_server.parameters import Parameter, labels, read_arguments, whole_number

TAGS = Parameter("tags", "labels")
K = Parameter("k", "whole", low=1, high=15)
KIND = Parameter("kind", "name", choices=("episodic", "semantic"))
TEXT = Parameter("text", "text", required=True)


@pytest.mark.parametrize(
    "given_value",
    [
        "工作,家",
        "工作， 家",
        "工作、家",
        '["工作", "家"]',
        ["工作", "家"],
        ["工作", None, " 家 ", ""],
    ],
)
def test_lists_come_in_many_forms(given_value):
    assert labels("tags", given_value) == ("工作", "家")


@pytest.mark.parametrize("nothing", [None, "", "null", "None", " "])
def test_null_means_left_out(nothing):
    arguments = read_arguments("t", (TAGS, K, KIND), {"tags": nothing, "k": nothing})
    assert arguments.values == {}


def test_a_text_that_says_null_stays_a_text():
    assert read_arguments("t", (TEXT,), {"text": "null"}).text("text") == "null"


@pytest.mark.parametrize(("raw", "number"), [("5", 5), (5, 5), (5.0, 5), ("5.0", 5), (" 7 ", 7)])
def test_numbers_may_be_text(raw, number):
    assert K.read(raw) == number


@pytest.mark.parametrize("raw", [0, 16, -1, 1_000_000, "many", 5.5, True, [5], {"k": 5}])
def test_a_number_outside_its_range_is_refused_with_the_range(raw):
    with pytest.raises(InvalidInput) as caught:
        K.read(raw)
    assert caught.value.params["low"] == 1
    assert caught.value.params["high"] == 15


def test_names_fold_case_and_suggest_the_nearest():
    assert KIND.read(" Semantic ") == "semantic"
    with pytest.raises(InvalidInput) as caught:
        KIND.read("semantics")
    assert caught.value.params["nearest"] == "semantic"


def test_unknown_and_missing_arguments_are_named():
    with pytest.raises(InvalidInput) as caught:
        read_arguments("t", (TEXT, TAGS), {"text": "x", "tag": "y"})
    assert caught.value.params["nearest"] == "tags"
    with pytest.raises(InvalidInput) as caught:
        read_arguments("t", (TEXT,), {"text": None})
    assert caught.value.key == "mcp.missing_argument"


@given(st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.text()))
def test_whatever_is_given_is_read_or_refused_in_words(raw):
    for parameter in (TAGS, K, KIND, TEXT):
        try:
            parameter.read(raw)
        except InvalidInput as error:
            assert error.params["name"] == parameter.name


@given(st.floats() | st.text() | st.integers())
def test_whole_numbers_never_raise(raw):
    assert whole_number(raw) is None or isinstance(whole_number(raw), int)


ALLOWED = ("summary", "key_facts", "pinned", "source")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("summary=简短; pinned=true", {"summary": "简短", "pinned": "true"}),
        ("summary=a; b and c；pinned=true；", {"summary": "a; b and c", "pinned": "true"}),
        (
            'summary="a; pinned=b \\"q\\""; source=web',
            {"summary": 'a; pinned=b "q"', "source": "web"},
        ),
        ("summary=x=1, y=2", {"summary": "x=1, y=2"}),
        ("summary＝全角", {"summary": "全角"}),
        ("summary = null\npinned = false", {"summary": None, "pinned": "false"}),
        ('{"summary": "a;b", "pinned": true}', {"summary": "a;b", "pinned": True}),
        ("summary=", {"summary": ""}),
        ("  ", {}),
    ],
)
def test_named_values_are_told_apart(text, values):
    assert read_pairs("fields", text, ALLOWED) == values


def test_named_values_may_be_an_object():
    assert read_pairs("fields", {"pinned": True}, ALLOWED) == {"pinned": True}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("sumary=x", "mcp.unknown_pair_near"),
        ("zzz=x", "mcp.unknown_pair"),
        ("just words", "mcp.not_pairs"),
        ("summary=a; summary=b", "mcp.named_twice"),
        ('{"summary": ', "mcp.not_pairs"),
    ],
)
def test_named_values_that_cannot_be_read_are_refused(text, key):
    with pytest.raises(InvalidInput) as caught:
        read_pairs("fields", text, ALLOWED)
    assert caught.value.key == key


@given(st.text())
def test_any_text_of_pairs_is_read_or_refused(text):
    try:
        read_pairs("fields", text, ALLOWED)
    except InvalidInput as error:
        assert error.params["argument"] == "fields"
