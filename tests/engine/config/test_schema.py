from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from engine.config.messages import LANGUAGES, catalogue, render
from engine.config.schema import Settings, assembled, checked, declared
from engine.config.setting import MASK, Knob, declarations
from engine.domain import vocabulary
from engine.domain.errors import ConfigInvalid


def test_every_default_is_accepted_by_its_own_declaration():
    for key, setting in declared().items():
        assert checked(key, setting.default, "test") == setting.default


def test_both_ends_of_every_range_are_accepted_and_one_step_beyond_is_refused():
    for key, setting in declared().items():
        if setting.low is None or setting.high is None:
            continue
        checked(key, setting.low, "test")
        checked(key, setting.high, "test")
        for beyond in (setting.low - 1, setting.high + 1):
            with pytest.raises(ConfigInvalid) as caught:
                checked(key, beyond, "test")
            assert setting.allowed in render(caught.value, "en")


def test_every_number_has_a_range_and_a_step_inside_it():
    for setting in declared().values():
        if setting.kind in ("whole", "number"):
            assert setting.low is not None
            assert setting.high is not None
            assert setting.step is not None
            assert 0 < setting.step <= setting.high - setting.low


def test_every_setting_has_a_label_and_help_in_both_languages_and_none_is_left_over():
    wanted = {f"setting.{key}.{part}" for key in declared() for part in ("label", "help")}
    for language in LANGUAGES:
        present = {key for key in catalogue(language) if key.startswith("setting.")}
        assert present == wanted


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(ValidationError):
        Settings().recall.k = 3


def test_default_kinds_are_those_of_the_domain():
    assert declared()["memory.default_kind"].choices == vocabulary.KINDS


def test_only_named_settings_differ_from_the_defaults():
    settings = assembled({"recall.k": 7, "recall.weights.recency": 0.1})
    assert settings.recall.k == 7
    assert settings.recall.weights.recency == 0.1
    assert settings.recall.pool == Settings().recall.pool


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("recall.k", "7", 7),
        ("recall.weights.recency", "0.1", 0.1),
        ("text.enabled", "off", False),
        ("language", " ZH ", "zh"),
        ("mcp.toolsets", "core, manage", ("core", "manage")),
        ("mcp.toolsets", ["core"], ("core",)),
        ("timezone", "Asia/Shanghai", "Asia/Shanghai"),
    ],
)
def test_values_are_read_as_people_type_them(key, raw, value):
    assert checked(key, raw, "test") == value


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("recall.k", True),
        ("recall.k", 7.5),
        ("recall.k", [5]),
        ("recall.k", "many"),
        ("recall.weak_below", float("nan")),
        ("embedding.wait_s", float("inf")),
        ("text.enabled", 2),
        ("timezone", "Mars/Olympus"),
        ("timezone", "../../etc/passwd"),
        ("language", "fr"),
        ("recall.preset", "../balanced"),
        ("mcp.toolsets", ""),
        ("mcp.toolsets", {"core": 1}),
        ("embedding.provider", "\ud800"),
    ],
)
def test_an_unusable_value_is_named_with_its_place_and_what_is_allowed(key, raw):
    with pytest.raises(ConfigInvalid) as caught:
        checked(key, raw, "config.yaml:12")
    for language in LANGUAGES:
        sentence = render(caught.value, language)
        assert "config.yaml:12" in sentence
        assert key in sentence
        assert "{" not in sentence.replace(str(raw), "")


def test_a_secret_is_shown_as_a_mask_only():
    class Provider(BaseModel):
        api_key: Annotated[str, Field(), Knob("now", secret=True)] = ""

    (setting,) = declarations(Provider)
    assert setting.shown("sk-test-ABCDEFG") == MASK
    assert setting.shown("") == ""
