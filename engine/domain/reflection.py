"""Summaries of memories of one theme."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.errors import JiyiError
from engine.domain.memory import Draft, Memory

SOURCE = "reflection"
"""The ``source`` of memories that sum up others."""

EXTRACTIVE, CHAT = "extractive", "chat"
SUMMARIZERS = (EXTRACTIVE, CHAT)


@dataclass(frozen=True, slots=True)
class ReflectRequest:
    """What to sum up, and how; ``None`` is what the settings say.

    ``workspace`` names one workspace, ``None`` each of them by itself. ``threshold`` (0-1) is on
    the scale of the settings. ``consolidate`` archives what was summed up. Without ``apply``
    nothing is stored.
    """

    workspace: str | None = None
    threshold: float | None = None
    min_cluster: int | None = None
    consolidate: bool | None = None
    summarizer: str | None = None
    apply: bool = False


@dataclass(frozen=True, slots=True)
class Reflection:
    """One summary: the memory to be, and what it is made of, the most important first.

    ``warning`` says why the chat model had no part although it was asked for. ``memory`` is the
    stored one, ``None`` in a dry run or when a source changed meanwhile.
    """

    draft: Draft
    source_ids: tuple[int, ...]
    summarizer: str
    warning: JiyiError | None = None
    memory: Memory | None = None

    @property
    def text(self) -> str:
        """The summary."""
        return str(self.draft.fields["text"])


@dataclass(frozen=True, slots=True)
class Reflected:
    """What reflection found.

    ``considered`` memories were compared; ``without_vectors`` could not be, and ``left_out``
    older ones were left for another time. With ``applied`` the summaries were stored as group
    ``group_uid``, ``archived`` sources were put aside, and ``skipped`` summaries were not stored
    because a source had changed.
    """

    reflections: tuple[Reflection, ...]
    considered: int
    without_vectors: int = 0
    left_out: int = 0
    applied: bool = False
    group_uid: str = ""
    archived: int = 0
    skipped: int = 0
