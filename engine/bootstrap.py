"""Opening an engine: the only place that builds concrete parts.

with open_engine(home="~/.jiyi") as engine:
    engine.memorize(MemorizeRequest({"text": "…"}), Caller("cli"))
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.config.file import ensure_user_config
from engine.config.home import VARIABLE as HOME_VARIABLE
from engine.config.home import resolve_home
from engine.config.live import LiveSettings
from engine.context import EngineContext
from engine.domain.clock import Clock, SystemClock
from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ConfigInvalid, JiyiError
from engine.domain.notices import Notice
from engine.interface.engine import Engine
from engine.language.terms import build_analyser
from engine.retrieval.cache import RecallCache
from engine.storage.database import FILE_NAME as DATABASE_NAME
from engine.storage.database import Database, open_database
from engine.storage.places import LOCAL, place_of
from engine.use_cases.backup import back_up_upgraded
from engine.vector_index.stored import SpaceIndexes, StoredVectors

CACHE_FOLDER = "cache"
# What only a store in use leaves behind; a settings file may be written before there is one.
_TRACES = ("backups", f"{CACHE_FOLDER}/vectors", "logs")


def open_engine(
    home: str | Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    cache: Path | None = None,
) -> Engine:
    """Open the store in ``home`` (default: ``JIYI_HOME``, else ``~/.jiyi``), making it when new.
    ``cache`` is where models and the segmenter's words lie, if not in the home itself.

    Loads no model and starts no thread. Raises a :class:`~engine.domain.errors.JiyiError`
    when the store cannot be used.
    """
    variables = os.environ if environ is None else environ
    folder = resolve_home(None if home is None else str(home), variables)
    live = LiveSettings(folder, variables)
    settings = live.current()
    used_before = any((folder / trace).exists() for trace in _TRACES)
    database = open_database(
        folder,
        busy_timeout_s=settings.storage.busy_timeout_s,
        synchronous=settings.storage.synchronous,
    )
    notices = [*_notices(database, used_before, variables), *_place_notices(folder)]
    if database.writable:
        ensure_user_config(folder)
    clock = clock or SystemClock()
    token = uuid.uuid4().hex

    def vectors_of(identity: SpaceIdentity) -> StoredVectors:
        return StoredVectors(database, identity, clock, token)

    context = EngineContext(
        home=folder,
        live=live,
        clock=clock,
        database=database,
        analyser=build_analyser(cache or folder / CACHE_FOLDER),
        indexes=SpaceIndexes(
            vectors_of,
            folder / CACHE_FOLDER / "vectors",
            exact_below=lambda: live.current().vectors.exact_below,
        ),
        token=token,
        models_folder=(cache or folder / CACHE_FOLDER) / "models",
        answers=RecallCache(settings.cache.ttl_s, settings.cache.size),
    )
    return Engine(context, open_engine, [*notices, *_upgrade_notices(context)])


def _notices(database: Database, used_before: bool, environ: Mapping[str, str]) -> Sequence[Notice]:
    """A new empty store is worth a word when memories may be expected in it."""
    if not database.created:
        return []
    store = str(database.path)
    if used_before:
        return [Notice("notice.store_missing", store=store)]
    other = _default_store(environ)
    if other is not None and other != database.path and other.exists():
        return [Notice("notice.other_store", store=store, other=str(other))]
    return []


def _place_notices(folder: Path) -> Sequence[Notice]:
    """Some places cost memories in the end."""
    place = place_of(folder)
    if place.kind == LOCAL:
        return []
    return [Notice(f"notice.place_{place.kind}", name=place.name, home=str(folder))]


def _upgrade_notices(context: EngineContext) -> Sequence[Notice]:
    """A store that another version kept is backed up first; one that cannot be is used all the
    same, and said."""
    try:
        made = back_up_upgraded(context)
    except JiyiError as error:
        return [Notice("notice.upgrade_not_backed_up"), Notice(error.key, **error.params)]
    return [Notice("notice.upgraded", name=made.file.name)] if made else []


def _default_store(environ: Mapping[str, str]) -> Path | None:
    unnamed = {name: value for name, value in environ.items() if name != HOME_VARIABLE}
    try:
        return resolve_home(None, unnamed) / DATABASE_NAME
    except ConfigInvalid:
        # A service without a user folder has no other store to speak of.
        return None


__all__ = ["CACHE_FOLDER", "Engine", "open_engine"]
