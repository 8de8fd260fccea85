"""``jiyi ingest`` and ``jiyi scan-secrets``, and what ``remember`` says of secrets."""

from __future__ import annotations

import pytest

PARAGRAPH = "灯塔计划的预算是三十万，由小雨负责，六月底交付第一版给客户，七月收尾款。"


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "plan.md"
    path.write_text(f"# 计划\n\n{PARAGRAPH}密码是 hunter2。", encoding="utf-8")
    return path


def test_ingest_stores_a_document_and_says_what_was_masked(jiyi, document):
    dry = jiyi("ingest", "--dry-run", str(document), "--json").json
    assert dry["files"][0]["added"] == 1 and dry["group"] is None
    assert jiyi("list", "--json").json["total"] == 0
    answer = jiyi("ingest", str(document))
    assert answer.code == 0
    assert answer.lines == [[str(document), "1", "1", "0", "0", ""]]
    assert "masked" in answer.err
    shown = jiyi.terminal("ingest", str(document))
    assert "unchanged" in shown.out


def test_ingest_fails_when_nothing_could_be_read(jiyi, tmp_path):
    path = tmp_path / "photo.md"
    path.write_bytes(b"\x89PNG\x00\x00\x01" * 50)
    answer = jiyi("ingest", str(path))
    assert answer.code == 1
    assert "photo.md" in answer.err
    assert jiyi("ingest", str(tmp_path / "none.md")).code != 0


def test_remember_and_edit_say_what_was_masked(jiyi):
    stored = jiyi("remember", "路由器密码是 hunter2", "--json")
    assert stored.json["secrets"] == ["masked.password"]
    assert "hunter2" not in stored.out + stored.err
    edited = jiyi("edit", "1", "--summary", "口令：hunter2")
    assert "password(s) masked" in edited.err
    assert "hunter2" not in jiyi("show", "1").out


def test_scan_secrets_shows_asks_and_masks(jiyi, monkeypatch):
    with monkeypatch.context() as careless:
        careless.setenv("JIYI_SECRETS__POLICY", "off")
        jiyi("remember", "路由器密码是 hunter2")
    found = jiyi("scan-secrets", "--json").json
    assert (found["places"], found["masked"]) == (1, False)
    assert "hunter2" not in jiyi.terminal("scan-secrets").out
    assert jiyi("scan-secrets", "--apply").code != 0
    assert jiyi("scan-secrets", "--apply", "--yes", "--json").json["masked"] is True
    assert jiyi("scan-secrets", "--json").json["places"] == 0
    assert "hunter2" not in jiyi("show", "1").out
