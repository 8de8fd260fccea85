"""The tools that record what has a structure, and the one that sums a conversation up."""

from __future__ import annotations

from engine.mcp_server.parameters import Parameter
from engine.mcp_server.tool_spec import FORMAT, WORKSPACE, ToolSpec

_ANSWERS = Parameter("answers", "name", "Id of an open question that this answers")
_FIELDS = Parameter("fields", "pairs", '"tags=a,b; importance=8; topics=…", as in memorize')
_SHARED = (_ANSWERS, _FIELDS, WORKSPACE)

RECORDS = (
    ToolSpec(
        name="record_decision",
        title="Record a decision",
        about=(
            "Decision / 决定: record what was decided, why, how, and what else was looked at. Use "
            "it when a choice is made that later work must keep to."
        ),
        parameters=(
            Parameter("what", "text", "What was decided", required=True),
            Parameter("why", "text"),
            Parameter("how", "text"),
            Parameter("alternatives", "text", "With ; between"),
            *_SHARED,
        ),
        effect="changes",
    ),
    ToolSpec(
        name="record_resolved",
        title="Record a solved problem",
        about=(
            "Resolved / 已解决: record a problem, its cause and what fixed it. Use it when a fault "
            "was found and mended, so that nobody searches for it again."
        ),
        parameters=(
            Parameter("problem", "text", required=True),
            Parameter("cause", "text"),
            Parameter("fix", "text"),
            *_SHARED,
        ),
        effect="changes",
    ),
    ToolSpec(
        name="record_question",
        title="Record an open question",
        about=(
            "Question / 待解: record what is still open. Close it later by giving its id as "
            "answers to any of the other record tools."
        ),
        parameters=(
            Parameter("question", "text", required=True),
            Parameter("priority", "whole", "1 high, 3 low", low=1, high=3),
            _FIELDS,
            WORKSPACE,
        ),
        effect="adds",
    ),
    ToolSpec(
        name="record_knowledge",
        title="Record knowledge",
        about=(
            "Knowledge / 知识: record a statement with where it comes from: a page, a file, a "
            "person, a measurement."
        ),
        parameters=(
            Parameter("statement", "text", required=True),
            Parameter("reference", "text", "Where it comes from"),
            *_SHARED,
        ),
        effect="changes",
    ),
    ToolSpec(
        name="record_directive",
        title="Record a standing instruction",
        about=(
            "Directive / 指令: record an instruction of the user that always holds; it is loaded "
            "into every context. Only when the user confirmed that it is meant for good."
        ),
        parameters=(
            Parameter("text", "text", "The instruction", required=True),
            *_SHARED,
        ),
        effect="changes",
    ),
)

CONVERSATIONS = (
    ToolSpec(
        name="summarize_memory",
        title="Sum a conversation up",
        about=(
            "Summarize / 总结 a conversation as the one memory it would make, by the configured "
            "chat model, else from its own words. It is shown for review; store=yes keeps it."
        ),
        parameters=(
            Parameter("conversation", "text", "Its words, one turn a line"),
            Parameter("session", "name", "Or the session whose memories tell it"),
            Parameter("store", "name", choices=("yes", "no")),
            WORKSPACE,
            FORMAT,
        ),
        effect="adds",
    ),
)
