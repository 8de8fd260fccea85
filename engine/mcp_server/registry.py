"""Which function answers which tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from engine.mcp_server import (
    atom_tools,
    context_tools,
    core_tools,
    fact_tools,
    forgetting_tools,
    keeping_tools,
    link_tools,
    managing_tools,
    record_tools,
    status_tools,
    trail_tools,
    transfer_tools,
)
from engine.mcp_server.core_tools import Call


def run_tool(name: str, call: Call) -> str:
    """The answer of the tool called ``name``."""
    return next(run[name] for run in _tables() if name in run)(call)


def names() -> Iterator[str]:
    """Every tool that can be answered."""
    for run in _tables():
        yield from run


def _tables() -> tuple[Mapping[str, Callable[[Call], str]], ...]:
    return (
        core_tools.RUN,
        atom_tools.RUN,
        context_tools.RUN,
        fact_tools.RUN,
        transfer_tools.RUN,
        forgetting_tools.RUN,
        keeping_tools.RUN,
        trail_tools.RUN,
        managing_tools.RUN,
        link_tools.RUN,
        record_tools.RUN,
        status_tools.RUN,
    )
