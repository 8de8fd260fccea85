"""Settings of what people look at."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.config.setting import Knob
from engine.config.value_types import Folded, Section, Whole


class TuiSettings(Section):
    """The terminal browser."""

    theme: Annotated[Literal["dark", "light", "contrast", "terminal"], Folded, Knob("restart")] = (
        "dark"
    )


class PanelSettings(Section):
    """The web panel."""

    port: Annotated[Whole, Field(ge=0, le=65_535), Knob("restart", step=1)] = 8765


class HttpSettings(Section):
    """The server over HTTP."""

    port: Annotated[Whole, Field(ge=0, le=65_535), Knob("restart", step=1)] = 8787
    token: Annotated[str, Knob("restart", secret=True, example="${MY_TOKEN}")] = ""
