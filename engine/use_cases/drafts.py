"""What somebody is typing, kept in case the program ends before it is saved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.config.file import draft_beside
from engine.context import EngineContext
from engine.domain.errors import StoreUnavailable

_FOLDER = "drafts"
_NEW = "new"


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved text: of a memory at a revision, or of a new one. ``fields`` are the other
    fields of its form as they were typed, by name."""

    text: str
    memory_id: int | None = None
    revision: int | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


def keep_draft(context: EngineContext, draft: Draft) -> None:
    """Keep a draft in place of the one before it of the same memory. Raises StoreUnavailable
    where no file can be written."""
    path = _path(context, draft.memory_id)
    kept = {"text": draft.text, "revision": draft.revision, "fields": dict(draft.fields)}
    content = json.dumps(kept, ensure_ascii=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft_beside(path, content.encode("utf-8", "replace"), 0o600).replace(path)
    except OSError as error:
        raise StoreUnavailable("error.draft_not_kept", path=str(path)) from error


def find_draft(context: EngineContext, memory_id: int | None) -> Draft | None:
    """The draft of a memory (``None``: of a new one). What cannot be read is no draft."""
    try:
        kept = json.loads(_path(context, memory_id).read_bytes().decode("utf-8", "replace"))
        fields = {str(name): str(value) for name, value in kept.get("fields", {}).items()}
        return Draft(str(kept["text"]), memory_id, kept["revision"], fields)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def list_drafts(context: EngineContext) -> list[Draft]:
    """All drafts, that of a new memory first."""
    names = sorted(path.stem for path in (context.home / _FOLDER).glob("*.json"))
    ids = [None if name == _NEW else int(name) for name in names if name == _NEW or name.isdigit()]
    found = [find_draft(context, memory_id) for memory_id in sorted(ids, key=lambda one: one or 0)]
    return [draft for draft in found if draft is not None]


def drop_draft(context: EngineContext, memory_id: int | None) -> None:
    """The text was saved or is not wanted any more."""
    try:
        _path(context, memory_id).unlink(missing_ok=True)
    except OSError:
        # Offered once more the next time; nothing is lost by that.
        return


def _path(context: EngineContext, memory_id: int | None) -> Path:
    return context.home / _FOLDER / f"{_NEW if memory_id is None else memory_id}.json"
