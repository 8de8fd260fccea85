"""A key of the settings is in the settings and their history, and nowhere else."""

from __future__ import annotations

import gzip
from pathlib import Path

KEYS = {
    "embedding.api_key": "embedKEY-5f1c9a7d3b2e",
    "chat.api_key": "chatKEY-8d2e4b6a1c9f",
    "http.token": "tokenKEY-0a9b8c7d6e5f",
}
OWN = ("config.yaml", "config-history")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, unpacked."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            is_packed = raw[:2] == b"\x1f\x8b"
            found[str(path.relative_to(folder))] = gzip.decompress(raw) if is_packed else raw
    return found


def test_keys_are_in_no_output_log_journal_export_or_backup(jiyi, tmp_path: Path):
    jiyi("remember", "灯塔在海边", "--tag", "海")
    for name, key in KEYS.items():
        assert jiyi("config", "set", name, key).code == 0
    said = [
        jiyi(*command)
        for command in (
            ("config", "--json"),
            ("config",),
            ("doctor", "--json"),
            ("doctor",),
            ("stats", "--json"),
            ("journal", "tail", "--json"),
            ("model", "status", "--json"),
            ("maintenance", "status", "--json"),
            ("backup",),
            ("export", "out.jsonl.gz", "--with-history", "--with-trash"),
            ("export", "notes", "--form", "markdown"),
            ("config", "set", "chat.api_key", KEYS["chat.api_key"] + " \x00"),
            ("config", "set", "recall.k", "many"),
        )
    ]
    assert all(answer.code == 0 for answer in said[:11]), [answer.err for answer in said]
    everything = {f"output {n}": (a.out + a.err).encode() for n, a in enumerate(said)}
    everything |= contents(Path.cwd()) | contents(jiyi.home)
    places = {
        place
        for place, content in everything.items()
        for key in KEYS.values()
        if key.encode() in content and not place.startswith(OWN)
    }
    assert places == set()
    kept = [path for path in (jiyi.home / "config-history").rglob("*") if path.is_file()]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (jiyi.home / "config.yaml", *kept))
