"""Atoms: the small facts, how long each has left, and how its worth fades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from engine.domain.atom import ATOM_ORDERS, ATOM_STATES, ATOM_TYPES, Atom, AtomFilters
from engine.domain.times import day, minute_with_offset
from engine.use_cases.atoms import AtomQuery, AtomView
from engine.use_cases.forecast import AtomForecast
from memory_tui.actions import ATOMS, Action
from memory_tui.messages import QueryChanged, RowHighlighted, RowOpened, RowsWanted, StoreChanged
from memory_tui.plain import content
from memory_tui.plots import day_axis, plot
from memory_tui.screens.place import Place
from memory_tui.widgets.atom_list import AtomList
from memory_tui.widgets.search_line import SearchLine

_DAY_S = 86_400.0
_PLOT_ROWS = 8
_FOUND_AT_MOST = 100
_NEED_ONE = ("strengthen", "expire", "wake", "retype")


@dataclass(frozen=True, slots=True)
class AtomDetail:
    """An atom and how it fades."""

    view: AtomView
    forecast: AtomForecast


class AtomsScreen(Place):
    """The list beside the chosen atom."""

    place = ATOMS

    def __init__(self) -> None:
        super().__init__()
        self._filters = AtomFilters(states=("active",))
        self._order = ATOM_ORDERS[0]
        self._query = ""

    def body(self) -> ComposeResult:
        """Search line, filters, list and the atom."""
        with Horizontal(id="atoms"):
            with Vertical(id="left"):
                yield SearchLine(id="search")
                yield Static("", id="atom-filters", markup=False)
                yield AtomList(id="list")
            with VerticalScroll(id="right"):
                yield Static("", id="atom")

    @property
    def rows(self) -> AtomList:
        """The list."""
        return self.query_one("#list", AtomList)

    def on_mount(self) -> None:
        """Those that end first."""
        super().on_mount()
        self.rows.focus()
        self._look_again()

    def show_words(self) -> None:
        """Labels in the language of the interface."""
        super().show_words()
        self.rows.type_name = lambda name: self.browser.words(f"tui.atom_type.{name}")
        line = self.query_one("#search", SearchLine)
        line.placeholder = self.browser.words("tui.search.prompt")
        self._show_filters()

    def can(self, action: Action) -> bool:
        """What needs an atom needs one."""
        return action.name not in _NEED_ONE or self.rows.current is not None

    def _look_again(self, *, first: bool = False) -> None:
        self.rows.now = self.engine.context.clock.now()
        browsing = self.engine.browsing
        look: Callable[[], Sequence[int]] = partial(
            browsing.order_atoms, self._filters, self._order
        )
        if self._query.strip():
            look = self._search
        self.ask(look, partial(self._show_ids, first=first), "list")
        self._show_filters()

    def _search(self) -> Sequence[int]:
        query = AtomQuery(self._query, k=_FOUND_AT_MOST, types=self._filters.types, touch=False)
        return [view.atom.id for view in self.engine.search_atoms(query)]

    def _show_ids(self, ids: Sequence[int], *, first: bool = False) -> None:
        self.rows.show(ids, first=first)
        self.status.count(self.browser.words("tui.atoms.count", count=len(ids)))
        if not ids:
            self._explain(self.browser.words("tui.atoms.empty"))
        self.show_keys()

    def _show_filters(self) -> None:
        words = self.browser.words
        state = next(iter(self._filters.states), "")
        kind = next(iter(self._filters.types), "")
        line = words(
            "tui.atoms.filters",
            state=words(f"tui.atom_state.{state}") if state else words("tui.atoms.any"),
            type=words(f"tui.atom_type.{kind}") if kind else words("tui.atoms.any"),
            order=words(f"tui.atom_order.{self._order}"),
        )
        self.query_one("#atom-filters", Static).update(f" {line}")

    def on_row_highlighted(self, event: RowHighlighted) -> None:
        """Show the atom under the cursor."""
        if event.row_id is not None:
            self.ask(partial(self._read, event.row_id), self._show_atom, "detail")

    def _read(self, atom_id: int) -> AtomDetail | None:
        view = self.engine.browsing.atoms_by_id([atom_id]).get(atom_id)
        if view is None:
            return None
        end = view.atom.expires_at
        left_days = 30.0 if end is None else (end - self.rows.now) / _DAY_S
        days = max(7, min(3_650, round(left_days * 1.2)))
        return AtomDetail(view, self.engine.forgetting.forecast_atom(atom_id, days))

    def _show_atom(self, detail: AtomDetail | None) -> None:
        if detail is not None:
            self.query_one("#atom", Static).update(self._written(detail))

    def _explain(self, sentence: str) -> None:
        self.query_one("#atom", Static).update(content(sentence, "dim"))

    def _written(self, detail: AtomDetail) -> Content:
        words, atom = self.browser.words, detail.view.atom
        width = max(20, self.query_one("#right").size.width - 2)
        values = [point.value for point in detail.forecast.points]
        curve = "\n".join([*plot(values, width, _PLOT_ROWS), day_axis(len(values) - 1, width)])
        lines = [
            Content.assemble((f"#{atom.id}", "bold"), f"  {self._kind(atom)}"),
            Content(""),
            content(atom.text),
            Content(""),
            content(words("tui.atoms.worth", value=f"{detail.view.value:.2f}"), "bold"),
            Content.styled(curve, "$primary"),
        ]
        lines += [self._turn(turn.kind, turn.at) for turn in detail.forecast.turns]
        lines.append(Content(""))
        lines += [content(line, "dim") for line in self._facts(detail)]
        return Content("\n").join(lines)

    def _kind(self, atom: Atom) -> str:
        words = self.browser.words
        return f"{words(f'tui.atom_type.{atom.type}')}, {words(f'tui.atom_state.{atom.state}')}"

    def _turn(self, kind: str, at: float) -> Content:
        date = day(at, self.browser.zone)
        return content(self.browser.words(f"tui.turn.{kind}", date=date))

    def _facts(self, detail: AtomDetail) -> list[str]:
        words, atom, zone = self.browser.words, detail.view.atom, self.browser.zone
        lines = [
            words("tui.atoms.rule", rule=atom.rule, confidence=f"{atom.confidence:.2f}"),
            words("tui.atoms.life", days=f"{atom.ttl_days:.1f}", curve=atom.curve),
            words("tui.atoms.said", mentions=atom.mentions, reinforced=atom.reinforced),
        ]
        if atom.deadline is not None:
            deadline = minute_with_offset(atom.deadline, zone)
            lines.append(words("tui.atoms.deadline", date=deadline))
        shown = ", ".join(f"#{one}" for one in detail.view.memory_ids[:12])
        return [*lines, words("tui.atoms.memories", ids=shown)]

    def on_rows_wanted(self, event: RowsWanted) -> None:
        """Read the rows that came into view."""
        self.ask(partial(self.engine.browsing.atoms_by_id, event.ids), self.rows.supply)

    def on_row_opened(self, event: RowOpened) -> None:
        """Read the memory that states the atom."""
        self.ask(partial(self._read, event.row_id), self._open)

    def _open(self, detail: AtomDetail | None) -> None:
        if detail is not None and detail.view.memory_ids:
            self.browser.open_memory(detail.view.memory_ids[-1])

    def on_query_changed(self, event: QueryChanged) -> None:
        """Search; Enter goes to the results."""
        if event.query != self._query:
            self._query = event.query
            self._look_again(first=True)
        if event.settled:
            self.rows.focus()

    def store_changed(self, event: StoreChanged) -> None:
        """Somebody wrote."""
        self.rows.forget()
        self._look_again()

    def step_out(self) -> None:
        """Out of the search."""
        if self._query:
            self.query_one("#search", SearchLine).value = ""
        self.rows.focus()

    # ---- actions

    def do_search(self) -> None:
        """Into the search line."""
        self.query_one("#search", SearchLine).focus()

    def do_state(self) -> None:
        """The next state, and all of them."""
        states = (*ATOM_STATES, "")
        state = states[(states.index(next(iter(self._filters.states), "")) + 1) % len(states)]
        self._filters = replace(self._filters, states=(state,) if state else ())
        self._look_again(first=True)

    def do_type(self) -> None:
        """The next type, and all of them."""
        types = (*ATOM_TYPES, "")
        kind = types[(types.index(next(iter(self._filters.types), "")) + 1) % len(types)]
        self._filters = replace(self._filters, types=(kind,) if kind else ())
        self._look_again(first=True)

    def do_order(self) -> None:
        """The next order."""
        at = ATOM_ORDERS.index(self._order)
        self._order = ATOM_ORDERS[(at + 1) % len(ATOM_ORDERS)]
        self._look_again(first=True)

    def do_strengthen(self) -> None:
        """A longer life for the atom."""
        self._change(self.engine.reinforce_atom, "strengthen")

    def do_expire(self) -> None:
        """End its life now."""
        self._change(self.engine.expire_atom, "expire")

    def do_wake(self) -> None:
        """A whole life again for what has ended."""
        self._change(self.engine.wake_atom, "wake")

    def do_retype(self) -> None:
        """The next type for this atom."""
        self.ask(self._next_type, partial(self._changed, "retype"))

    def _next_type(self) -> Atom:
        atom_id = self.rows.current
        assert atom_id is not None
        atom = self.engine.browsing.atoms_by_id([atom_id])[atom_id].atom
        following = ATOM_TYPES[(ATOM_TYPES.index(atom.type) + 1) % len(ATOM_TYPES)]
        return self.engine.correct_atom_type(atom_id, following, self.browser.caller)

    def _change(self, work: Callable[..., Atom], name: str) -> None:
        change = partial(work, self.rows.current, self.browser.caller)
        self.ask(change, partial(self._changed, name))

    def _changed(self, name: str, atom: Atom) -> None:
        self.say(f"tui.atoms.done_{name}", id=atom.id, kind=self._kind(atom))
        self.rows.forget([atom.id])
        self._look_again()
        self.ask(partial(self._read, atom.id), self._show_atom, "detail")
