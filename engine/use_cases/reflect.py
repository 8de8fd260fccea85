"""Reflection: what happened, summed up theme by theme."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine.config.messages import text as sentence
from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import InvalidInput, JiyiError, ModelUnavailable
from engine.domain.fields import MAX_LABELS, defaults
from engine.domain.memory import Draft, FieldValue, Memory
from engine.domain.reflection import (
    CHAT,
    EXTRACTIVE,
    SOURCE,
    SUMMARIZERS,
    Reflected,
    Reflection,
    ReflectRequest,
)
from engine.domain.scope import Filters, Scope
from engine.domain.vocabulary import TRUSTS, check
from engine.extraction.clusters import Grouping, Member, cluster, equivalent
from engine.extraction.summary import extractive, language_of, shortened
from engine.model_clients.calibration import thresholds_of
from engine.storage import embeddings, memories, reflections, workspaces
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import reflections as writing
from engine.writing import states
from engine.writing.embed import embed_now, text_of
from engine.writing.layers import Layers, derive
from engine.writing.workspace_names import workspace_name

Progress = Callable[[int, int], None]
"""Is told how many of how many summaries are made."""

TAG = "reflection"
_MOST_AT_ONCE = 5_000
_MOST_TOLD = 40
_TOLD_CHARS = 600
_ANSWER_TOKENS = 2_000
_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The request with what the settings say in place of what it leaves open."""

    grouping: Grouping
    consolidate: bool
    summarizer: str
    max_chars: int


@dataclass(slots=True)
class _Found:
    """Groups of like memories, the most important first, and how many were looked at."""

    groups: list[tuple[Memory, ...]]
    considered: int = 0
    without_vectors: int = 0
    left_out: int = 0


def reflect(
    context: EngineContext,
    request: ReflectRequest,
    caller: Caller,
    on_progress: Progress | None = None,
) -> Reflected:
    """Sum up live episodic memories that no summary was made of, in each workspace by itself.

    A dry run gives the memories that would be stored; with ``apply`` they are, as one group of
    the journal, each with its links in a transaction of its own. What a chat model says may
    differ from one run to the next. Raises :class:`InvalidInput` for values out of range.
    """
    identity = _space(context)
    plan = _planned(context, request, identity)
    found = _Found([])
    for name in _workspaces(context, request):
        _gather(context, name, plan, identity, found)
    made = tuple(_summed_up(context, plan, found.groups, on_progress))
    result = Reflected(made, found.considered, found.without_vectors, found.left_out)
    return _applied(context, plan, result, found.groups, caller) if request.apply else result


def _planned(
    context: EngineContext, request: ReflectRequest, identity: SpaceIdentity | None
) -> _Plan:
    settings = context.settings.reflect
    asked = settings.threshold if request.threshold is None else request.threshold
    least = settings.min_cluster if request.min_cluster is None else request.min_cluster
    if not 0.0 <= asked <= 1.0:
        raise InvalidInput("error.out_of_range", name="threshold", value=asked, low=0, high=1)
    if not 2 <= least <= 100:
        raise InvalidInput("error.out_of_range", name="min_cluster", value=least, low=2, high=100)
    thresholds = thresholds_of(identity, context.models_folder)
    consolidate = settings.consolidate if request.consolidate is None else request.consolidate
    return _Plan(
        grouping=Grouping(equivalent(thresholds, thresholds_of(None), asked), least),
        consolidate=consolidate,
        summarizer=check("summarizer", request.summarizer or settings.summarizer, SUMMARIZERS),
        max_chars=settings.max_chars,
    )


def _space(context: EngineContext) -> SpaceIdentity | None:
    """The space whose vectors are compared: the one that answers, else the last complete one."""
    identity = context.serving().identity()
    if identity is not None:
        return identity
    with context.database.read() as connection:
        return next(iter(embeddings.complete_spaces(connection)), None)


def _workspaces(context: EngineContext, request: ReflectRequest) -> list[str]:
    with context.database.read() as connection:
        if request.workspace is None:
            return workspaces.names(connection)
        return [workspaces.named(connection, workspace_name(request.workspace)).name]


def _gather(
    context: EngineContext,
    workspace: str,
    plan: _Plan,
    identity: SpaceIdentity | None,
    found: _Found,
) -> None:
    """Add the groups of one workspace; different users and personas stay apart."""
    filters = Filters(Scope("workspace", workspace, exact=True), kinds=("episodic",), state="live")
    with context.database.read() as connection:
        due = reflections.due(connection, filters, context.clock.now(), _MOST_AT_ONCE)
        known = memories.fetch(connection, due.ids)
    vectors = context.indexes.index(identity).first_vectors(due.ids) if identity else {}
    apart: dict[tuple[str | None, str | None], list[Member]] = defaultdict(list)
    for memory in known.values():
        member = Member(memory.id, memory.importance, memory.polarity)
        apart[memory.persona_id, memory.user_id].append(member)
    for members in apart.values():
        for ids in cluster(members, vectors, plan.grouping):
            found.groups.append(tuple(known[memory_id] for memory_id in ids))
    found.considered += len(vectors)
    found.without_vectors += len(known) - len(vectors)
    found.left_out += due.total - len(due.ids)


def _summed_up(
    context: EngineContext,
    plan: _Plan,
    groups: Sequence[tuple[Memory, ...]],
    on_progress: Progress | None,
) -> Iterator[Reflection]:
    for number, group in enumerate(groups, start=1):
        text, summarizer, warning = _summary(context, plan, group)
        yield Reflection(
            draft=_draft(group, text),
            source_ids=tuple(memory.id for memory in group),
            summarizer=summarizer,
            warning=warning,
        )
        if on_progress is not None:
            on_progress(number, len(groups))


def _summary(
    context: EngineContext, plan: _Plan, group: Sequence[Memory]
) -> tuple[str, str, JiyiError | None]:
    """The text, who made it, and why the chat model did not although it was asked for."""
    texts = [memory.text for memory in group]
    joined = extractive(texts, plan.max_chars), EXTRACTIVE
    if plan.summarizer != CHAT:
        return *joined, None
    if any(memory.private for memory in group):
        return *joined, ModelUnavailable("error.chat_private")
    try:
        return shortened(_told(context, texts), plan.max_chars), CHAT, None
    except ModelUnavailable as failure:
        return *joined, failure


def _told(context: EngineContext, texts: Sequence[str]) -> str:
    """What the chat model makes of texts. Raises ModelUnavailable, also for an empty answer."""
    from engine.model_clients.remote.chat import ChatMessage

    language = language_of(texts)
    lines = (
        f"{number}. {shortened(' '.join(text.split()), _TOLD_CHARS)}"
        for number, text in enumerate(texts[:_MOST_TOLD], start=1)
    )
    answer = context.chat().complete(
        [
            ChatMessage("system", sentence("reflect.prompt", language)),
            ChatMessage("user", "\n".join(lines)),
        ],
        max_tokens=_ANSWER_TOKENS,
        wait_s=context.settings.chat.timeout_s,
    )
    told = " ".join(_THINKING.sub(" ", answer).split())
    if not told:
        raise ModelUnavailable("error.chat_empty")
    return told


def _draft(group: Sequence[Memory], text: str) -> Draft:
    fields: dict[str, FieldValue] = defaults() | {
        "text": text,
        "kind": "semantic",
        "source": SOURCE,
        "tags": _joined([(TAG,), *(memory.tags for memory in group)]),
        "topics": _joined(memory.topics for memory in group),
        "participants": _joined(memory.participants for memory in group),
        "importance": sum(memory.importance for memory in group) / len(group),
        "polarity": _common({memory.polarity for memory in group}),
        "private": any(memory.private for memory in group),
        "trust": max((memory.trust for memory in group), key=TRUSTS.index),
    }
    first = group[0]
    return Draft(fields, first.workspace, persona_id=first.persona_id, user_id=first.user_id)


def _joined(labels: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for some in labels for label in some))[:MAX_LABELS]


def _common(polarities: Collection[int]) -> int:
    """The polarity that all have; none where they differ."""
    return next(iter(polarities)) if len(polarities) == 1 else 0


def _applied(
    context: EngineContext,
    plan: _Plan,
    result: Reflected,
    groups: Sequence[tuple[Memory, ...]],
    caller: Caller,
) -> Reflected:
    group_uid, stored, archived = new_uid(), [], 0
    for item, sources, layers in zip(
        result.reflections, groups, _layers(context, result.reflections), strict=True
    ):
        stamp = Stamp(caller.actor, context.clock.now(), group_uid)
        aside = [memory for memory in sources if plan.consolidate and not memory.pinned]
        with context.database.write() as connection:
            if not writing.unchanged(connection, sources, stamp.at):
                stored.append(item)
                continue
            memory = writing.create(connection, item.draft, layers, sources, stamp)
            for source in aside:
                states.archive(connection, source, stamp)
        archived += len(aside)
        stored.append(replace(item, memory=memory))
    context.background.wake()
    return replace(
        result,
        reflections=tuple(stored),
        applied=True,
        group_uid=group_uid,
        archived=archived,
        skipped=sum(item.memory is None for item in stored),
    )


def _layers(context: EngineContext, made: Sequence[Reflection]) -> list[Layers]:
    """All layers of the memories to be, with vectors if the model is there in time."""
    texts = [text_of(item.draft.fields) for item in made]
    vectors, _ = embed_now(context, texts, context.settings.embedding.wait_s)
    return [
        derive(context, item.draft.fields, embedded)
        for item, embedded in zip(made, vectors, strict=True)
    ]
