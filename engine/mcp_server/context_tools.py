"""What each tool that prepares a prompt does. Runs on worker threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.prompts import PromptForm
from engine.mcp_server import context_answer
from engine.mcp_server.core_tools import Call, notes_for
from engine.mcp_server.requests import list_filters
from engine.use_cases.auto_context import TaskRequest
from engine.use_cases.memory_context import ContextRequest
from engine.use_cases.pack import PackRequest


def memory_context(call: Call) -> str:
    """Standing memories, and the briefing or what is remembered about a topic."""
    filters = list_filters(call.arguments, call.moment, call.workspace())
    context = call.engine.memory_context(
        ContextRequest(
            topic=call.arguments.text("topic"),
            mode=call.arguments.text("mode"),
            workspace=_workspace(call),
            filters=filters,
            form=_form(call),
        )
    )
    answer = context_answer.context_json if call.wants_json else context_answer.context_text
    return answer(context, call.view, notes_for(call, empty=not context.prompt.text))


def recall_pack(call: Call) -> str:
    """Recall within a token budget."""
    found = call.engine.pack(
        PackRequest(
            query=call.arguments.text("query") or "",
            filters=list_filters(call.arguments, call.moment, call.workspace()),
            form=_form(call),
            compress=call.arguments.text("compress") == "yes",
        )
    )
    answer = context_answer.pack_json if call.wants_json else context_answer.pack_text
    return answer(found, call.view, notes_for(call, empty=not found.text))


def auto_context(call: Call) -> str:
    """What is remembered about a task."""
    found = call.engine.auto_context(
        TaskRequest(
            task=call.arguments.text("task") or "",
            filters=list_filters(call.arguments, call.moment, call.workspace()),
            form=_form(call),
        )
    )
    answer = context_answer.pack_json if call.wants_json else context_answer.pack_text
    return answer(found, call.view, notes_for(call, empty=not found.text))


def refresh_briefing(call: Call) -> str:
    """Make the briefing anew and show it."""
    context = call.engine.briefing(_workspace(call), _form(call), refresh=True)
    if call.wants_json:
        return context_answer.context_json(context, call.view, ())
    shown = context_answer.context_text(context, call.view, ())
    return f"{call.view.say('context.refreshed')} {shown}"


RUN: Mapping[str, Callable[[Call], str]] = {
    "memory_context": memory_context,
    "recall_pack": recall_pack,
    "auto_context": auto_context,
    "refresh_briefing": refresh_briefing,
}


def _form(call: Call) -> PromptForm:
    budget = call.arguments.whole("token_budget")
    return context_answer.form_for(call.view, budget, as_json=call.wants_json)


def _workspace(call: Call) -> str:
    return call.arguments.text("workspace") or call.workspace() or GLOBAL_WORKSPACE
