"""Names of note files: readable, safe on every system, and never outside their folder."""

from __future__ import annotations

import re
import unicodedata
from datetime import tzinfo
from pathlib import PurePosixPath

from engine.domain.errors import InvalidInput
from engine.domain.ids import short_uid
from engine.domain.times import day

_TITLE_CHARS = 40
_FOLDER_CHARS = 60
_NAME_BYTES = 200
# What Windows refuses, what a shell or Obsidian's links would misread, and anything unprintable.
_REFUSED = re.compile(r"[\\/:*?\"<>|#^\[\]%`$&;!{}'~\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?")


def note_name(uid: str, text: str, created_at: float, zone: tzinfo | None) -> str:
    """The name of a memory's note without its ending: day, first words, short uid."""
    return f"{day(created_at, zone)} {_title(text)} {short_uid(uid)}"


def note_path(workspace: str, kind: str, name: str) -> PurePosixPath:
    """Where a note lies in the folder: by workspace and kind."""
    return PurePosixPath(folder_name(workspace), folder_name(kind), f"{name}.md")


def folder_name(name: str) -> str:
    """A folder's name for any text."""
    cleaned = _cleaned(name)[:_FOLDER_CHARS].strip(". ")
    if not cleaned or _RESERVED.fullmatch(cleaned):
        return f"_{cleaned}"
    return cleaned


def _title(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    words = _cleaned(first.lstrip("#>-*+ "))[:_TITLE_CHARS].strip(". ")
    return words or "memory"


def _cleaned(text: str) -> str:
    return " ".join(_REFUSED.sub(" ", unicodedata.normalize("NFC", text)).split())


def require_file_name(name: str) -> str:
    """A plain file name as it stands. Raises :class:`InvalidInput` for one with a folder, a drive
    or a stream in it, one that some system reserves, or an overlong one."""
    plain = unicodedata.normalize("NFC", name)
    refused = (
        not plain.strip(". ")
        or plain != plain.strip()
        or plain.endswith(".")
        or _REFUSED.search(plain) is not None
        or _RESERVED.fullmatch(plain) is not None
        or len(plain.encode("utf-8", "replace")) > _NAME_BYTES
    )
    if refused:
        raise InvalidInput("error.bad_file_name", value=name[:60])
    return plain
