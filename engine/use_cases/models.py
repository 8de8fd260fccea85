"""The embedding model: which one is chosen, which one answers, changing and testing it, and
getting a better one."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from engine.config.editing import set_values, written_value
from engine.config.environment import source_variable
from engine.context import EngineContext, remote_config
from engine.domain.embedding import ModelStatus
from engine.domain.errors import InvalidInput, JiyiError, ModelUnavailable
from engine.domain.vocabulary import nearest
from engine.model_clients import calibration
from engine.model_clients.provider import ModelHost
from engine.model_clients.remote.entries import ProviderEntry, provider_entries
from engine.storage import embeddings, memories

BUNDLED = ("embedded", "lite", "none")
REMOTE = "openai"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOAD_WAIT_S = 120.0
_OTHERS_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class ModelReport:
    """The chosen model and how far the memories have its vectors.

    ``serving`` names the model whose space answers now; another one while the chosen one is
    still being given its vectors. ``better_available`` tells that weights of a better embedded
    model could be fetched.
    """

    chosen: ModelStatus
    serving: str
    embedded: int
    live: int
    pending: int
    failed: int
    better_available: bool


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where the weights are; ``downloaded`` is false when they were there already."""

    path: Path
    downloaded: bool


def model_report(context: EngineContext) -> ModelReport:
    """The state of the model; loads nothing."""
    chosen, serving = context.models, context.serving()
    with context.database.read() as connection:
        # A provider that was not asked yet is known by the space it filled before.
        known = filter(chosen.makes, embeddings.complete_spaces(connection))
        identity = chosen.identity() or next(known, None)
        space_id = embeddings.find_space(connection, identity) if identity else None
        embedded = 0 if space_id is None else embeddings.count_embedded(connection, space_id)
        pending, failed = embeddings.count_pending(connection)
        live = memories.count_live(connection, but_private=chosen.is_remote)
    return ModelReport(
        chosen=chosen.status(),
        serving=serving.status().model,
        embedded=embedded,
        live=live,
        pending=pending,
        failed=failed,
        better_available=context.settings.embedding.provider == "embedded"
        and not context.has_fetched_weights(),
    )


def fetch_model(context: EngineContext) -> Fetched:
    """Get the weights of the better embedded model (91 MB) unless they are here.

    Raises :class:`~engine.domain.errors.ModelUnavailable` when they cannot be had; everything
    goes on with the model that is here.
    """
    from engine.model_clients.e5 import weights

    return _fetched(context.models_folder, weights.find(context.models_folder))


def install_weights(folder: Path, models_folder: Path) -> Fetched:
    """Get the same weights into ``folder``, a part of the installation, unless they are there
    or in ``models_folder`` of the user's home. Raises like :func:`fetch_model`."""
    from engine.model_clients.e5 import weights

    places = [place / weights.FILE_NAME for place in (folder, models_folder)]
    return _fetched(folder, next((path for path in places if path.is_file()), None))


def _fetched(folder: Path, found: Path | None) -> Fetched:
    from engine.model_clients.e5 import weights

    if found is not None and weights.is_genuine(found):
        return Fetched(found, downloaded=False)
    return Fetched(weights.fetch(folder), downloaded=True)


def remaining(report: ModelReport) -> int:
    """Memories that are still to get vectors of the chosen model."""
    return max(0, report.live - report.embedded - report.failed)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can be chosen by ``name``.

    ``title`` is what a provider calls itself, empty for a bundled model. ``dims`` is 0 and
    ``model`` empty where the person decides. ``reason`` says why a bundled one cannot be had.
    """

    name: str
    model: str
    dims: int
    is_chosen: bool
    title: str = ""
    base_url: str = ""
    needs_key: bool = False
    reason: JiyiError | None = None


@dataclass(frozen=True, slots=True)
class ModelWish:
    """What to use: a bundled model, a provider entry, or ``openai`` with an address.

    ``api_key_env`` names the environment variable that holds the key; empty: not given.
    """

    name: str
    base_url: str = ""
    model: str = ""
    api_key_env: str = ""

    @property
    def only_remote(self) -> str:
        """Whatever was given that a bundled model has no use for."""
        return self.base_url or self.model or self.api_key_env


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings that were set, and the environment variables that win over them here."""

    settings: tuple[str, ...]
    overridden_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of one short text: ``dims`` is 0 when there is a ``problem``. ``notice`` is
    something to know although it works."""

    model: str
    dims: int
    latency_ms: float
    problem: JiyiError | None = None
    notice: JiyiError | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedAll:
    """How far it came: ``reason`` says why it ended before its end; ``stopped`` that it was
    told to."""

    done: int
    reason: JiyiError | None = None
    stopped: bool = False


class Step(Protocol):
    """One batch of waiting memories; see :class:`engine.use_cases.embed_pending.Progress`."""

    @property
    def done(self) -> int:
        """Memories that got vectors."""

    @property
    def failed(self) -> int:
        """Memories that failed."""

    @property
    def reason(self) -> JiyiError | None:
        """Why nothing could be done."""


def model_choices(context: EngineContext) -> tuple[ModelChoice, ...]:
    """The bundled models and the ready-made providers of vectors; loads nothing."""
    chosen = context.settings.embedding
    bundled = tuple(_bundled(context, name) for name in BUNDLED)
    entries = [entry for entry in provider_entries() if entry.embedding_model]
    return bundled + tuple(
        ModelChoice(
            name=entry.name,
            model=entry.embedding_model,
            dims=entry.dims,
            is_chosen=chosen.provider == REMOTE and _same(chosen.base_url, entry.base_url),
            title=entry.title,
            base_url=entry.base_url,
            needs_key=entry.needs_key,
        )
        for entry in entries
    )


def choose_model(context: EngineContext, wish: ModelWish) -> Chosen:
    """Write the wished model into the settings; every running process follows.

    Nothing is loaded or embedded here. A key is never taken along to another address. Raises
    :class:`InvalidInput` for an unknown name or a missing part, and
    :class:`~engine.domain.errors.ConfigInvalid` when the file cannot be changed.
    """
    path = context.live.path
    settings = _wished(context, wish)
    set_values(path, settings)
    sources = context.live.sources()
    return Chosen(
        tuple(settings),
        tuple(
            source_variable(key, context.live.environ) for key in settings if sources[key] == "env"
        ),
    )


def try_model(context: EngineContext, wait_s: float) -> Tried:
    """Embed one harmless word with the chosen model, within about ``wait_s`` seconds."""
    chosen = context.settings.embedding
    if chosen.provider == REMOTE:
        from engine.model_clients.remote.connection import connection_test

        config = remote_config(chosen)
        config = replace(config, timeout_s=min(config.timeout_s, wait_s))
        report = connection_test(config)
        return Tried(report.model, report.dims, report.latency_ms, report.problem, report.notice)
    host = context.models
    started = time.perf_counter()
    try:
        model = host.embedder(wait_s)
        started = time.perf_counter()
        vector = model.embed_query("记忆 memory", wait_s)
    except ModelUnavailable as problem:
        return Tried(host.status().model, 0, _ms_since(started), problem)
    return Tried(host.status().model, len(vector), _ms_since(started))


def embed_all(
    context: EngineContext,
    queue: Callable[[], int],
    step: Callable[[], Step],
    on_progress: Callable[[int, int], bool],
) -> EmbeddedAll:
    """Give every memory its vectors of the chosen model, batch by batch.

    ``queue`` queues those that lack them, ``step`` embeds a batch. ``on_progress`` is told how
    many memories have vectors and how many there are; the work ends when it returns false.
    What failed and is to be tried later is left for later; a batch that another process works
    on is waited for.
    """
    try:
        # A provider tells the size of its vectors, and so their space, with the first answer.
        context.models.embedder(_LOAD_WAIT_S)
    except ModelUnavailable as reason:
        return EmbeddedAll(0, reason)
    with suppress(ModelUnavailable):
        calibrate_model(context, _LOAD_WAIT_S)
    queue()
    report, done = model_report(context), 0
    while on_progress(report.embedded + done, report.live):
        outcome = step()
        done += outcome.done
        if outcome.reason is not None:
            return EmbeddedAll(done, outcome.reason)
        if outcome.done or outcome.failed:
            continue
        if not _any_due(context):
            on_progress(model_report(context).embedded, report.live)
            return EmbeddedAll(done)
        time.sleep(_OTHERS_PAUSE_S)
        report = replace(report, embedded=model_report(context).embedded - done)
    return EmbeddedAll(done, stopped=True)


def calibrate_model(context: EngineContext, wait_s: float) -> bool:
    """Estimate what the chosen model's cosines mean when it is used for the first time.

    True when it was done now; bundled models are known. Raises :class:`ModelUnavailable` when
    the model does not answer: then cautious values go on until it does.
    """
    model = context.models.embedder(wait_s)
    return calibration.estimate(model, context.models_folder, wait_s)


def release_unused_indexes(context: EngineContext) -> None:
    """Let go of vector indexes whose space neither answers nor is chosen; cheap to repeat."""
    spaces = {context.models.identity(), context.serving().identity()}
    in_use = [space for space in spaces if space is not None]
    # A provider that was not asked yet has a space that nobody here knows the name of.
    if len(in_use) == len(spaces):
        context.indexes.keep_only(in_use)


def _any_due(context: EngineContext) -> bool:
    with context.database.read() as connection:
        return bool(embeddings.due_pending(connection, context.clock.now(), 1))


def _bundled(context: EngineContext, name: str) -> ModelChoice:
    host = ModelHost(name, idle_unload_s=0, models_folder=context.models_folder)
    status = host.status()
    missing = status.reason_key if status.state == "unavailable" else ""
    return ModelChoice(
        name=name,
        model=status.model,
        dims=status.dims,
        is_chosen=context.settings.embedding.provider == name,
        reason=ModelUnavailable(missing, **dict(status.reason_params)) if missing else None,
    )


def _wished(context: EngineContext, wish: ModelWish) -> Mapping[str, object]:
    """The settings of a wish, all that belong to a provider's model together."""
    if wish.name in BUNDLED:
        if wish.only_remote:
            raise InvalidInput("error.model_only_remote", name=wish.name)
        return {"embedding.provider": wish.name}
    entry = _entry(wish)
    address = wish.base_url or (entry.base_url if entry else "")
    model = wish.model or (entry.embedding_model if entry else "")
    if not address:
        raise InvalidInput("error.model_needs_address")
    if not model:
        raise InvalidInput("error.model_needs_name", name=entry.title if entry else address)
    settings: dict[str, object] = {
        "embedding.base_url": address,
        "embedding.model": model,
        "embedding.api_key": _key(context, wish, address, entry),
        "embedding.provider": REMOTE,
    }
    if not _is_written(context.live.path, address, model):
        # What was set for another model would be wrong for this one.
        settings |= {"embedding.dimensions": 0, "embedding.encoding_format": ""}
        settings |= {"embedding.query_prefix": "", "embedding.passage_prefix": ""}
    return {key: value for key, value in settings.items() if value is not None}


def _entry(wish: ModelWish) -> ProviderEntry | None:
    """The ready-made entry of a wish; none for ``openai`` at an address of its own."""
    entries = {entry.name: entry for entry in provider_entries()}
    names = [*BUNDLED, *(name for name, entry in entries.items() if entry.embedding_model)]
    if wish.name == REMOTE and wish.base_url:
        return None
    if wish.name not in entries:
        near = nearest(wish.name, names)
        key = "error.model_no_such_near" if near else "error.model_no_such"
        raise InvalidInput(key, name=wish.name[:60], nearest=near, allowed=", ".join(names))
    return entries[wish.name]


def _key(
    context: EngineContext, wish: ModelWish, address: str, entry: ProviderEntry | None
) -> str | None:
    """The key as it is to be written; ``None`` leaves what stands there."""
    if wish.api_key_env:
        if not _VARIABLE.fullmatch(wish.api_key_env):
            # Perhaps the key itself, which must not be shown.
            raise InvalidInput("error.model_bad_variable")
        return f"${{{wish.api_key_env}}}"
    path = context.live.path
    written = str(written_value(path, "embedding.api_key") or "")
    stays = _same(str(written_value(path, "embedding.base_url") or ""), address)
    if not stays and written and not written.startswith("${"):
        raise InvalidInput("error.model_other_key", address=address)
    from_environment = context.live.sources()["embedding.api_key"] == "env"
    has_key = from_environment or (stays and written)
    if entry is not None and entry.needs_key and not has_key:
        raise InvalidInput("error.model_needs_key", name=entry.title)
    return None if stays else ""


def _is_written(path: Path, address: str, model: str) -> bool:
    written = str(written_value(path, "embedding.base_url") or "")
    return _same(written, address) and written_value(path, "embedding.model") == model


def _same(address: str, other: str) -> bool:
    return address.rstrip("/") == other.rstrip("/")


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
