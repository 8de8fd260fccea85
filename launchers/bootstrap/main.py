"""The bootstrap's flow: look, set up when needed, hand over to the command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from launchers.bootstrap.environment import Checkout, Stamp, condition, read_stamp
from launchers.bootstrap.failures import SetupFailed, failure_of_system
from launchers.bootstrap.speech import Speaker, language_of, shown_language
from launchers.bootstrap.weights import care_for_weights

if TYPE_CHECKING:
    import subprocess

EXTRAS = ("e5", "panel", "tui")
TEST_EXTRAS = (*EXTRAS, "test")
SPACE_NEEDED_MB = 1_000


def main(arguments: Sequence[str]) -> int:
    """Set up if needed, then run ``jiyi ARGUMENTS`` (``test``: pytest). Returns an exit code.

    On POSIX the command replaces this process, so there is no return when all goes well.
    """
    checkout = Checkout(Path(__file__).resolve().parents[2])
    speaker = Speaker(shown_language(language_of(os.environ), sys.stderr), sys.stderr)
    testing = list(arguments[:1]) == ["test"]
    try:
        installed = make_ready(checkout, TEST_EXTRAS if testing else EXTRAS, speaker)
        care_for_weights(checkout, speaker, wait=installed and arguments[:1] != ["mcp"])
        return _run_tests(checkout, arguments[1:]) if testing else _run_jiyi(checkout, arguments)
    except KeyboardInterrupt:
        speaker.say("interrupted")
        return 130
    except (SetupFailed, OSError) as error:
        return _report(error, checkout, speaker)


def make_ready(checkout: Checkout, extras: Sequence[str], speaker: Speaker) -> bool:
    """Leave an environment with the product and ``extras`` installed; cheap when it is there.
    Returns whether it had to be installed."""
    return condition(checkout, extras) != "ready" and _set_up(checkout, extras, speaker)


def _set_up(checkout: Checkout, extras: Sequence[str], speaker: Speaker) -> bool:
    # Imported only here: a start that finds everything ready should cost next to nothing.
    from launchers.bootstrap.installing import Installation, works
    from launchers.bootstrap.lock import held_lock

    with held_lock(checkout.lock, speaker) as lock:
        state = condition(checkout, extras)
        if state == "ready":  # another start has done the work meanwhile
            return False
        if state == "unknown":
            state = "outdated" if works(checkout.python) else "unusable"
        stamp = read_stamp(checkout.stamp)
        speaker.say(_announcement(state, stamp), folder=checkout.venv)
        wanted = sorted({*extras, *(stamp.extras if stamp else ())})
        Installation(checkout, wanted, lock, speaker).run(anew=state != "outdated")
        speaker.say("ready", seconds=speaker.elapsed_s())
    return True


def _announcement(state: str, stamp: Stamp | None) -> str:
    if state == "unusable":
        return "rebuilding"
    return "updating" if stamp else "first_start"


def _report(error: SetupFailed | OSError, checkout: Checkout, speaker: Speaker) -> int:
    failure = error if isinstance(error, SetupFailed) else failure_of_system(error)
    known: dict[str, object] = {
        "folder": checkout.venv,
        "megabytes": SPACE_NEEDED_MB,
        "python": ".".join(map(str, sys.version_info[:2])),
    }
    speaker.say(failure.key, **{**known, **failure.params})
    if failure.log is not None:
        speaker.say("log", path=failure.log)
    return 1


def _run_jiyi(checkout: Checkout, arguments: Sequence[str]) -> int:
    return _hand_over([str(checkout.jiyi), *(arguments or ["--help"])])


def _run_tests(checkout: Checkout, arguments: Sequence[str]) -> int:
    os.chdir(checkout.root)
    return _hand_over([str(checkout.python), "-m", "pytest", *arguments])


def _hand_over(command: list[str]) -> int:
    if os.name != "nt":
        os.execv(command[0], command)
    import subprocess

    return _wait_through_interrupts(subprocess.Popen(command))


def _wait_through_interrupts(process: subprocess.Popen[bytes]) -> int:
    """Exit code of the child, which gets Ctrl+C itself and decides what to do."""
    while True:
        with suppress(KeyboardInterrupt):
            return process.wait()
