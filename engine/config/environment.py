"""Settings from environment variables: ``JIYI_SECTION__NAME=value``."""

from __future__ import annotations

from collections.abc import Mapping

from engine.config.layer import Layer
from engine.config.schema import checked, declared
from engine.domain.errors import ConfigInvalid
from engine.domain.vocabulary import nearest

ALIASES = {"JIYI_TOOLSETS": "mcp.toolsets"}
"""Short names; the long name of the same setting wins."""


def read_environment(environ: Mapping[str, str]) -> Layer:
    """All settings found in ``environ``. An empty variable counts as not set.

    A value that cannot be used is the layer's ``problem`` and leaves its setting as it is;
    a variable with two underscores that names no setting is a warning.
    """
    names = {setting.variable: key for key, setting in declared().items()}
    values: dict[str, object] = {}
    problems: list[ConfigInvalid] = []
    for variable, key in (ALIASES | names).items():
        raw = environ.get(variable, "").strip()
        if not raw:
            continue
        try:
            values[key] = checked(key, _plain_null(key, raw), variable)
        except ConfigInvalid as error:
            problems.append(error)
    return Layer(values, next(iter(problems), None), _unknown(environ, names))


def source_variable(key: str, environ: Mapping[str, str]) -> str:
    """The variable in ``environ`` that sets ``key``, or its usual name when none does."""
    usual = declared()[key].variable
    short = [alias for alias, target in ALIASES.items() if target == key and environ.get(alias)]
    return usual if environ.get(usual) or not short else short[0]


def _plain_null(key: str, raw: str) -> str | None:
    return None if declared()[key].nullable and raw.lower() == "null" else raw


def _unknown(environ: Mapping[str, str], names: Mapping[str, str]) -> tuple[ConfigInvalid, ...]:
    strangers = (
        name for name in environ if name.startswith("JIYI_") and "__" in name and name not in names
    )
    return tuple(unknown_name(name, name, nearest(name, names)) for name in sorted(strangers))


def unknown_name(place: str, name: str, near: str) -> ConfigInvalid:
    """The warning for a name that is no setting, with the nearest one if there is any."""
    key = "error.config_unknown_near" if near else "error.config_unknown"
    return ConfigInvalid(key, place=place, name=name[:60], nearest=near)
