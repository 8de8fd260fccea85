"""Twenty files as people write them: saving one number changes one line of each."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from engine.config.editing import set_value
from engine.config.file import read_config
from engine.domain.errors import ConfigInvalid

NASTY = {
    "anchor and alias": "mine: &base {a: 1}\nother: *base\nrecall:\n  k: 5\n",
    "merge key": "base: &b\n  x: 1\nmine:\n  <<: *b\n  y: 2\nrecall:\n  k: 5 # five\n",
    "folded text": "mine: >-\n  k: 5 is no setting,\n  only a text\n\nrecall:\n  k: 5\n",
    "literal text": "mine: |\n  recall:\n    k: 5\nrecall:\n  k: 5\n",
    "single quotes": "recall:\n  preset: 'balanced'\n  k: '5'\nmine: 'it''s # fine'\n",
    "double quotes": 'recall:\n  "k": 5\nmine: "a \\" # b \\u4e2d"\n',
    "leading zero": "mine: 0123\nother: 010\nrecall:\n  k: 5\n",
    "trailing zero": "mine: 1.10\nother: 1e3\nrecall:\n  k: 5\n",
    "hash in values": "mine: a#b\nurl: http://x/#y # real comment\nrecall:\n  k: 5\n",
    "byte order mark": "\ufeffrecall:\n  k: 5\n",
    "windows line ends": "# top\r\nrecall:\r\n  k: 5 # five\r\nmine: 1\r\n",
    "mixed line ends": "# top\r\nrecall:\n  k: 5\r\nmine: 1\n",
    "no last line end": "mine: 1\nrecall:\n  k: 5",
    "trailing blanks": "recall:   \n  k:    5   \n\n\nmine: 1  \n   \n",
    "flow": "recall: {k: 5, preset: balanced} # all on one line\nmine: [1, 2]\n",
    "flow over lines": "recall: {\n  k: 5, # five\n  preset: balanced,\n}\nmine: 1\n",
    "odd indentation": "recall:\n         k: 5\n         preset: balanced\nmine:\n - 1\n -   2\n",
    "comments in odd places": "recall: # here\n  # there\n\n  # and here\n  k: 5\n# end\n...\n",
    "chinese": "我的: {甲: 1}\n# 召回\nrecall:\n  k: 5 # 五条\n说明: 记忆\n",
    "document marks": "%YAML 1.2\n---\nmine: 5\nrecall:\n  k: 5\n",
    "words that mean switches": "mine: yes\nother: off\nnothing: ~\nrecall:\n  k: 5\n",
    "wide and unseen characters": "mine: ａ\u200bｂ\nrecall:\n  k: 5\n  \n",
}


@pytest.mark.parametrize("name", NASTY)
def test_saving_a_number_changes_one_line(name: str, tmp_path: Path) -> None:
    path, text = tmp_path / "config.yaml", NASTY[name]
    path.write_bytes(text.encode("utf-8"))
    set_value(path, "recall.k", 7)
    after = path.read_bytes().decode("utf-8")
    lines = list(difflib.ndiff(text.splitlines(True), after.splitlines(True)))
    gone = [line[2:] for line in lines if line.startswith("-")]
    new = [line[2:] for line in lines if line.startswith("+")]
    assert len(gone) == len(new) == 1
    assert new[0] in (gone[0].replace("5", "7", 1), gone[0].replace("'5'", "7", 1))
    assert read_config(path, {}).values["recall.k"] == 7


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("recall:\n  k: 5\n  k: 6\n", 3),
        ("recall:\n\tk: 5\n", 2),
        ("recall:\n  k: [5\nmine: 1\n", 3),
        ("mine: 'open\nrecall:\n  k: 5\n", None),
        ("recall: {k: 5\n", None),
        ("mine: !unknown 5\nrecall:\n  k: 5\n", 1),
    ],
)
def test_a_broken_file_is_reported_with_its_line_and_stays(
    text: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigInvalid) as caught:
        set_value(path, "recall.k", 7)
    assert path.read_text() == text
    if line is not None:
        assert str(line) in str(caught.value)
