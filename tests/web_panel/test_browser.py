"""The panel in a real browser: what a person sees and does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.bootstrap import open_engine
from engine.domain.caller import Caller
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.use_cases.shortcuts import HASHING
from tests.web_panel.running import running_panel

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if BROWSER is None:
    pytest.skip("no chromium on this machine", allow_module_level=True)

PLACES = ("tune", "settings", "memories", "statistics", "maintenance", "connections")
NASTY = "<img src=x onerror=\"document.title='XSS'\"></script><script>alert(1)</script>"


class Person:
    """Somebody at a browser; ``faults`` is what its console complained of."""

    def __init__(self, page: Any, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.faults: list[str] = []
        page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def go(self, place: str) -> None:
        """Open a place of the panel."""
        self.page.goto(f"{self.origin}/{place}")

    def save(self, key: str, value: str) -> None:
        """Type a value and save, by keyboard alone."""
        field = self.page.locator(f'[id="set-{key}"]')
        field.fill(value)
        field.press("Enter")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("panel") / "store"
    with open_engine(folder, environ=HASHING) as engine:
        for text in ("我住在杭州，喜欢喝茶。", "The bicycle stands in the cellar.", NASTY):
            engine.memorize(MemorizeRequest({"text": text, "tags": [text]}), Caller("test"))
    return folder


@pytest.fixture(scope="module")
def opened(home: Path) -> Iterator[Any]:
    with running_panel(home, "--port", "0") as panel, playwright.sync_playwright() as tool:
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
def person(opened: Any) -> Iterator[Person]:
    context, origin = opened
    someone = Person(context.new_page(), origin)
    yield someone
    someone.page.close()
    assert someone.faults == []


def lines_of(home: Path) -> list[str]:
    return (home / "config.yaml").read_text("utf-8").splitlines()


def test_the_link_leaves_the_address_bar(person: Person) -> None:
    person.page.goto(person.origin)
    assert "token" not in person.page.url
    assert person.page.locator("h1").inner_text()


def test_a_setting_is_saved_undone_and_redone_by_keyboard(person: Person, home: Path) -> None:
    before = lines_of(home)
    person.go("settings#group-recall")
    person.save("recall.k", "8")
    expect = playwright.expect
    expect(person.page.locator(".toast").first).to_contain_text("acts everywhere")
    changed = [now for old, now in zip(before, lines_of(home), strict=True) if old != now]
    assert changed == ["  k: 8"]
    expect(person.page.locator("#undo")).to_be_enabled()
    person.page.locator("#undo").press("Enter")
    expect(person.page.locator('[id="set-recall.k"]')).to_have_value("5")
    assert lines_of(home) == before
    expect(person.page.locator("#redo")).to_be_enabled()
    person.page.locator("#redo").press("Enter")
    expect(person.page.locator('[id="set-recall.k"]')).to_have_value("8")
    person.page.locator("#open-history").press("Enter")
    expect(person.page.locator("#versions li").first).to_contain_text("redone")
    person.page.keyboard.press("Escape")
    expect(person.page.locator("#undo")).to_be_enabled()
    person.page.locator("#undo").press("Enter")
    expect(person.page.locator('[id="set-recall.k"]')).to_have_value("5")


def test_a_slider_moves_its_number_and_a_bad_value_is_told_in_place(person: Person) -> None:
    person.go("settings#group-memory")
    row = person.page.locator('[data-key="memory.default_importance"]')
    row.locator("[data-slider]").press("ArrowRight")
    expect = playwright.expect
    expect(row.locator("[data-value]")).to_have_value("0.55")
    row.locator("[data-value]").fill("7")
    expect(row.locator(".error")).to_contain_text("0-1")
    person.page.locator("#discard").click()
    expect(row.locator("[data-value]")).to_have_value("0.5")
    expect(row.locator(".error")).to_be_hidden()


def test_a_change_by_somebody_else_appears_and_what_is_typed_stays(
    person: Person, home: Path
) -> None:
    person.go("settings#group-recall")
    person.page.locator('[id="set-recall.pool"]').fill("70")
    # Wait until the page listens, so that the change comes as one.
    person.page.wait_for_timeout(600)
    path = home / "config.yaml"
    mine = path.read_bytes()
    path.write_bytes(mine.replace(b"\n  k: 5\n", b"\n  k: 3\n"))
    expect = playwright.expect
    expect(person.page.locator('[id="set-recall.k"]')).to_have_value("3", timeout=8000)
    expect(person.page.locator('[id="set-recall.pool"]')).to_have_value("70")
    path.write_bytes(mine)
    expect(person.page.locator('[id="set-recall.k"]')).to_have_value("5", timeout=8000)
    person.page.locator("#discard").click()


def test_stored_text_never_runs(person: Person) -> None:
    person.go("memories")
    person.page.locator(".memory", has_text="<img src=x").first.click()
    playwright.expect(person.page.locator("#text")).to_have_value(NASTY)
    person.go("statistics")
    playwright.expect(person.page.locator("h1")).to_be_visible()
    assert "XSS" not in person.page.title()


def test_a_memory_is_found_edited_deleted_and_brought_back(person: Person) -> None:
    person.go("memories")
    expect = playwright.expect
    person.page.locator("[name=q]").fill("杭州")
    first = person.page.locator(".memory").first
    expect(first).to_contain_text("杭州")
    first.press("Enter")
    person.page.locator("#text").fill("我住在苏州，喜欢喝茶。")
    person.page.locator("#edit button[type=submit]").click()
    expect(person.page.locator(".toast")).to_contain_text("Saved")
    person.page.locator("#delete").click()
    undo = person.page.locator(".toast button", has_text="Undo")
    expect(undo).to_be_visible()
    undo.click()
    expect(person.page.locator("#detail-title")).not_to_contain_text("trash")


def test_a_backup_is_made_while_the_page_tells_of_it(person: Person, home: Path) -> None:
    person.go("maintenance")
    person.page.wait_for_timeout(500)
    person.page.get_by_role("button", name="Make a backup").press("Enter")
    playwright.expect(person.page.locator("#work-said")).to_contain_text("memories", timeout=20000)
    assert list((home / "backups").glob("*manual*"))


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_place_fits_a_phone_in_both_languages_and_looks(
    person: Person, language: str, theme: str
) -> None:
    person.page.set_viewport_size({"width": 390, "height": 844})
    person.go("connections")
    person.page.locator("#theme").select_option(theme)
    other = person.page.locator("[data-language]")
    if other.get_attribute("data-language") == language:
        other.click()
    wanted = "zh-CN" if language == "zh" else "en"
    playwright.expect(person.page.locator("html")).to_have_attribute("lang", wanted)
    for place in PLACES:
        person.go(place)
        wide = person.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, place
        assert person.page.locator("html").get_attribute("data-theme") == theme
    person.go("connections")
    back = person.page.locator("[data-language='en']")
    if back.count():
        back.click()
        playwright.expect(person.page.locator("html")).to_have_attribute("lang", "en")
