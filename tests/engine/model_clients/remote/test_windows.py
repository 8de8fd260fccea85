"""Texts longer than the model's window, cut until they fit."""

from __future__ import annotations

from engine.domain.errors import ModelUnavailable, TextRefused
from engine.model_clients.remote.windows import SHORTEST_CHARS, WindowCutter

LONG = "今天记下一些琐事。" * 330 + "灯塔密钥在末段。"


def test_a_text_beyond_the_window_is_embedded_whole_in_parts(connected, server):
    server.switches.max_chars = 512
    cutter = WindowCutter()
    [parts] = cutter.embed([LONG], connected().embed_each)
    assert not isinstance(parts, ModelUnavailable)
    assert "".join(LONG[part.start : part.end] for part in parts) == LONG
    assert max(part.end - part.start for part in parts) <= 512
    assert "灯塔密钥在末段" in LONG[parts[-1].start :]


def test_the_window_is_learned(connected, server):
    server.switches.max_chars = 512
    embedder, cutter = connected(), WindowCutter()
    cutter.embed([LONG], embedder.embed_each)
    assert 200 <= cutter.window_chars <= 512
    server.requests.clear()
    cutter.embed([LONG + "二"], embedder.embed_each)
    assert max(map(len, server.texts)) <= 512


def test_short_texts_beside_it_stay_whole(connected, server):
    server.switches.max_chars = 512
    [short, parts] = WindowCutter().embed(["short", LONG], connected().embed_each)
    assert not isinstance(short, ModelUnavailable) and not isinstance(parts, ModelUnavailable)
    assert [(part.start, part.end) for part in short] == [(0, 5)]
    assert len(parts) > 1


def test_a_text_refused_for_another_reason_fails_and_teaches_nothing(connected, server):
    server.switches.fail_if = "坏"
    cutter = WindowCutter()
    [bad, good] = cutter.embed(["字" * 700 + "坏" + "字" * 700, "good"], connected().embed_each)
    assert isinstance(bad, TextRefused)
    assert not isinstance(good, ModelUnavailable)
    assert cutter.window_chars == 0
    assert min(len(text) for text in server.texts if "坏" in text) <= SHORTEST_CHARS


def test_a_provider_that_is_down_cuts_nothing(connected, server):
    embedder = connected()
    server.switches.status = 500
    [failure] = WindowCutter().embed([LONG], embedder.embed_each)
    assert type(failure) is ModelUnavailable
    assert len(server.requests) == 2


def test_blank_texts_are_refused(connected, server):
    [failure] = WindowCutter().embed(["  \n"], connected().embed_each)
    assert isinstance(failure, TextRefused)
    assert server.requests == []
