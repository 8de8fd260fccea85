"""Every place as a picture: pairwise over size, language, theme and store.

After a wanted change: ``pytest tests/memory_tui/test_pictures.py --snapshot-update``, and look
at what changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from engine.bootstrap import Engine
from engine.config.messages import Language
from engine.domain.health import Check
from engine.use_cases.recall import RecallRequest, RecallResult
from memory_tui.actions import PLACES
from memory_tui.app import Browser
from memory_tui.themes import PREFIX
from tests.memory_tui.driving import settled
from tests.memory_tui.pairwise import cases
from tests.memory_tui.stores import fill, open_store

Compare = Callable[..., bool]
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "60x20": (60, 20)}
CASES = cases(
    {
        "place": PLACES,
        "store": ("many", "hostile", "empty", "one", "big"),
        "theme": ("dark", "light", "contrast", "terminal"),
        "size": tuple(SIZES),
        "language": ("zh", "en"),
    }
)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """Every store, open as long as pictures are made."""
    opened = {}
    for name in ("many", "hostile", "empty", "one", "big"):
        engine = open_store(tmp_path_factory.mktemp(name) / "store")
        fill(engine, name)
        still(engine)
        opened[name] = engine
    yield opened
    for engine in opened.values():
        engine.close()


def still(engine: Engine) -> None:
    """What depends on the machine: how long it took, and what the doctor sees of it."""
    recall = engine.recall

    def timed(request: RecallRequest) -> RecallResult:
        return replace(recall(request), stages_ms={"all": 7.0})

    checks = (
        Check("memories", "ok", "tui.health.total", {"count": 32}),
        Check("vectors", "warning", "doctor.vectors_pending", {"embedded": 30, "pending": 2}),
    )
    seen = replace(engine.diagnose(), checks=checks)
    vars(engine)["recall"] = timed
    vars(engine)["diagnose"] = lambda: seen


def test_the_cases_are_few() -> None:
    assert len(CASES) <= 60


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_picture(case: tuple[str, ...], stores: dict[str, Engine], snap_compare: Compare) -> None:
    place, store, theme, size, language = case
    spoken: Language = "zh" if language == "zh" else "en"
    app = Browser(stores[store], spoken, store_name="~/.jiyi")

    async def go(pilot: Pilot[None]) -> None:
        await settled(pilot)
        app.theme = PREFIX + theme
        await pilot.press(str(PLACES.index(place) + 1))
        await settled(pilot)
        await USES.get(place, _nothing)(pilot)
        await settled(pilot)

    assert snap_compare(app, terminal_size=SIZES[size], run_before=go)


async def _nothing(pilot: Pilot[None]) -> None:
    del pilot


async def _ask(pilot: Pilot[None]) -> None:
    """A question, so that there is something to see."""
    await pilot.press("slash")
    pilot.app.screen.query_one("#search", Input).value = "river running 跑步"
    await pilot.press("enter")


USES: dict[str, Callable[[Pilot[None]], Awaitable[None]]] = {"lab": _ask}
