"""What is evaluated and where: sets read from paths or judgments, each with a store to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from pathlib import Path

from engine.config.schema import Settings
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.ids import parse_ref
from engine.evaluation.dataset import EvaluationSet, read_set
from engine.evaluation.gold import questions_of_judgments, read_questions
from engine.evaluation.metrics import MEASURES, Measure
from engine.evaluation.pairs import is_pairs, read_pairs
from engine.evaluation.trial import Asking, OpenTrial, Setup, TrialSettings, TrialStore, prepared
from engine.storage import judgments, memories
from engine.storage.database import Database

FOLDER = "cache/evaluation"
JUDGMENTS = "judgments"


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """What is measured.

    ``paths`` are folders of sets, files of pairs, or files of questions to the store itself;
    ``judgments`` takes what was judged in the store as well. ``setups`` are measured side by
    side; ``spaces`` narrows every set (empty: all).
    """

    paths: tuple[Path, ...] = ()
    judgments: bool = False
    setups: tuple[Setup, ...] = (Setup(),)
    measures: tuple[Measure, ...] = MEASURES
    spaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationParts:
    """What evaluation is handed: how a store of its own is opened, the store at hand, and who
    is told of the set, the stage, what is done and of how much."""

    open_trial: OpenTrial
    store: TrialStore
    on_progress: Callable[[str, str, int, int], None]


@dataclass(frozen=True, slots=True)
class Here:
    """The store at hand: its home and file, and the settings and zone in force."""

    home: Path
    database: Database
    settings: Settings
    zone: tzinfo | None


def load_sets(here: Here, request: EvaluationRequest) -> list[EvaluationSet]:
    """The sets of a request, whole.

    Raises :class:`InvalidInput` for a path that is no set and for a set without any question in
    the wanted spaces.
    """
    sets = [_read(here, path) for path in request.paths]
    if request.judgments:
        with here.database.read() as connection:
            rows = judgments.listed(connection)
        sets.append(questions_of_judgments(JUDGMENTS, rows))
    if not sets:
        raise InvalidInput("error.eval_nothing")
    for chosen in sets:
        _narrowed(chosen, request.spaces)
    return _named_apart(sets)


@contextmanager
def asking(
    here: Here, chosen: EvaluationSet, request: EvaluationRequest, parts: EvaluationParts
) -> Iterator[Asking]:
    """The part of a set that is wanted, with the store that answers it."""
    part = _narrowed(chosen, request.spaces)
    if not chosen.records:
        problem = None
        if any(setup.uses_vectors for setup in request.setups):
            problem = parts.store.load_model()
        yield Asking(parts.store, part, Setup.question, problem)
        return
    settings = TrialSettings(here.home / FOLDER, here.settings, here.zone, parts.open_trial)
    on_stage = partial(parts.on_progress, chosen.name)
    with prepared(settings, chosen, part, request.setups, on_stage) as trial:
        yield trial


def _read(here: Here, path: Path) -> EvaluationSet:
    if not path.is_file():
        return read_set(path, here.zone)
    if is_pairs(path):
        return read_pairs(path)
    return read_questions(path, here.zone, partial(_uid, here.database))


def _uid(database: Database, ref: str) -> str | None:
    """The uid of a memory of the store at hand, ``None`` when there is none."""
    with database.read() as connection:
        try:
            return memories.find(connection, parse_ref(ref)).uid
        except (InvalidInput, NotFound):
            return None


def _narrowed(chosen: EvaluationSet, spaces: Sequence[str]) -> EvaluationSet:
    if not spaces:
        return chosen
    part = chosen.within(spaces)
    if not part.queries:
        allowed = ", ".join(name for name in chosen.spaces if name)
        raise InvalidInput("error.eval_no_space", name=chosen.name, allowed=allowed)
    return part


def _named_apart(sets: Sequence[EvaluationSet]) -> list[EvaluationSet]:
    """Two sets may have the same folder name; the second gets a number."""
    taken: dict[str, int] = {}
    named = []
    for chosen in sets:
        count = taken[chosen.name] = taken.get(chosen.name, 0) + 1
        named.append(chosen if count == 1 else replace(chosen, name=f"{chosen.name} ({count})"))
    return named
