"""Text from an OpenAI-compatible chat model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.config import RemoteConfig
from engine.model_clients.remote.gate import ProviderState
from engine.model_clients.remote.http import RemoteClient


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of the conversation the model continues."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatClient:
    """Asks one chat model; safe to use from several threads.

    Raises :class:`ModelUnavailable` for a configuration that cannot be used.
    """

    def __init__(self, config: RemoteConfig) -> None:
        self._client = RemoteClient(config)
        self._model = config.model

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        wait_s: float | None = None,
    ) -> str:
        """The model's answer without blanks around it.

        Raises :class:`ModelUnavailable` when there is none within ``wait_s`` seconds, or
        when it holds no text.
        """
        payload: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in messages],
        }
        if max_tokens is not None:
            payload["max_tokens"] = max_tokens
        answer = self._client.post("chat/completions", payload, self._client.patience(wait_s))
        text = _text(answer).strip()
        if not text:
            raise ModelUnavailable("error.remote_no_text", host=self._client.host)
        return text

    def state(self) -> ProviderState:
        """What is known of the provider."""
        return self._client.state()

    def close(self) -> None:
        """End waiting and running requests."""
        self._client.close()


def _text(answer: object) -> str:
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):
        return "".join(_part(part) for part in content)
    return content if isinstance(content, str) else ""


def _part(part: object) -> str:
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""
