"""Pictures of the browser for the READMEs, from the sample memories: made again by
``python -m tests.memory_tui.screenshots [FOLDER]``."""

from __future__ import annotations

import asyncio
import html
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input

from engine.bootstrap import Engine, open_engine
from engine.config.messages import Language
from engine.domain.clock import FixedClock
from engine.domain.times import parse_instant
from engine.use_cases.edit import EditRequest
from engine.use_cases.recall import RecallRequest, RecallResult
from memory_tui.app import Browser
from memory_tui.themes import PREFIX
from memory_tui.widgets.graph_canvas import GraphCanvas
from tests.memory_tui.driving import settled
from tests.memory_tui.stores import ASSISTANT, ENVIRON

FOLDER = Path(__file__).parents[2] / "assets" / "screenshots"
SIZE = (120, 34)
STARTED = "2026-05-02T09:00:00+08:00"
STEP_S = 5_400
_CELL = 12.2
_TEXT = re.compile(r'(<text [^>]*?)x="([^"]*)"([^>]*?)textLength="[^"]*"([^>]*)>([^<]*)</text>')

Script = Callable[[Pilot[None], Language], Awaitable[None]]
WORDS = {
    "zh": {"find": "路由器的密码", "person": "小林", "lab": "过敏的人吃饭要注意什么"},
    "en": {"find": "where is the spare key", "person": "Tom", "lab": "who does not eat coriander"},
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A name for the file, a theme, and what to do before it is taken."""

    name: str
    theme: str
    script: Script


async def find(pilot: Pilot[None], language: Language) -> None:
    """Search for something."""
    await pilot.press("slash")
    pilot.app.screen.query_one("#search", Input).value = WORDS[language]["find"]
    await settled(pilot)
    await pilot.pause(0.6)
    await pilot.press("enter")


async def graph(pilot: Pilot[None], language: Language) -> None:
    """A person and what surrounds them."""
    await pilot.press("2", "slash")
    pilot.app.screen.query_one("#search", Input).value = WORDS[language]["person"]
    await pilot.press("enter")
    await settled(pilot)
    await pilot.press("plus")
    await settled(pilot)
    pilot.app.screen.query_one("#canvas", GraphCanvas).focus()


async def atoms(pilot: Pilot[None], language: Language) -> None:
    """A fact and how it fades."""
    del language
    await pilot.press("3")
    await settled(pilot)
    await pilot.press("o", "j", "j")


async def timeline(pilot: Pilot[None], language: Language) -> None:
    """What changed."""
    del language
    await pilot.press("4")


async def lab(pilot: Pilot[None], language: Language) -> None:
    """Two rankings."""
    await pilot.press("5", "slash")
    pilot.app.screen.query_one("#search", Input).value = WORDS[language]["lab"]
    await settled(pilot)
    await pilot.press("enter", "b")


async def health(pilot: Pilot[None], language: Language) -> None:
    """Figures."""
    del language
    await pilot.press("6")


PICTURES = (
    Picture("memories", "dark", find),
    Picture("graph", "dark", graph),
    Picture("atoms", "light", atoms),
    Picture("timeline", "dark", timeline),
    Picture("lab", "dark", lab),
    Picture("health", "light", health),
)


def main() -> None:
    """Make all pictures in both languages."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    languages: tuple[Language, ...] = ("zh", "en")
    for language in languages:
        with tempfile.TemporaryDirectory() as home:
            clock = FixedClock(parse_instant(STARTED, None))
            with open_engine(Path(home), environ=ENVIRON, clock=clock) as engine:
                _fill(engine, clock, language)
                for picture in PICTURES:
                    path = folder / f"tui-{picture.name}.{language}.svg"
                    path.write_text(_taken(engine, picture, language), encoding="utf-8")
                    print(path)


def _fill(engine: Engine, clock: FixedClock, language: Language) -> None:
    requests = engine.samples.requests(language)
    for request in requests:
        engine.memorize(request, ASSISTANT)
        clock.advance(STEP_S)
    engine.edit(EditRequest(1, {"importance": 1.0, "pinned": True}), ASSISTANT)
    newest = engine.get(len(requests))
    said = {"zh": newest.text + " 下周三再问一次。", "en": newest.text + " Ask again next week."}
    engine.edit(EditRequest(newest.id, {"text": said[language]}), ASSISTANT)
    recall = engine.recall

    def timed(request: RecallRequest) -> RecallResult:
        return replace(recall(request), stages_ms={"all": 12.0})

    checks = engine.diagnose().checks
    quiet = tuple(
        check for check in checks if not any("/" in str(v) for v in check.params.values())
    )
    seen = replace(engine.diagnose(), checks=quiet)
    vars(engine)["recall"] = timed
    vars(engine)["diagnose"] = lambda: seen


def _taken(engine: Engine, picture: Picture, language: Language) -> str:
    async def run() -> str:
        app = Browser(engine, language, store_name="~/.jiyi")
        async with app.run_test(size=SIZE) as pilot:
            await settled(pilot)
            app.theme = PREFIX + picture.theme
            await picture.script(pilot, language)
            await settled(pilot)
            return _with_wide_characters(app.export_screenshot(title="jiyi tui"))

    return asyncio.run(run())


def _with_wide_characters(svg: str) -> str:
    """Rich gives a stretch of text as much room as it has characters; wide ones need twice. So each
    stretch of equally wide ones gets a place and a length of its own."""

    def split(found: re.Match[str]) -> str:
        x, pieces = float(found[2]), []
        for _, letters in groupby(html.unescape(found[5]), cell_len):
            piece = "".join(letters)
            room = _CELL * cell_len(piece)
            pieces.append(
                f'{found[1]}x="{x:g}"{found[3]}textLength="{room:g}"{found[4]}>'
                f"{html.escape(piece).replace(' ', '&#160;')}</text>"
            )
            x += room
        return "".join(pieces)

    return _TEXT.sub(split, svg)


if __name__ == "__main__":
    main()
