"""Bytes of files: encodings, packing, lines of any length."""

from __future__ import annotations

import gzip

import pytest

from engine.domain.errors import InvalidInput
from engine.exchange import bytes_in


def lines_of(path, data: bytes, limit: int = 1 << 20):
    path.write_bytes(data)
    encoding = bytes_in.encoding_of(bytes_in.sample_of(path))
    return encoding, list(bytes_in.text_lines(path, encoding, limit))


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("记忆\nplain\n".encode(), "utf-8"),
        ("\ufeff记忆\r\nplain\r\n".encode(), "utf-8"),
        ("记忆\r\nplain".encode("gb18030"), "gb18030"),
        ("记忆\nplain\n".encode("utf-16"), "utf-16"),
        ("\ufeff记忆\nplain\n".encode("utf-16-be"), "utf-16"),
    ],
    ids=["utf-8", "mark and CRLF", "GBK", "UTF-16", "UTF-16 big end first"],
)
def test_an_encoding_is_recognised(tmp_path, data, encoding):
    found, lines = lines_of(tmp_path / "file", data)
    assert found == encoding
    assert [(line.number, line.text) for line in lines] == [(1, "记忆"), (2, "plain")]


def test_an_unknown_encoding_is_refused_clearly(tmp_path):
    with pytest.raises(InvalidInput, match="import_encoding"):
        lines_of(tmp_path / "file", b"abc\xff\xfe\xfd\n\xc0\xff\n")


def test_one_broken_line_does_not_change_the_encoding_of_the_rest(tmp_path):
    data = "好\n".encode() + "坏的".encode("gb18030") + "\n好\n".encode()
    encoding, lines = lines_of(tmp_path / "file", data)
    assert encoding == "utf-8"
    assert [line.error is None for line in lines] == [True, False, True]


def test_a_line_that_is_too_long_is_told_and_the_next_one_is_read(tmp_path):
    _, lines = lines_of(tmp_path / "file", b"a\n" + b"x" * 300_000 + b"\nb", limit=1000)
    assert [(line.number, line.text, line.error is None) for line in lines] == [
        (1, "a", True),
        (2, "", False),
        (3, "b", True),
    ]


def test_a_packed_file_that_is_cut_off_gives_what_is_there(tmp_path):
    text = "\n".join(f"line {number} {number * 7919 % 1000}" for number in range(2000))
    whole = gzip.compress(text.encode())
    _, lines = lines_of(tmp_path / "file", whole[: len(whole) // 2])
    assert lines[0].text == "line 0 0"
    assert lines[-1].error is not None
    assert lines[-1].error.key == "error.import_cut_off"


def test_a_packed_file_made_to_burst_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bytes_in, "_RATIO_FROM", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\0" * (8 << 20)))
    with pytest.raises(InvalidInput, match="import_bomb"):
        bytes_in.require_sound_packing(path)
