"""Summarize: a conversation as the one memory it would make, for somebody to look at first."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.config.messages import text as sentence
from engine.context import EngineContext
from engine.domain import fields as authored
from engine.domain.errors import InvalidInput, JiyiError, ModelUnavailable, NotFound
from engine.domain.scope import Filters
from engine.extraction.summary import extractive, language_of, shortened
from engine.storage import memories

CHAT, EXTRACTIVE = "chat", "extractive"
_FIELDS = (
    *("summary", "persona_summary", "topics", "participants", "key_facts"),
    *("sentiment", "importance"),
)
_MOST_MEMORIES = 200
_MOST_CHARS = 30_000
_ANSWER_TOKENS = 2_000
_SUMMARY_CHARS = 1_000
_TRIES = 2
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """The words of a conversation, or the id of a session whose memories tell it."""

    conversation: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """The memory that a conversation would make: ``fields`` are authored fields with ``text``.

    ``summarizer`` is ``chat`` or ``extractive``; ``problem`` says why it was not the chat model.
    """

    fields: Mapping[str, object]
    summarizer: str
    problem: JiyiError | None = None


def summarize(context: EngineContext, request: SummaryRequest) -> SummaryDraft:
    """Sum a conversation up through the chat model, else by its own words. Writes nothing.

    Private memories never go to a chat model. Raises InvalidInput unless exactly one thing to
    sum up is given, and NotFound for a session that stored nothing.
    """
    texts, private = _texts(context, request)
    try:
        if private:
            raise ModelUnavailable("error.chat_private")
        return SummaryDraft(_asked(context, "\n".join(texts)), CHAT)
    except ModelUnavailable as problem:
        text = extractive(texts, context.settings.reflect.max_chars)
        return SummaryDraft({"text": text}, EXTRACTIVE, problem)


def _texts(context: EngineContext, request: SummaryRequest) -> tuple[list[str], bool]:
    given, session_id = (request.conversation or "").strip(), request.session_id
    if bool(given) == bool(session_id):
        raise InvalidInput("error.summary_of_one")
    if given:
        return [line for line in given.splitlines() if line.strip()], False
    filters = Filters(session_id=session_id)
    with context.database.read() as connection:
        page = memories.page(connection, filters, context.clock.now(), _MOST_MEMORIES, None)
    if not page.memories:
        raise NotFound("error.empty_session", session=str(session_id)[:60])
    told = list(reversed(page.memories))
    return [memory.text for memory in told], any(memory.private for memory in told)


def _asked(context: EngineContext, conversation: str) -> dict[str, object]:
    """What the chat model makes of it, checked; asked once more for an answer that is no use."""
    from engine.model_clients.remote.chat import ChatMessage

    language = language_of([conversation])
    turns = [
        ChatMessage("system", sentence("summarize.prompt", language)),
        ChatMessage("user", conversation[:_MOST_CHARS]),
    ]
    chat, wait_s = context.chat(), context.settings.chat.timeout_s
    for _ in range(_TRIES):
        answer = chat.complete(turns, max_tokens=_ANSWER_TOKENS, wait_s=wait_s)
        found = _read(answer)
        if found is not None:
            return found
    raise ModelUnavailable("error.chat_no_summary")


def _read(answer: str) -> dict[str, object] | None:
    found = _OBJECT.search(_THINKING.sub(" ", answer))
    try:
        parsed = json.loads(found[0]) if found else None
        if not isinstance(parsed, dict) or not isinstance(parsed.get("summary"), str):
            return None
        given = {name: parsed[name] for name in _FIELDS if parsed.get(name) is not None}
        text = shortened(" ".join(parsed["summary"].split()), _SUMMARY_CHARS)
        return {**authored.validated(given), **authored.validated({"text": text})}
    except (ValueError, RecursionError, JiyiError):
        return None
