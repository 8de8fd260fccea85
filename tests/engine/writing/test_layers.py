"""What is derived from a memory, and the pieces its text is embedded in."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.errors import InvalidInput
from engine.domain.fields import defaults
from engine.writing.embed import INLINE_PIECES, Embedded, Text, embed_now, embed_whole
from engine.writing.layers import labels_of, tokens_of
from engine.writing.workspace_names import folder_name, workspace_name

FIELDS = defaults() | {"text": "正文"}


def test_tokens_come_from_the_text_the_summary_and_every_list(engine: Engine) -> None:
    fields = FIELDS | {
        "text": "alpha",
        "summary": "beta",
        "persona_summary": "hidden",
        "topics": ("gamma",),
        "participants": ("delta",),
        "key_facts": ("epsilon",),
        "tags": ("zeta",),
        "source_ref": "hidden",
    }
    words = tokens_of(engine.context, fields).words
    assert {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"} == set(words)


def test_fields_do_not_run_into_each_other(engine: Engine) -> None:
    tokens = tokens_of(engine.context, FIELDS | {"text": "甲", "tags": ("乙",)})
    assert "甲乙" not in tokens.chars


def test_labels_are_folded_for_comparison() -> None:
    labels = labels_of(FIELDS | {"tags": ("ＡＢＣ", "abc", "測試")})
    assert labels == {"tags": ("abc", "测试"), "topics": (), "participants": ()}


def test_pieces_cover_a_text_and_know_where_they_stand(engine: Engine) -> None:
    text = "第一段很长。" * 700
    embedder = engine.context.models.embedder(5.0)
    (embedded,) = embed_whole(engine.context, embedder, [Text(text)])
    assert isinstance(embedded, Embedded)
    assert len(embedded.pieces) >= 4
    assert embedded.pieces[0].start == 0
    assert embedded.pieces[-1].end == len(text)
    for before, after in zip(embedded.pieces, embedded.pieces[1:], strict=False):
        assert before.end == after.start
    assert {len(piece.vector) for piece in embedded.pieces} == {2 * embedder.identity.dims}


def test_a_writer_does_not_wait_for_a_long_text(engine: Engine) -> None:
    chars = engine.context.settings.embedding.piece_chars
    long, short = "长" * (chars * (INLINE_PIECES + 1)), "短"
    done, reason = embed_now(engine.context, [Text(long), Text(short), Text(long)], 5.0)
    assert reason is None
    assert done[0] is None and done[2] is None
    assert done[1] is not None and len(done[1].pieces) == 1


def test_a_workspace_name_is_cleaned_and_bounded() -> None:
    assert workspace_name("  a \t b\x00 ") == "a b\ufffd"
    for bad in ("", " \n", "x" * 101):
        with pytest.raises(InvalidInput):
            workspace_name(bad)


def test_every_folder_makes_a_valid_workspace_name() -> None:
    for name in ("", "  ", "a  b", "x" * 255, "记" * 85, "\udcff", "a" * 89 + " b"):
        made = folder_name(name)
        assert workspace_name(made) == made
        assert workspace_name(f"{made}-999999999") == f"{made}-999999999"
