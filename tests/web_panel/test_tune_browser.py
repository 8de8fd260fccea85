"""Tuning in a real browser, beside an assistant's server and another open store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from tests.engine.mcp_server.process import ServerProcess
from tests.engine.use_cases.shortcuts import HASHING
from tests.web_panel.running import running_panel

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if BROWSER is None:
    pytest.skip("no chromium on this machine", allow_module_level=True)

QUERY = "when are the flowers on the balcony watered"
IMPORTANCE = '[data-key="recall.weights.importance"]'
RIGHT, LEFT = "#right-hits .hit", "#left-hits .hit"
WATER, SUN = "The flowers on the balcony are watered on Wednesday", "The balcony flowers need sun"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder around a store; the store is in ``store``."""
    made: Path = tmp_path_factory.mktemp("tuning")
    with open_engine(made / "store", environ=HASHING) as engine:
        for text, importance in ((WATER, 0.0), (SUN, 1.0), ("Tea is drunk early", 0.4)):
            request = MemorizeRequest({"text": text, "importance": importance})
            engine.memorize(request, Caller("test"))
    return made


@pytest.fixture(scope="module")
def opened(folder: Path) -> Iterator[Any]:
    with (
        running_panel(folder / "store", "--port", "0") as panel,
        playwright.sync_playwright() as tool,
    ):
        # Chromium's sandbox does not work for root.
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = tool.chromium.launch(executable_path=BROWSER, args=flags)
        context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(panel.url)
        page.close()
        yield context, f"http://127.0.0.1:{panel.port}"
        browser.close()


@pytest.fixture
def page(opened: Any) -> Iterator[Any]:
    """The page, asked a question; its console must stay silent."""
    context, origin = opened
    shown = context.new_page()
    faults: list[str] = []
    shown.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.goto(f"{origin}/tune")
    shown.fill("#query", QUERY)
    shown.press("#query", "Enter")
    shown.wait_for_selector(RIGHT)
    yield shown
    shown.close(run_before_unload=False)
    assert faults == []


def order(page: Any, side: str) -> list[str]:
    return [str(hit.get_attribute("data-id")) for hit in page.locator(side).all()]


def first(page: Any, side: str, memory_id: str) -> None:
    """Wait until a memory stands first."""
    playwright.expect(page.locator(side).first).to_have_attribute("data-id", memory_id)


def lift_importance(page: Any) -> None:
    """Move the slider to its end by keyboard."""
    page.locator(f"{IMPORTANCE} [data-slider]").press("End")
    first(page, RIGHT, "2")


def test_a_slider_ranks_anew_without_a_reload(page: Any) -> None:
    page.evaluate("window.stays = true")
    assert order(page, LEFT) == order(page, RIGHT)
    first(page, RIGHT, "1")
    lift_importance(page)
    first(page, LEFT, "1")
    playwright.expect(page.locator(f"{RIGHT} .move.up").first).to_contain_text("up 1")
    assert page.evaluate("window.stays")
    page.locator("#discard").press("Enter")
    first(page, RIGHT, "1")


def test_what_is_judged_changes_the_measure_and_the_focus_stays(page: Any) -> None:
    expect = playwright.expect
    lift_importance(page)
    page.locator(f"{RIGHT}[data-id='2'] .judge-yes").press("Enter")
    badges = page.locator("[data-measure]")
    expect(badges.nth(1)).to_have_attribute("data-ndcg", "1")
    assert float(badges.nth(0).get_attribute("data-ndcg")) < 1.0
    pressed = page.locator(f"{RIGHT}[data-id='2'] .judge-yes")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    expect(pressed).to_be_focused()
    page.locator("#evaluate").press("Enter")
    expect(page.locator("[data-mean='ndcg@10']").nth(1)).to_contain_text("100.0")
    pressed.press("Enter")
    expect(badges.nth(1)).to_be_hidden()
    page.locator("#discard").press("Enter")


def asked(engine: Engine) -> int:
    return engine.recall(RecallRequest(QUERY, touch=False)).hits[0].memory.id


def test_what_is_saved_ranks_everywhere_from_the_next_call_on(page: Any, folder: Path) -> None:
    expect = playwright.expect
    with (
        ServerProcess(folder) as server,
        open_engine(folder / "store", environ=HASHING) as other,
    ):
        server.initialize()
        before = server.ask("recall", query=QUERY)
        assert before.index(WATER) < before.index(SUN)
        assert asked(other) == 1
        lift_importance(page)
        page.locator("#save").press("Enter")
        expect(page.locator(".toast").first).to_contain_text("Saved")
        after = server.ask("recall", query=QUERY)
        assert after.index(SUN) < after.index(WATER)
        assert asked(other) == 2
        first(page, LEFT, "2")
        page.locator("#undo").press("Enter")
        first(page, LEFT, "1")
        assert server.ask("recall", query=QUERY) == before
        assert asked(other) == 1


def test_a_change_by_somebody_else_shows_and_a_draft_stays(page: Any, folder: Path) -> None:
    expect = playwright.expect
    page.locator('[data-key="recall.weights.recency"] [data-slider]').press("End")
    with open_engine(folder / "store", environ=HASHING) as other:
        other.settings.change({"recall.weights.importance": 1.0}, Caller("test"))
        first(page, LEFT, "2")
        recency = page.locator('[data-key="recall.weights.recency"] [data-number]')
        expect(recency).to_have_value("1")
        other.settings.undo(Caller("test"))
        first(page, LEFT, "1")
    page.locator("#discard").press("Enter")


def test_it_fits_a_phone_in_chinese_and_dark(opened: Any, page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.locator("[data-language]").press("Enter")
    playwright.expect(page.locator("h1")).to_have_text("调校")
    page.fill("#query", QUERY)
    page.press("#query", "Enter")
    page.wait_for_selector(RIGHT)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("[data-language]").press("Enter")
    playwright.expect(page.locator("h1")).to_have_text("Tune")
