"""The tools that write memories into files and read them from files."""

from __future__ import annotations

from engine.domain.vocabulary import COLLISION_POLICIES
from engine.mcp_server.parameters import Parameter
from engine.mcp_server.tool_spec import FORMAT, WORKSPACE, ToolSpec

TRANSFER = (
    ToolSpec(
        name="export_memories",
        title="Export memories to a file",
        about=(
            "Export / 导出: write memories with links, facts and dates into an archive, or into a "
            "folder of Markdown notes, in the store's exports folder. Answers with the path."
        ),
        parameters=(
            Parameter("name", "name", "File name without a folder: work.jiyi", required=True),
            Parameter("form", "name", "Default archive", choices=("archive", "markdown")),
            WORKSPACE,
            FORMAT,
        ),
        effect="adds",
    ),
    ToolSpec(
        name="import_memories",
        title="Import memories from a file",
        about=(
            "Import / 导入: read a file of the store's exports folder (our archive or notes, JSON "
            "lines, mem0, the MCP memory server, basic-memory and others) as one undoable step. "
            "Without apply=yes it only says what is new, the same, changed or unreadable."
        ),
        parameters=(
            Parameter("name", "name", "File or folder name there", required=True),
            Parameter("apply", "name", choices=("yes", "no")),
            Parameter(
                "on_collision",
                "name",
                "A memory that is there and says something else; default skip",
                choices=COLLISION_POLICIES,
            ),
            FORMAT,
        ),
        effect="changes",
    ),
)
