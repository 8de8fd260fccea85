"""References to memories, in every form that people and programs type."""

from __future__ import annotations

import pytest

from engine.domain.errors import InvalidInput
from engine.domain.ids import MAX_ID, MemoryRef, parse_ref, short_uid

UID = "01a22ebc-3c4a-7240-9bad-b5ebe974a9b3"


@pytest.mark.parametrize(
    ("typed", "ref"),
    [
        ("#12", MemoryRef(id=12)),
        ("12", MemoryRef(id=12)),
        (12, MemoryRef(id=12)),
        (" #12 ", MemoryRef(id=12)),
        ("#0012", MemoryRef(id=12)),
        (str(MAX_ID), MemoryRef(id=MAX_ID)),
        (UID, MemoryRef(uid=UID)),
        (UID.upper(), MemoryRef(uid=UID)),
        ("e974a9b3", MemoryRef(short_uid="e974a9b3")),
        ("E974A9B3", MemoryRef(short_uid="e974a9b3")),
        ("12345678", MemoryRef(id=12345678, short_uid="12345678")),
        ("#12345678", MemoryRef(id=12345678)),
        ("00000000", MemoryRef(short_uid="00000000")),
    ],
)
def test_every_form_of_a_reference_is_read(typed: str | int, ref: MemoryRef) -> None:
    assert parse_ref(typed) == ref


@pytest.mark.parametrize(
    "typed",
    [
        "", "#", "##1", "0", "#0", "-1", -1, 0, "1.0", "1e3", "#e974a9b3", "abc", "e974a9",
        UID[:-1], UID.replace("-", ""), "１２", "١٢", "²", str(MAX_ID + 1), "9" * 500, True,
        "1 2", "12\n13", "\ud83d", "' OR 1=1",
    ],
)  # fmt: skip
def test_what_is_no_reference_is_refused(typed: str | int) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_ref(typed)
    assert caught.value.key == "error.bad_ref"
    assert len(str(caught.value.params["value"])) <= 60


def test_a_reference_shows_itself_as_it_is_typed() -> None:
    assert [str(parse_ref(form)) for form in ("12", UID, short_uid(UID))] == [
        "#12",
        UID,
        "e974a9b3",
    ]
