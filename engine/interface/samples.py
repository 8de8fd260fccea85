"""Memories to try things with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.times import parse_instant
from engine.use_cases import memorize
from engine.use_cases.memorize import Memorized, MemorizeRequest

SAMPLE_WORKSPACE = "demo"


class Samples:
    """Memories of invented people that come with the program."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def requests(self, language: str) -> list[MemorizeRequest]:
        """The sample memories of a language (``zh`` or ``en``)."""
        return [
            MemorizeRequest(_fields(sample), workspace=SAMPLE_WORKSPACE)
            for sample in sample_memories(language)
        ]

    def load(self, languages: tuple[str, ...], caller: Caller) -> list[Memorized]:
        """Store the samples of some languages as one undoable group."""
        wanted = [request for language in languages for request in self.requests(language)]
        return memorize.memorize_many(self._context, wanted, caller)


def sample_memories(language: str) -> list[Mapping[str, object]]:
    """Authored fields of the samples as they are kept, times as ISO 8601."""
    content = (files("assets") / "samples" / f"conversation.{language}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in content.splitlines() if line.strip()]


def _fields(sample: Mapping[str, object]) -> dict[str, object]:
    fields = dict(sample)
    if isinstance(fields.get("event_time"), str):
        fields["event_time"] = parse_instant(str(fields["event_time"]), None)
    return fields
