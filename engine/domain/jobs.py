"""Jobs of upkeep: how a run went, and where each job stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.domain.errors import JiyiError


@dataclass(frozen=True, slots=True)
class JobProblem:
    """Why a job failed: the key of a message and its values, for any language."""

    key: str
    params: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, error: JiyiError) -> JobProblem:
        """What an error says, kept."""
        return cls(error.key, {name: str(value) for name, value in error.params.items()})

    def error(self) -> JiyiError:
        """The problem as an error that surfaces can show."""
        return JiyiError(self.key, **self.params)


@dataclass(frozen=True, slots=True)
class JobReport:
    """How one job went: what it counted and how long it took. ``dry_run`` means that it only
    looked what there would be to do."""

    name: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    dry_run: bool = False
    problem: JobProblem | None = None


@dataclass(frozen=True, slots=True)
class JobRun:
    """The jobs that one tick ran, and who ticked. Times are epoch seconds; ``id`` is 0 before
    it is stored."""

    started_at: float
    ended_at: float
    actor: str
    reports: tuple[JobReport, ...]
    id: int = 0


@dataclass(frozen=True, slots=True)
class JobState:
    """When a job ran last and when it last succeeded; ``problem`` is that of the last run,
    ``None`` when it went well. A failure does not move ``last_success_at``."""

    name: str
    last_run_at: float | None = None
    last_success_at: float | None = None
    problem: JobProblem | None = None


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job and when it is due next (epoch seconds); never while it is off. ``applies`` is
    false where settings let it only look."""

    state: JobState
    enabled: bool
    applies: bool
    next_at: float | None
    is_due: bool = False

    @property
    def name(self) -> str:
        """The job's name."""
        return self.state.name
