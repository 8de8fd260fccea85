from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.file import (
    FILE_NAME,
    default_config,
    ensure_user_config,
    parse_config,
    read_config,
)
from engine.config.messages import render
from engine.domain.errors import ConfigInvalid

PATH = Path("config.yaml")
POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")


def parsed(text: str, **environ: str):
    return parse_config(text.encode("utf-8"), PATH, environ)


def refused(text: str) -> str:
    with pytest.raises(ConfigInvalid) as caught:
        parsed(text)
    assert render(caught.value, "zh") != render(caught.value, "en")
    return render(caught.value, "en")


def test_hand_written_yaml_is_read_with_comments_bom_and_windows_line_ends():
    text = "\ufeff# mine\r\nrecall:\r\n    k: 7 # seven\r\n    weights: {recency: 0.1}\r\n"
    assert parsed(text).values == {"recall.k": 7, "recall.weights.recency": 0.1}


@pytest.mark.parametrize("text", ["", "# nothing\n", "recall:\n", "recall:\n  k:\n", "---\n"])
def test_what_is_left_empty_has_its_default(text):
    layer = parsed(text)
    assert layer.values == {}
    assert layer.warnings == ()


def test_an_unknown_key_is_reported_with_the_nearest_and_the_rest_works():
    layer = parsed("# notes\nrecal:\n  k: 3\nrecall:\n  presett: balanced\n  k: 9\n9: x\n")
    assert layer.values == {"recall.k": 9}
    sentences = [render(warning, "en") for warning in layer.warnings]
    assert len(sentences) == 3
    assert "config.yaml:2" in sentences[0]
    assert "did you mean recall?" in sentences[0]
    assert "config.yaml:5" in sentences[1]
    assert "recall.preset?" in sentences[1]


def test_a_value_out_of_range_is_named_with_line_and_range():
    sentence = refused("# a\n\nrecall:\n  pool: 50\n  k: 500\n")
    assert "config.yaml:5" in sentence
    assert "recall.k" in sentence
    assert "1-100" in sentence


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("recall:\n\tk: 3\n", 2),
        ("recall:\n  k: [3\nlog: x\n", 3),
        ("recall:\n  k: 3\n k: 4\n", 3),
        ("a: b: c\n", 1),
        ("recall:\n  k: 3\n\n  k: 4\n", 4),
        ("language: en\nlog: \x07\n", 2),
        ("recall:\n  k: *none\n", 2),
        ("recall:\n  k: !!python/object/apply:os.getcwd []\n", 2),
    ],
)
def test_broken_yaml_is_reported_with_its_line(text, line):
    sentence = refused(text)
    assert f"line {line}" in sentence or f"config.yaml:{line}" in sentence


@pytest.mark.parametrize(
    "text",
    ["- a\n", "just text\n", "recall: 5\n", "a: 2024-99-99\n", "[" * 5000],
)
def test_a_file_of_another_shape_is_reported(text):
    assert "config.yaml" in refused(text)


def test_a_file_in_another_encoding_is_reported():
    for content in ("language: 中文".encode("utf-16"), "timezone: 北京".encode("gb18030")):
        with pytest.raises(ConfigInvalid) as caught:
            parse_config(content, PATH, {})
        assert "UTF-8" in render(caught.value, "en")


def test_a_value_can_name_an_environment_variable():
    assert parsed("recall:\n  k: ${ANSWERS}\n", ANSWERS="8").values == {"recall.k": 8}


def test_a_missing_variable_leaves_the_default_and_is_reported():
    layer = parsed("recall:\n  k: ${ANSWERS}\nlanguage: zh\n")
    assert layer.values == {"language": "zh"}
    assert "ANSWERS" in render(layer.warnings[0], "en")


def test_a_missing_file_sets_nothing(tmp_path):
    assert read_config(tmp_path / FILE_NAME, {}).values == {}


def test_a_folder_in_place_of_the_file_is_reported(tmp_path):
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(ConfigInvalid):
        read_config(tmp_path / FILE_NAME, {})


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_no_text_makes_reading_fail_in_any_other_way(text):
    try:
        parse_config(text.encode("utf-8", "surrogatepass"), PATH, {})
    except ConfigInvalid as error:
        assert render(error, "en")


def test_the_first_start_writes_the_annotated_default(tmp_path):
    home = tmp_path / "我的 记忆" / "home"
    path = ensure_user_config(home)
    assert path.read_bytes() == default_config()
    assert os.listdir(home) == [FILE_NAME]


@POSIX_ONLY
def test_the_users_file_can_be_read_by_its_owner_only(tmp_path):
    path = ensure_user_config(tmp_path / "home")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_existing_file_is_never_touched(tmp_path):
    (tmp_path / FILE_NAME).write_text("broken: [", encoding="utf-8")
    ensure_user_config(tmp_path)
    assert (tmp_path / FILE_NAME).read_text(encoding="utf-8") == "broken: ["


def test_many_first_starts_at_once_leave_one_whole_file(tmp_path):
    threads = [threading.Thread(target=ensure_user_config, args=(tmp_path,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.listdir(tmp_path) == [FILE_NAME]
    assert (tmp_path / FILE_NAME).read_bytes() == default_config()


def test_a_home_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigInvalid) as caught:
        ensure_user_config(tmp_path / "file" / "home")
    assert str(tmp_path) in render(caught.value, "en")
