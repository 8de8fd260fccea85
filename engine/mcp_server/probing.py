"""Starting a registered server as its client would, and asking it something."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from engine.domain.errors import JiyiError

_DEADLINE_S = 60.0


def ask_server(command: Sequence[str], variables: Mapping[str, str], folder: Path) -> int:
    """How many memories the store of a server holds in all that a command starts in a folder.

    Raises JiyiError when it does not start, does not answer within a minute, or answers with an
    error.
    """
    try:
        return anyio.run(_ask, command, variables, folder)
    except JiyiError:
        raise
    except TimeoutError as error:
        raise JiyiError("install.verify_slow", seconds=int(_DEADLINE_S)) from error
    except (Exception, ExceptionGroup) as error:
        reason = str(error) or type(error).__name__
        raise JiyiError("install.verify_failed", reason=reason[:200]) from error


async def _ask(command: Sequence[str], variables: Mapping[str, str], folder: Path) -> int:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp_types import TextContent

    parameters = StdioServerParameters(
        command=command[0],
        args=list(command[1:]),
        env={**os.environ, **variables},
        cwd=folder,
    )
    with anyio.fail_after(_DEADLINE_S), open(os.devnull, "w", encoding="utf-8") as nowhere:
        async with Client(stdio_client(parameters, errlog=nowhere)) as client:
            arguments = {"scope": "all", "limit": 1, "format": "json"}
            result = await client.call_tool("list_memories", arguments)
    content = result.content[0] if result.content else None
    text = content.text if isinstance(content, TextContent) else ""
    if result.is_error:
        raise JiyiError("install.verify_failed", reason=text[:200])
    return int(json.loads(text)["total"])
