"""What the server offers beside tools: resources, prompts, completions. Runs on worker threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from engine.config.messages import text as sentence
from engine.domain.display import visible
from engine.domain.errors import NotFound
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.text import scrub
from engine.mcp_server import context_answer, memory_answer
from engine.mcp_server.context_tools import memory_context
from engine.mcp_server.core_tools import Call
from engine.mcp_server.link_tools import neighbourhood_text
from engine.use_cases.browse import workspace_names

MEMORY, BRIEFING, GRAPH = "memory://", "briefing://current", "graph://"
MAX_COMPLETIONS = 100


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt that a person can pick; ``arguments`` may all be left out. ``key`` is the table
    of its sentences."""

    name: str
    key: str
    arguments: tuple[str, ...] = ()


PROMPTS = (
    PromptSpec("save_what_matters", "save", ("topic",)),
    PromptSpec("start_of_session", "start", ("topic", "workspace")),
    PromptSpec("weekly_review", "review", ("workspace", "tag")),
)


def read_resource(call: Call, uri: str) -> str:
    """The text of a resource. Raises NotFound for one that is not there."""
    wanted = unquote(scrub(uri)).strip()
    if wanted.rstrip("/") == BRIEFING:
        return _briefing(call)
    if wanted.startswith(MEMORY):
        memory = call.engine.get(wanted.removeprefix(MEMORY).strip("/"))
        return memory_answer.as_text(memory, call.view, 0)
    if wanted.startswith(GRAPH):
        found = call.engine.neighbourhood(wanted.removeprefix(GRAPH).strip("/"))
        return neighbourhood_text(found, call.view)
    raise NotFound("mcp.no_resource", uri=visible(wanted)[:60])


def prompt_text(call: Call, name: str, given: Mapping[str, str]) -> str:
    """The words of a prompt, its arguments filled in. Raises NotFound."""
    build = _BUILD.get(name)
    if build is None:
        raise NotFound("mcp.no_prompt", name=visible(name)[:60], allowed=", ".join(_BUILD))
    return build(call, {key: value.strip() for key, value in given.items() if value.strip()})


def described(spec: PromptSpec, language: str) -> tuple[str, str]:
    """Title and purpose of a prompt."""
    return _said(spec, "title", language), _said(spec, "about", language)


def _said(spec: PromptSpec, part: str, language: str) -> str:
    return sentence(f"mcp.prompt.{spec.key}.{part}", language)


def completions(call: Call, argument: str, begun: str) -> Sequence[str]:
    """Values of an argument that begin, else that hold, what was typed so far."""
    find = _KNOWN.get(argument)
    if find is None:
        return ()
    folded = begun.strip().casefold()
    found = [name for name in find(call) if folded in name.casefold()]
    return sorted(found, key=lambda name: not name.casefold().startswith(folded))


def _briefing(call: Call) -> str:
    form = context_answer.form_for(call.view, None, as_json=False)
    context = call.engine.briefing(call.workspace() or GLOBAL_WORKSPACE, form)
    return context_answer.context_text(context, call.view, ())


def _save(call: Call, given: Mapping[str, str]) -> str:
    topic = given.get("topic")
    focus = "" if topic is None else call.view.say("mcp.prompt.save.focus", topic=visible(topic))
    return call.view.say("mcp.prompt.save.text", focus=focus)


def _start(call: Call, given: Mapping[str, str]) -> str:
    return f"{call.view.say('mcp.prompt.start.text')}\n\n{memory_context(call)}"


def _review(call: Call, given: Mapping[str, str]) -> str:
    workspace, tag = given.get("workspace"), given.get("tag")
    where = f", workspace={visible(workspace)}" if workspace else ""
    where += f', filters="tags={visible(tag)}"' if tag else ""
    return call.view.say("mcp.prompt.review.text", where=where)


_BUILD: Mapping[str, Callable[[Call, Mapping[str, str]], str]] = {
    "save_what_matters": _save,
    "start_of_session": _start,
    "weekly_review": _review,
}


def _workspaces(call: Call) -> Sequence[str]:
    return workspace_names(call.engine.context)


def _tags(call: Call) -> Sequence[str]:
    return list(call.engine.statistics().by_tag)


def _topics(call: Call) -> Sequence[str]:
    return [node.name for node in call.engine.graph_nodes("topic", 200)]


def _nodes(call: Call) -> Sequence[str]:
    return [node.name for node in call.engine.graph_nodes(None, 200)]


_KNOWN: Mapping[str, Callable[[Call], Sequence[str]]] = {
    "workspace": _workspaces,
    "tag": _tags,
    "topic": _topics,
    "node": _nodes,
}
