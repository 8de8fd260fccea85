"""The settings as a table for people: what each one is, where its value comes from."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.environment import source_variable
from engine.config.live import LiveSettings
from engine.config.messages import text
from engine.config.schema import declared
from engine.config.setting import Setting


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as text. Values are masked where secret, ``range`` is what is accepted,
    ``source`` is ``default``, ``file`` or the name of the environment variable."""

    key: str
    group: str
    value: str
    default: str
    source: str
    range: str
    acts: str
    label: str
    help: str


def setting_rows(live: LiveSettings, language: str) -> tuple[SettingRow, ...]:
    """Every setting in force now, in the order of declaration."""
    settings, sources = live.current(), live.sources()
    return tuple(
        _row(setting, setting.read(settings), _source(live, key, sources[key]), language)
        for key, setting in declared().items()
    )


def _source(live: LiveSettings, key: str, source: str) -> str:
    return source_variable(key, live.environ) if source == "env" else source


def _row(setting: Setting, value: object, source: str, language: str) -> SettingRow:
    return SettingRow(
        key=setting.key,
        group=setting.group,
        value=setting.shown(value),
        default=setting.shown(setting.default),
        source=source,
        range=setting.allowed,
        acts=setting.acts,
        label=text(f"setting.{setting.key}.label", language),
        help=text(f"setting.{setting.key}.help", language),
    )
