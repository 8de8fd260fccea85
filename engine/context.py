"""The wired parts that use cases work with. Built by :mod:`engine.bootstrap` alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config.live import LiveSettings
from engine.config.schema import EmbeddingSettings, Settings
from engine.config.upkeep import ChatSettings
from engine.domain.access import AccessLog
from engine.domain.clock import Clock
from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable
from engine.domain.metrics import Meter
from engine.domain.queues import NoQueue, PendingQueue
from engine.domain.times import zone_named
from engine.language.terms import Analyser
from engine.model_clients.provider import ModelHost, provider_of, weights_are_here
from engine.model_clients.remote.config import RemoteConfig
from engine.retrieval.cache import RecallCache
from engine.storage import embeddings
from engine.storage.database import Database
from engine.vector_index.stored import SpaceIndexes

if TYPE_CHECKING:
    from engine.model_clients.remote.chat import ChatClient

_LOOK_EVERY_S = 5.0


@dataclass(slots=True)
class EngineContext:
    """One process's view of a store. Thread-safe.

    ``token`` names this process among those that have the store open. ``models_folder`` holds
    the weights of models: a cache, like everything beside the store.
    """

    home: Path
    live: LiveSettings
    clock: Clock
    database: Database
    analyser: Analyser
    indexes: SpaceIndexes
    token: str
    models_folder: Path
    background: PendingQueue = field(default_factory=NoQueue)
    answers: RecallCache[object] = field(default_factory=RecallCache)
    accesses: AccessLog = field(default_factory=AccessLog)
    meter: Meter = field(default_factory=Meter)
    _models: ModelHost | None = None
    _models_key: tuple[object, ...] = ()
    _older: dict[str, ModelHost] = field(default_factory=dict)
    _chat: ChatClient | None = None
    _chat_key: ChatSettings | None = None
    _fetched: bool = False
    _look_again_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def settings(self) -> Settings:
        """The settings in force now; a changed file acts on the next look."""
        return self.live.current()

    @property
    def zone(self) -> tzinfo | None:
        """The configured time zone, ``None`` for the machine's own."""
        name = self.settings.timezone
        return zone_named(name) if name else None

    @property
    def models(self) -> ModelHost:
        """The host of the embedding model that the settings name."""
        chosen = self.settings.embedding
        remote = remote_config(chosen) if chosen.provider == "openai" else None
        fetched = chosen.provider == "embedded" and self.has_fetched_weights()
        key = (chosen.provider, chosen.idle_unload_minutes, chosen.cache_size, remote, fetched)
        with self._lock:
            if self._models is None or key != self._models_key:
                if self._models is not None:
                    self._models.close()
                self._models = self._host(chosen.provider, remote)
                self._models_key = key
            return self._models

    def touch(self, memory_ids: Iterable[int]) -> None:
        """Note that a request used these memories; counted later, at once for many."""
        self.accesses.add(memory_ids, self.clock.now())

    def serving(self) -> ModelHost:
        """The model whose space answers now.

        It is the one that the settings name as soon as every memory has its vectors; until
        then the last complete space goes on, if its model can still be had. Vectors of two
        spaces are never compared.
        """
        chosen = self.models
        if chosen.status().state == "off":
            return chosen
        with self.database.read() as connection:
            complete = embeddings.complete_spaces(connection)
        if any(chosen.makes(space) for space in complete):
            return chosen
        hosts = (self._older_model(older) for older in complete)
        return next((host for host in hosts if host is not None), chosen)

    def chat(self) -> ChatClient:
        """The chat model that the settings name. Raises :class:`ModelUnavailable` when none is
        named, or address, key or model cannot be used."""
        chosen = self.settings.chat
        if not (chosen.base_url and chosen.model):
            raise ModelUnavailable("error.chat_off")
        # The HTTP library is loaded by whoever needs it.
        from engine.model_clients.remote.chat import ChatClient

        with self._lock:
            if self._chat is None or chosen != self._chat_key:
                if self._chat is not None:
                    self._chat.close()
                self._chat = ChatClient(chat_config(chosen))
                self._chat_key = chosen
            return self._chat

    def has_fetched_weights(self) -> bool:
        """Whether the larger model can be had; looked up now and then, since it costs more
        than the rest of a call and changes once in the life of a store."""
        now = time.monotonic()
        if not self._fetched and now >= self._look_again_at:
            self._fetched = weights_are_here(self.models_folder)
            self._look_again_at = now + _LOOK_EVERY_S
        return self._fetched

    def unload_idle_models(self) -> None:
        """Let go of models that were not used for the configured time."""
        with self._lock:
            hosts = [*self._older.values(), *([self._models] if self._models else [])]
        for host in hosts:
            host.unload_if_idle()

    def _older_model(self, identity: SpaceIdentity) -> ModelHost | None:
        """The host of the bundled model that made a space; none where it cannot be had."""
        provider = provider_of(identity)
        if provider is None:
            return None
        with self._lock:
            if identity.key not in self._older:
                self._older[identity.key] = self._host(provider)
            host = self._older[identity.key]
        return host if host.status().state != "unavailable" else None

    def _host(self, provider: str, remote: RemoteConfig | None = None) -> ModelHost:
        chosen = self.settings.embedding
        return ModelHost(
            provider,
            idle_unload_s=chosen.idle_unload_minutes * 60,
            remote=remote,
            models_folder=self.models_folder,
            cache_size=chosen.cache_size,
        )

    def close(self) -> None:
        """Let go of model, indexes and database."""
        with self._lock:
            # Kept although closed, so that a late thread does not load a model again.
            hosts = [*self._older.values(), *([self._models] if self._models else [])]
            chat = self._chat
        if chat is not None:
            chat.close()
        for host in hosts:
            host.close()
        self.indexes.close()
        self.database.close()


def remote_config(chosen: EmbeddingSettings) -> RemoteConfig:
    """The provider's model that the settings describe."""
    return RemoteConfig(
        base_url=chosen.base_url,
        model=chosen.model,
        api_key=chosen.api_key,
        dimensions=chosen.dimensions or None,
        encoding_format=chosen.encoding_format,
        batch_size=chosen.batch_size,
        timeout_s=chosen.timeout_s,
        query_prefix=chosen.query_prefix,
        passage_prefix=chosen.passage_prefix,
        max_retries=chosen.max_retries,
    )


def chat_config(chosen: ChatSettings) -> RemoteConfig:
    """The provider's chat model that the settings describe."""
    return RemoteConfig(
        base_url=chosen.base_url,
        model=chosen.model,
        api_key=chosen.api_key,
        timeout_s=chosen.timeout_s,
        max_retries=1,
    )
