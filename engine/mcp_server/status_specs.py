"""The tools that show how the store and this server stand."""

from __future__ import annotations

from engine.mcp_server.parameters import Parameter
from engine.mcp_server.tool_spec import FORMAT, ToolSpec

STATUS = (
    ToolSpec(
        name="memory_stats",
        title="Counts of memories",
        about=(
            "Statistics / 统计: how many memories there are by kind, source, state, workspace and "
            "tag, and the size of what is derived from them."
        ),
        parameters=(FORMAT,),
        effect="reads",
    ),
    ToolSpec(
        name="memory_status",
        title="State of the memory store",
        about=(
            "Status / 状态: place and version of the store, its model, what waits for vectors, "
            "upkeep, and which other programs use it. Use it when recall behaves strangely."
        ),
        parameters=(FORMAT,),
        effect="reads",
    ),
    ToolSpec(
        name="metrics",
        title="Figures of this server",
        about=(
            "Metrics / 指标 since this server started: calls and errors of each tool, empty "
            "recalls, how long recalls took."
        ),
        parameters=(FORMAT,),
        effect="reads",
    ),
)

CHECKS = (
    ToolSpec(
        name="session_check",
        title="Check the session notes",
        about=(
            "Session check / 会话文件检查: how long the project's session.md is, and whether it "
            "should be compacted. It never edits the file."
        ),
        parameters=(Parameter("name", "name", "Default session.md"), FORMAT),
        effect="reads",
    ),
    ToolSpec(
        name="evaluate_recall",
        title="Measure recall",
        about=(
            "Evaluate / 评测 recall on what the user judged before, or on a file of questions in "
            "the store's exports folder. Can take minutes; only when the user asks."
        ),
        parameters=(
            Parameter("name", "name", "File name there; default: the judgments"),
            Parameter("preset", "name", "Another ranking than the configured one"),
            FORMAT,
        ),
        effect="reads",
    ),
)
