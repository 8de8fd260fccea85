"""The MCP server on standard input and output.

The handshake is answered before anything of the engine is imported or opened; that begins
right after the first answer, and calls wait for it. The protocol's low-level server is used
because schemas here are written by hand (flat, few tokens) and arguments are read leniently.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

import anyio
from anyio.to_thread import run_sync
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from engine import VERSION
from engine.mcp_server.asker import asker_of, surroundings_of
from engine.mcp_server.calls import Reply, Running, Service
from engine.mcp_server.client_line import line_to, question_result
from engine.mcp_server.ending import Ending
from engine.mcp_server.offered import offer
from engine.mcp_server.opening import Store
from engine.mcp_server.stdio import StandardInput
from engine.mcp_server.tool_spec import ToolSpec

NAME = "jiyi"
_ALWAYS_LOAD = {"anthropic/alwaysLoad": True}
_MAX_PARALLEL_CALLS = 32

RequestContext = ServerRequestContext[Any, Any]


def serve_stdio(
    home: str | None, environ: Mapping[str, str], toolsets: Sequence[str] | None = None
) -> int:
    """Serve until the client ends; return the exit code.

    ``home`` is the store's folder (default: ``JIYI_HOME``, else ``~/.jiyi``), ``toolsets``
    the tools to offer (default: the setting). Must run in the main thread. Leaves the process
    itself, with code 0, when a call still hangs at the end.
    """
    # Below this level the protocol's library logs whole messages.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    store, running = Store(home, environ), Running()
    service = Service(store, surroundings_of(environ), toolsets)
    ending = Ending(running, store)
    ending.watch()
    try:
        anyio.run(_serve, build_server(service, store, running), running)
    except* OSError:
        # The client closed its end while an answer was being written.
        logging.getLogger("jiyi.mcp").info("the client is gone")
    if not ending.finish(grace_s=0.0):
        ending.leave()
    return 0


def build_server(service: Service, store: Store, running: Running) -> Server[Any]:
    """A protocol server whose tools are answered by ``service`` on worker threads."""

    limiter = anyio.CapacityLimiter(_MAX_PARALLEL_CALLS)

    async def list_tools(
        context: RequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        specs = await run_sync(service.tools)
        return ListToolsResult(tools=[_as_listed(spec) for spec in specs])

    async def call_tool(
        context: RequestContext, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        asker, line = asker_of(context), line_to(context, params)

        def work() -> Reply:
            with running.ends_with():
                return service.reply(params.name, params.arguments or {}, asker, line)

        running.begin()
        try:
            reply = await run_sync(work, abandon_on_cancel=True, limiter=limiter)
        except anyio.get_cancelled_exc_class():
            line.given_up.set()
            raise
        if reply.question:
            return question_result(reply.question)
        content = TextContent(type="text", text=reply.text)
        return CallToolResult(content=[content], is_error=reply.is_error)

    async def open_after_first_answer(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        finally:
            store.open_soon()

    server: Server[Any] = Server(
        NAME,
        version=VERSION,
        title="Jiyi 记忆",
        instructions=service.instructions(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    offer(server, service, running)
    server.middleware.append(open_after_first_answer)
    return server


async def _serve(server: Server[Any], running: Running) -> None:
    source = cast("anyio.AsyncFile[str]", StandardInput(running))
    async with stdio_server(stdin=source) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _as_listed(spec: ToolSpec) -> Tool:
    reads = spec.effect == "reads"
    annotations = ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else spec.effect == "changes",
        idempotent_hint=None if reads else spec.effect == "changes",
        open_world_hint=False,
    )
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.about,
        input_schema=spec.schema(),
        annotations=annotations,
        _meta=_ALWAYS_LOAD if spec.always else None,
    )
