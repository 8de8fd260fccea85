"""A client in the same process, spoken to from plain test functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp_types import Implementation, PromptReference, TextContent, TextResourceContents, Tool

from engine.mcp_server.asker import surroundings_of
from engine.mcp_server.calls import Running, Service
from engine.mcp_server.opening import Store
from engine.mcp_server.server import build_server

T = TypeVar("T")


class Talk:
    """One connection to a server."""

    def __init__(self, portal: BlockingPortal, client: Client, store: Store) -> None:
        self._portal = portal
        self._client = client
        self.store = store

    def ask(self, tool: str, **arguments: object) -> str:
        """The text of a successful call."""
        text, is_error = self.call(tool, arguments)
        assert not is_error, text
        return text

    def refused(self, tool: str, **arguments: object) -> str:
        """The text of a call that ends with an error: one line, not a dump."""
        text, is_error = self.call(tool, arguments)
        assert is_error, text
        assert "\n" not in text and len(text) < 400 and "pydantic" not in text
        return text

    def call(self, tool: str, arguments: Mapping[str, object]) -> tuple[str, bool]:
        """The text of any call, and whether it is an error."""
        result = self._portal.call(self._client.call_tool, tool, dict(arguments))
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert result.structured_content is None
        return content.text, bool(result.is_error)

    def tools(self) -> list[Tool]:
        """The tools as listed."""
        return list(self._portal.call(self._client.list_tools).tools)

    def read(self, uri: str) -> str:
        """The text of a resource."""
        (content,) = self._portal.call(self._client.read_resource, uri).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    def prompt(self, name: str, **arguments: str) -> str:
        """The words of a prompt."""
        (message,) = self._portal.call(self._client.get_prompt, name, arguments).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    def complete(self, prompt: str, name: str, begun: str) -> list[str]:
        """Values offered for an argument of a prompt."""
        argument = {"name": name, "value": begun}
        reference = PromptReference(type="ref/prompt", name=prompt)
        found = self._portal.call(self._client.complete, reference, argument)
        return list(found.completion.values)

    def run(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Anything else a client can do."""
        return self._portal.call(work, self._client)

    @property
    def version(self) -> str:
        """The version the server names."""
        return self._client.server_info.version if self._client.server_info else ""

    @property
    def instructions(self) -> str:
        """The server's instructions."""
        return self._client.instructions or ""


@contextmanager
def talk(
    home: Path,
    *,
    mode: str = "auto",
    client: str = "notebook",
    toolsets: Sequence[str] | None = None,
    asked: Any = None,
    **environ: str,
) -> Iterator[Talk]:
    """A connection to a new server on the store in ``home``; ``asked`` answers its questions to
    the user."""
    variables = {"JIYI_EMBEDDING__PROVIDER": "hashing", "LANG": "en_US.UTF-8"}
    variables |= {"CLAUDE_PROJECT_DIR": str(home), "JIYI_TIMEZONE": "Asia/Shanghai"} | environ
    store, running = Store(str(home), variables), Running()
    server = build_server(Service(store, surroundings_of(variables), toolsets), store, running)
    info = Implementation(name=client, version="1")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(
            Client(server, mode=mode, client_info=info, elicitation_callback=asked)
        ) as opened,
    ):
        try:
            yield Talk(portal, opened, store)
        finally:
            store.close()
