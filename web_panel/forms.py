"""The form of the settings, made from their declarations: nothing is listed twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.config.editing import written_value
from engine.config.environment import source_variable
from engine.config.live import LiveSettings
from engine.config.schema import declared
from engine.config.setting import Setting, plain
from engine.domain.errors import ConfigInvalid
from web_panel.language import Words

_PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("general", ("", "panel", "tui", "log")),
    ("recall", ("recall", "intent", "diversity", "rerank", "expansion", "cache")),
    ("models", ("embedding", "vectors", "text", "chat")),
    ("writing", ("memory", "atoms", "graph", "facts", "conflicts", "workspaces")),
    ("context", ("context", "briefing", "mcp")),
    ("forgetting", ("decay", "archive", "prune", "expiry", "trash")),
    ("upkeep", ("maintenance", "journal", "backup", "reflect", "storage")),
    ("documents", ("ingest", "transfer", "secrets")),
)
"""Parts of the form and the sections in them; a section of none comes last."""

_OTHER = "other"


@dataclass(frozen=True, slots=True)
class Field:
    """One setting as a field. Values are as typed; a secret's is never among them:
    ``has_value`` tells that there is one, ``reference`` where it comes from (``${NAME}``).

    ``control`` is ``switch``, ``choice``, ``slider``, ``number``, ``secret`` or ``text``;
    ``variable`` is the environment variable whose value wins over the file, if one does.
    """

    key: str
    control: str
    label: str
    help: str
    value: str
    default: str
    differs: bool
    allowed: str
    acts: str
    variable: str
    low: str
    high: str
    step: str
    choices: tuple[str, ...]
    nullable: bool
    has_value: bool
    reference: str


@dataclass(frozen=True, slots=True)
class Group:
    """The fields of a section; ``name`` is its key, "" for what stands in none."""

    name: str
    title: str
    fields: tuple[Field, ...]

    @property
    def differing(self) -> int:
        """How many are not at their defaults."""
        return sum(field.differs for field in self.fields)


@dataclass(frozen=True, slots=True)
class Part:
    """Sections about one thing."""

    name: str
    title: str
    groups: tuple[Group, ...]


def build_form(live: LiveSettings, words: Words) -> list[Part]:
    """All settings in force now, with labels in the language of ``words``."""
    fields = _fields(live, words)
    sections = _sections()
    listed = {name for _, names in _PARTS for name in names}
    others = tuple(name for name in sections if name.partition(".")[0] not in listed)
    parts = []
    for part, names in (*_PARTS, (_OTHER, others)):
        groups = tuple(_groups(names, sections, fields, words))
        if groups:
            parts.append(Part(part, words(f"panel.part.{part}"), groups))
    return parts


def fields_by_key(live: LiveSettings, words: Words) -> Mapping[str, Field]:
    """The same fields by key."""
    return _fields(live, words)


def _sections() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for key, setting in declared().items():
        found.setdefault(setting.group, []).append(key)
    return found


def _groups(
    names: Iterable[str],
    sections: Mapping[str, Sequence[str]],
    fields: Mapping[str, Field],
    words: Words,
) -> Iterable[Group]:
    for name in names:
        for section, keys in sections.items():
            if section == name or (name and section.startswith(f"{name}.")):
                title = words(f"panel.group.{section or 'general'}")
                yield Group(section, title, tuple(fields[key] for key in keys))


def _fields(live: LiveSettings, words: Words) -> dict[str, Field]:
    settings, sources = live.current(), live.sources()
    return {
        key: _field(
            setting,
            setting.read(settings),
            source_variable(key, live.environ) if sources[key] == "env" else "",
            _reference(live, setting),
            words,
        )
        for key, setting in declared().items()
    }


def _field(setting: Setting, value: object, variable: str, reference: str, words: Words) -> Field:
    is_set = value not in (None, "")
    return Field(
        key=setting.key,
        control=_control(setting),
        label=words(f"setting.{setting.key}.label"),
        help=words(f"setting.{setting.key}.help"),
        value="" if setting.secret else _typed(value),
        default="" if setting.secret else _typed(setting.default),
        differs=value != setting.default,
        allowed=setting.allowed,
        acts=setting.acts,
        variable=variable,
        low=_number(setting.low),
        high=_number(setting.high),
        step=_number(setting.step),
        choices=setting.choices,
        nullable=setting.nullable,
        has_value=setting.secret and is_set,
        reference=reference,
    )


def _control(setting: Setting) -> str:
    if setting.secret:
        return "secret"
    if setting.kind in ("whole", "number"):
        return "slider" if _fits_slider(setting) else "number"
    return setting.kind if setting.kind in ("switch", "choice") else "text"


def _fits_slider(setting: Setting) -> bool:
    """Over wide ranges a slider jumps past the values that anybody wants."""
    if setting.low is None or setting.high is None or not setting.step:
        return False
    return (setting.high - setting.low) / setting.step <= 400


def _typed(value: object) -> str:
    return "" if value is None else plain(value)


def _number(value: float | None) -> str:
    return "" if value is None else plain(float(value))


def _reference(live: LiveSettings, setting: Setting) -> str:
    """The variable that a key is taken from: its name is no secret. Nothing else of the file is
    handed on."""
    if not setting.secret:
        return ""
    try:
        written = written_value(live.path, setting.key)
    except ConfigInvalid:
        return ""
    is_name = isinstance(written, str) and written.startswith("${") and written.endswith("}")
    return written if is_name and isinstance(written, str) else ""
