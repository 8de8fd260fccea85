"""The wired parts that use cases work with. Built by :mod:`engine.bootstrap` alone."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from engine.config.live import LiveSettings
from engine.config.schema import Settings
from engine.domain.clock import Clock
from engine.domain.embedding import Calibration
from engine.domain.queues import NoQueue, PendingQueue
from engine.domain.times import zone_named
from engine.language.terms import Analyser
from engine.model_clients.calibration import calibration_of
from engine.model_clients.provider import ModelHost
from engine.storage.database import Database
from engine.vector_index.stored import SpaceIndexes


@dataclass(slots=True)
class EngineContext:
    """One process's view of a store. Thread-safe.

    ``token`` names this process among those that have the store open.
    """

    home: Path
    live: LiveSettings
    clock: Clock
    database: Database
    analyser: Analyser
    indexes: SpaceIndexes
    token: str
    background: PendingQueue = field(default_factory=NoQueue)
    _models: ModelHost | None = None
    _models_key: tuple[object, ...] = ()
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
        key = (chosen.provider, chosen.idle_unload_minutes, chosen.cache_size)
        with self._lock:
            if self._models is None or key != self._models_key:
                if self._models is not None:
                    self._models.close()
                self._models = ModelHost(
                    chosen.provider,
                    idle_unload_s=chosen.idle_unload_minutes * 60,
                    cache_size=chosen.cache_size,
                )
                self._models_key = key
            return self._models

    def calibration(self) -> Calibration:
        """What a cosine means in the space of the current model."""
        return calibration_of(self.models.identity())

    def close(self) -> None:
        """Let go of model, indexes and database."""
        with self._lock:
            models, self._models = self._models, None
        if models is not None:
            models.close()
        self.indexes.close()
        self.database.close()
