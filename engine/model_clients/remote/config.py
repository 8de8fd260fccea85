"""What it takes to ask one provider for one model, and the space its vectors live in."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.address import parse_address

PROVIDER = "openai"
"""The name of every OpenAI-compatible provider in settings and space identities."""

_MASK = "••••"


@dataclass(frozen=True, slots=True, repr=False)
class RemoteConfig:
    """One model of one provider.

    ``dimensions`` and ``encoding_format`` are sent only when set; without ``dimensions`` the
    first answer tells the size. ``batch_size`` is the most texts in one request.
    ``timeout_s`` bounds one request. ``max_retries`` counts the tries after the first.
    The prefixes are put in front of search texts and of stored texts.
    """

    base_url: str
    model: str
    api_key: str = ""
    dimensions: int | None = None
    encoding_format: str = ""
    batch_size: int = 32
    timeout_s: float = 30.0
    query_prefix: str = ""
    passage_prefix: str = ""
    max_retries: int = 3

    def __repr__(self) -> str:
        """Without the key, and without a login written into the address."""
        key = _MASK if self.api_key else "''"
        return f"RemoteConfig(host={host_of(self)!r}, model={self.model!r}, api_key={key})"


def host_of(config: RemoteConfig) -> str:
    """The host with its port for messages; empty when the address cannot be read."""
    try:
        return parse_address(config.base_url).host
    except ModelUnavailable:
        return ""


def space_of(config: RemoteConfig, dims: int) -> SpaceIdentity:
    """The space of vectors with ``dims`` numbers. Another address, model, size or prefix is
    another space; raises :class:`ModelUnavailable` for an unusable address."""
    return SpaceIdentity(
        provider=PROVIDER,
        model=config.model,
        revision=revision_of(config),
        dims=dims,
        query_prefix=config.query_prefix,
        passage_prefix=config.passage_prefix,
    )


def known_space(config: RemoteConfig) -> SpaceIdentity | None:
    """The space as far as it is known without asking: ``None`` without a configured size or
    with an unusable address."""
    if not config.dimensions:
        return None
    try:
        return space_of(config, config.dimensions)
    except ModelUnavailable:
        return None


def makes_space(config: RemoteConfig, identity: SpaceIdentity) -> bool:
    """Whether a space is this model's, as far as that can be told without asking."""
    try:
        revision = revision_of(config)
    except ModelUnavailable:
        return False
    return (identity.provider, identity.revision) == (PROVIDER, revision)


def revision_of(config: RemoteConfig) -> str:
    """A digest of all that decides what the vectors mean, known before the first answer."""
    decisive = (
        parse_address(config.base_url).canonical,
        config.model,
        config.dimensions or 0,
        config.query_prefix,
        config.passage_prefix,
    )
    return hashlib.sha256(json.dumps(decisive).encode("ascii")).hexdigest()[:16]
