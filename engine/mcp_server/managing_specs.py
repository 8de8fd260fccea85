"""The tools that change, merge and bring back memories."""

from __future__ import annotations

from engine.mcp_server.parameters import Parameter
from engine.mcp_server.tool_spec import FORMAT, SCOPE, WORKSPACE, ToolSpec

CONFIRM = Parameter("confirm", "name", "After the user agreed", choices=("yes", "no"))
_POLICIES = ("ignore", "warn", "supersede")

MANAGING = (
    ToolSpec(
        name="delete_memories",
        title="Delete several memories",
        about=(
            "Delete / 批量删除 several memories at once, by ids or one exact tag: they go to the "
            "trash as one group that undo takes back. Without confirm=yes it shows what would go. "
            "Only on the user's wish; for one memory use delete_memory."
        ),
        parameters=(
            Parameter("ids", "labels", "#12, 12 or uid; at most 500"),
            Parameter("tag", "name", "This very tag, no part of one"),
            WORKSPACE,
            CONFIRM,
            FORMAT,
        ),
        effect="changes",
    ),
    ToolSpec(
        name="memorize_many",
        title="Memorize several",
        about=(
            "Remember many / 批量记住: store up to 200 memories at once, in order, as one undoable "
            "group. All are checked before the first is written; a bad one is named by its place."
        ),
        parameters=(
            Parameter(
                "items",
                "items",
                'JSON list of objects: {"text": "…", "kind": …, "tags": […], "importance": 1-10, '
                '"event_time": …} and the fields of memorize; or one text a line',
                required=True,
            ),
            Parameter("on_conflict", "name", "Where one repeats or contradicts", choices=_POLICIES),
            WORKSPACE,
            FORMAT,
        ),
        effect="adds",
    ),
    ToolSpec(
        name="supersede_memory",
        title="Supersede a memory",
        about=(
            "Supersede / 取代: hide a memory that is out of date in favour of another stored one, "
            "and link the two. To change the words of one memory use edit_memory."
        ),
        parameters=(
            Parameter("old", "name", "The one to hide: #12, 12 or uid", required=True),
            Parameter("new", "name", "The one in its place", required=True),
        ),
        effect="changes",
    ),
    ToolSpec(
        name="restore_memory",
        title="Restore a memory",
        about=(
            "Restore / 恢复 one memory from the trash, from the archive, or from being superseded, "
            "by id."
        ),
        parameters=(Parameter("id", "name", "#12, 12 or uid", required=True),),
        effect="changes",
    ),
    ToolSpec(
        name="consolidate_memories",
        title="Merge what says the same",
        about=(
            "Consolidate / 合并: merge memories that say the same into the best one of them, the "
            "others go to the trash, as one undoable group. Without confirm=yes it shows the "
            "groups."
        ),
        parameters=(SCOPE, WORKSPACE, CONFIRM, FORMAT),
        effect="changes",
    ),
)
