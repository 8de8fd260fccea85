"""Settings of forgetting, upkeep, the journal, backups, and what comes in and goes out."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from engine.config.setting import Knob
from engine.config.value_types import Folded, Names, Number, Section, Switch, Whole
from engine.domain.vocabulary import RELATIONS, check

_Share = Annotated[Number, Field(ge=0.0, le=1.0), Knob("now", step=0.05)]
_Rate = Annotated[Number, Field(ge=0.0, le=1.0), Knob("now", step=0.005)]
_Days = Annotated[Number, Field(ge=0.0, le=36_500.0), Knob("now", step=1.0)]
_Hours = Annotated[Number, Field(ge=0.1, le=8_760.0), Knob("now", step=1.0)]


def _relations(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(check("relation", name, RELATIONS) for name in names)


def _address(written: str) -> str:
    """An address that names a host, or nothing. Whether anybody answers there is found out when
    somebody is asked."""
    text = written.strip()
    parts = urlsplit(text if "://" in text else f"//{text}")
    usable = parts.scheme in ("", "http", "https") and parts.hostname and len(text.split()) == 1
    if text and not usable:
        raise ValueError(written)
    return text


def _model_name(written: str) -> str:
    """A name without blanks, or nothing."""
    if len(written.split()) > 1 or not written.isprintable():
        raise ValueError(written)
    return written.strip()


class DecaySettings(Section):
    """How importance and salience fade, once a day."""

    enabled: Switch = True
    rate: _Rate = 0.01
    hour: Annotated[Whole, Field(ge=0, le=23), Knob("now", step=1)] = 0
    minute: Annotated[Whole, Field(ge=0, le=59), Knob("now", step=1)] = 5
    access_window_days: _Days = 30.0
    access_multiplier: _Share = 0.5
    protected_kinds: Annotated[Names, Knob("now", example="procedural, directive")] = (
        "procedural",
        "directive",
    )


class ArchiveSettings(Section):
    """Putting aside what is old and unimportant."""

    enabled: Switch = False
    older_than_days: _Days = 30.0
    below_importance: _Share = 0.3


class PruneSettings(Section):
    """Moving to the trash what is worth next to nothing any more."""

    apply: Switch = False
    rate: _Rate = 0.01
    frequency_weight: Annotated[Number, Field(ge=0.0, le=10.0), Knob("now", step=0.1)] = 0.0
    min_score: _Share = 0.05


class ExpirySettings(Section):
    """What becomes of memories past their deadline."""

    grace_days: _Days = 7.0


class TrashSettings(Section):
    """How long what was deleted can be brought back."""

    keep_days: _Days = 30.0


class MaintenanceSettings(Section):
    """The upkeep that any open process does when it is due."""

    enabled: Switch = True
    tick_minutes: Annotated[Number, Field(ge=0.1, le=1_440.0), Knob("now", step=1.0)] = 5.0
    prune_hours: _Hours = 24.0
    purge_hours: _Hours = 24.0
    reflect_days: Annotated[Number, Field(ge=0.1, le=365.0), Knob("now", step=1.0)] = 7.0


class JournalSettings(Section):
    """How far back the journal reaches; whichever bound is met first."""

    keep_days: _Days = 90.0
    max_mb: Annotated[Number, Field(ge=1.0, le=100_000.0), Knob("now", step=1.0)] = 64.0
    older: Annotated[Literal["archive", "drop"], Folded, Knob("now")] = "archive"


class BackupSettings(Section):
    """Copies of the store."""

    enabled: Switch = True
    keep_days: _Days = 7.0


class ConflictSettings(Section):
    """What a new memory that repeats or contradicts another one meets."""

    on_write: Annotated[
        Literal["ignore", "warn", "supersede", "reject"], Folded, Knob("next_write")
    ] = "warn"
    neighbours: Annotated[Whole, Field(ge=1, le=100), Knob("next_write", step=1)] = 12


class ExpansionSettings(Section):
    """Memories that a search takes along because they are linked to its results."""

    relations: Annotated[
        Names, AfterValidator(_relations), Knob("now", example="refines, example_of")
    ] = ("refines", "example_of")
    depth: Annotated[Whole, Field(ge=1, le=3), Knob("now", step=1)] = 1
    cap: Annotated[Whole, Field(ge=0, le=50), Knob("now", step=1)] = 5
    decay: _Share = 1.0
    compete: Switch = False


class ReflectSettings(Section):
    """Summing up what happened."""

    apply: Switch = False
    threshold: _Share = 0.75
    min_cluster: Annotated[Whole, Field(ge=2, le=100), Knob("now", step=1)] = 2
    consolidate: Switch = False
    summarizer: Annotated[Literal["extractive", "chat"], Folded, Knob("now")] = "extractive"
    max_chars: Annotated[Whole, Field(ge=64, le=10_000), Knob("now", step=64)] = 512


class FactSettings(Section):
    """Facts with a time of validity."""

    functional: Annotated[Names, Knob("now", example="favourite bar|常去的酒吧, 车牌")] = ()


class ChatSettings(Section):
    """The chat model for summaries; off until it has an address and a model."""

    base_url: Annotated[
        str, AfterValidator(_address), Knob("now", example="http://localhost:11434/v1")
    ] = ""
    api_key: Annotated[str, Knob("now", secret=True, example="${MY_API_KEY}")] = ""
    model: Annotated[str, AfterValidator(_model_name), Knob("now", example="qwen3")] = ""
    timeout_s: Annotated[Number, Field(ge=1.0, le=600.0), Knob("now", step=1.0)] = 60.0


class IngestSettings(Section):
    """How documents become memories."""

    max_chars: Annotated[Whole, Field(ge=100, le=10_000), Knob("next_write", step=100)] = 500
    min_chars: Annotated[Whole, Field(ge=0, le=1_000), Knob("next_write", step=10)] = 30


class TransferSettings(Section):
    """Reading files of memories."""

    max_line_mb: Annotated[Number, Field(ge=0.1, le=1_000.0), Knob("now", step=1.0)] = 16.0


class SecretSettings(Section):
    """Keys and passwords in texts that are to be remembered."""

    policy: Annotated[Literal["mask", "warn", "reject", "off"], Folded, Knob("next_write")] = "mask"
