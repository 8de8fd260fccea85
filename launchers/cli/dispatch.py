"""From the command line to an exit code."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Mapping, Sequence

import typer

from engine.config.home import resolve_home
from engine.config.messages import detect_language, render
from engine.domain.errors import JiyiError
from engine.domain.vocabulary import nearest
from launchers.cli import streams
from launchers.cli.app import build, localize
from launchers.cli.commands import COMMANDS
from launchers.cli.failures import (
    FAILED,
    INTERRUPTED,
    MISUSED,
    PIPE_CLOSED,
    Misuse,
    misuse,
)
from launchers.cli.output import tell
from launchers.cli.session import Start

_WITH_VALUE = ("--home", "--workspace", "-w", "--scope", "--format", "--lang")
_COMPLETION = "_JIYI_COMPLETE"
_PIPE_ENDS = (errno.EPIPE, errno.EINVAL)
_LANGUAGE_LINE = re.compile(rb"^language:[ \t]*[\"']?(zh|en)\b", re.MULTILINE)


def dispatch(arguments: Sequence[str]) -> int:
    """Run one command. Returns its exit code: 0 done, 1 failed, 2 misused, 130 interrupted;
    ``doctor`` has its own."""
    streams.prepare()
    arguments = streams.repaired(arguments)
    environ = dict(os.environ)
    start = Start(environ, chosen_language(arguments, environ))
    try:
        code = _invoke(arguments, start)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    # Whatever a defect raises, a person gets one sentence and the log gets the trace.
    except Exception as error:
        return report(error, arguments, start)


def report(error: Exception, arguments: Sequence[str], start: Start | None = None) -> int:
    """Say in one sentence what went wrong; return the exit code it means."""
    environ = dict(os.environ)
    start = start or Start(environ, chosen_language(arguments, environ))
    if isinstance(error, JiyiError):
        tell(render(error, start.language))
        return MISUSED if isinstance(error, Misuse) else FAILED
    if isinstance(error, typer.TyperException):
        tell(misuse(error, start.language))
        return MISUSED
    if isinstance(error, typer.Abort):
        return INTERRUPTED
    if isinstance(error, OSError) and error.errno in _PIPE_ENDS and _close_stdout():
        return PIPE_CLOSED
    return _crashed(error, arguments, start)


def chosen_language(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """The language of this run: ``--lang``, the setting, or the locale if it can be shown."""
    given = option_value(arguments, "--lang") or environ.get("JIYI_LANGUAGE", "").strip()
    language = detect_language(given or _configured_language(arguments, environ), environ)
    return language if given or streams.shows_chinese(sys.stderr) else "en"


def option_value(arguments: Sequence[str], name: str) -> str:
    """The value of an option, wherever it stands; empty when it is not given."""
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == name:
            return "".join(arguments[place + 1 : place + 2])
        if argument.startswith(f"{name}="):
            return argument.removeprefix(f"{name}=")
    return ""


def command_name(arguments: Sequence[str]) -> str | None:
    """The first argument that is neither an option nor an option's value."""
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif not argument.startswith("-"):
            return argument
        else:
            skip = argument in _WITH_VALUE
    return None


def _invoke(arguments: Sequence[str], start: Start) -> int:
    name = command_name(arguments)
    completing = _COMPLETION in start.environ
    if name is not None and name not in COMMANDS and not completing:
        near = nearest(name, COMMANDS)
        key = "cli.usage.no_command_near" if near else "cli.usage.no_command"
        raise Misuse(key, name=name[:60], nearest=near, allowed=", ".join(COMMANDS))
    group = build(COMMANDS if completing else [name] if name else [])
    if completing:
        localize(group, start.language)
    code = group.main(list(arguments), prog_name="jiyi", standalone_mode=False, obj=start)
    return code if isinstance(code, int) else 0


def _crashed(error: Exception, arguments: Sequence[str], start: Start) -> int:
    from launchers import logs

    try:
        home = resolve_home(option_value(arguments, "--home"), start.environ)
    except JiyiError as broken:
        tell(render(broken, start.language))
        return FAILED
    logs.configure(home)
    logs.record_crash(error)
    logs.release()
    crash = JiyiError("cli.crashed", kind=type(error).__name__, path=logs.log_path(home))
    tell(render(crash, start.language))
    return FAILED


def _configured_language(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """What ``config.yaml`` says, read without parsing it: help must not wait for that."""
    try:
        home = resolve_home(streams.native_path(option_value(arguments, "--home")), environ)
        found = _LANGUAGE_LINE.search((home / "config.yaml").read_bytes())
    except (JiyiError, OSError):
        return "auto"
    return found[1].decode("ascii") if found else "auto"


def _close_stdout() -> bool:
    """Send what is still buffered nowhere: the reader of the pipe has gone."""
    if sys.stdout is None:
        return False
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return True
