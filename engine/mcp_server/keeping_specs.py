"""The tools that pin, put aside and strengthen memories, and the one for upkeep."""

from __future__ import annotations

from engine.mcp_server.parameters import Parameter
from engine.mcp_server.tool_spec import FORMAT, ToolSpec

_ID = Parameter("id", "name", "#12, 12 or uid", required=True)
_YES_NO = ("yes", "no")

KEEPING = (
    ToolSpec(
        name="pin_memory",
        title="Pin a memory",
        about=(
            "Pin / 固定: keep a memory from fading, from being put aside and from being reclaimed "
            "when it expires, and offer it whenever it fits. Use it when the user says never to "
            "forget something; pinned=no takes it back."
        ),
        parameters=(_ID, Parameter("pinned", "name", "Default yes", choices=_YES_NO)),
        effect="changes",
    ),
    ToolSpec(
        name="archive_memory",
        title="Archive a memory",
        about=(
            "Archive / 归档: put a memory aside that is over and done with; recall still finds it, "
            "nothing offers it by itself. archived=no brings it back. To remove one use "
            "delete_memory."
        ),
        parameters=(_ID, Parameter("archived", "name", "Default yes", choices=_YES_NO)),
        effect="changes",
    ),
    ToolSpec(
        name="reinforce_memory",
        title="Strengthen a memory",
        about=(
            "Reinforce / 强化: say that a memory proved useful or matters: its salience grows by a "
            "fifth. With atom it is one fact (its number as search_atoms shows it) that lasts "
            "longer and wakes if it had expired."
        ),
        parameters=(
            Parameter("id", "name", "#12, 12 or uid"),
            Parameter("atom", "name", "A fact's number, instead of id"),
        ),
        effect="changes",
    ),
)

MAINTENANCE = ToolSpec(
    name="memory_maintenance",
    title="Run upkeep",
    about=(
        "Maintenance / 维护: run the upkeep jobs that are due, or those named in jobs, and show "
        "what each did and what failed. It runs by itself; call it only when the user asks. "
        "apply=no only looks what there would be to do; apply=yes also does what the settings let "
        "a job only look at."
    ),
    parameters=(
        Parameter("jobs", "labels", "Names; left out: what is due"),
        Parameter("apply", "name", "Left out: as the settings say", choices=_YES_NO),
        FORMAT,
    ),
    effect="changes",
)
