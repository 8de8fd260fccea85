"""Session check: whether a session's running notes have grown too long for a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.context import EngineContext
from engine.domain.errors import InvalidInput, NotFound
from engine.language.tokens import estimate_tokens

FILE_NAME = "session.md"
MAX_LINES = 100
MAX_TOKENS = 3_000
_MAX_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class SessionReport:
    """The size of a session file; ``tokens`` are estimated. ``too_long`` recommends compaction."""

    path: Path
    lines: int
    characters: int
    tokens: int

    @property
    def too_long(self) -> bool:
        """True when it is longer than a prompt should carry."""
        return self.lines > MAX_LINES or self.tokens > MAX_TOKENS


def check_session(context: EngineContext, folder: Path | None, name: str) -> SessionReport:
    """Measure a session file of a project's folder, or of the store's when there is none.

    Reads the file and changes nothing. Raises InvalidInput for a name that leaves the folder
    or a file too large to be notes, NotFound when there is no such file.
    """
    path = _inside(folder or context.home, name)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InvalidInput("error.session_too_large", path=str(path))
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotFound("error.no_session_file", path=str(path)) from error
    return SessionReport(path, len(text.splitlines()), len(text), estimate_tokens(text))


def _inside(folder: Path, name: str) -> Path:
    root = folder.resolve()
    path = (root / name).resolve()
    if path.suffix != ".md" or not path.is_relative_to(root):
        raise InvalidInput("error.session_place", name=name[:60], folder=str(root))
    return path
