"""What somebody is typing, kept in case the program ends before it is saved."""

from __future__ import annotations

from engine.context import EngineContext
from engine.use_cases import drafts
from engine.use_cases.drafts import Draft


class Drafts:
    """Unsaved texts of people, each in a file of its own."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def keep(self, draft: Draft) -> None:
        """Keep what somebody is typing; raises StoreUnavailable where no file can be written."""
        drafts.keep_draft(self._context, draft)

    def list(self) -> list[Draft]:
        """What was being typed when a program ended."""
        return drafts.list_drafts(self._context)

    def find(self, memory_id: int | None) -> Draft | None:
        """The draft of a memory; ``None`` asks for that of a new one."""
        return drafts.find_draft(self._context, memory_id)

    def drop(self, memory_id: int | None) -> None:
        """The text was saved or is not wanted any more."""
        drafts.drop_draft(self._context, memory_id)
