"""Where everything of one user is kept: one absolute folder, the same for every program."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from engine.domain.errors import ConfigInvalid

VARIABLE = "JIYI_HOME"
DEFAULT_NAME = ".jiyi"
_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def resolve_home(option: str | None, environ: Mapping[str, str]) -> Path:
    """The home folder: the option, else ``JIYI_HOME``, else ``~/.jiyi``; nothing is created.

    A relative option is relative to the current folder, as typed there; a relative
    ``JIYI_HOME`` would mean another store in every folder and is refused. Raises
    :class:`ConfigInvalid`.
    """
    if option:
        return _absolute(_expanded("--home", option, environ))
    named = environ.get(VARIABLE, "").strip()
    if not named:
        return _absolute(_user_folder(environ) / DEFAULT_NAME)
    path = _expanded(VARIABLE, named, environ)
    if not path.is_absolute():
        raise ConfigInvalid("error.home_relative", name=VARIABLE, value=named)
    return _absolute(path)


def _expanded(name: str, raw: str, environ: Mapping[str, str]) -> Path:
    if "\0" in raw:
        raise ConfigInvalid("error.home_unusable", name=name, value=raw.replace("\0", "?"))
    if os.name != "nt" and _WINDOWS_PATH.match(raw):
        raise ConfigInvalid("error.home_foreign", name=name, value=raw)
    path = Path(raw)
    if path.parts[:1] == ("~",):
        return _user_folder(environ).joinpath(*path.parts[1:])
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ConfigInvalid("error.home_unusable", name=name, value=raw) from error


def _user_folder(environ: Mapping[str, str]) -> Path:
    named = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    try:
        # Without the variable (a service) Python asks the password database.
        folder = Path(named) if named else Path.home()
    except RuntimeError as error:
        raise ConfigInvalid("error.no_user_folder", name=VARIABLE) from error
    if not folder.is_absolute():
        raise ConfigInvalid("error.no_user_folder", name=VARIABLE)
    return folder


def _absolute(path: Path) -> Path:
    try:
        return Path(os.path.abspath(path))
    except OSError as error:  # the current folder was deleted
        raise ConfigInvalid("error.home_unusable", name="--home", value=str(path)) from error
