"""Recall lab: one query under two settings side by side, every signal of a result, judgments."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from engine.config.presets import preset_names
from engine.use_cases.judge import JudgeRequest
from engine.use_cases.recall import Hit, RecallRequest, RecallResult
from memory_tui.actions import LAB, Action
from memory_tui.messages import QueryChanged, RowHighlighted, RowOpened, StoreChanged
from memory_tui.plain import content, fitted
from memory_tui.screens.place import Place
from memory_tui.widgets.ranking import Ranked, Ranking
from memory_tui.widgets.search_line import SearchLine

_SHOWN = 20
_BAR_CELLS = 16


@dataclass(frozen=True, slots=True)
class Compared:
    """Two answers to one query, and what was judged of it by memory uid."""

    one: RecallResult
    two: RecallResult
    judged: Mapping[str, bool]


class LabScreen(Place):
    """Two rankings above, the signals of the chosen result below."""

    place = LAB

    def __init__(self) -> None:
        super().__init__()
        self._query = ""
        # None: the settings in force, with their own weights.
        self._presets: list[str | None] = [None, "hybrid-blend"]
        self._compared: Compared | None = None

    def body(self) -> ComposeResult:
        """Query, two lists, signals."""
        with Vertical(id="lab"):
            yield SearchLine(id="search")
            with Horizontal(id="rankings"):
                for side in ("one", "two"):
                    with Vertical(classes="ranking"):
                        yield Static("", id=f"title-{side}", markup=False)
                        yield Ranking(id=side)
            with VerticalScroll(id="signals"):
                yield Static("", id="signal-text")

    def on_mount(self) -> None:
        """Wait for a query."""
        super().on_mount()
        self.query_one("#one", Ranking).focus()

    def show_words(self) -> None:
        """Labels in the language of the interface."""
        super().show_words()
        words = self.browser.words
        self.query_one("#search", SearchLine).placeholder = words("tui.lab.prompt")
        self._show_titles()
        if self._compared is None:
            self.query_one("#signal-text", Static).update(content(words("tui.lab.empty"), "dim"))

    def can(self, action: Action) -> bool:
        """Judging needs a result."""
        return action.name not in ("relevant", "irrelevant") or self._chosen is not None

    @property
    def _side(self) -> Ranking:
        two = self.query_one("#two", Ranking)
        return two if two.has_focus else self.query_one("#one", Ranking)

    @property
    def _chosen(self) -> int | None:
        return self._side.current

    def on_query_changed(self, event: QueryChanged) -> None:
        """Ask both ways; Enter goes to the results."""
        if event.query != self._query:
            self._query = event.query
            self._look_again()
        if event.settled:
            self.query_one("#one", Ranking).focus()

    def _look_again(self) -> None:
        if self._query.strip():
            self.ask(partial(self._compare, self._query), self._show, "lab")

    def _compare(self, query: str) -> Compared:
        one, two = (
            self.engine.recall(RecallRequest(query, k=_SHOWN, preset=preset, touch=False))
            for preset in self._presets
        )
        judged = {item.memory_uid: item.relevant for item in self.engine.judgments(query)}
        return Compared(one, two, judged)

    def _show(self, compared: Compared) -> None:
        self._compared = compared
        _fill(self.query_one("#one", Ranking), compared.one, compared.two, compared.judged)
        _fill(self.query_one("#two", Ranking), compared.two, compared.one, compared.judged)
        self._show_titles()
        self._show_signals(self._chosen)
        stages = sum(compared.one.stages_ms.values())
        words = self.browser.words
        self.status.count(words("tui.lab.count", pool=compared.one.pool, ms=f"{stages:.0f}"))
        for channel in compared.one.degraded:
            self.status.warn(words("tui.degraded", channel=channel.channel))
        self.show_keys()

    def _show_titles(self) -> None:
        words = self.browser.words
        for side, preset in zip(("one", "two"), self._presets, strict=True):
            name = preset or words("tui.lab.settings")
            self.query_one(f"#title-{side}", Static).update(f" {name}")

    def on_row_highlighted(self, event: RowHighlighted) -> None:
        """Explain the result under the cursor."""
        if event.list is self._side:
            self._show_signals(event.row_id)

    def _show_signals(self, memory_id: int | None) -> None:
        if self._compared is None or memory_id is None:
            return
        lines: list[Content] = []
        for preset, result in zip(
            self._presets, (self._compared.one, self._compared.two), strict=True
        ):
            hit = next((hit for hit in result.hits if hit.memory.id == memory_id), None)
            name = preset or self.browser.words("tui.lab.settings")
            lines += self._explained(name, hit)
        self.query_one("#signal-text", Static).update(Content("\n").join(lines))

    def _explained(self, name: str, hit: Hit | None) -> Iterator[Content]:
        words = self.browser.words
        if hit is None:
            yield content(words("tui.lab.absent", name=name), "dim")
            return
        found_by = ", ".join(f"{channel} {rank + 1}" for channel, rank in _ranks(hit))
        yield Content.assemble((f"{name}  {hit.score:.4f}", "bold"), f"  {found_by}")
        largest = max((abs(line.contribution) for line in hit.signals), default=1.0) or 1.0
        for line in hit.signals:
            bar = "█" * round(_BAR_CELLS * abs(line.contribution) / largest)
            text = f"  {fitted(line.signal, 12)} {line.weight:5.2f} × {line.value:6.3f}"
            yield Content.assemble(f"{text} = {line.contribution:7.4f} ", (bar, "$primary"))
        if hit.path:
            steps = " ".join(f"{step.relation} {step.name}" for step in hit.path)
            yield content(words("tui.lab.path", path=steps), "dim")

    def on_row_opened(self, event: RowOpened) -> None:
        """Read the memory."""
        self.browser.open_memory(event.row_id)

    def store_changed(self, event: StoreChanged) -> None:
        """Somebody wrote."""
        self._look_again()

    def step_out(self) -> None:
        """Back to the query."""
        self.query_one("#search", SearchLine).focus()

    # ---- actions

    def do_search(self) -> None:
        """Into the query."""
        self.query_one("#search", SearchLine).focus()

    def do_preset_one(self) -> None:
        """The next setting at the left."""
        self._next_preset(0)

    def do_preset_two(self) -> None:
        """The next setting at the right."""
        self._next_preset(1)

    def _next_preset(self, side: int) -> None:
        names: list[str | None] = [None, *preset_names()]
        at = names.index(self._presets[side])
        self._presets[side] = names[(at + 1) % len(names)]
        self._show_titles()
        self._look_again()

    def do_relevant(self) -> None:
        """This answers the query."""
        self._judge(relevant=True)

    def do_irrelevant(self) -> None:
        """This does not."""
        self._judge(relevant=False)

    def _judge(self, *, relevant: bool) -> None:
        memory_id = self._chosen
        assert memory_id is not None
        refs = (memory_id,)
        request = JudgeRequest(self._query, relevant=refs)
        if not relevant:
            request = JudgeRequest(self._query, irrelevant=refs)
        work = partial(self.engine.judge, request, self.browser.caller)
        self.ask(work, lambda _: self._judged(memory_id, relevant))

    def _judged(self, memory_id: int, relevant: bool) -> None:
        key = "tui.lab.relevant" if relevant else "tui.lab.irrelevant"
        self.say(key, id=memory_id)
        self._look_again()


def _fill(
    column: Ranking, result: RecallResult, other: RecallResult, judged: Mapping[str, bool]
) -> None:
    ranks = {hit.memory.id: rank for rank, hit in enumerate(other.hits, 1)}
    rows = {
        hit.memory.id: Ranked(hit, rank, ranks.get(hit.memory.id), judged.get(hit.memory.uid))
        for rank, hit in enumerate(result.hits, 1)
    }
    column.supply(rows)
    column.show(array("q", rows))


def _ranks(hit: Hit) -> list[tuple[str, int]]:
    return sorted(hit.explanation.ranks.items(), key=lambda item: item[1])
