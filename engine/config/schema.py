"""Every setting, declared once: type, default, range, step and when a change acts.

The file check, environment variables, `jiyi config`, `config.yaml` and every settings form
read these declarations. Labels and help are messages: ``setting.<key>.label`` and ``.help``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError

from engine.config.front_ends import HttpSettings, PanelSettings, TuiSettings
from engine.config.presets import effective, load_preset, preset_names
from engine.config.setting import Knob, Setting, declarations
from engine.config.upkeep import (
    ArchiveSettings,
    BackupSettings,
    ChatSettings,
    ConflictSettings,
    DecaySettings,
    ExpansionSettings,
    ExpirySettings,
    FactSettings,
    IngestSettings,
    JournalSettings,
    MaintenanceSettings,
    PruneSettings,
    ReflectSettings,
    SecretSettings,
    TransferSettings,
    TrashSettings,
)
from engine.config.value_types import (
    Folded,
    Names,
    Number,
    PresetName,
    Section,
    Weight,
    Whole,
    known_mappings,
    known_zone,
)
from engine.domain.errors import ConfigInvalid, JiyiError

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


class MemorySettings(Section):
    """What may be written, and what a writer may leave out."""

    max_chars: Annotated[Whole, Field(ge=1_000, le=10_000_000), Knob("next_write", step=1_000)] = (
        2_000_000
    )
    default_kind: Annotated[Kind, Folded, Knob("next_write")] = "semantic"
    default_importance: Annotated[Number, Field(ge=0.0, le=1.0), Knob("next_write", step=0.05)] = (
        0.5
    )
    auto_importance: Annotated[bool, Knob("next_write")] = False


class StorageSettings(Section):
    """How the database is written."""

    synchronous: Annotated[Literal["normal", "full"], Folded, Knob("restart")] = "normal"
    busy_timeout_s: Annotated[Number, Field(ge=0.1, le=600.0), Knob("restart", step=1.0)] = 30.0


class TextSettings(Section):
    """The keyword channel."""

    enabled: Annotated[bool, Knob("now")] = True


class VectorSettings(Section):
    """The meaning channel."""

    enabled: Annotated[bool, Knob("now")] = True
    exact_below: Annotated[Whole, Field(ge=0, le=10_000_000), Knob("now", step=1_000)] = 50_000
    max_retries: Annotated[Whole, Field(ge=0, le=100), Knob("now", step=1)] = 3
    retry_base_s: Annotated[Number, Field(ge=1.0, le=86_400.0), Knob("now", step=1.0)] = 30.0


class EmbeddingSettings(Section):
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


class WeightSettings(Section):
    """Weights that replace those of the preset; ``None`` keeps the preset's."""

    relevance: Weight = None
    cosine: Weight = None
    similarity: Weight = None
    lexical: Weight = None
    importance: Weight = None
    recency: Weight = None
    frequency: Weight = None
    salience: Weight = None
    polarity: Weight = None
    graph: Weight = None
    confidence: Weight = None
    temporal: Weight = None
    time_match: Weight = None
    context: Weight = None
    speaker: Weight = None
    proximity: Weight = None


class ShareSettings(Section):
    """Shares of the channels that replace those of the preset; ``None`` keeps the preset's."""

    vector: Weight = None
    lexical: Weight = None


class RecallSettings(Section):
    """How memories are found and ranked."""

    preset: Annotated[PresetName, Knob("now", choices=preset_names)] = "balanced"
    k: Annotated[Whole, Field(ge=1, le=100), Knob("now", step=1)] = 5
    pool: Annotated[Whole, Field(ge=10, le=10_000), Knob("now", step=10)] = 100
    weak_below: Annotated[Number, Field(ge=0.0, le=1.0), Knob("now", step=0.05)] = 0.3
    weights: WeightSettings = WeightSettings()
    shares: ShareSettings = ShareSettings()


class ContextSettings(Section):
    """What is put together for a prompt."""

    pack_tokens: Annotated[Whole, Field(ge=50, le=100_000), Knob("now", step=50)] = 800
    floor: Annotated[Number, Field(ge=0.0, le=1.0), Knob("now", step=0.05)] = 0.8


class BriefingSettings(Section):
    """What is served at the start of a conversation, before anything is asked."""

    days: Annotated[Whole, Field(ge=1, le=365), Knob("now", step=1)] = 7
    max_sessions: Annotated[Whole, Field(ge=0, le=200), Knob("now", step=1)] = 20
    interval_minutes: Annotated[Number, Field(ge=0.0, le=1_440.0), Knob("now", step=1.0)] = 5.0
    max_age_minutes: Annotated[Number, Field(ge=1.0, le=10_080.0), Knob("now", step=10.0)] = 120.0


TtlDays = Annotated[Number, Field(ge=0.01, le=36_500.0), Knob("next_write", step=1.0)]
# The same names as engine.domain.atom.CURVES; a test keeps them equal.
Curve = Annotated[Literal["exponential", "linear", "step"], Folded, Knob("next_write")]


class EpisodicLife(Section):
    """Shelf life of what happened."""

    ttl_days: TtlDays = 7.0
    curve: Curve = "exponential"


class PlannedLife(Section):
    """Shelf life of a plan without a deadline."""

    ttl_days: TtlDays = 2.0
    curve: Curve = "step"


class FactualLife(Section):
    """Shelf life of knowledge."""

    ttl_days: TtlDays = 180.0
    curve: Curve = "exponential"


class RelationalLife(Section):
    """Shelf life of a relation between people."""

    ttl_days: TtlDays = 90.0
    curve: Curve = "linear"


class PreferenceLife(Section):
    """Shelf life of a like, a dislike or a habit."""

    ttl_days: TtlDays = 60.0
    curve: Curve = "exponential"


class UnknownLife(Section):
    """Shelf life of what no rule knew."""

    ttl_days: TtlDays = 30.0
    curve: Curve = "linear"


class AtomSettings(Section):
    """Small facts with a type and a shelf life."""

    enabled: Annotated[bool, Knob("now")] = True
    sweep_hours: Annotated[Number, Field(ge=0.1, le=8_760.0), Knob("now", step=1.0)] = 24.0
    forget_after_days: Annotated[Number, Field(ge=0.0, le=3_650.0), Knob("now", step=1.0)] = 7.0
    purge_after_days: Annotated[Number, Field(ge=0.0, le=3_650.0), Knob("now", step=1.0)] = 30.0
    same_fact_jaccard: Annotated[Number, Field(ge=0.1, le=1.0), Knob("next_write", step=0.05)] = 0.6
    episodic: EpisodicLife = EpisodicLife()
    planned: PlannedLife = PlannedLife()
    factual: FactualLife = FactualLife()
    relational: RelationalLife = RelationalLife()
    preference: PreferenceLife = PreferenceLife()
    unknown: UnknownLife = UnknownLife()


class GraphSettings(Section):
    """People, topics and facts, and what joins them."""

    enabled: Annotated[bool, Knob("now")] = True
    hops: Annotated[Whole, Field(ge=0, le=2), Knob("now", step=1)] = 1
    expansion_limit: Annotated[Whole, Field(ge=1, le=200), Knob("now", step=1)] = 24
    find_entities: Annotated[bool, Knob("next_write")] = True


class IntentSettings(Section):
    """Whether what a question asks for moves weights."""

    enabled: Annotated[bool, Knob("now")] = True


class DiversitySettings(Section):
    """How results are kept from repeating each other; ``None`` keeps the preset's way."""

    mmr_lambda: Weight = None
    dedup_threshold: Weight = None


class RerankSettings(Section):
    """A second look at the best candidates."""

    pool: Annotated[Whole, Field(ge=1, le=1_000), Knob("now", step=10)] = 50


class CacheSettings(Section):
    """Answers kept for callers that ask the same again."""

    ttl_s: Annotated[Number, Field(ge=0.0, le=3_600.0), Knob("now", step=5.0)] = 45.0
    size: Annotated[Whole, Field(ge=0, le=10_000), Knob("restart", step=64)] = 256


class WorkspaceSettings(Section):
    """Which folders are projects, beside those under version control."""

    root: Annotated[str, Knob("now", example="~/projects")] = ""
    map: Annotated[
        Names,
        AfterValidator(known_mappings),
        Knob("now", example="~/projects/acme = acme @ work, …"),
    ] = ()


class McpSettings(Section):
    """The server that assistants connect to."""

    toolsets: Annotated[Names, Field(min_length=1), Knob("restart", example="core, manage, …")] = (
        "core",
    )
    max_result_bytes: Annotated[Whole, Field(ge=1_000, le=100_000), Knob("now", step=500)] = 9_000


class LogSettings(Section):
    """What is written to the log."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Folded, Knob("restart")] = "info"


class Settings(Section):
    """All settings in force at one moment."""

    language: Annotated[Literal["auto", "zh", "en"], Folded, Knob("now")] = "auto"
    timezone: Annotated[
        str, AfterValidator(known_zone), Knob("now", example="Asia/Shanghai, UTC, …")
    ] = ""
    memory: MemorySettings = MemorySettings()
    storage: StorageSettings = StorageSettings()
    text: TextSettings = TextSettings()
    vectors: VectorSettings = VectorSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    recall: RecallSettings = RecallSettings()
    mcp: McpSettings = McpSettings()
    log: LogSettings = LogSettings()
    atoms: AtomSettings = AtomSettings()
    context: ContextSettings = ContextSettings()
    briefing: BriefingSettings = BriefingSettings()
    intent: IntentSettings = IntentSettings()
    diversity: DiversitySettings = DiversitySettings()
    rerank: RerankSettings = RerankSettings()
    cache: CacheSettings = CacheSettings()
    graph: GraphSettings = GraphSettings()
    workspaces: WorkspaceSettings = WorkspaceSettings()
    decay: DecaySettings = DecaySettings()
    archive: ArchiveSettings = ArchiveSettings()
    prune: PruneSettings = PruneSettings()
    expiry: ExpirySettings = ExpirySettings()
    trash: TrashSettings = TrashSettings()
    maintenance: MaintenanceSettings = MaintenanceSettings()
    journal: JournalSettings = JournalSettings()
    backup: BackupSettings = BackupSettings()
    conflicts: ConflictSettings = ConflictSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    reflect: ReflectSettings = ReflectSettings()
    chat: ChatSettings = ChatSettings()
    ingest: IngestSettings = IngestSettings()
    transfer: TransferSettings = TransferSettings()
    secrets: SecretSettings = SecretSettings()
    facts: FactSettings = FactSettings()
    tui: TuiSettings = TuiSettings()
    panel: PanelSettings = PanelSettings()
    http: HttpSettings = HttpSettings()


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


def check_together(values: Mapping[str, object]) -> None:
    """Raises :class:`ConfigInvalid` for checked values that cannot hold at the same time: weights
    that leave the preset nothing to rank by."""
    recall = assembled(values).recall
    effective(load_preset(recall.preset), recall.weights, recall.shares)


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
