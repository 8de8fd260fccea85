"""Resources, prompts and completions in the words of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from anyio.to_thread import run_sync
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from engine.config import messages
from engine.domain.errors import JiyiError
from engine.domain.text import scrub
from engine.mcp_server.asker import asker_of
from engine.mcp_server.calls import Running, Service

if TYPE_CHECKING:
    from engine.mcp_server.core_tools import Call

Context = ServerRequestContext[Any, Any]
Page = PaginatedRequestParams | None
T = TypeVar("T")

_PLAIN = "text/plain"
_RESOURCES = (
    Resource(
        uri="briefing://current",
        name="briefing",
        title="Briefing / 简报",
        description="What is worth knowing at the start of a conversation in this project",
        mime_type=_PLAIN,
    ),
)
_TEMPLATES = (
    ResourceTemplate(
        uri_template="memory://{id}",
        name="memory",
        title="Memory / 记忆",
        description="One memory with its metadata, by id",
        mime_type=_PLAIN,
    ),
    ResourceTemplate(
        uri_template="graph://{node}",
        name="graph",
        title="Graph / 图谱",
        description="What surrounds a person, topic or fact, by name",
        mime_type=_PLAIN,
    ),
)


def offer(server: Server[Any], service: Service, running: Running) -> None:
    """Let a server offer resources, prompts and completions."""
    offers = _Offers(service, running)
    add = server.add_request_handler
    add("resources/list", PaginatedRequestParams, offers.list_resources)
    add("resources/templates/list", PaginatedRequestParams, offers.list_templates)
    add("resources/read", ReadResourceRequestParams, offers.read)
    add("prompts/list", PaginatedRequestParams, offers.list_prompts)
    add("prompts/get", GetPromptRequestParams, offers.prompt)
    add("completion/complete", CompleteRequestParams, offers.complete)


class _Offers:
    """The handlers; whatever needs the store runs on a worker thread."""

    def __init__(self, service: Service, running: Running) -> None:
        self._service = service
        self._running = running

    async def list_resources(self, context: Context, params: Page) -> ListResourcesResult:
        return ListResourcesResult(resources=list(_RESOURCES))

    async def list_templates(self, context: Context, params: Page) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=list(_TEMPLATES))

    async def list_prompts(self, context: Context, params: Page) -> ListPromptsResult:
        return ListPromptsResult(prompts=await run_sync(self._prompts))

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        def work(call: Call) -> str:
            from engine.mcp_server.offers import read_resource

            return read_resource(call, params.uri)

        text = await self._run(context, {}, work)
        content = TextResourceContents(uri=params.uri, mime_type=_PLAIN, text=scrub(text))
        return ReadResourceResult(contents=[content])

    async def prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        given = params.arguments or {}

        def work(call: Call) -> str:
            from engine.mcp_server.offers import prompt_text

            return prompt_text(call, params.name, given)

        text = await self._run(context, given, work)
        content = TextContent(type="text", text=scrub(text))
        return GetPromptResult(messages=[PromptMessage(role="user", content=content)])

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        def work(call: Call) -> list[str]:
            from engine.mcp_server.offers import completions

            return list(completions(call, params.argument.name, params.argument.value))

        found = await self._run(context, {}, work)
        values = [scrub(value) for value in found[:100]]
        more = len(found) > len(values)
        return CompleteResult(completion=Completion(values=values, total=len(found), has_more=more))

    async def _run(self, context: Context, given: dict[str, str], work: Callable[[Call], T]) -> T:
        """Work with the engine; its errors are those of the protocol, each one sentence."""
        asker = asker_of(context)

        def run() -> T:
            with self._running.ends_with():
                return work(self._service.call_of(given, asker))

        self._running.begin()
        try:
            return await run_sync(run, abandon_on_cancel=True)
        except JiyiError as error:
            told = messages.render(error, self._service.language())
            raise MCPError(code=INVALID_PARAMS, message=scrub(told)) from error

    def _prompts(self) -> list[Prompt]:
        from engine.mcp_server.offers import PROMPTS, described

        language, found = self._service.language(), []
        for spec in PROMPTS:
            title, about = described(spec, language)
            arguments = [PromptArgument(name=name, required=False) for name in spec.arguments]
            found.append(
                Prompt(name=spec.name, title=title, description=about, arguments=arguments)
            )
        return found
