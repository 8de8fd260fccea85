"""Where each assistant keeps its servers, on each system, and how an entry looks there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.domain.errors import InvalidInput

Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class Machine:
    """The system (``linux``, ``darwin``, ``win32``), the user's folder and the environment."""

    system: str
    user: Path
    environ: Mapping[str, str]

    def folder(self, variable: str, *default: str) -> Path:
        """The folder that a variable names, else one inside the user's."""
        named = self.environ.get(variable, "")
        return Path(named) if named else self.user.joinpath(*default)

    @property
    def application_data(self) -> Path:
        """Where desktop programs keep their settings."""
        if self.system == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        if self.system == "darwin":
            return self.user / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", ".config")


@dataclass(frozen=True, slots=True)
class Server:
    """What is registered: the command that starts the server, and its variables."""

    command: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant: its file for the user, its file inside a project (``None``: it has none),
    the names that lead to its servers, its form of an entry, and where it reads instructions.

    ``is_toml`` marks the one whose settings are TOML.
    """

    title: str
    user_file: Callable[[Machine], Path]
    project_file: str | None
    key: str
    entry: Callable[[Server], Entry]
    user_guidance: Callable[[Machine], Path] | None = None
    project_guidance: str | None = None
    is_toml: bool = False

    def settings_file(self, machine: Machine, project: Path | None) -> Path:
        """The file that names the servers. Raises InvalidInput where a client has none for a
        project."""
        if project is None:
            return self.user_file(machine)
        if self.project_file is None:
            raise InvalidInput("install.no_project", client=self.title)
        return project / self.project_file

    def guidance_file(self, machine: Machine, project: Path | None) -> Path | None:
        """The file of instructions, ``None`` where the client reads none that is known."""
        if project is not None:
            return project / self.project_guidance if self.project_guidance else None
        return self.user_guidance(machine) if self.user_guidance else None


def _plain(server: Server) -> Entry:
    entry: Entry = {"command": server.command, "args": list(server.arguments)}
    return entry | ({"env": dict(server.variables)} if server.variables else {})


def _typed(server: Server) -> Entry:
    return {"type": "stdio", **_plain(server)}


def _for_copilot(server: Server) -> Entry:
    return {"type": "local", **_plain(server), "tools": ["*"]}


def _for_opencode(server: Server) -> Entry:
    entry: Entry = {"type": "local", "command": [server.command, *server.arguments]}
    entry |= {"environment": dict(server.variables)} if server.variables else {}
    return entry | {"enabled": True}


def _claude_desktop(machine: Machine) -> Path:
    """Its installation from the Windows store reads a folder of its own."""
    name = Path("Claude", "claude_desktop_config.json")
    if machine.system == "win32":
        packages = machine.folder("LOCALAPPDATA", "AppData", "Local") / "Packages"
        for found in sorted(packages.glob("Claude_*")):
            return found / "LocalCache" / "Roaming" / name
    return machine.application_data / name


def _opencode(machine: Machine) -> Path:
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    with_comments = folder / "opencode.jsonc"
    return with_comments if with_comments.exists() else folder / "opencode.json"


def _zed(machine: Machine) -> Path:
    if machine.system == "win32":
        return machine.application_data / "Zed" / "settings.json"
    return machine.folder("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json"


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        lambda machine: machine.folder("CLAUDE_CONFIG_DIR") / ".claude.json",
        ".mcp.json",
        "mcpServers",
        _typed,
        lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "CLAUDE.md",
        "CLAUDE.md",
    ),
    "claude-desktop": Client("Claude Desktop", _claude_desktop, None, "mcpServers", _plain),
    "cursor": Client(
        "Cursor",
        lambda machine: machine.user / ".cursor" / "mcp.json",
        ".cursor/mcp.json",
        "mcpServers",
        _plain,
        project_guidance=".cursor/rules/jiyi.mdc",
    ),
    "codex": Client(
        "Codex",
        lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
        None,
        "mcp_servers",
        _plain,
        lambda machine: machine.folder("CODEX_HOME", ".codex") / "AGENTS.md",
        is_toml=True,
    ),
    "gemini": Client(
        "Gemini CLI",
        lambda machine: machine.user / ".gemini" / "settings.json",
        ".gemini/settings.json",
        "mcpServers",
        _plain,
        lambda machine: machine.user / ".gemini" / "GEMINI.md",
        "GEMINI.md",
    ),
    "opencode": Client(
        "OpenCode",
        _opencode,
        "opencode.json",
        "mcp",
        _for_opencode,
        lambda machine: machine.folder("XDG_CONFIG_HOME", ".config") / "opencode" / "AGENTS.md",
        "AGENTS.md",
    ),
    "vscode": Client(
        "VS Code",
        lambda machine: machine.application_data / "Code" / "User" / "mcp.json",
        ".vscode/mcp.json",
        "servers",
        _typed,
        project_guidance=".github/copilot-instructions.md",
    ),
    "copilot": Client(
        "Copilot CLI",
        lambda machine: machine.folder("COPILOT_HOME", ".copilot") / "mcp-config.json",
        ".github/mcp.json",
        "mcpServers",
        _for_copilot,
        project_guidance=".github/copilot-instructions.md",
    ),
    "windsurf": Client(
        "Windsurf",
        lambda machine: machine.user / ".codeium" / "windsurf" / "mcp_config.json",
        None,
        "mcpServers",
        _plain,
        lambda machine: machine.user / ".codeium" / "windsurf" / "memories" / "global_rules.md",
    ),
    "zed": Client("Zed", _zed, ".zed/settings.json", "context_servers", _plain),
}
"""Every assistant that is known, by the name that ``jiyi install`` takes."""
