"""Standard input as the protocol needs it.

The protocol's own reader drops a line with half a surrogate pair, which is legal JSON and
comes from texts cut in the middle of an emoji: the client would wait for an answer for ever.
Here such a half becomes a replacement mark. Reading happens in a thread of our own that
nothing has to wait for at the end.
"""

from __future__ import annotations

import io
import os
import re
import threading
from collections.abc import AsyncIterator
from typing import BinaryIO

import anyio
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectSendStream

from engine.mcp_server.calls import Running

_GRACE_S = 2.0
# Long enough for what was just read to begin, and for the last answer to be written.
_BREATH_S = 0.05
_BUFFER_BYTES = 1 << 16
_ESCAPE = re.compile(
    r"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class StandardInput:
    """The lines of standard input, one JSON text each.

    When the input ends, iteration goes on for up to two seconds while calls are running, so
    that answers to the last requests are still sent.
    """

    def __init__(self, running: Running) -> None:
        self._running = running

    async def __aiter__(self) -> AsyncIterator[str]:
        send, receive = anyio.create_memory_object_stream[str](0)
        threading.Thread(
            target=_read_all, args=(send, current_token()), name="stdin", daemon=True
        ).start()
        async with receive:
            async for line in receive:
                yield line
        await self._settle()

    async def _settle(self) -> None:
        await anyio.sleep(_BREATH_S)
        with anyio.move_on_after(_GRACE_S):
            while not self._running.idle:
                await anyio.sleep(_BREATH_S / 2)
        await anyio.sleep(_BREATH_S)


def repaired(line: str) -> str:
    """A line of JSON with escaped halves of surrogate pairs replaced by U+FFFD."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], line)


def _read_all(send: MemoryObjectSendStream[str], token: EventLoopToken) -> None:
    try:
        with _claimed() as source:
            for line in source:
                text = repaired(line.decode("utf-8", "replace"))
                from_thread.run(send.send, text, token=token)
        from_thread.run_sync(send.close, token=token)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.RunFinishedError):
        return


def _claimed() -> BinaryIO:
    """Standard input under another descriptor; the usual one reads nothing from now on."""
    try:
        private = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
    except OSError:  # started without standard input
        return io.BytesIO()
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(private, "rb", buffering=_BUFFER_BYTES)
