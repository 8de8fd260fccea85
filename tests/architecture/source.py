"""The product's source files, parsed once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("engine", "launchers", "memory_tui", "web_panel")
"""Packages of the product; those that do not exist are passed over."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One module."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Its path from the root, for messages."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        """Its dotted name."""
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n")

    def functions(self) -> Iterator[Function]:
        """Its functions and methods, nested ones too."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node

    def classes(self) -> Iterator[ast.ClassDef]:
        """Its classes."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                yield node


@cache
def sources() -> tuple[Source, ...]:
    """Every module of the product."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return tuple(_parsed(path) for path in paths)


def _parsed(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(path, text, ast.parse(text, str(path)))
