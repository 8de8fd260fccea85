"""Settings of what people look at."""

from __future__ import annotations

from typing import Annotated, Literal

from engine.config.setting import Knob
from engine.config.value_types import Folded, Section


class TuiSettings(Section):
    """The terminal browser."""

    theme: Annotated[Literal["dark", "light", "contrast", "terminal"], Folded, Knob("restart")] = (
        "dark"
    )
