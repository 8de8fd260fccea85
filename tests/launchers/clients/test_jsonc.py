"""One place of a JSON text changes, every other byte stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launchers.clients import jsonc

ENTRY = {"command": "jiyi", "args": ["mcp"]}
PATH = ("servers", "jiyi")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "\ufeff{}\n",
        '{"servers": {}}',
        '{"servers": {"a": 1}}',
        '{\n\t"servers": {\n\t\t"a": 1\n\t}\n}\n',
        '{\r\n  "servers": {\r\n    "a": 1\r\n  }\r\n}\r\n',
        '{\n  // one\n  "servers": {\n    "a": 1, // two\n  },\n  /* three */\n}\n',
        '{\n  "servers": {\n    "a": 1 // two\n  }\n}\n',
        '{"z": [1, {"servers": 2}], "servers": {"jiyi": {"old": true}, "b": "//no"}}',
        '{\n  "servers": { // none yet\n  }\n}\n',
    ],
)
def test_a_value_is_put_in_and_taken_out(text: str) -> None:
    before = jsonc.value_at(text, PATH)
    put = jsonc.with_value(text, PATH, ENTRY)
    assert jsonc.value_at(put, PATH) == ENTRY
    assert jsonc.with_value(put, PATH, ENTRY) == put
    for remark in ("// one", "// two", "/* three */", "// none yet"):
        assert (remark in put) == (remark in text)
    assert ("\r\n" in put) == ("\r\n" in text) and put.count("\r") == put.count("\r\n")
    out = jsonc.without(put, PATH)
    assert jsonc.value_at(out, PATH) is None
    for name in ("a", "b"):
        assert jsonc.value_at(out, ("servers", name)) == jsonc.value_at(text, ("servers", name))
    if before is None and jsonc.value_at(text, ("servers",)) and "//" not in text:
        assert out == text


def test_a_comment_stays_with_what_it_is_about() -> None:
    text = '{\n  "servers": {\n    "a": 1 // about a\n  }\n}\n'
    put = jsonc.with_value(text, PATH, 2)
    assert put == '{\n  "servers": {\n    "a": 1, // about a\n    "jiyi": 2\n  }\n}\n'
    assert jsonc.without(put, PATH) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": }', 1),
        ('{\n"a": 1\n"b": 2}', 3),
        ("{", 1),
        ("[1, 2", 1),
        ('{"a": 1} x', 1),
        ("{'a': 1}", 1),
        ('{"a": "b\n"}', 1),
        ('{"servers": []}', 1),
        ("[" * 5_000, 1),
    ],
)
def test_a_broken_text_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(jsonc.BrokenJson) as caught:
        jsonc.with_value(text, PATH, ENTRY)
    assert caught.value.line == line


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), VALUES), st.sampled_from([None, 2, "\t"]))
def test_any_document_gets_one_more_value_and_loses_it(
    document: dict[str, object], indent: int | str | None
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    put = jsonc.with_value(text, ("new name",), ENTRY)
    assert json.loads(put) == document | {"new name": ENTRY}
    assert json.loads(jsonc.without(put, ("new name",))) == document


def test_elements_of_a_list_come_and_go() -> None:
    text = '{"hooks": {"Start": [{"x": 1}]}}'
    put = jsonc.with_element(text, ("hooks", "Start"), {"ours": 1})
    put = jsonc.with_element(put, ("hooks", "End"), {"ours": 2})
    assert json.loads(put)["hooks"] == {"Start": [{"x": 1}, {"ours": 1}], "End": [{"ours": 2}]}
    out = jsonc.without_elements(
        put, ("hooks", "Start"), lambda item: isinstance(item, dict) and "ours" in item
    )
    assert json.loads(out)["hooks"]["Start"] == [{"x": 1}]
