"""Where a store lies: on this computer's own disk, on a network drive, or in a folder that a
program copies to other computers.

A write-ahead log needs memory shared by all who have the file open, which a network drive
does not give; and a synchronising program copies file and log apart from each other.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOCAL, NETWORK, SYNCED = "local", "network", "synced"

_NETWORK_TYPES = frozenset(
    (
        "nfs",
        "nfs3",
        "nfs4",
        "cifs",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "afpfs",
        "webdav",
        "davfs",
        "davfs2",
        "9p",
        "v9fs",
        "drvfs",
        "afs",
        "ncpfs",
        "ceph",
        "glusterfs",
        "lustre",
        "gpfs",
        "beegfs",
        "vboxsf",
        "prl_fs",
        "vmhgfs",
        "virtiofs",
    )
)
_NETWORK_FUSE = frozenset(
    (
        "sshfs",
        "rclone",
        "s3fs",
        "davfs",
        "vmhgfs-fuse",
        "gvfsd-fuse",
        "glusterfs",
        "google-drive-ocamlfuse",
    )
)
# How the programs name their folders; what follows is often an account or a company.
_SYNCED_FOLDER = re.compile(
    r"(onedrive|dropbox|google ?drive|my drive|icloud ?drive|mobile documents|box sync|"
    r"com~apple~clouddocs|nextcloud|owncloud|seafile|synology ?drive|megasync|pcloud ?drive|"
    r"yandex\.disk|nutstore|nutstore files|我的坚果云|坚果云|百度网盘同步空间|baidusyncdisk|"
    r"wpsdrive|wps云盘|腾讯微云|微云同步)( ?[-–(].*)?",
    re.IGNORECASE,
)
# What such programs put into the folder that they keep in step.
_MARKS = (".stfolder", ".dropbox", ".seafile-data", ".owncloudsync.log", ".sync_root")
_REMOTE_DRIVE = 4


@dataclass(frozen=True, slots=True)
class Place:
    """``kind`` is ``local``, ``network`` or ``synced``; ``name`` is the file system or the
    folder that tells."""

    kind: str
    name: str


def place_of(folder: Path) -> Place:
    """What kind of place a folder is; never raises, and asks no network."""
    resolved = Path(os.path.realpath(folder))
    network = _network_name(resolved)
    if network:
        return Place(NETWORK, network)
    synced = _synced_name(resolved)
    return Place(SYNCED, synced) if synced else Place(LOCAL, "")


def conflicting_copies(folder: Path, file_name: str) -> list[str]:
    """Names of other databases beside the store that were made out of it: by a program that
    met two versions, or by hand."""
    stem, suffix = os.path.splitext(file_name)
    found: list[str] = []
    with suppress(OSError):
        found = [
            path.name
            for path in folder.iterdir()
            if path.name != file_name
            and path.name.startswith(stem)
            and path.suffix == suffix
            and path.is_file()
        ]
    return sorted(found)


def file_system(mounts: Iterable[str], folder: Path) -> str:
    """The file-system type of ``folder`` by the lines of ``/proc/self/mountinfo``."""
    best, found = -1, ""
    for line in mounts:
        before, dash, after = line.partition(" - ")
        fields, types = before.split(" "), after.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = Path(_unescaped(fields[4]))
        # A later line lies over an earlier one at the same place.
        if len(point.parts) >= best and (point == folder or point in folder.parents):
            best, found = len(point.parts), types[0]
    return found


def _network_name(folder: Path) -> str:
    if sys.platform == "win32":
        return _windows_network(folder)
    if sys.platform == "darwin":
        return _mac_network(folder)
    with suppress(OSError, UnicodeDecodeError):
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
            kind = file_system(mounts, folder)
        return _if_network(kind)
    return ""


def _if_network(kind: str) -> str:
    """The type of a file system when others reach it too, else nothing."""
    folded = kind.casefold()
    fuse = folded.partition(".")[2]
    return kind if folded in _NETWORK_TYPES or fuse in _NETWORK_FUSE else ""


def _windows_network(folder: Path) -> str:
    drive = folder.drive
    # A distribution of Linux is reached through a share of its own.
    if drive.startswith("\\\\") and not drive.startswith("\\\\?\\"):
        return drive
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  (absent elsewhere)
    return drive if kernel.GetDriveTypeW(f"{drive}\\") == _REMOTE_DRIVE else ""


def _mac_network(folder: Path) -> str:
    import subprocess

    with suppress(OSError, subprocess.SubprocessError):
        run = subprocess.run(
            ["/sbin/mount"], capture_output=True, encoding="utf-8", timeout=2.0, check=False
        )
        return mac_network(run.stdout.splitlines(), folder)
    return ""


def mac_network(mounts: Iterable[str], folder: Path) -> str:
    """The network file system that ``folder`` lies on by the lines of ``mount`` on macOS,
    empty for a disk."""
    best, found = -1, ""
    for line in mounts:
        match = re.fullmatch(r".* on (?P<point>/.*) \((?P<type>[^,)]+).*\)", line)
        if match is None:
            continue
        point = Path(match["point"])
        if len(point.parts) >= best and (point == folder or point in folder.parents):
            best, found = len(point.parts), match["type"]
    return _if_network(found)


def _synced_name(folder: Path) -> str:
    for place in (folder, *folder.parents):
        if _SYNCED_FOLDER.fullmatch(place.name):
            return place.name
        # In macOS's own folder of cloud storage every entry belongs to some program.
        if place.parent.name == "CloudStorage" and place.parent.parent.name == "Library":
            return place.name
        with suppress(OSError):
            if any((place / mark).exists() for mark in _MARKS):
                return place.name
    return ""


def _unescaped(point: str) -> str:
    """A mount point as the kernel writes it, with blanks as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)
