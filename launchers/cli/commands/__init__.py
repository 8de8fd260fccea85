"""One module for each group of commands, imported when one of them runs."""

COMMANDS = {
    "demo": "demo",
    "mcp": "mcp",
    "remember": "remember",
    "recall": "recall",
    "list": "browse",
    "show": "browse",
    "edit": "edit",
    "forget": "forget",
    "restore": "forget",
    "stats": "stats",
    "doctor": "doctor",
    "config": "config",
    "model": "model",
}
"""Every command and the module it lives in, in the order of help."""
