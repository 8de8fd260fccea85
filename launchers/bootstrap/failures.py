"""Why setting up stopped, in terms a person can act on."""

from __future__ import annotations

import errno
import re
from pathlib import Path


class SetupFailed(Exception):
    """Setting up cannot go on. ``key`` names the sentence, ``log`` the file that tells more."""

    def __init__(self, key: str, log: Path | None = None, **params: object) -> None:
        super().__init__(key)
        self.key = key
        self.log = log
        self.params = params


def failure_of_venv(output: str) -> str:
    """The key of the sentence that explains why ``python -m venv`` failed."""
    if re.search(r"No module named '?(venv|ensurepip)|ensurepip is not available", output):
        return "venv_missing"
    return _failure_of_disk(output) or "venv_failed"


def failure_of_pip(output: str) -> str:
    """The key of the sentence that explains why pip failed, from the most telling signs."""
    if disk := _failure_of_disk(output):
        return disk
    for key, signs in _PIP_SIGNS:
        if re.search(signs, output):
            return key
    return "pip_failed"


def _failure_of_disk(output: str) -> str:
    if re.search(r"No space left|Errno 28\b|Errno 122\b|not enough space|WinError 112", output):
        return "disk_full"
    if re.search(r"WinError 32\b", output):
        return "in_use"
    if re.search(r"Permission denied|Read-only file system|WinError 5\b", output):
        return "no_permission"
    return ""


_PIP_SIGNS = (
    ("certificate", r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError"),
    ("slow_network", r"[Tt]imed out|TimeoutError|IncompleteRead"),
    (
        "no_network",
        r"NewConnectionError|Failed to establish|ProxyError|name resolution|getaddrinfo"
        r"|Connection (refused|reset|aborted)|RemoteDisconnected|unreachable",
    ),
    ("build_failed", r"Failed building wheel|metadata-generation-failed|Failed to build"),
    ("no_packages", r"No matching distribution|requires a different Python"),
    ("venv_missing", r"No module named '?pip"),
)


def failure_of_system(error: OSError) -> SetupFailed:
    """What an error of the operating system means to the person who started."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SetupFailed("disk_full")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SetupFailed("no_permission")
    return SetupFailed("system", reason=error.strerror or str(error))
