"""An open store with a method for each use case."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

from engine import VERSION, trial_stores
from engine import background as background_work
from engine.background import BackgroundWorker
from engine.context import EngineContext
from engine.domain.asking import Answer, Candidate, Question
from engine.domain.atom import Atom, AtomFilters
from engine.domain.caller import Caller
from engine.domain.graph import Node, Step
from engine.domain.judgment import Judgment
from engine.domain.memory import JournalEntry, Memory
from engine.domain.notices import Notice
from engine.domain.prompts import PromptForm, PromptText
from engine.domain.scope import Filters
from engine.evaluation.search import Proposal
from engine.evaluation.session import EvaluationParts, EvaluationRequest
from engine.interface.backups import Backups
from engine.interface.browsing import Browsing
from engine.interface.bulk import Bulk
from engine.interface.documents import Documents
from engine.interface.drafts import Drafts
from engine.interface.facts import Facts
from engine.interface.forgetting import Forgetting
from engine.interface.graph import GraphView
from engine.interface.journal import Journal
from engine.interface.links import Links
from engine.interface.overview import Overview
from engine.interface.records import Records
from engine.interface.reflection import Reflection
from engine.interface.samples import Samples
from engine.interface.settings import SettingsBook
from engine.interface.transfer import Transfer
from engine.interface.tuning import Tuning
from engine.interface.upkeep import Upkeep
from engine.storage.memories import Page
from engine.storage.processes import ProcessRow
from engine.storage.statistics import Statistics
from engine.storage.workspaces import Workspace
from engine.trial_stores import Opener
from engine.use_cases import (
    atoms,
    auto_context,
    backup,
    briefing,
    browse,
    edit,
    embed_pending,
    erase,
    evaluate,
    fill_layers,
    forget,
    graph,
    inspect,
    judge,
    maintain,
    memorize,
    memory_context,
    models,
    pack,
    projects,
    recall,
    reinforce,
    tune,
    workspaces,
)
from engine.use_cases.atoms import AtomList, AtomQuery, AtomView, Swept
from engine.use_cases.auto_context import TaskRequest
from engine.use_cases.edit import Edited, EditRequest
from engine.use_cases.erase import Erased
from engine.use_cases.evaluate import SetReport
from engine.use_cases.forget import StateChange
from engine.use_cases.graph import Neighbourhood
from engine.use_cases.inspect import Diagnosis
from engine.use_cases.judge import JudgeRequest
from engine.use_cases.maintain import Repaired
from engine.use_cases.memorize import Memorized, MemorizeRequest
from engine.use_cases.memory_context import ContextRequest, MemoryContext
from engine.use_cases.models import (
    Chosen,
    EmbeddedAll,
    Fetched,
    ModelChoice,
    ModelReport,
    ModelWish,
    Tried,
)
from engine.use_cases.pack import PackRequest
from engine.use_cases.recall import RecallRequest, RecallResult
from engine.use_cases.tune import TuneRequest
from engine.use_cases.workspaces import BulkChange, Progress

_STEP_WAIT_S = 30.0


class Engine:
    """One open store with a method for each use case. Thread-safe.

    ``opener`` opens the stores that evaluation makes; ``notices`` are what a person should be
    told about this opening.
    Use as a context manager, or call :meth:`close`.
    """

    def __init__(
        self, context: EngineContext, opener: Opener, notices: Sequence[Notice] = ()
    ) -> None:
        self.context = context
        self._opener = opener
        self.notices = tuple(notices)
        self.journal = Journal(context)
        self.forgetting = Forgetting(context)
        self.upkeep = Upkeep(context)
        self.links = Links(context)
        self.overview = Overview(context)
        self.records = Records(context)
        self.facts = Facts(context)
        self.reflection = Reflection(context)
        self.backups = Backups(context)
        self.transfer = Transfer(context)
        self.documents = Documents(context)
        self.browsing = Browsing(context)
        self.bulk = Bulk(context)
        self.drafts = Drafts(context)
        self.samples = Samples(context)
        self.settings = SettingsBook(context)
        self.graph_view = GraphView(context)
        self.tuning = Tuning(context)
        self._worker: BackgroundWorker | None = None

    def start_background(self, client: str) -> None:
        """Load the model and work on waiting vectors beside answering; for long-lived
        processes. ``client`` is shown in the list of open processes; call again to rename."""
        if self._worker is not None:
            self._worker.client = client
            return
        self._worker = BackgroundWorker(self.context, VERSION, client)
        self.context.background = self._worker
        self._worker.start()

    def memorize(self, request: MemorizeRequest, caller: Caller) -> Memorized:
        """Store one memory; see :func:`engine.use_cases.memorize.memorize`."""
        return memorize.memorize(self.context, request, caller)

    def memorize_many(
        self, requests: Sequence[MemorizeRequest], caller: Caller
    ) -> Sequence[Memorized]:
        """Store several memories; see :func:`engine.use_cases.memorize.memorize_many`."""
        return memorize.memorize_many(self.context, requests, caller)

    def recall(self, request: RecallRequest) -> RecallResult:
        """Answer a query; see :func:`engine.use_cases.recall.recall`."""
        started = time.perf_counter()
        found = recall.recall(self.context, request)
        took_ms = (time.perf_counter() - started) * 1000
        self.context.meter.recalled(took_ms, found.stages_ms, empty=not found.hits)
        return found

    def get(self, ref: str | int, *, touch: bool = False) -> Memory:
        """One memory by its reference; with ``touch`` it counts as used."""
        return browse.get_memory(self.context, ref, touch=touch)

    def list(
        self, filters: Filters | None = None, *, limit: int = 20, cursor: str | None = None
    ) -> Page:
        """A page of memories, newest first."""
        return browse.list_memories(self.context, filters, limit=limit, cursor=cursor)

    def history(self, ref: str | int) -> Sequence[JournalEntry]:
        """What happened to a memory, oldest first."""
        return browse.history(self.context, ref)

    def edit(self, request: EditRequest, caller: Caller) -> Edited:
        """Change some fields of a memory."""
        return edit.edit_memory(self.context, request, caller)

    def delete(self, ref: str | int, caller: Caller) -> StateChange:
        """Move a memory to the trash."""
        return forget.delete_memory(self.context, ref, caller)

    def restore(self, ref: str | int, caller: Caller) -> StateChange:
        """Bring a memory back."""
        return forget.restore_memory(self.context, ref, caller)

    def erase(self, ref: str | int, caller: Caller) -> Memory:
        """Remove a memory for good."""
        return self.erase_all([ref], caller).memories[0]

    def erase_all(self, refs: Sequence[str | int], caller: Caller) -> Erased:
        """Remove memories for good, from everywhere; see
        :func:`engine.use_cases.erase.erase_memories`."""
        back_up = partial(backup.back_up, self.context, reason="manual")
        return erase.erase_memories(self.context, refs, caller, back_up)

    def statistics(self) -> Statistics:
        """What the store holds."""
        return inspect.collect_statistics(self.context)

    def diagnose(self, *, wait_s: float = 10.0) -> Diagnosis:
        """Whether everything is healthy."""
        return inspect.diagnose(self.context, wait_s=wait_s, more=self.backups.surroundings())

    def open_processes(self) -> Sequence[ProcessRow]:
        """The processes that have the store open now."""
        return inspect.open_processes(self.context)

    def model_report(self) -> ModelReport:
        """The chosen embedding model and how far the memories have its vectors."""
        return models.model_report(self.context)

    def fetch_model(self) -> Fetched:
        """Get the weights of the better embedded model."""
        return models.fetch_model(self.context)

    def model_choices(self) -> Sequence[ModelChoice]:
        """The models that can be chosen by name."""
        return models.model_choices(self.context)

    def choose_model(self, wish: ModelWish) -> Chosen:
        """Write another model into the settings; see
        :func:`engine.use_cases.models.choose_model`."""
        return models.choose_model(self.context, wish)

    def try_model(self, *, wait_s: float) -> Tried:
        """Whether the chosen model works, with the size of its vectors and how fast."""
        return models.try_model(self.context, wait_s)

    def embed_all(self, on_progress: Callable[[int, int], bool]) -> EmbeddedAll:
        """Give every memory its vectors; see :func:`engine.use_cases.models.embed_all`."""
        return models.embed_all(
            self.context,
            lambda: embed_pending.queue_missing(self.context),
            lambda: embed_pending.embed_pending(self.context, wait_s=_STEP_WAIT_S),
            on_progress,
        )

    def repair(self) -> Repaired:
        """Make full text agree with the memories."""
        return maintain.repair_text(self.context)

    def pack(self, request: PackRequest) -> PromptText:
        """Recall packed into a token budget; see :func:`engine.use_cases.pack.recall_pack`."""
        return pack.recall_pack(self.context, request, self._ask)

    def auto_context(self, request: TaskRequest) -> PromptText:
        """What is remembered about a task; see
        :func:`engine.use_cases.auto_context.auto_context`."""
        return auto_context.auto_context(self.context, request, self._ask)

    def memory_context(self, request: ContextRequest) -> MemoryContext:
        """What an assistant should have in mind; see
        :func:`engine.use_cases.memory_context.memory_context`."""
        brief = partial(briefing.current_briefing, self.context)
        return memory_context.memory_context(self.context, request, self._ask, brief)

    def briefing(self, workspace: str, form: PromptForm, *, refresh: bool = False) -> MemoryContext:
        """The whole briefing of a workspace; with ``refresh`` made anew at once."""
        served = (
            briefing.refresh_briefing(self.context, workspace)
            if refresh
            else briefing.current_briefing(self.context, workspace)
        )
        return memory_context.whole_briefing(self.context, served, form)

    def _ask(self, question: Question) -> Answer:
        """Recall, for use cases that are handed it."""
        result = self.recall(
            RecallRequest(
                question.query,
                k=question.k,
                filters=question.filters,
                min_strength=question.min_strength,
                touch=False,
            )
        )
        return Answer(
            candidates=tuple(
                Candidate(hit.memory, hit.score, hit.strength, hit.weak) for hit in result.hits
            ),
            degraded=tuple(item.reason for item in result.degraded),
            cut=result.cut,
        )

    def search_atoms(self, query: AtomQuery) -> Sequence[AtomView]:
        """Facts that answer a query; see :func:`engine.use_cases.atoms.search_atoms`."""
        return atoms.search_atoms(self.context, query)

    def atoms(
        self, filters: AtomFilters | None = None, *, limit: int = 20, cursor: str | None = None
    ) -> AtomList:
        """A page of facts, newest first."""
        return atoms.list_atoms(self.context, filters, limit=limit, cursor=cursor)

    def atom(self, ref: str | int) -> AtomView:
        """One fact by its number."""
        return atoms.get_atom(self.context, ref)

    def reinforce_atom(self, ref: str | int, caller: Caller) -> Atom:
        """Make a fact last longer."""
        return atoms.reinforce_atom(self.context, ref, caller)

    def expire_atom(self, ref: str | int, caller: Caller) -> Atom:
        """End a fact's life now."""
        return atoms.expire_atom(self.context, ref, caller)

    def wake_atom(self, ref: str | int, caller: Caller) -> Atom:
        """Bring back a fact that was superseded or has expired."""
        return atoms.wake_atom(self.context, ref, caller)

    def correct_atom_type(self, ref: str | int, atom_type: str, caller: Caller) -> Atom:
        """Say what type a fact really has."""
        return atoms.correct_type(self.context, ref, atom_type, caller)

    def sweep_atoms(self) -> Swept:
        """Move facts on whose time has come."""
        return atoms.sweep_atoms(self.context)

    def graph_nodes(self, node_type: str | None = None, limit: int = 20) -> Sequence[Node]:
        """People and topics, those that most memories name first."""
        return graph.list_nodes(self.context, node_type, limit)

    def neighbourhood(
        self, name: str, node_type: str | None = None, limit: int = 24
    ) -> Neighbourhood:
        """What surrounds a person, topic or fact."""
        return graph.neighbourhood(self.context, name, node_type, limit)

    def way_between(self, first: str, second: str) -> Sequence[Step]:
        """The shortest way between two people or topics; empty when there is none."""
        return graph.find_way(self.context, first, second)

    def merge_nodes(self, name: str, into: str, caller: Caller) -> Node:
        """Let one name mean another node from now on."""
        return graph.merge_nodes(self.context, name, into, caller)

    def rename_node(self, name: str, new_name: str, caller: Caller) -> Node:
        """Give a node another name; the old one goes on meaning it."""
        return graph.rename_node(self.context, name, new_name, caller)

    def separate_name(self, name: str, caller: Caller) -> Node:
        """Take back a merge or a rename."""
        return graph.separate_name(self.context, name, caller)

    def derive_missing(self, budget_s: float) -> int:
        """Give memories atoms and graph that lack them, within a time budget."""
        return fill_layers.derive_missing(self.context, budget_s)

    def evaluate(
        self, request: EvaluationRequest, on_progress: Callable[[str, str, int, int], None]
    ) -> Sequence[SetReport]:
        """How well recall answers known questions; see
        :func:`engine.use_cases.evaluate.evaluate`."""
        return evaluate.evaluate(self.context, request, self._evaluation(on_progress))

    def judge(self, request: JudgeRequest, caller: Caller) -> Sequence[Judgment]:
        """Say which memories answer a query; see :func:`engine.use_cases.judge.judge`."""
        return judge.judge(self.context, request, caller)

    def judgments(self, query: str | None = None) -> Sequence[Judgment]:
        """What was judged, of one query or of all."""
        return judge.list_judgments(self.context, query)

    def remove_judgments(
        self, query: str, workspace: str | None, refs: Sequence[str | int] = ()
    ) -> int:
        """Take judgments back; return how many."""
        return judge.remove_judgments(self.context, query, workspace, refs)

    def tune(
        self, request: TuneRequest, on_progress: Callable[[str, str, int, int], None]
    ) -> Proposal:
        """Better weights, proposed; see :func:`engine.use_cases.tune.tune`."""
        return tune.tune(self.context, request, self._evaluation(on_progress))

    def _evaluation(self, on_progress: Callable[[str, str, int, int], None]) -> EvaluationParts:
        open_trial = partial(trial_stores.open_trial, self._opener, self.context)
        return EvaluationParts(open_trial, trial_stores.store_at_hand(self), on_progress)

    def workspace_of(self, folder: Path, *, adopt: bool = False) -> str | None:
        """The workspace of the project around a folder; with ``adopt`` made when new."""
        if adopt:
            return projects.adopt_workspace(self.context, folder)
        return projects.find_workspace(self.context, folder)

    def workspaces(self) -> Sequence[Workspace]:
        """Every workspace with its counts."""
        return workspaces.list_workspaces(self.context)

    def workspace(self, name: str) -> Workspace:
        """One workspace with its counts."""
        return workspaces.find_workspace(self.context, name)

    def create_workspace(
        self, name: str, caller: Caller, *, domain: str | None = None
    ) -> Workspace:
        """Make a workspace."""
        return workspaces.create_workspace(self.context, name, caller, domain)

    def rename_workspace(self, name: str, new_name: str, caller: Caller) -> Workspace:
        """Give a workspace another name."""
        return workspaces.rename_workspace(self.context, name, new_name, caller)

    def move_workspace(self, name: str, domain: str, caller: Caller) -> Workspace:
        """Move a workspace to another domain."""
        return workspaces.move_workspace(self.context, name, domain, caller)

    def copy_workspace(
        self, name: str, new_name: str, caller: Caller, on_progress: Progress
    ) -> BulkChange:
        """Copy a workspace with all its memories."""
        return workspaces.copy_workspace(self.context, name, new_name, caller, on_progress)

    def delete_workspace(self, name: str, caller: Caller, on_progress: Progress) -> BulkChange:
        """Move all memories of a workspace to the trash."""
        return workspaces.delete_workspace(self.context, name, caller, on_progress)

    def drain(self, budget_s: float) -> int:
        """Embed waiting memories now, within a time budget; return how many were done."""
        return background_work.drain(self.context, budget_s=budget_s)

    def close(self) -> None:
        """Stop the background and let go of everything."""
        worker, self._worker = self._worker, None
        if not self.context.database.is_closed:
            # First of all: a process that is being ended may have no time for more.
            reinforce.flush_at_the_end(self.context)
        if worker is not None:
            worker.stop()
            reinforce.flush_at_the_end(self.context)
        self.context.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
