from __future__ import annotations

import re

from engine.config.file import default_config, parse_config
from engine.config.schema import declared
from tests.engine.config.default_file import PATH, expected


def test_the_annotated_default_is_what_the_declarations_say():
    # Rewrite it with: python -m tests.engine.config.default_file
    assert PATH.read_text(encoding="utf-8") == expected()


def test_the_annotated_default_holds_every_setting_with_its_default_and_no_other():
    layer = parse_config(PATH.read_bytes(), PATH, {})
    assert layer.warnings == ()
    for key, setting in declared().items():
        assert layer.values.get(key) == setting.default


def test_every_line_that_is_not_a_comment_sets_something_or_opens_a_section():
    for line in expected().splitlines():
        assert re.fullmatch(r"|\s*#.*|\s*[a-z_]+:( .+)?", line), line


def test_a_checkout_gives_new_homes_its_own_annotated_default():
    assert default_config() == PATH.read_bytes()
