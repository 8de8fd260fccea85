"""Memories, statistics, maintenance and connections, by their answers."""

from __future__ import annotations

import json
import time

import pytest

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.use_cases.memorize import MemorizeRequest
from tests.web_panel.visitor import Visitor

NASTY = (
    "<img src=x onerror=\"document.title='XSS'\">",
    "</script><script>document.title='XSS'</script>",
    '"><svg onload=alert(1)>',
    "javascript:alert(1)",
)


def remember(engine: Engine, text: str, **fields: object) -> int:
    return engine.memorize(MemorizeRequest({"text": text, **fields}), Caller("test")).memory.id


def finished(visitor: Visitor) -> dict[str, object]:
    """What the work that runs hands over."""
    for _ in range(200):
        for event in visitor.app.state.feed.after(0)[::-1]:
            told: dict[str, object] = json.loads(event.data)
            if event.name == "work" and told["state"] != "runs":
                return told
        time.sleep(0.02)
    raise AssertionError("the work did not end")


@pytest.mark.parametrize(
    "path", ["/tune", "/settings", "/memories", "/statistics", "/maintenance", "/connections"]
)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_each_page_is_shown_in_each_language(visitor: Visitor, path: str, language: str) -> None:
    visitor.post("/appearance", language=language)
    answer = visitor.client.get(path)
    assert answer.status_code == 200
    assert f'lang="{"zh-CN" if language == "zh" else "en"}"' in answer.text
    for leak in ("<script>", "style=", "onclick", 'src="http', 'href="http'):
        assert leak not in answer.text, leak


@pytest.mark.parametrize("text", NASTY)
def test_what_was_stored_is_never_read_as_html(visitor: Visitor, engine: Engine, text: str) -> None:
    remember(engine, text, tags=[text], source=text)
    for path in ("/memories", "/statistics", "/maintenance", "/connections"):
        html = visitor.client.get(path).text
        assert "<img" not in html.replace('<img src="/static', "")
        assert "<svg onload" not in html
        assert "<script>" not in html
    answer = visitor.get("/memories/found")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["memories"][0]["excerpt"] == text


def test_a_memory_is_found_read_edited_deleted_and_brought_back(
    visitor: Visitor, engine: Engine
) -> None:
    remember(engine, "The bicycle stands in the cellar")
    number = remember(engine, "我住在杭州", tags=["home"])
    [first, *_] = visitor.get("/memories/found?q=杭州").json()["memories"]
    assert first["id"] == number
    whole = visitor.get(f"/memories/{number}").json()
    change = {"text": "我住在苏州", "tags": "home, city", "revision": whole["revision"]}
    edited = visitor.post(f"/memories/{number}/edit", **change).json()
    assert (edited["text"], edited["tags"]) == ("我住在苏州", "home, city")
    assert visitor.post(f"/memories/{number}/edit", **change).status_code == 409
    assert visitor.post(f"/memories/{number}/delete").json()["deleted"] is True
    assert visitor.get("/memories/found").json()["total"] == 1
    visitor.post("/memories/undo", id=str(number))
    assert visitor.get("/memories/found").json()["total"] == 2
    assert visitor.get("/memories/999").status_code == 404


def test_pages_of_the_list_follow_each_other(visitor: Visitor, engine: Engine) -> None:
    for number in range(35):
        remember(engine, f"note number {number}")
    first = visitor.get("/memories/found").json()
    rest = visitor.get(f"/memories/found?cursor={first['next']}").json()
    ids = [one["id"] for one in first["memories"] + rest["memories"]]
    assert len(set(ids)) == 35
    assert rest["next"] is None


def test_reading_in_the_panel_is_no_use_of_a_memory(visitor: Visitor, engine: Engine) -> None:
    number = remember(engine, "the cello lesson is on thursday")
    visitor.get("/memories/found?q=cello")
    visitor.get(f"/memories/{number}")
    engine.upkeep.count_uses()
    strength = engine.browsing.strength(number)
    assert strength is not None
    assert strength.access_count == 0


def test_a_backup_is_made_and_listed(visitor: Visitor, engine: Engine) -> None:
    assert visitor.post("/maintenance/backup").status_code == 202
    assert finished(visitor)["state"] == "done"
    assert engine.backups.list()[0].name in visitor.client.get("/maintenance").text


def test_a_scan_tells_what_it_found(visitor: Visitor) -> None:
    visitor.post("/maintenance/repair")
    told = finished(visitor)
    assert (told["name"], told["state"], told["found"]) == ("scan", "done", False)


def test_a_job_is_previewed(visitor: Visitor) -> None:
    visitor.post("/maintenance/job", job="decay", preview=True)
    assert finished(visitor)["state"] == "done"
    assert visitor.post("/maintenance/job", job="nonsense").status_code == 422


def test_the_model_is_tried_with_size_and_speed(visitor: Visitor) -> None:
    tried = visitor.post("/connections/try").json()
    assert tried["works"] is True
    assert tried["dims"] > 0
    assert tried["latency_ms"] >= 0


def test_processes_show_whether_they_run_the_newest_settings(
    visitor: Visitor, engine: Engine
) -> None:
    engine.start_background("panel")
    for _ in range(100):
        found = visitor.get("/connections/processes").json()["processes"]
        if found:
            break
        time.sleep(0.05)
    assert [(one["client"], one["newest"]) for one in found] == [("panel", True)]
