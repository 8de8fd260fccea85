"""Small functions, small modules, few broad excepts: the figures are printed with ``-s``."""

from __future__ import annotations

import ast
import math
import statistics
from collections.abc import Iterator

from tests.architecture.source import Function, sources

MEDIAN_LINES = 9
P90_LINES = 35
LONGEST_FUNCTION = 60
LONGEST_MODULE = 500
PUBLIC_METHODS = 12
FACADES = ("Engine", "AsyncEngine")
"""The public Python surface: one method per use case."""
BROAD_EXCEPTS_PER_1000_LINES = 1.5


def length(node: Function) -> int:
    """Lines of a function with its signature, without decorators and docstring."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is None:
        return lines
    docstring = node.body[0]
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def test_functions_are_short():
    lengths = {
        f"{source.name}:{node.lineno} {node.name}": length(node)
        for source in sources()
        for node in source.functions()
    }
    ordered = sorted(lengths.values())
    median = statistics.median(ordered)
    p90 = ordered[math.ceil(0.9 * len(ordered)) - 1]
    print(f"functions {len(ordered)}, median {median}, p90 {p90}, longest {ordered[-1]}")
    assert median <= MEDIAN_LINES
    assert p90 <= P90_LINES
    assert [name for name, lines in lengths.items() if lines > LONGEST_FUNCTION] == []


def test_modules_are_short():
    lengths = {source.name: source.lines for source in sources()}
    print(f"modules {len(lengths)}, lines {sum(lengths.values())}, longest {max(lengths.values())}")
    assert [name for name, lines in lengths.items() if lines > LONGEST_MODULE] == []


def test_classes_have_few_public_methods():
    counts = {
        f"{source.name}:{node.lineno} {node.name}": sum(
            isinstance(member, Function) and not member.name.startswith("_") for member in node.body
        )
        for source in sources()
        for node in source.classes()
        if node.name not in FACADES and not is_screen(node)
    }
    print(f"classes {len(counts)}, most public methods {max(counts.values())}")
    assert [name for name, methods in counts.items() if methods > PUBLIC_METHODS] == []


def is_screen(node: ast.ClassDef) -> bool:
    """Textual calls many methods of its apps and screens by name."""
    bases = {ast.unparse(base).split("[")[0].rpartition(".")[2] for base in node.bases}
    return any(base == "App" or base.endswith(("Screen", "Place")) for base in bases)


def test_broad_excepts_are_rare():
    found = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]
    lines = sum(source.lines for source in sources())
    allowed = math.ceil(BROAD_EXCEPTS_PER_1000_LINES * lines / 1000)
    print(f"broad excepts {len(found)} in {lines} lines, allowed {allowed}")
    assert len(found) <= allowed, found


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Bare, or any form of Exception or BaseException."""
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return bool(names & {"Exception", "BaseException"})


def test_modules_hand_over_typed_values_and_no_dicts_of_anything():
    found = [
        f"{source.name}:{node.lineno} {node.name}"
        for source in sources()
        for node in source.functions()
        if not node.name.startswith("_") and any(map(is_shapeless, signature(node)))
    ]
    assert found == []


def signature(node: Function) -> Iterator[str]:
    """The annotations of parameters and result, as written."""
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation:
            yield ast.unparse(argument.annotation)
    if node.returns:
        yield ast.unparse(node.returns)


def is_shapeless(annotation: str) -> bool:
    """``dict[str, Any]`` and its like."""
    shapeless = ("dict[str, Any]", "Dict[str, Any]", "Mapping[str, Any]")
    return any(form in annotation for form in shapeless)
