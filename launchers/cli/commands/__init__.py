"""One module for each group of commands, imported when one of them runs."""

COMMANDS = {
    "demo": "demo",
    "mcp": "mcp",
    "remember": "remember",
    "recall": "recall",
    "pack": "context",
    "context": "context",
    "auto-context": "context",
    "briefing": "context",
    "list": "browse",
    "show": "browse",
    "edit": "edit",
    "forget": "forget",
    "restore": "forget",
    "atoms": "atoms",
    "graph": "graph",
    "workspaces": "workspaces",
    "stats": "stats",
    "doctor": "doctor",
    "eval": "eval",
    "judge": "judge",
    "tune": "tune",
    "config": "config",
    "model": "model",
}
"""Every command and the module it lives in, in the order of help."""
