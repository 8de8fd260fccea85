"""Records of structured kinds, and conversations summed up."""

from __future__ import annotations

from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.memory import Memory
from engine.use_cases import memorize, records, summarize
from engine.use_cases.memorize import Memorized, MemorizeRequest
from engine.use_cases.records import Composed, RecordRequest
from engine.use_cases.summarize import SummaryDraft, SummaryRequest


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stored record, and the question that it answered and closed, if any."""

    stored: Memorized
    question: Memory | None


class Records:
    """Records of structured kinds, and conversations summed up."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def record(self, request: RecordRequest, caller: Caller) -> Recorded:
        """Store a record; see :func:`engine.use_cases.records.record`."""
        written: list[Memorized] = []

        def store(composed: Composed) -> Memory:
            made = MemorizeRequest(composed.fields, workspace=composed.workspace)
            written.append(memorize.memorize(self._context, made, caller))
            return written[0].memory

        _, question = records.record(self._context, request, caller, store)
        return Recorded(written[0], question)

    def summarize(self, request: SummaryRequest) -> SummaryDraft:
        """Sum a conversation up; see :func:`engine.use_cases.summarize.summarize`."""
        return summarize.summarize(self._context, request)
