"""Places where a store is not safe are known by their mounts, names and marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.storage import database, places
from engine.storage.database import FILE_NAME, connect, open_database
from engine.storage.places import LOCAL, NETWORK, SYNCED, Place

MOUNTS = """\
22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/root rw
40 22 0:35 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync
41 22 0:36 / /home/me/My\\040share rw - cifs //server/share rw
42 22 0:37 / /srv rw - nfs4 server:/export rw
43 42 0:38 / /srv/local rw - xfs /dev/sdb1 rw
44 22 0:39 / /home/me/once rw - nfs4 server:/old rw
45 22 0:40 / /home/me/once rw - ext4 /dev/sdc1 rw
""".splitlines()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/me/.jiyi", "ext4"),
        ("/mnt/c/Users/me/.jiyi", "9p"),
        ("/mnt/cc", "ext4"),
        ("/home/me/My share/jiyi", "cifs"),
        ("/srv/jiyi", "nfs4"),
        ("/srv/local/jiyi", "xfs"),
        ("/home/me/once/jiyi", "ext4"),
    ],
)
def test_the_mount_that_a_folder_lies_on_is_found(folder: str, kind: str) -> None:
    assert places.file_system(MOUNTS, Path(folder)) == kind


@pytest.mark.parametrize(
    ("folder", "name"), [("/Users/me", ""), ("/Volumes/Team share/jiyi", "smbfs")]
)
def test_network_mounts_of_macos_are_known(folder: str, name: str) -> None:
    lines = [
        "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)",
        "//me@server/Team%20share on /Volumes/Team share (smbfs, nodev, nosuid, mounted by me)",
    ]
    assert places.mac_network(lines, Path(folder)) == name


@pytest.mark.parametrize(
    "name",
    [
        "OneDrive",
        "OneDrive - 某某公司",
        "Dropbox",
        "Dropbox (Personal)",
        "Google Drive",
        "iCloud Drive",
        "iCloudDrive",
        "Nextcloud",
        "坚果云",
        "我的坚果云",
        "百度网盘同步空间",
    ],
)
def test_folders_of_synchronising_programs_are_known(tmp_path: Path, name: str) -> None:
    home = tmp_path / name / "资料" / ".jiyi"
    home.mkdir(parents=True)
    assert places.place_of(home) == Place(SYNCED, name)


def test_a_mark_of_such_a_program_tells(tmp_path: Path) -> None:
    (tmp_path / "shared" / ".stfolder").mkdir(parents=True)
    assert places.place_of(tmp_path / "shared" / "jiyi").kind == SYNCED


@pytest.mark.parametrize("name", ["jiyi", "onedriver", "我的资料", "drive", "dropboxes"])
def test_ordinary_folders_are_local(tmp_path: Path, name: str) -> None:
    assert places.place_of(tmp_path / name).kind == LOCAL


def test_copies_of_the_store_beside_it_are_seen(tmp_path: Path) -> None:
    names = ["jiyi.db", "jiyi-conflict.db", "jiyi (1).db", "jiyi.db-wal", "other.db"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    assert places.conflicting_copies(tmp_path, "jiyi.db") == ["jiyi (1).db", "jiyi-conflict.db"]


def journal_mode(home: Path) -> str:
    connection = connect(home / FILE_NAME, 1.0)
    try:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])
    finally:
        connection.close()


def test_no_write_ahead_log_is_used_on_a_network_drive(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_database(home).close()
    assert journal_mode(home) == "wal"
    monkeypatch.setattr(database, "place_of", lambda _: Place(NETWORK, "nfs4"))
    opened = open_database(home)
    with opened.write() as connection:
        connection.execute("UPDATE store SET created_at = 1")
    with opened.read() as connection:
        assert connection.execute("SELECT created_at FROM store").fetchone()[0] == 1
    opened.close()
    assert journal_mode(home) == "delete"
    assert not (home / f"{FILE_NAME}-wal").exists()


def test_a_copy_put_in_the_place_of_the_store_gets_its_log_again(home: Path) -> None:
    open_database(home).close()
    connection = connect(home / FILE_NAME, 1.0)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    open_database(home).close()
    assert journal_mode(home) == "wal"
