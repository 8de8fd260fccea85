"""Both READMEs are equal, and what they state is so; ``test_documented_commands`` runs their
commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from engine.config.schema import MemorySettings

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.zh-CN.md")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def commands(name: str) -> list[list[str]]:
    """The ``jiyi`` commands of a README's indented blocks, as words."""
    lines = [line.strip() for line in read(name).splitlines() if line.startswith("    jiyi ")]
    return [shlex.split(line)[1:] for line in lines]


def shape(words: list[str]) -> list[str]:
    """A command without its texts, which differ by language."""
    return words[:1] + [word for word in words[1:] if re.fullmatch(r"-?-[a-z-]+|\d\w*", word)]


def test_both_readmes_show_the_same_commands() -> None:
    english, chinese = ([shape(words) for words in commands(name)] for name in READMES)
    assert english == chinese


def test_both_readmes_have_the_same_sections_and_code() -> None:
    counts = [
        (
            len(re.findall(r"^## ", read(name), re.MULTILINE)),
            re.findall(r"^    (?!jiyi )(\S.*)$", read(name), re.MULTILINE),
            re.findall(r"^\| `(\w+)`", read(name), re.MULTILINE),
        )
        for name in READMES
    ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", READMES)
def test_the_readme_names_the_tools_that_exist(name: str) -> None:
    from engine.mcp_server.toolset import CORE

    named = re.findall(r"^\| `(\w+)`", read(name), re.MULTILINE)
    assert sorted(named) == sorted(tool.name for tool in CORE)


@pytest.mark.parametrize("name", READMES)
def test_the_readme_states_the_real_limit_of_a_memory(name: str) -> None:
    assert f"{MemorySettings().max_chars:,}" in read(name)
