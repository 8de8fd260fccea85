"""The vector index of one space: exact while small, a graph when large, always up to date."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.domain.errors import StoreUnavailable
from engine.vector_index.exact import ExactTable
from engine.vector_index.graph import Graph, GraphClosed, GraphSearcher, GraphTuning
from engine.vector_index.graph_build import GraphBuilder
from engine.vector_index.graph_file import GraphFolder, UnusableFile
from engine.vector_index.hits import VectorHit, unit_query, usable
from engine.vector_index.searcher import Searcher
from engine.vector_index.source import VectorSource

if TYPE_CHECKING:
    from engine.model_clients.protocol import Vector

T = TypeVar("T")

# Back to exact search only well below the size at which a graph is built, so that a store
# near that size does not swing between the two.
_BACK_TO_EXACT = 0.8


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """``mode`` is ``exact``, ``hnsw``, ``building`` (exact answers while a graph is made) or
    ``empty`` (nothing asked yet); ``size`` counts pieces; ``problem`` is a catalogue key or
    empty, ``detail`` fills its placeholder ``{detail}``."""

    mode: str
    size: int
    file_name: str = ""
    problem: str = ""
    detail: str = ""


class VectorIndex:
    """Nearest neighbours over the pieces of one space, from ``source`` and nowhere else.

    Below ``exact_below`` pieces all vectors stand in memory. From there on a graph is built
    in the background by one process, and all processes read its file in ``cache_dir``; until
    there is one, answers are exact. Safe to use from several threads.
    """

    def __init__(
        self,
        source: VectorSource,
        cache_dir: Path,
        *,
        exact_below: int,
        tuning: GraphTuning | None = None,
    ) -> None:
        self._source = source
        self._folder = GraphFolder(cache_dir, source.space_key, source.dims)
        self._exact_below = exact_below
        self._tuning = tuning or GraphTuning()
        self._builder = GraphBuilder(source, self._folder, self._tuning)
        self._updating = threading.RLock()
        self._searcher: Searcher | None = None
        self._seq = 0
        self._next_look = 0.0
        self._closed = False

    def catch_up(self) -> None:
        """Take in what changed in the store. The first call builds the index; later ones
        cost one cheap question when nothing changed. Errors of the source pass through and
        leave the index as it was."""
        with self._updating:
            self._check_open()
            if self._searcher is None:
                self._start()
            else:
                self._follow(self._searcher)
            self._choose_form()

    def search(
        self, query: Vector, count: int, allowed: frozenset[int] | None = None
    ) -> list[VectorHit]:
        """The best piece of each of the ``count`` nearest owners, best first; only owners in
        ``allowed`` when it is given. Answers as of the last :meth:`catch_up`.

        Raises :class:`engine.domain.errors.InvalidInput` for a query without direction.
        """
        vector = unit_query(query, self._source.dims)
        if count < 1 or (allowed is not None and not allowed):
            return []
        return self._answer(lambda searcher: searcher.search(vector, count, allowed))

    def cosines(self, query: Vector, owner_ids: Iterable[int]) -> dict[int, float]:
        """The exact cosine of the best piece of each given owner; unknown ones are left out."""
        vector = unit_query(query, self._source.dims)
        wanted = frozenset(owner_ids)
        return self._answer(lambda searcher: searcher.cosines(vector, wanted))

    def first_vectors(self, owner_ids: Sequence[int]) -> dict[int, Vector]:
        """The vector of the first piece of each given owner, unit length, read from the store;
        owners without one are left out."""
        block, rows = usable(self._source.vectors_of(owner_ids), self._source.dims)
        found: dict[int, Vector] = {}
        for owner, row in sorted(zip(block.owner_ids.tolist(), range(len(rows)), strict=True)):
            found.setdefault(owner, rows[row])
        return found

    def size(self) -> int:
        """Live pieces as of the last :meth:`catch_up`."""
        searcher = self._searcher
        return searcher.size if searcher else 0

    def status(self) -> IndexStatus:
        """The state for people; touches neither store nor folder."""
        searcher = self._searcher
        problem, detail = self._builder.problem
        name = searcher.graph.path.name if isinstance(searcher, GraphSearcher) else ""
        size = searcher.size if searcher else 0
        return IndexStatus(self._mode(searcher), size, name, problem, detail)

    def close(self) -> None:
        """Stop building, then let go of memory and file."""
        self._builder.stop()
        with self._updating:
            self._closed = True
            searcher, self._searcher = self._searcher, None
            if searcher is not None:
                searcher.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("error.index_closed")

    def _answer(self, question: Callable[[Searcher], T]) -> T:
        while True:
            searcher = self._searcher
            if searcher is None:
                self.catch_up()
                continue
            # A newer graph may take this one's place in the middle of a search.
            with suppress(GraphClosed):
                return question(searcher)

    def _start(self) -> None:
        large = self._source.count() >= self._exact_below
        if not (large and self._adopt_newer(None)):
            self._load_table()

    def _load_table(self) -> None:
        seq, block = self._source.snapshot()
        table = ExactTable(self._source.dims, len(block))
        table.apply(frozenset(), block)
        self._replace(table, seq)

    def _follow(self, searcher: Searcher) -> None:
        newest = self._source.last_change()
        if newest > self._seq:
            seq, owners, block = self._source.changes_after(self._seq)
            searcher.apply(owners, block)
            self._seq = seq
        elif newest < self._seq:
            self._start()

    def _choose_form(self) -> None:
        searcher = self._searcher
        assert searcher is not None
        look = self._look_is_due()
        if not isinstance(searcher, GraphSearcher):
            if searcher.size >= self._exact_below:
                self._renew(None, look)
        elif searcher.size < _BACK_TO_EXACT * self._exact_below:
            self._load_table()
        elif searcher.worn or (look and not searcher.graph.path.exists()):
            self._renew(searcher.graph, look)

    def _look_is_due(self) -> bool:
        now = time.monotonic()
        if not (self._builder.take_finished() or now >= self._next_look):
            return False
        self._next_look = now + self._tuning.poll_s
        return True

    def _renew(self, current: Graph | None, look: bool) -> None:
        if not (look and self._adopt_newer(current)):
            self._builder.start(current.seq if current else -1)

    def _adopt_newer(self, current: Graph | None) -> bool:
        # A file from after the last change belongs to a store that was replaced.
        newest = self._source.last_change()
        for seq, path in self._folder.newest_first():
            if seq <= newest and _is_newer(seq, path, current):
                graph = self._opened(path)
                if graph is not None:
                    self._adopt(graph)
                    return True
        return False

    def _opened(self, path: Path) -> Graph | None:
        try:
            return Graph(self._folder.open(path), self._tuning)
        except UnusableFile:
            self._folder.set_aside(path)
        except (OSError, ImportError):
            # Gone meanwhile, held by a scanner, or no native library here: exact goes on.
            pass
        return None

    def _adopt(self, graph: Graph) -> None:
        with ExitStack() as undo:
            undo.callback(graph.close)
            searcher = GraphSearcher(graph, self._source, self._tuning)
            seq, owners, block = self._source.changes_after(graph.seq)
            searcher.apply(owners, block)
            undo.pop_all()
        self._replace(searcher, seq)
        self._folder.remove_older(graph.path)

    def _replace(self, searcher: Searcher, seq: int) -> None:
        old, self._searcher, self._seq = self._searcher, searcher, seq
        if old is not None:
            old.close()

    def _mode(self, searcher: Searcher | None) -> str:
        if searcher is None:
            return "empty"
        if isinstance(searcher, GraphSearcher):
            return "hnsw"
        waiting = searcher.size >= self._exact_below and not self._builder.problem[0]
        return "building" if waiting else "exact"


def _is_newer(seq: int, path: Path, current: Graph | None) -> bool:
    if current is None or seq > current.seq:
        return True
    return seq == current.seq and path != current.path and not current.path.exists()
