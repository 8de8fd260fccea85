"""One request for vectors, and the check of what comes back."""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from engine.domain.errors import ModelUnavailable
from engine.model_clients.protocol import Vector
from engine.model_clients.remote.config import RemoteConfig
from engine.model_clients.remote.failures import RequestRefused, provider_down
from engine.model_clients.remote.http import Patience, RemoteClient
from engine.model_clients.unit_rows import unit_rows

PROBE = "memory"
"""A text every model takes: what refuses it refuses everything."""

Fields: TypeAlias = dict[str, str | int]


class EmbeddingRequests:
    """Asks one model for vectors; safe to use from several threads.

    Knows the size of the model's vectors once it was configured or the first answer came.
    ``simplified`` counts how often optional fields were left out for good: what was refused
    before may pass now.
    """

    def __init__(self, client: RemoteClient, config: RemoteConfig) -> None:
        self._client = client
        self.model = config.model
        self.simplified = 0
        self._fields = _optional_fields(config)
        self._lock = threading.Lock()
        self._dims = config.dimensions or 0

    @property
    def dims(self) -> int:
        """Numbers in a vector; 0 before it is known."""
        return self._dims

    def rows(self, texts: Sequence[str], patience: Patience) -> list[Vector | None]:
        """One vector of length one per text, ``None`` for an answer that is no direction.

        Raises :class:`RequestRefused` when the provider refuses this request or answers
        with another number of vectors, :class:`ModelUnavailable` when it is down or its
        vectors have another size than those before.
        """
        return self._rows(texts, self._fields, patience)

    def probe(self, patience: Patience) -> None:
        """Return when the model takes a harmless text, maybe after leaving optional fields
        out for good; raise the provider's failure when it does not."""
        try:
            self._probe(self._fields, patience)
        except RequestRefused as refusal:
            if not self._simplify(patience):
                raise provider_down(refusal) from None

    def _simplify(self, patience: Patience) -> bool:
        """Leave out optional fields the provider refuses; true when that made it answer."""
        for fields in _simpler(self._fields):
            try:
                self._probe(fields, patience)
            except RequestRefused:
                continue
            self._fields = fields
            self.simplified += 1
            return True
        return False

    def _probe(self, fields: Fields, patience: Patience) -> None:
        if self._rows([PROBE], fields, patience)[0] is None:
            raise RequestRefused("error.model_bad_vector", model=self.model)

    def _rows(
        self, texts: Sequence[str], fields: Fields, patience: Patience
    ) -> list[Vector | None]:
        payload = {"model": self.model, "input": list(texts), **fields}
        answer = self._client.post("embeddings", payload, patience)
        raw = [_numbers(value) for value in self._in_order(answer, len(texts))]
        return [None if numbers is None else self._unit(numbers) for numbers in raw]

    def _in_order(self, answer: object, expected: int) -> list[object]:
        """The embeddings in the order of the texts."""
        items = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(items, list):
            raise RequestRefused("error.remote_no_vectors", host=self._client.host)
        if len(items) != expected:
            raise RequestRefused(
                "error.remote_wrong_count",
                host=self._client.host,
                expected=expected,
                found=len(items),
            )
        return [_embedding(item) for item in self._sorted(items)]

    def _sorted(self, items: list[object]) -> list[object]:
        places = [item.get("index") if isinstance(item, Mapping) else None for item in items]
        if all(place is None for place in places):
            return items
        by_place = dict(zip(places, items, strict=True))
        try:
            return [by_place[place] for place in range(len(items))]
        except KeyError:
            raise RequestRefused("error.remote_wrong_order", host=self._client.host) from None

    def _unit(self, numbers: Vector) -> Vector | None:
        self._check_size(len(numbers))
        try:
            vector: Vector = unit_rows(numbers.reshape(1, -1), self.model)[0]
        except ModelUnavailable:
            return None
        return vector

    def _check_size(self, found: int) -> None:
        with self._lock:
            expected = self._dims = self._dims or found
        if found != expected:
            raise ModelUnavailable(
                "error.remote_wrong_size", model=self.model, expected=expected, found=found
            )


def _optional_fields(config: RemoteConfig) -> Fields:
    fields: Fields = {}
    if config.dimensions:
        fields["dimensions"] = config.dimensions
    if config.encoding_format:
        fields["encoding_format"] = config.encoding_format
    return fields


def _simpler(fields: Fields) -> Iterator[Fields]:
    if "encoding_format" in fields:
        yield {name: value for name, value in fields.items() if name != "encoding_format"}
    if "dimensions" in fields:
        yield {}


def _embedding(item: object) -> object:
    return item.get("embedding") if isinstance(item, Mapping) else None


def _numbers(value: object) -> Vector | None:
    """The numbers of one embedding: a list, or base64 of little-endian float32."""
    try:
        if isinstance(value, str):
            # A copy, since the bytes are read-only.
            numbers = np.frombuffer(base64.b64decode(value, validate=True), "<f4").copy()
        else:
            # Too large a number becomes infinite, which is refused later.
            with np.errstate(over="ignore"):
                numbers = np.asarray(value, dtype=np.float32)
    except (binascii.Error, ValueError, TypeError, OverflowError):
        return None
    return numbers if numbers.ndim == 1 and len(numbers) else None
