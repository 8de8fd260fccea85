"""Running the browser without a terminal: press keys, look at what is there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from engine.bootstrap import Engine
from engine.config.messages import Language
from memory_tui.app import Browser

Script = Callable[["Driver"], Awaitable[None]]
W = TypeVar("W", bound=Widget)


class Driver:
    """One running browser."""

    def __init__(self, app: Browser, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys and wait until everything they started is done."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait for the pause of the search line and for the engine's answers."""
        await settled(self.pilot)

    def find(self, selector: str, kind: type[W]) -> W:
        """A widget of the screen that is shown."""
        return self.app.screen.query_one(selector, kind)

    @property
    def text(self) -> str:
        """The whole screen as text."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in lines)

    @property
    def told(self) -> str:
        """What the top line says."""
        return str(self.find("#status", Static).render())


async def settled(pilot: Pilot[None]) -> None:
    """Wait until nothing is asked of the engine any more, and nothing waits to be asked."""
    for pause_s in (0.1, 0.04):
        await pilot.pause(pause_s)
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def drive(
    engine: Engine,
    script: Script,
    *,
    size: tuple[int, int] = (100, 30),
    language: Language = "en",
) -> None:
    """Run a browser on an open store and let the script use it."""

    async def run() -> None:
        app = Browser(engine, language)
        async with app.run_test(size=size) as pilot:
            driver = Driver(app, pilot)
            await driver.settle()
            await script(driver)

    asyncio.run(run())
