"""A whole session at the most talkative level: no text, no query and no key is in any log."""

from __future__ import annotations

import json
import logging

from launchers import logs

MARKER = "标记QX9"
KEY = "sk-sp-ABCDEFGH12345678.abcdefgh12345678_XYZ"


def test_a_session_at_debug_level_leaves_no_content_in_logs(jiyi, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("JIYI_LOG__LEVEL", "debug")
    monkeypatch.setenv("JIYI_EMBEDDING__API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    document = tmp_path / "note.md"
    document.write_text(f"# {MARKER}\n\n{MARKER} 在文档里，密钥 {KEY} 也在。", encoding="utf-8")
    broken = tmp_path / f"broken-{MARKER}.jsonl"
    broken.write_text(json.dumps({"text": MARKER}) + '\n{"text": "' + MARKER, encoding="utf-8")
    for arguments in (
        ("remember", f"{MARKER} 喜欢喝茶，密钥 {KEY}"),
        ("remember", MARKER, "--kind", MARKER),
        ("recall", f"{MARKER} 喜欢什么"),
        ("recall", MARKER, "--since", MARKER),
        ("edit", "1", "--text", f"{MARKER} 喜欢喝咖啡"),
        ("edit", "1", "--expires-at", MARKER),
        ("ingest", str(document)),
        ("ingest", str(tmp_path / MARKER)),
        ("import", str(broken)),
        ("facts", "add", MARKER, "住在", "杭州"),
        ("atoms",),
        ("graph", MARKER),
        ("list",),
        ("show", "1"),
        ("scan-secrets",),
        ("forget", "1"),
        ("undo",),
        ("maintenance", "tick"),
        ("doctor",),
    ):
        jiyi(*arguments)
    logging.getLogger("jiyi").debug("the session is over")
    folder = logs.log_path(jiyi.home).parent
    files = list(folder.iterdir()) if folder.exists() else []
    written = b"".join(path.read_bytes() for path in files)
    for secret in (MARKER, KEY, KEY.split(".")[1]):
        assert secret.encode() not in written
        assert secret not in caplog.text
