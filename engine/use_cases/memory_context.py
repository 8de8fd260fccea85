"""What an assistant should have in mind: standing wishes first, then what a mode calls for.

With a topic it recalls; without one it serves the briefing and asks no model anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from engine.config.messages import text as sentence
from engine.context import EngineContext
from engine.domain.asking import Answer, Candidate, Question, Recall
from engine.domain.briefing import (
    ACTIVE_FACTS,
    SECTIONS,
    SESSIONS,
    STANDING,
    ServedBriefing,
    ServedFact,
    ServedSession,
)
from engine.domain.display import in_one_line
from engine.domain.memory import GLOBAL_WORKSPACE, Memory
from engine.domain.prompts import PLAIN, PackedLine, PromptForm, PromptText, Section
from engine.domain.scope import Filters, Scope
from engine.domain.times import day
from engine.domain.vocabulary import CONTEXT_MODES, check
from engine.retrieval.packing import LineStyle, Packer
from engine.retrieval.prompt import framed, new_packer
from engine.storage.atom_search import outdated

Brief = Callable[[str, Collection[str]], ServedBriefing]
"""The briefing of a workspace, with the memories of some sections."""

TOPIC = "topic"
RECENT = "recent"
_SESSION_CHARS = 120
# Once one memory is near, the others need to be no nearer than this share of the floor.
_TAIL_SHARE = 0.6
_SESSION_ID_CHARS = 40


@dataclass(frozen=True, slots=True)
class Mode:
    """A budget and a mix. ``sections`` of the briefing are shown without a topic, at most
    ``most`` memories of them together; with a topic ``k`` are recalled, those of ``kinds``
    first."""

    tokens: int
    sections: tuple[str, ...]
    k: int
    kinds: tuple[str, ...] = ()
    most: int = 1_000


_WORK = ("procedures", "decisions", "resolved", "questions")
_WORK_KINDS = ("procedural", "decision", "resolved", "question")
MODES = {
    "quick": Mode(400, ("important", RECENT), k=3, most=3),
    "chat": Mode(1_000, ("people", "preferences", RECENT), k=20),
    "coding": Mode(2_000, _WORK, k=30, kinds=_WORK_KINDS),
    "project": Mode(
        4_000,
        (ACTIVE_FACTS, "important", *_WORK, "facts", "people", "preferences", RECENT, SESSIONS),
        k=50,
    ),
}
"""Numbers of the specification."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """``mode`` is one of :data:`MODES` (default: ``coding`` in a project, else ``chat``);
    ``workspace`` the current one; ``filters`` narrow what a topic recalls."""

    topic: str | None = None
    mode: str | None = None
    workspace: str = GLOBAL_WORKSPACE
    filters: Filters | None = None
    form: PromptForm = PLAIN


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """The text and how it came about. ``age_s`` is the age of the briefing it was read from,
    ``stale`` whether a newer one is on its way."""

    mode: str
    topic: str | None
    workspace: str
    prompt: PromptText
    age_s: float
    stale: bool


@dataclass(slots=True)
class _Shown:
    """A text under way. Standing memories may take the whole budget, but none of them alone."""

    packer: Packer
    lines: dict[str, list[PackedLine]] = field(default_factory=dict)
    offered: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)

    @property
    def longest_tokens(self) -> int:
        return max(40, self.packer.budget.tokens // 8)

    def add(self, name: str, candidates: Iterable[Candidate], most_tokens: int | None) -> None:
        """Lines for a section; a memory that stands in another one is not repeated."""
        new = [item for item in candidates if item.memory.id not in self.seen]
        self.offered |= {item.memory.id for item in new}
        standing = name in STANDING
        taken = self.packer.pack(
            new,
            cut_at_tokens=self.longest_tokens * (2 if standing else 1),
            most_tokens=most_tokens,
        )
        self.seen |= {memory.id for line in taken for memory in line.memories}
        self.lines.setdefault(name, []).extend(taken)


def memory_context(
    context: EngineContext, request: ContextRequest, recall: Recall, brief: Brief
) -> MemoryContext:
    """Directives, pinned memories, then the mode's mix within its budget. Raises InvalidInput
    for an unknown mode or a bad budget."""
    name = check("mode", request.mode or _usual_mode(request.workspace), CONTEXT_MODES)
    mode, topic = MODES[name], (request.topic or "").strip() or None
    sections = STANDING if topic else (*STANDING, *mode.sections, RECENT)
    briefing = brief(request.workspace, sections)
    form = request.form
    style = LineStyle(form.language, context.zone, context.clock.now())
    headings = [heading(section, form.language) for section in (*sections, TOPIC)]
    shown = _Shown(new_packer(form, mode.tokens, style, headings))
    _note_earlier(context, shown, (m for found in briefing.sections.values() for m in found))
    for section in STANDING:
        shown.add(section, _as_found(briefing.sections.get(section, ())), None)
    answer = Answer(())
    if topic is None:
        _add_mix(shown, mode, briefing)
        if not any(shown.lines.get(section) for section in mode.sections):
            # A store without any of the mode's kinds still has something to say.
            shown.add(RECENT, _as_found(briefing.sections.get(RECENT, ())), None)
    else:
        found = recall(_question(context, request, topic, mode.k))
        answer = _near(found, context.settings.context.floor)
        _note_earlier(context, shown, (item.memory for item in answer.candidates))
        shown.add(TOPIC, _preferred(answer, mode.kinds), None)
    return MemoryContext(
        mode=name,
        topic=topic,
        workspace=request.workspace,
        prompt=_prompt(shown, form, answer, topic),
        age_s=briefing.age_s,
        stale=briefing.stale,
    )


def whole_briefing(
    context: EngineContext, briefing: ServedBriefing, form: PromptForm
) -> MemoryContext:
    """Everything a briefing holds, within the budget of the largest mode."""
    request = ContextRequest(mode="project", workspace=briefing.workspace, form=form)
    return memory_context(context, request, _no_recall, lambda workspace, sections: briefing)


def heading(section: str, language: str) -> str:
    """The line above a section."""
    return "## " + sentence(f"context.section.{section}", language)


def _usual_mode(workspace: str) -> str:
    return "chat" if workspace == GLOBAL_WORKSPACE else "coding"


def _note_earlier(context: EngineContext, shown: _Shown, memories: Iterable[Memory]) -> None:
    """Mark what a later memory corrects, so that no old fact passes for the present one."""
    with context.database.read() as connection:
        shown.packer.newer |= outdated(connection, [memory.id for memory in memories])


def _no_recall(question: Question) -> Answer:
    return Answer(())


def _as_found(memories: Iterable[Memory]) -> list[Candidate]:
    return [Candidate(memory, score=0.0, strength=1.0) for memory in memories]


def _add_mix(shown: _Shown, mode: Mode, briefing: ServedBriefing) -> None:
    """Each section gets an equal part of what is left; what remains then goes to whoever has
    more to show, in order."""
    names = [name for name in mode.sections if name in SECTIONS]
    found = _first_of(names, briefing, shown.seen, mode.most)
    parts = len(mode.sections)
    if ACTIVE_FACTS in mode.sections:
        _add_facts(shown, briefing.facts, shown.packer.budget.tokens // parts)
    for place, name in enumerate(names):
        left = shown.packer.budget.tokens - shown.packer.used_tokens
        shown.add(name, found[name], left // (parts - place))
    if SESSIONS in mode.sections:
        _add_sessions(shown, briefing.sessions)
    for name in names:
        shown.add(name, found[name], None)


def _first_of(
    names: Sequence[str], briefing: ServedBriefing, seen: Collection[int], most: int
) -> dict[str, list[Candidate]]:
    """The first ``most`` memories of the sections that stand in none before."""
    taken = set(seen)
    found: dict[str, list[Candidate]] = {name: [] for name in names}
    for name in names:
        for candidate in _as_found(briefing.sections.get(name, ())):
            if candidate.memory.id not in taken and most > 0:
                taken.add(candidate.memory.id)
                found[name].append(candidate)
                most -= 1
    return found


def _add_facts(shown: _Shown, facts: Sequence[ServedFact], most_tokens: int) -> None:
    taken = shown.lines.setdefault(ACTIVE_FACTS, [])
    most_used = shown.packer.used_tokens + most_tokens
    for served in facts:
        line = _fact_line(served, shown.packer.style)
        packed = shown.packer.take(line, (), 0.0, min(most_used, shown.packer.budget.tokens))
        if packed is not None:
            taken.append(packed)


def _fact_line(served: ServedFact, style: LineStyle) -> str:
    """``- (fact, since 2024-03-01) Ana · lives in · Oslo [f3]``"""
    fact, language = served.fact, style.language
    key, values = fact.period.told(style.zone)
    period = sentence(key, language, **values)
    if served.source is not None and served.source.trust == "external":
        period += ", " + sentence("mcp.trust.external", language)
    return sentence(
        "fact.line",
        language,
        id=fact.id,
        period=period,
        subject=in_one_line(fact.subject),
        predicate=in_one_line(fact.predicate),
        object=in_one_line(fact.object),
    )


def _add_sessions(shown: _Shown, sessions: Sequence[ServedSession]) -> None:
    taken = shown.lines.setdefault(SESSIONS, [])
    for session in sessions:
        line = _session_line(session, shown.packer.style)
        packed = shown.packer.take(line, (session.first,), 0.0)
        if packed is not None:
            taken.append(packed)


def _session_line(session: ServedSession, style: LineStyle) -> str:
    """``- (session, date, N memories) its first memory's summary or beginning [#id, session]``."""
    first, note = session.first, session.note
    kind = sentence("context.session", style.language, count=note.count)
    started = day(note.started_at, style.zone)
    said = in_one_line((first.summary or first.text)[: 2 * _SESSION_CHARS])
    said = said if len(said) <= _SESSION_CHARS else said[: _SESSION_CHARS - 1] + "…"
    trust = ""
    if first.trust == "external":
        trust = ", " + sentence("mcp.trust.external", style.language)
    session_id = in_one_line(note.session_id)[:_SESSION_ID_CHARS]
    return f"- ({kind}, {started}{trust}) {said} [#{first.id}, session {session_id}]"


def _question(context: EngineContext, request: ContextRequest, topic: str, k: int) -> Question:
    filters = request.filters or Filters(scope=Scope("workspace", request.workspace))
    hidden = replace(
        filters, include_archived=False, include_expired=False, include_superseded=False
    )
    return Question(topic, k, hidden, automatic=True)


def _near(answer: Answer, floor: float) -> Answer:
    """The answer without far matches, empty when not even the best one reaches the floor: the
    topic then has nothing to do with the store."""
    best = max((item.strength for item in answer.candidates), default=0.0)
    least = _TAIL_SHARE * floor if best >= floor else math.inf
    near = tuple(item for item in answer.candidates if item.strength >= least and not item.weak)
    return replace(answer, candidates=near, cut=answer.cut + len(answer.candidates) - len(near))


def _preferred(answer: Answer, kinds: Collection[str]) -> list[Candidate]:
    # Sorting is stable: within either half the order of the answer stays.
    return sorted(answer.candidates, key=lambda item: item.memory.kind not in kinds)


def _prompt(shown: _Shown, form: PromptForm, answer: Answer, topic: str | None) -> PromptText:
    sections = tuple(
        Section(name, heading(name, form.language), tuple(lines))
        for name, lines in shown.lines.items()
        if lines
    )
    packer = shown.packer
    return PromptText(
        text=framed(sections, form.language),
        sections=sections,
        used_tokens=packer.used_tokens,
        budget_tokens=packer.budget.tokens,
        left_out=len(shown.offered - shown.seen),
        shortened=packer.shortened,
        weaker=answer.cut,
        queries=(topic,) if topic else (),
        degraded=answer.degraded,
    )
