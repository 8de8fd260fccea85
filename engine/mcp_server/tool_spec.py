"""What describes a tool to clients, and the parameters that several tools have."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.vocabulary import SCOPES
from engine.mcp_server.parameters import Arguments, Parameter, Schema, read_arguments

FORMATS = ("text", "json")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as clients see it.

    ``effect`` is ``reads``, ``adds`` or ``changes`` (may replace or remove something);
    ``always`` asks clients that load tools on demand to load this one at once.
    """

    name: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    effect: str
    always: bool = False

    def schema(self) -> Schema:
        """The input schema: flat, without unions, references or generated titles."""
        required = [parameter.name for parameter in self.parameters if parameter.required]
        properties = {parameter.name: parameter.schema() for parameter in self.parameters}
        return {"type": "object", "properties": properties, "required": required}

    def read(self, given: dict[str, object]) -> Arguments:
        """The arguments of a call. Raises InvalidInput."""
        return read_arguments(self.name, self.parameters, given)


FORMAT = Parameter("format", "name", choices=FORMATS)
SCOPE = Parameter(
    "scope", "name", "Default workspace: the current project and global", choices=SCOPES
)
WORKSPACE = Parameter("workspace", "name", "Another project's name")
