"""The tool that reclaims what expired."""

from __future__ import annotations

from engine.mcp_server.parameters import Parameter
from engine.mcp_server.tool_spec import FORMAT, ToolSpec

PURGE_EXPIRED = ToolSpec(
    name="purge_expired",
    title="Reclaim what expired",
    about=(
        "Purge / 回收: list memories that expired or went to the trash long enough ago, by the "
        "user's settings. Without apply=yes it only shows them; apply=yes removes them (an undo "
        "can bring them back while the journal keeps them). Pinned ones stay."
    ),
    parameters=(Parameter("apply", "name", choices=("yes", "no")), FORMAT),
    effect="changes",
)
