"""Themes: dark, light, high contrast, and the terminal's own colours."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

VARIABLES = {
    "key-bar-key": "bold",
    "status-place": "bold reverse",
    "row-hidden": "dim",
    "match": "bold underline",
}
"""Styles that a theme may leave out."""

THEMES = (
    Theme(
        name="jiyi-dark",
        primary="#7aa2f7",
        secondary="#9ece6a",
        accent="#e0af68",
        warning="#e0af68",
        error="#f7768e",
        success="#9ece6a",
        foreground="#c8d0e8",
        background="#16161e",
        surface="#1a1b26",
        panel="#24283b",
        dark=True,
    ),
    Theme(
        name="jiyi-light",
        primary="#2e5cb8",
        secondary="#3f7d20",
        accent="#9a5b00",
        warning="#9a5b00",
        error="#b3261e",
        success="#3f7d20",
        foreground="#1f2430",
        background="#f7f7f4",
        surface="#ffffff",
        panel="#e8e8e2",
        dark=False,
    ),
    Theme(
        name="jiyi-contrast",
        primary="#ffff00",
        secondary="#00ffff",
        accent="#ff9900",
        warning="#ffcc00",
        error="#ff5555",
        success="#00ff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1a1a1a",
        dark=True,
    ),
    Theme(
        name="jiyi-terminal",
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_green",
        accent="ansi_yellow",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        dark=True,
        variables=BUILTIN_THEMES["ansi-dark"].variables,
    ),
)
"""In the order in which the theme key walks through them."""

PREFIX = "jiyi-"
"""A theme is this and what the setting ``tui.theme`` calls it."""
