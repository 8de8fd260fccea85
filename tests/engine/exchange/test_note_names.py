"""Names of notes and exports: safe on every system, never outside their folder."""

from __future__ import annotations

import pytest

from engine.domain.errors import InvalidInput
from engine.exchange.note_names import note_name, note_path, require_file_name

UID = "01890000-0000-7000-8000-0000deadbeef"


@pytest.mark.parametrize(
    "text",
    [
        "../../x",
        "/etc/x",
        "C:\\x",
        "..\\x",
        "[[a|b#c]]",
        "a:b",
        "\x00\n\u202egnp",
        "." * 50,
        "# 标题",
    ],
)
def test_no_text_leads_out_of_the_folder(text):
    path = note_path(text, text, note_name(UID, text, 1.8e9, None))
    assert len(path.parts) == 3
    assert not path.is_absolute()
    assert not set('\\:*?"<>|#^[]\x00\n') & set(str(path))
    assert ".." not in path.parts


@pytest.mark.parametrize("name", ["con", "NUL.md", "com1", "aux"])
def test_reserved_names_are_not_used(name):
    assert note_path(name, "semantic", "x").parts[0] == f"_{name}"


@pytest.mark.parametrize(
    "name",
    [
        *("../../x", "/etc/x", "C:\\x", "..\\x", "con", "nul.jiyi", "a:b", "x" * 300, "..", ""),
        *("记忆/归档", " a", "a.", "a\x00b"),
    ],
)
def test_a_name_that_is_no_plain_file_name_is_refused(name):
    with pytest.raises(InvalidInput, match="bad_file_name"):
        require_file_name(name)


def test_a_plain_name_may_be_chinese():
    assert require_file_name("记忆①.jiyi") == "记忆①.jiyi"
