from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.messages import catalogue, detect_language, render, text
from engine.domain.errors import InvalidInput


def test_a_sentence_is_filled_in_the_language_asked_for():
    assert "travle" in text("error.expected_text", "en", name="travle")
    assert text("error.expected_text", "zh", name="text") == "text 必须是文本。"


def test_an_unknown_language_is_english():
    assert text("error.expected_text", "fr", name="x") == text(
        "error.expected_text", "en", name="x"
    )


def test_an_unknown_key_is_shown_itself():
    assert text("error.no_such_key", "zh") == "error.no_such_key"


def test_a_placeholder_without_value_stays_visible():
    assert text("error.expected_text", "en") == "{name} must be text."


def test_braces_in_values_are_only_text():
    assert "{0.__class__}" in text("error.expected_text", "en", name="{0.__class__}")


@given(st.text(), st.text())
def test_no_value_makes_a_sentence_fail(name, value):
    error = InvalidInput("error.not_allowed", name=name, value=value, allowed="a")
    assert value in render(error, "zh")


def test_a_hint_follows_the_sentence(monkeypatch):
    entries = {"error.x": "It broke.", "error.x.hint": "Mend {it}."}
    monkeypatch.setattr("engine.config.messages.catalogue", lambda language: entries)
    assert render(InvalidInput("error.x", it="it"), "en") == "It broke. Mend it."


def test_an_error_inside_an_error_is_rendered_too(monkeypatch):
    entries = {"error.item": "Item {item}: {reason}", "error.x": "{name} broke."}
    monkeypatch.setattr("engine.config.messages.catalogue", lambda language: entries)
    inner = InvalidInput("error.x", name="k")
    assert render(InvalidInput("error.item", item=2, reason=inner), "zh") == "Item 2: k broke."


def test_every_sentence_can_be_shown_without_any_value():
    for language in ("en", "zh"):
        for key in catalogue(language):
            assert text(key, language).strip()


@pytest.mark.parametrize(
    ("setting", "environ", "language"),
    [
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        ("en", {"LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LC_ALL": "zh_TW", "LANG": "en_US.UTF-8"}, "zh"),
        ("auto", {"LC_ALL": "", "LC_MESSAGES": "zh_HK"}, "zh"),
        ("auto", {"LANG": "C.UTF-8"}, "en"),
        ("auto", {"LANG": "de_DE.UTF-8"}, "en"),
        ("auto", {"LANGUAGE": "zh:en"}, "zh"),
    ],
)
def test_the_language_is_the_setting_or_the_locale(setting, environ, language):
    assert detect_language(setting, environ) == language
