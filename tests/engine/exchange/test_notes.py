"""Notes: whatever text and fields a memory has, its note gives them back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.domain.memory import FieldValue
from engine.exchange.notes import note_text, read_memory, read_note
from engine.exchange.records import Placed, SavedMemory

UID = "01890000-0000-7000-8000-0000deadbeef"
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


def memory(text: str, label: str, at: float) -> SavedMemory:
    fields: dict[str, object] = {"text": text, "kind": "semantic", "tags": [label]}
    states: dict[str, FieldValue] = {"archived_at": at}
    return SavedMemory(UID, fields | {"event_time": at}, "工作", at, at, 3, states=states)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.floats(0, 4e9))
def test_a_note_gives_back_every_field(text, label, at):
    written = note_text(memory(text, label, at), {"refines": ["另一篇 deadbeef"]}, None)
    note = read_note(written)
    found = read_memory(note, "x.md", None)
    assert isinstance(found, Placed)
    assert isinstance(found.record, SavedMemory)
    assert found.record.fields == memory(text, label, at).fields
    assert found.record.states == {"archived_at": at}
    assert abs((found.record.created_at or 0) - at) < 1e-5
    assert note.links == {"refines": ("另一篇 deadbeef",)}


def test_front_matter_of_other_tools_is_read():
    note = read_note(
        "---\njiyi: 1\nuid: 01890000-0000-7000-8000-0000deadbeef\ntags:\n  - 一\n  - 二\n"
        "kind: decision\ncssclasses: wide\ncreated_at: 2026-05-01T09:30:00+08:00\n---\n\n正文\n"
    )
    found = read_memory(note, "x.md", None)
    assert isinstance(found, Placed)
    assert isinstance(found.record, SavedMemory)
    assert found.record.fields == {"tags": ["一", "二"], "kind": "decision", "text": "正文"}
    assert found.record.created_at == 1777599000.0


def test_line_ends_that_a_tool_has_changed_are_changed_back():
    text = note_text(memory("一\n二", "x", 5.0), {}, None)
    assert read_note(text.replace("\n", "\r\n")).body == "一\n二"
    assert read_note("\ufeff" + text).body == "一\n二"
