"""Ready-made provider entries, kept as data in ``assets/providers``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine.model_clients.remote.config import RemoteConfig


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """What a person need not look up about a provider.

    A model that is empty means that the provider has none of this kind, or that the person
    chooses. ``dims`` is the size of the embedding model's vectors, ``batch_size`` the most
    texts it takes at once.
    """

    name: str
    title: str
    base_url: str
    needs_key: bool
    embedding_model: str = ""
    dims: int = 0
    batch_size: int = 32
    chat_model: str = ""

    def embedding(self, api_key: str = "") -> RemoteConfig:
        """The entry as a configuration for vectors. The size is not sent: it is the model's
        own, and the first answer tells it."""
        return RemoteConfig(
            self.base_url, self.embedding_model, api_key, batch_size=self.batch_size
        )

    def chat(self, api_key: str = "") -> RemoteConfig:
        """The entry as a configuration for chat."""
        return RemoteConfig(self.base_url, self.chat_model, api_key)


@cache
def provider_entries() -> tuple[ProviderEntry, ...]:
    """All entries by name."""
    folder = files("assets") / "providers"
    return tuple(
        _entry(source.name.removesuffix(".toml"), source.read_text(encoding="utf-8"))
        for source in sorted(folder.iterdir(), key=lambda file: file.name)
        if source.name.endswith(".toml")
    )


def _entry(name: str, text: str) -> ProviderEntry:
    table = tomllib.loads(text)
    embedding = _section(table, "embedding")
    return ProviderEntry(
        name=name,
        title=table["title"],
        base_url=table["base_url"],
        needs_key=table["needs_key"],
        embedding_model=str(embedding.get("model", "")),
        dims=int(str(embedding.get("dims", 0))),
        batch_size=int(str(embedding.get("batch_size", 32))),
        chat_model=str(_section(table, "chat").get("model", "")),
    )


def _section(table: Mapping[str, object], name: str) -> Mapping[str, object]:
    section = table.get(name, {})
    assert isinstance(section, Mapping), f"{name} is a table"
    return section
