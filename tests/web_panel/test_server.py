"""Starting the panel: one a store, and a port that is taken (B46)."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.web_panel.running import running_panel, started_again


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_second_start_opens_the_one_that_runs(tmp_path: Path) -> None:
    home = tmp_path / "记忆 store"
    with running_panel(home, "--port", "0") as panel:
        again = started_again(home)
        assert again.returncode == 0
        assert f":{panel.port}/login?token=" in again.stdout
        assert "already" in again.stderr
        # A link of either start works, and only once.
        assert status_of(panel.url) == 401  # without a cookie jar the front page is shut
        assert status_of(panel.url) == 403
        mark = home / "panel.json"
        if sys.platform != "win32":
            assert stat.S_IMODE(mark.stat().st_mode) == 0o600
        assert json.loads(mark.read_text("utf-8"))["port"] == panel.port
    assert not mark.exists()


def test_a_taken_port_gives_way_to_the_next_and_says_which(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with running_panel(tmp_path / "store", "--port", str(taken)) as panel:
            assert panel.port != taken
            assert panel.process.stderr is not None
            said = panel.process.stderr.readline()
            while str(taken) not in said:
                said = panel.process.stderr.readline()
            assert str(panel.port) in said


def test_a_mark_of_a_dead_panel_is_no_obstacle(tmp_path: Path) -> None:
    home = tmp_path / "store"
    home.mkdir()
    (home / "panel.json").write_text('{"port": 1, "key": "x"}', encoding="utf-8")
    with running_panel(home, "--port", "0") as panel:
        assert panel.url.startswith("http://127.0.0.1:")


def test_it_listens_on_the_loopback_address_alone(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    with running_panel(tmp_path / "store", "--port", "0") as panel:
        found = psutil.Process(panel.process.pid).net_connections(kind="inet")
        addresses = {one.laddr.ip for one in found if one.status == "LISTEN"}
        assert addresses == {"127.0.0.1"}
        assert os.path.exists(tmp_path / "store" / "panel.json")
