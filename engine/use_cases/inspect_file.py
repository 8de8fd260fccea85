"""What a file of memories holds, without opening a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from engine.exchange import archive
from engine.exchange.archive import Header
from engine.exchange.records import SavedMemory, Unreadable
from engine.exchange.source import Reading, Source
from engine.writing.opening import open_file

_LISTED = 200
_LINE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file of memories: its format and encoding, the header of an archive, how many records of
    each kind were found, from when to when the memories are (epoch seconds), and the first places
    that could not be read. ``complete`` is false where the header promises more."""

    path: Path
    format: str
    encoding: str
    header: Header | None
    counts: Mapping[str, int]
    oldest_at: float | None
    newest_at: float | None
    bad: int
    problems: tuple[Unreadable, ...]

    @property
    def complete(self) -> bool:
        """Whether all that the header counts is there."""
        promised = self.header.counts if self.header else {}
        return self.bad == 0 and all(
            self.counts.get(name, 0) >= count for name, count in promised.items()
        )


def inspect_file(path: Path, zone: tzinfo | None = None) -> FileReport:
    """Read a file through; nothing is kept of it. Raises NotFound and :class:`InvalidInput` as an
    import does."""
    whole = path.absolute()
    with ExitStack() as stack:
        return _counted(whole, open_file(whole, Reading(zone, _LINE_BYTES), stack))


def _counted(path: Path, source: Source) -> FileReport:
    counts: Counter[str] = Counter()
    problems: list[Unreadable] = []
    times: list[float] = []
    bad = 0
    for item in source.items:
        if isinstance(item, Unreadable):
            bad += 1
            problems += [item] if len(problems) < _LISTED else []
            continue
        counts[archive.kind_of(item.record)] += 1
        if isinstance(item.record, SavedMemory) and item.record.created_at is not None:
            times.append(item.record.created_at)
            times = [min(times), max(times)]
    return FileReport(
        path=path,
        format=source.format,
        encoding=source.encoding,
        header=source.header,
        counts=dict(counts),
        oldest_at=times[0] if times else None,
        newest_at=times[-1] if times else None,
        bad=bad,
        problems=tuple(problems),
    )
