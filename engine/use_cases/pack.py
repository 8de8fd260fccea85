"""Recall packed into a token budget, ready for a prompt."""

from __future__ import annotations

from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.asking import Question, Recall
from engine.domain.prompts import PLAIN, PromptForm, PromptText, Section
from engine.domain.scope import Filters
from engine.retrieval.packing import LineStyle
from engine.retrieval.prompt import framed, new_packer
from engine.storage.atom_search import outdated

MAX_CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class PackRequest:
    """A query whose answers are packed. ``compress`` folds like ones that did not fit into
    short lines; ``automatic`` when nobody typed it."""

    query: str
    filters: Filters = Filters()
    form: PromptForm = PLAIN
    compress: bool = False
    automatic: bool = False


def recall_pack(context: EngineContext, request: PackRequest, recall: Recall) -> PromptText:
    """The memories that answer a query, in rank order, as many as the budget takes; what does
    not fit is skipped. Raises InvalidInput for a blank query or a bad budget."""
    form = request.form
    style = LineStyle(
        form.language,
        context.zone,
        context.clock.now(),
        persona=request.filters.persona_id is not None,
    )
    packer = new_packer(form, context.settings.context.pack_tokens, style)
    question = Question(request.query, MAX_CANDIDATES, request.filters, automatic=request.automatic)
    answer = recall(question)
    with context.database.read() as connection:
        packer.newer |= outdated(connection, [item.memory.id for item in answer.candidates])
    sections = [Section("memories", "", tuple(packer.pack(answer.candidates)))]
    if request.compress:
        folded = packer.compress(lambda text: frozenset(context.analyser.index_terms(text).words))
        sections.append(Section("compressed", "", tuple(folded)))
    return PromptText(
        text=framed(sections, form.language),
        sections=tuple(sections),
        used_tokens=packer.used_tokens,
        budget_tokens=packer.budget.tokens,
        left_out=len(packer.left_out),
        weaker=answer.cut,
        queries=(request.query,),
        degraded=answer.degraded,
    )
