"""Saving, undo, history and keys on the settings page (B44, B45, B48)."""

from __future__ import annotations

import difflib

import pytest

from engine.bootstrap import Engine, open_engine
from engine.config.schema import declared
from tests.engine.use_cases.shortcuts import HASHING
from tests.web_panel.visitor import Visitor

KEY = "sk-test-ABCDEFG-123456"


def seen(visitor: Visitor) -> str:
    return str(visitor.get("/settings/state").json()["seen"])


def save(visitor: Visitor, **values: object):
    given = {key.replace("__", "."): value for key, value in values.items()}
    return visitor.post("/settings/save", values=given, seen=seen(visitor))


def text(engine: Engine) -> str:
    return engine.settings.live.path.read_bytes().decode("utf-8")


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line[2:].strip() for line in lines if line.startswith("+ ")]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_page_shows_every_setting_with_words(visitor: Visitor, language: str) -> None:
    visitor.post("/appearance", language=language)
    html = visitor.client.get("/settings").text
    for key in declared():
        assert f'data-key="{key}"' in html
    assert "panel." not in html.replace("panel.port", "").replace("/static/panel.", "")
    assert "setting." not in html


def test_saving_changes_one_line_and_acts_at_once(visitor: Visitor, engine: Engine) -> None:
    before = text(engine)
    answer = save(visitor, recall__k="7")
    assert answer.json()["changed"] is True
    assert changed_lines(before, text(engine)) == ["k: 7"]
    assert engine.context.settings.recall.k == 7


def test_comments_unknown_keys_and_line_ends_stay(visitor: Visitor, engine: Engine) -> None:
    path = engine.settings.live.path
    mine = (
        "\ufeff# my notes\r\nrecall:\r\n    k: 5   # five\r\n    # between\r\n"
        "    mine: 0123\r\nother: [1.10, 'a # b']\r\n"
    )
    path.write_bytes(mine.encode("utf-8"))
    save(visitor, recall__k="9")
    assert path.read_bytes() == mine.replace("k: 5 ", "k: 9 ").encode("utf-8")


def test_a_value_that_is_not_allowed_is_told_beside_its_field(
    visitor: Visitor, engine: Engine
) -> None:
    before = text(engine)
    answer = save(visitor, recall__k="1000", recall__pool="50")
    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == ["recall.k"]
    assert "1-100" in answer.json()["fields"]["recall.k"]
    assert text(engine) == before
    checked = visitor.post("/settings/check", key="recall.k", value="abc").json()
    assert "1-100" in checked["error"]
    assert visitor.post("/settings/check", key="recall.k", value="12").json()["error"] == ""


def test_a_file_changed_meanwhile_is_not_overwritten(visitor: Visitor, engine: Engine) -> None:
    old, path = seen(visitor), engine.settings.live.path
    path.write_text("recall:\n  k: 3\n", encoding="utf-8")
    answer = visitor.post("/settings/save", values={"recall.k": "8"}, seen=old)
    assert answer.status_code == 409
    assert path.read_text(encoding="utf-8") == "recall:\n  k: 3\n"


def test_undo_and_redo_go_step_by_step(visitor: Visitor, engine: Engine) -> None:
    start = text(engine)
    save(visitor, recall__k="6")
    save(visitor, recall__k="7")
    for wanted in (6, 5):
        visitor.post("/settings/undo", seen=seen(visitor))
        assert engine.context.settings.recall.k == wanted
    assert text(engine) == start
    assert visitor.get("/settings/state").json()["undo"] is False
    assert visitor.post("/settings/undo", seen=seen(visitor)).status_code == 404
    visitor.post("/settings/redo", seen=seen(visitor))
    assert engine.context.settings.recall.k == 6
    save(visitor, recall__k="9")
    assert visitor.get("/settings/state").json()["redo"] is False


def test_history_shows_what_changed_and_goes_back_to_any(visitor: Visitor, engine: Engine) -> None:
    save(visitor, recall__k="6")
    save(visitor, recall__k="7")
    versions = visitor.get("/settings/history").json()["versions"]
    assert [v["operation"] for v in versions] == ["save", "save", "hand"]
    assert "+  k: 7" in versions[0]["lines"]
    visitor.post("/settings/restore", version=versions[1]["id"], seen=seen(visitor))
    assert engine.context.settings.recall.k == 6


def test_the_key_never_leaves_and_stays_unless_replaced_or_removed(
    visitor: Visitor, engine: Engine
) -> None:
    save(visitor, embedding__api_key=KEY)
    pages = [visitor.client.get(path).text for path in ("/settings", "/connections")]
    pages += [visitor.get(f"/settings/{name}").text for name in ("state", "history")]
    pages.append(save(visitor, recall__k="8").text)
    pages.append(save(visitor, embedding__api_key="••••").text)
    assert not any(KEY in page for page in pages)
    assert engine.context.settings.embedding.api_key == KEY
    save(visitor, embedding__api_key="")
    assert engine.context.settings.embedding.api_key == ""


def test_the_name_of_a_variable_may_be_shown(visitor: Visitor, engine: Engine) -> None:
    save(visitor, embedding__api_key="${MY_API_KEY}")
    field = visitor.get("/settings/state").json()["fields"]["embedding.api_key"]
    assert field["reference"] == "${MY_API_KEY}"


def test_it_shows_that_the_environment_wins(tmp_path) -> None:
    environ = HASHING | {"JIYI_RECALL__K": "4"}
    with open_engine(tmp_path / "store", environ=environ) as engine:
        visitor = Visitor(engine)
        visitor.enter()
        field = visitor.get("/settings/state").json()["fields"]["recall.k"]
        assert (field["value"], field["variable"]) == ("4", "JIYI_RECALL__K")


def test_a_broken_file_is_told_with_its_line_and_the_last_settings_hold(
    visitor: Visitor, engine: Engine
) -> None:
    save(visitor, recall__k="6")
    engine.settings.live.path.write_text("recall:\n  k: [\n", encoding="utf-8")
    state = visitor.get("/settings/state").json()
    assert "config.yaml" in state["problems"][0]
    assert state["fields"]["recall.k"]["value"] == "6"
    assert save(visitor, recall__k="7").status_code == 422
    assert visitor.client.get("/settings").status_code == 200
