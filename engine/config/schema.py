"""Every setting, declared once: type, default, range, step and when a change acts.

The file check, environment variables, `jiyi config`, `config.yaml` and every settings form
read these declarations. Labels and help are messages: ``setting.<key>.label`` and ``.help``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from engine.config.presets import known_preset, preset_names
from engine.config.setting import Knob, Setting, declarations
from engine.domain.errors import ConfigInvalid, JiyiError
from engine.domain.times import zone_named


def _not_a_switch(value: object) -> object:
    # Python counts True as 1; "k: true" in a file is a slip, not the number one.
    if isinstance(value, bool):
        raise ValueError(value)
    return value


def _folded(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _parted(value: object) -> object:
    if isinstance(value, str):
        return [part for part in (raw.strip() for raw in value.split(",")) if part]
    return value


def _known_zone(value: str) -> str:
    zone_named(value)
    return value


Whole = Annotated[int, BeforeValidator(_not_a_switch)]
Number = Annotated[float, BeforeValidator(_not_a_switch)]
Weight = Annotated[
    float | None, Field(ge=0.0, le=1.0), BeforeValidator(_not_a_switch), Knob("now", step=0.05)
]
Folded = BeforeValidator(_folded)
PresetName = Annotated[str, Folded, AfterValidator(known_preset)]
Names = Annotated[tuple[str, ...], BeforeValidator(_parted)]

# The same names as engine.domain.vocabulary.KINDS; a test keeps them equal.
Kind = Literal[
    "episodic",
    "semantic",
    "procedural",
    "feedback",
    "directive",
    "decision",
    "resolved",
    "question",
    "knowledge",
]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class MemorySettings(_Section):
    """What may be written, and what a writer may leave out."""

    max_chars: Annotated[Whole, Field(ge=1_000, le=10_000_000), Knob("next_write", step=1_000)] = (
        2_000_000
    )
    default_kind: Annotated[Kind, Folded, Knob("next_write")] = "semantic"
    default_importance: Annotated[Number, Field(ge=0.0, le=1.0), Knob("next_write", step=0.05)] = (
        0.5
    )


class StorageSettings(_Section):
    """How the database is written."""

    synchronous: Annotated[Literal["normal", "full"], Folded, Knob("restart")] = "normal"
    busy_timeout_s: Annotated[Number, Field(ge=0.1, le=600.0), Knob("restart", step=1.0)] = 30.0


class TextSettings(_Section):
    """The keyword channel."""

    enabled: Annotated[bool, Knob("now")] = True


class VectorSettings(_Section):
    """The meaning channel."""

    enabled: Annotated[bool, Knob("now")] = True
    exact_below: Annotated[Whole, Field(ge=0, le=10_000_000), Knob("now", step=1_000)] = 50_000
    max_retries: Annotated[Whole, Field(ge=0, le=100), Knob("now", step=1)] = 3
    retry_base_s: Annotated[Number, Field(ge=1.0, le=86_400.0), Knob("now", step=1.0)] = 30.0


class EmbeddingSettings(_Section):
    """The model that turns text into vectors."""

    provider: Annotated[
        Literal["embedded", "lite", "openai", "hashing", "none"], Folded, Knob("now")
    ] = "embedded"
    base_url: Annotated[str, Knob("now", example="http://localhost:11434/v1")] = ""
    api_key: Annotated[str, Knob("now", secret=True, example="${MY_API_KEY}")] = ""
    model: Annotated[str, Knob("now", example="bge-m3")] = ""
    dimensions: Annotated[Whole, Field(ge=0, le=65_536), Knob("now", step=1)] = 0
    encoding_format: Annotated[Literal["", "float", "base64"], Folded, Knob("now")] = ""
    query_prefix: Annotated[str, Knob("now", example="query: ")] = ""
    passage_prefix: Annotated[str, Knob("now", example="passage: ")] = ""
    timeout_s: Annotated[Number, Field(ge=1.0, le=600.0), Knob("now", step=1.0)] = 30.0
    max_retries: Annotated[Whole, Field(ge=0, le=20), Knob("now", step=1)] = 3
    idle_unload_minutes: Annotated[Number, Field(ge=0.0, le=10_080.0), Knob("now", step=1.0)] = 30.0
    wait_s: Annotated[Number, Field(ge=0.0, le=60.0), Knob("now", step=0.5)] = 3.0
    piece_chars: Annotated[Whole, Field(ge=100, le=10_000), Knob("next_write", step=100)] = 1_000
    batch_size: Annotated[Whole, Field(ge=1, le=256), Knob("next_write", step=1)] = 16
    cache_size: Annotated[Whole, Field(ge=0, le=100_000), Knob("now", step=64)] = 512


class WeightSettings(_Section):
    """Weights that replace those of the preset; ``None`` keeps the preset's."""

    relevance: Weight = None
    importance: Weight = None
    recency: Weight = None
    salience: Weight = None


class RecallSettings(_Section):
    """How memories are found and ranked."""

    preset: Annotated[PresetName, Knob("now", choices=preset_names)] = "balanced"
    k: Annotated[Whole, Field(ge=1, le=100), Knob("now", step=1)] = 5
    pool: Annotated[Whole, Field(ge=10, le=10_000), Knob("now", step=10)] = 100
    weak_below: Annotated[Number, Field(ge=0.0, le=1.0), Knob("now", step=0.05)] = 0.3
    weights: WeightSettings = WeightSettings()


class McpSettings(_Section):
    """The server that assistants connect to."""

    toolsets: Annotated[Names, Field(min_length=1), Knob("restart", example="core, manage, …")] = (
        "core",
    )
    max_result_bytes: Annotated[Whole, Field(ge=1_000, le=100_000), Knob("now", step=500)] = 9_000


class LogSettings(_Section):
    """What is written to the log."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Folded, Knob("restart")] = "info"


class Settings(_Section):
    """All settings in force at one moment."""

    language: Annotated[Literal["auto", "zh", "en"], Folded, Knob("now")] = "auto"
    timezone: Annotated[
        str, AfterValidator(_known_zone), Knob("now", example="Asia/Shanghai, UTC, …")
    ] = ""
    memory: MemorySettings = MemorySettings()
    storage: StorageSettings = StorageSettings()
    text: TextSettings = TextSettings()
    vectors: VectorSettings = VectorSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    recall: RecallSettings = RecallSettings()
    mcp: McpSettings = McpSettings()
    log: LogSettings = LogSettings()


@cache
def declared() -> Mapping[str, Setting]:
    """Every setting by its dotted key, in the order of declaration."""
    return MappingProxyType({setting.key: setting for setting in declarations(Settings)})


def checked(key: str, value: object, place: str) -> object:
    """The typed value of a setting, from a file's or an environment variable's raw one.

    ``place`` says where it was read, such as ``config.yaml:12``. Raises
    :class:`ConfigInvalid` naming place, setting, value and what is allowed.
    """
    setting = declared()[key]
    try:
        return setting.read(Settings.model_validate(_nested({key: value})))
    except (ValidationError, JiyiError) as error:
        raise ConfigInvalid(
            "error.config_zone" if key == "timezone" else "error.config_value",
            place=place,
            name=key,
            value=setting.shown(value)[:60],
            allowed=setting.allowed,
        ) from error


def assembled(values: Mapping[str, object]) -> Settings:
    """Settings of already checked values by key; what is missing has its default."""
    return Settings.model_validate(_nested(values))


def _nested(values: Mapping[str, object]) -> dict[str, object]:
    tree: dict[str, object] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        _branch(tree, sections)[name] = value
    return tree


def _branch(tree: dict[str, object], sections: list[str]) -> dict[str, object]:
    for section in sections:
        branch = tree.setdefault(section, {})
        assert isinstance(branch, dict)
        tree = branch
    return tree
