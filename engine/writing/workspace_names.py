"""Names of workspaces: what a caller may give, and what is made of a folder's name."""

from __future__ import annotations

from engine.domain.errors import InvalidInput
from engine.domain.text import scrub

MAX_WORKSPACE_CHARS = 100
MAX_DOMAIN_CHARS = 40
# Room for the number that tells projects with the same folder name apart.
_FOLDER_CHARS = MAX_WORKSPACE_CHARS - 10


def workspace_name(name: str) -> str:
    """A workspace name as stored; raises :class:`InvalidInput` for a blank or endless one."""
    cleaned = _cleaned(name)
    if not 0 < len(cleaned) <= MAX_WORKSPACE_CHARS:
        raise InvalidInput("error.bad_workspace", value=cleaned[:40], limit=MAX_WORKSPACE_CHARS)
    return cleaned


def domain_name(name: str) -> str:
    """A domain's name as stored, in small letters; raises :class:`InvalidInput` for a blank or
    endless one."""
    cleaned = _cleaned(name).casefold()
    if not 0 < len(cleaned) <= MAX_DOMAIN_CHARS:
        raise InvalidInput("error.bad_domain", value=cleaned[:40], limit=MAX_DOMAIN_CHARS)
    return cleaned


def folder_name(name: str) -> str:
    """The workspace name for a project folder, whatever that is called."""
    return _cleaned(_cleaned(name)[:_FOLDER_CHARS]) or "project"


def _cleaned(name: str) -> str:
    return " ".join(scrub(name).split())
