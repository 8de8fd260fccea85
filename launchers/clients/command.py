"""How assistants start the server of this installation."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def jiyi_command() -> list[str]:
    """How to start ``jiyi`` from anywhere: absolute, as clients need it."""
    script = Path(sys.executable).with_name("jiyi.exe" if os.name == "nt" else "jiyi")
    if script.exists():
        return [str(script)]
    return [sys.executable, "-m", "launchers.cli"]
