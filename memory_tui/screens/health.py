"""Health: what the store holds, how it fades, what waits, what clashes, what upkeep does."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from engine.domain.health import Check
from engine.domain.jobs import JobStatus
from engine.domain.links import ClashingPair
from engine.domain.listing import FacetCount, Facets
from engine.domain.times import minute_with_offset
from engine.use_cases.conflicts import ConflictQuery, Conflicts
from engine.use_cases.health import Health
from engine.use_cases.inspect import Diagnosis
from engine.use_cases.maintenance import Tick
from memory_tui.actions import HEALTH, Action
from memory_tui.messages import RowHighlighted, RowOpened, RowsWanted, StoreChanged
from memory_tui.plain import content, fitted, one_line
from memory_tui.screens.place import Place
from memory_tui.widgets.pair_list import PairList

VIEWS = ("overview", "conflicts")
_BAR_CELLS = 24
_BACKUPS_SHOWN = 6
_NEED_PAIR = ("keep_both", "supersede", "merge_pair")
_MARKS = {"ok": "✓", "warning": "!", "failure": "✗"}


@dataclass(frozen=True, slots=True)
class Copy:
    """A backup: when it was made (epoch seconds), how large it is, and why."""

    at: float
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything that the overview shows."""

    total: int
    pinned: int
    vectors: int
    by_state: Mapping[str, int]
    facets: Facets
    health: Health
    jobs: Sequence[JobStatus]
    backups: Sequence[Copy]


class HealthScreen(Place):
    """Figures at the left, the doctor at the right; or the pairs that clash."""

    place = HEALTH

    def __init__(self) -> None:
        super().__init__()
        self._view = VIEWS[0]
        self._pairs: dict[int, ClashingPair] = {}

    def body(self) -> ComposeResult:
        """One of two views."""
        with ContentSwitcher(initial="overview", id="health"):
            with Horizontal(id="overview"):
                with VerticalScroll(id="figures"):
                    yield Static("", id="figure-text")
                with VerticalScroll(id="doctor"):
                    yield Static("", id="doctor-text")
            with Horizontal(id="conflicts"):
                with Vertical(id="left"):
                    yield PairList(id="pairs")
                with VerticalScroll(id="right"):
                    yield Static("", id="pair-text")

    @property
    def pairs(self) -> PairList:
        """The pairs that clash."""
        return self.query_one("#pairs", PairList)

    def on_mount(self) -> None:
        """Look at once; the doctor takes a little longer."""
        super().on_mount()
        self.query_one("#figures").focus()
        self._look_again()
        self.do_doctor()

    def show_words(self) -> None:
        """Labels in the language of the interface."""
        super().show_words()
        self.pairs.verdict_name = lambda name: self.browser.words(f"tui.verdict.{name}")

    def can(self, action: Action) -> bool:
        """Settling needs a pair."""
        chosen = self._view == "conflicts" and self.pairs.current is not None
        return action.name not in _NEED_PAIR or chosen

    def _look_again(self) -> None:
        self.ask(self._overview, self._show_overview, "overview")

    def _overview(self) -> Overview:
        engine = self.engine
        numbers = engine.statistics()
        copies = [Copy(one.at, one.size_bytes, one.reason) for one in engine.backups.list()]
        return Overview(
            numbers.total,
            numbers.pinned,
            numbers.vectors,
            numbers.by_state,
            engine.browsing.facets(),
            engine.forgetting.health(),
            engine.upkeep.jobs(),
            copies,
        )

    def _show_overview(self, overview: Overview) -> None:
        lines = [
            *self._counts(overview),
            *self._bars("months", overview.facets.months[:12]),
            *self._bars("kinds", overview.facets.kinds),
            *self._fading(overview.health),
            *self._jobs(overview.jobs),
            *self._backups(overview.backups),
        ]
        self.query_one("#figure-text", Static).update(Content("\n").join(lines))
        self.show_keys()

    def _title(self, key: str) -> Content:
        return Content.styled(f"\n{self.browser.words(f'tui.health.{key}')}", "bold")

    def _counts(self, overview: Overview) -> Iterator[Content]:
        words = self.browser.words
        yield Content.styled(words("tui.health.total", count=overview.total), "bold")
        states = [f"{words(f'tui.state.{name}')} {n}" for name, n in overview.by_state.items()]
        yield content("  ".join(states))
        yield content(words("tui.health.vectors", count=overview.vectors, pinned=overview.pinned))

    def _bars(self, key: str, counts: Sequence[FacetCount]) -> Iterator[Content]:
        if not counts:
            return
        yield self._title(key)
        largest = max(count.number for count in counts)
        for count in counts:
            bar = "█" * max(1, round(_BAR_CELLS * count.number / largest))
            head = f"{fitted(count.value, 12)} {count.number:>7} "
            yield Content.assemble(head, (bar, "$primary"))

    def _fading(self, health: Health) -> Iterator[Content]:
        words = self.browser.words
        yield self._title("fading")
        largest = max((*health.histogram, 1))
        for place, number in enumerate(health.histogram):
            bar = "█" * round(_BAR_CELLS * number / largest)
            yield Content.assemble(
                f"{place / 10:.1f}–{(place + 1) / 10:.1f} {number:>7} ", (bar, "$accent")
            )
        yield content(words("tui.health.risk", count=health.at_risk, score=health.min_score))
        for risk in health.forecast:
            yield content(words("tui.health.forecast", days=risk.days, count=risk.at_risk))
        yield content(words("tui.health.unused", count=health.unused))
        yield content(words("tui.health.duplicates", count=health.duplicates))

    def _jobs(self, jobs: Sequence[JobStatus]) -> Iterator[Content]:
        words, zone = self.browser.words, self.browser.zone
        yield self._title("jobs")
        for job in jobs:
            next_at = words("tui.health.off")
            if job.next_at is not None:
                next_at = minute_with_offset(job.next_at, zone)[5:16]
            last = "–"
            if job.state.last_success_at is not None:
                last = minute_with_offset(job.state.last_success_at, zone)[5:16]
            line = f"{fitted(words(f'tui.job.{job.name}'), 20)} {last:<11}  → {next_at}"
            style = "$text-error" if job.state.problem is not None else ""
            yield content(line, style)

    def _backups(self, backups: Sequence[Copy]) -> Iterator[Content]:
        words, zone = self.browser.words, self.browser.zone
        yield self._title("backups")
        if not backups:
            yield content(words("tui.health.no_backups"), "dim")
        for backup in backups[:_BACKUPS_SHOWN]:
            when = minute_with_offset(backup.at, zone)[:16]
            yield content(f"{when}  {backup.size_bytes / 1e6:8.1f} MB  {backup.reason}")

    # ---- the doctor

    def do_doctor(self) -> None:
        """Look at everything deeply."""
        self.query_one("#doctor-text", Static).update(self.browser.words("tui.health.looking"))
        self.ask(self.engine.diagnose, self._show_diagnosis, "doctor")

    def _show_diagnosis(self, diagnosis: Diagnosis) -> None:
        lines = [Content.styled(self.browser.words("tui.health.doctor"), "bold"), Content("")]
        lines += [self._check(check) for check in diagnosis.checks]
        self.query_one("#doctor-text", Static).update(Content("\n").join(lines))

    def _check(self, check: Check) -> Content:
        params: Mapping[str, object] = check.params
        sentence = self.browser.words(check.key, **params)
        style = {"warning": "$text-warning", "failure": "$text-error"}.get(check.status, "")
        return Content.assemble((f"{_MARKS.get(check.status, '·')} ", style), one_line(sentence))

    # ---- conflicts

    def do_view(self) -> None:
        """Figures, or the pairs that clash."""
        self._view = VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)]
        self.query_one("#health", ContentSwitcher).current = self._view
        if self._view == "conflicts":
            self.pairs.focus()
            self._look_for_conflicts()
        else:
            self.query_one("#figures").focus()
        self.show_keys()

    def _look_for_conflicts(self) -> None:
        self.say("tui.health.scanning")
        work = partial(self.engine.links.conflicts, ConflictQuery(limit=500))
        self.ask(work, self._show_conflicts, "conflicts")

    def _show_conflicts(self, found: Conflicts) -> None:
        self._pairs = dict(enumerate(found.pairs))
        self.pairs.supply(self._pairs)
        self.pairs.show(array("q", self._pairs))
        words = self.browser.words
        self.say("tui.health.scanned", pairs=found.total, memories=found.scanned)
        if not self._pairs:
            self.query_one("#pair-text", Static).update(words("tui.health.no_pairs"))
        self._show_pair(self.pairs.current)
        self.show_keys()

    def _show_pair(self, place: int | None) -> None:
        pair = self._pairs.get(-1 if place is None else place)
        if pair is None:
            return
        words = self.browser.words
        reason = words(f"tui.reason.{pair.reason}")
        lines = [
            Content.styled(f"{words(f'tui.verdict.{pair.verdict}')}: {reason}", "bold"),
            Content(""),
            content(f"#{pair.older.id} {words('tui.health.older')}", "dim"),
            content(pair.older.text),
            Content(""),
            content(f"#{pair.newer.id} {words('tui.health.newer')}", "dim"),
            content(pair.newer.text),
        ]
        if pair.old_part or pair.new_part:
            lines += [Content(""), content(f"{pair.old_part} → {pair.new_part}")]
        self.query_one("#pair-text", Static).update(Content("\n").join(lines))

    def do_keep_both(self) -> None:
        """Both stand: take the pair off the list."""
        self._settled("tui.health.kept_both")

    def do_supersede(self) -> None:
        """The newer one takes the place of the older one."""
        pair = self._pairs[self.pairs.current or 0]
        links, caller = self.engine.links, self.browser.caller
        work = partial(links.supersede, pair.older.id, pair.newer.id, caller)
        self.ask(work, lambda _: self._settled("tui.health.superseded"))

    def do_merge_pair(self) -> None:
        """One memory out of both."""
        pair = self._pairs[self.pairs.current or 0]
        links, caller = self.engine.links, self.browser.caller
        work = partial(links.merge, pair.newer.id, pair.older.id, caller)
        self.ask(work, lambda _: self._settled("tui.health.merged"))

    def _settled(self, key: str) -> None:
        place = self.pairs.current
        if place is None:
            return
        del self._pairs[place]
        self.pairs.show(array("q", self._pairs))
        self._show_pair(self.pairs.current)
        self.say(key)
        self.browser.look_now()
        self.show_keys()

    # ---- upkeep

    def do_tick(self) -> None:
        """Run the upkeep that is due."""
        self.say("tui.health.ticking")
        self.ask(partial(self.engine.upkeep.tick, self.browser.caller), self._ticked, "tick")

    def _ticked(self, tick: Tick) -> None:
        failed = [report.name for report in tick.reports if report.problem is not None]
        if failed:
            self.status.warn(self.browser.words("tui.health.failed", jobs=", ".join(failed)))
        else:
            self.say("tui.health.ticked", count=len(tick.reports))
        self._look_again()

    def do_backup(self) -> None:
        """Make a verified copy now."""
        self.say("tui.health.backing_up")
        self.ask(self.engine.backups.make, lambda _: self._backed_up(), "backup")

    def _backed_up(self) -> None:
        self.say("tui.health.backed_up")
        self._look_again()

    # ---- events

    def on_row_highlighted(self, event: RowHighlighted) -> None:
        """Show the pair under the cursor."""
        self._show_pair(event.row_id)

    def on_row_opened(self, event: RowOpened) -> None:
        """Read the newer memory of the pair."""
        self.browser.open_memory(self._pairs[event.row_id].newer.id)

    def on_rows_wanted(self, event: RowsWanted) -> None:
        """Everything was supplied at once."""

    def store_changed(self, event: StoreChanged) -> None:
        """Somebody wrote."""
        if self._view == "overview":
            self._look_again()

    def step_out(self) -> None:
        """Back to the figures."""
        if self._view == "conflicts":
            self.do_view()
