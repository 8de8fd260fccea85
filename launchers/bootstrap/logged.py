"""Commands of the set-up: their output goes to the log, what is seen is progress."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from launchers.bootstrap.environment import Checkout

POLL_S = 0.2
_LED_ASTRAY_BY = frozenset(
    {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_DRY_RUN"}
)


def start_logged(
    command: Sequence[str],
    checkout: Checkout,
    handles: Sequence[int] = (),
    *,
    outlives_us: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a command in the checkout, its output at the end of the log.

    It gets ``handles`` too, where the system can hand them on. ``outlives_us``: it goes on
    when this process and its terminal end.
    """
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    if outlives_us:
        flags |= getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    with checkout.log.open("ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=install_environment(os.environ),
            cwd=checkout.root,
            creationflags=flags,
            start_new_session=outlives_us,
            pass_fds=() if os.name == "nt" else tuple(handles),
        )


def waited_for(process: subprocess.Popen[bytes], tell: Callable[[], None]) -> int:
    """The exit code; ``tell`` is called a few times a second. Ctrl+C ends the command too."""
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(POLL_S)
            tell()
    except KeyboardInterrupt:
        _stop(process)
        raise


def install_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables venv and pip run with: the caller's, less what would lead them elsewhere."""
    kept = {name: value for name, value in environment.items() if name not in _LED_ASTRAY_BY}
    return {**kept, "PIP_USER": "0", "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"}


def current_step(log: Path) -> str:
    """The last line printed, without the reasons pip adds to it."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 2000))
        lines = stream.read().decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return re.split(r" \(from |: ", last)[0][:60]


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
