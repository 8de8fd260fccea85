"""Errors as one sentence and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config.messages import text
from engine.domain.errors import JiyiError
from engine.domain.vocabulary import nearest

if TYPE_CHECKING:
    from typer import TyperException

FAILED, MISUSED, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141


class Misuse(JiyiError):
    """The command line itself cannot be understood."""


def misuse(error: TyperException, language: str) -> str:
    """What a mistake in the command line is, in the user's language."""
    key, params = _explained(error)
    return text(f"cli.usage.{key}", language, **params)


def _explained(error: TyperException) -> tuple[str, dict[str, str]]:
    # The parser's own classes are private to it; their names and attributes are not.
    kind = type(error).__name__
    option = str(getattr(error, "option_name", ""))
    if kind == "NoSuchOption":
        near = nearest(option, getattr(error, "possibilities", None) or ())
        return ("no_option_near" if near else "no_option"), {"name": option, "nearest": near}
    if kind == "BadOptionUsage":
        return "option_value", {"name": option}
    parameter = getattr(error, "param", None)
    name = _shown_name(parameter)
    if kind == "MissingParameter":
        return "missing", {"name": name}
    if kind == "BadParameter" and name:
        for word in ("integer", "number"):
            if word in error.message:
                return f"bad_{word}", {"name": name}
        return "bad_value", {"name": name, "detail": error.message}
    surplus = error.message.partition("unexpected extra argument")[2].partition("(")[2]
    if surplus:
        return "surplus", {"words": surplus.removesuffix(")")}
    return "other", {"detail": error.format_message()}


def _shown_name(parameter: object) -> str:
    options = [name for name in getattr(parameter, "opts", ()) if name.startswith("-")]
    return options[0] if options else str(getattr(parameter, "metavar", None) or "")
