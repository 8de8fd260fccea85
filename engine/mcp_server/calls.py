"""One tool call: from what the client sent to what it gets back."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.config import messages
from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.text import scrub
from engine.domain.vocabulary import nearest
from engine.mcp_server.asker import Asker, Surroundings
from engine.mcp_server.instructions import instructions_for
from engine.mcp_server.line import SILENT, AnswerWanted, Line
from engine.mcp_server.opening import Store
from engine.mcp_server.parameters import Arguments
from engine.mcp_server.tool_spec import ToolSpec
from engine.mcp_server.toolset import chosen_tools

if TYPE_CHECKING:
    from engine.mcp_server.core_tools import Call

log = logging.getLogger("jiyi.mcp")

DEFAULT_TOOLSETS = ("core",)
_LOGGED_FRAMES = 12


@dataclass(frozen=True, slots=True)
class Reply:
    """What the client gets: a text, and whether it is an error; or the ``question`` that it has
    to put to its user first."""

    text: str
    is_error: bool = False
    question: str = ""


class Service:
    """Answers tool calls, from any number of threads at once."""

    def __init__(
        self, store: Store, surroundings: Surroundings, toolsets: Sequence[str] | None
    ) -> None:
        self._store = store
        self._surroundings = surroundings
        self._toolsets = toolsets
        self._tools: tuple[ToolSpec, ...] | None = None

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools on offer, fixed when first asked for."""
        if self._tools is None:
            self._tools = self._configured()
        return self._tools

    def instructions(self) -> str:
        """What the server says of itself; looks at the settings only where they may differ
        from those that every store begins with."""
        if self._toolsets is None and self._tools is None and self._store.offers_the_usual():
            return instructions_for([tool.name for tool in chosen_tools(DEFAULT_TOOLSETS)])
        return instructions_for([tool.name for tool in self.tools()])

    def language(self) -> str:
        """The interface's language."""
        return self._store.language()

    def reply(
        self, name: str, given: dict[str, object], asker: Asker, line: Line = SILENT
    ) -> Reply:
        """Run one tool. Never raises: whatever goes wrong is an error reply."""
        try:
            tool = self._tool(name)
            return Reply(scrub(self._run(tool, tool.read(given), asker, line)))
        except AnswerWanted as wanted:
            return Reply("", question=scrub(wanted.question))
        except JiyiError as error:
            return Reply(scrub(messages.render(error, self._store.language())), is_error=True)
        # A fault of ours must cost the one call, not the connection.
        except Exception as fault:
            _log_fault(name, fault)
            return Reply(self._apology(), is_error=True)

    def call_of(self, given: Mapping[str, str], asker: Asker) -> Call:
        """The engine for something else than a tool, with arguments that are texts."""
        return self._call(Arguments(dict(given)), asker, SILENT)

    def _run(self, tool: ToolSpec, arguments: Arguments, asker: Asker, line: Line) -> str:
        call = self._call(arguments, asker, line)
        # Imported here: it brings the engine's modules, which the handshake does without.
        from engine.mcp_server.registry import run_tool

        failed = True
        try:
            answer = run_tool(tool.name, call)
            failed = False
        except AnswerWanted:
            failed = False
            raise
        finally:
            call.engine.overview.meter.called(tool.name, failed=failed)
        return answer

    def _call(self, arguments: Arguments, asker: Asker, line: Line) -> Call:
        engine = self._store.engine(asker.actor)
        from engine.mcp_server.core_tools import Call

        return Call(engine, arguments, asker, self._surroundings, self._store.language(), line)

    def _tool(self, name: str) -> ToolSpec:
        offered = {tool.name: tool for tool in self.tools()}
        if name in offered:
            return offered[name]
        near = nearest(name, offered)
        raise InvalidInput(
            "mcp.unknown_tool_near" if near else "mcp.unknown_tool",
            name=scrub(name)[:60],
            nearest=near,
            allowed=", ".join(offered),
        )

    def _configured(self) -> tuple[ToolSpec, ...]:
        try:
            return chosen_tools(self._toolsets or self._store.toolsets())
        except JiyiError as error:
            log.warning("the default tools are offered instead: %s", error)
            return chosen_tools(DEFAULT_TOOLSETS)

    def _apology(self) -> str:
        language = self._store.language()
        place = _log_file() or messages.text("mcp.log_is_stderr", language)
        return messages.text("mcp.fault", language, place=place)


class Running:
    """Counts the calls under way, to end only when they are done. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def begin(self) -> None:
        """A call was taken on."""
        with self._changed:
            self._count += 1

    @contextmanager
    def ends_with(self) -> Iterator[None]:
        """The call taken on last ends with this block."""
        try:
            yield
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    @property
    def idle(self) -> bool:
        """True when no call is under way."""
        return self._count == 0

    def wait(self, limit_s: float) -> bool:
        """Wait until no call is under way; false when ``limit_s`` seconds did not suffice."""
        deadline = time.monotonic() + limit_s
        with self._changed:
            return self._changed.wait_for(lambda: self.idle, deadline - time.monotonic())


def _log_fault(tool: str, fault: Exception) -> None:
    """Where it happened and of what type; never the message, which may quote a memory."""
    frames = traceback.extract_tb(fault.__traceback__)[-_LOGGED_FRAMES:]
    places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames))
    log.error("%s failed with %s at %s", tool, type(fault).__name__, places)


def _log_file() -> str:
    handlers = [*logging.getLogger().handlers, *logging.getLogger("jiyi").handlers]
    files = (
        handler.baseFilename for handler in handlers if isinstance(handler, logging.FileHandler)
    )
    return next(files, "")
