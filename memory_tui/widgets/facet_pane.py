"""Facets with counts: choose a kind, a workspace, a state, a tag, and see less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from textual.widgets import OptionList
from textual.widgets.option_list import Option

from engine.domain.listing import FacetCount, Facets
from engine.domain.scope import Filters, Scope
from memory_tui.messages import FiltersChanged
from memory_tui.plain import content, fitted

Words = Callable[..., str]
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class _Choice:
    facet: str
    value: str


class FacetPane(OptionList):
    """Enter or a click chooses a value; the same again lifts it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._filters = Filters()
        self._choices: dict[str, _Choice] = {}

    def show(self, facets: Facets, filters: Filters, words: Words) -> None:
        """Show these counts; what is chosen is marked."""
        at = self.highlighted
        self._filters = filters
        self._choices.clear()
        self.clear_options()
        for facet, counts in _groups(facets):
            self.add_option(Option(content(words(f"tui.facet.{facet}"), "bold"), disabled=True))
            for count in counts:
                self._add(facet, count, words)
        if at is not None and at < self.option_count:
            self.highlighted = at

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose or lift."""
        event.stop()
        choice = self._choices.get(event.option_id or "")
        if choice is not None:
            self.post_message(FiltersChanged(_toggled(self._filters, choice)))

    def _move_page(self, direction: Literal[1, -1]) -> None:
        # Textual 8 fails when a list that has no room is asked for its next page.
        with suppress(KeyError):
            super()._move_page(direction)

    def _add(self, facet: str, count: FacetCount, words: Words) -> None:
        choice = _Choice(facet, count.value)
        key = f"{facet}-{len(self._choices)}"
        self._choices[key] = choice
        name = words(f"tui.state.{count.value}") if facet == "states" else count.value
        mark = "●" if _is_chosen(self._filters, choice) else " "
        self.add_option(Option(content(f"{mark} {fitted(name, 14)} {count.number:>6}"), id=key))


def _groups(facets: Facets) -> Iterator[tuple[str, tuple[FacetCount, ...]]]:
    for facet in ("states", "kinds", "workspaces", "tags", "sources", "months"):
        counts = getattr(facets, facet)[:_SHOWN]
        if counts:
            yield facet, counts


def _is_chosen(filters: Filters, choice: _Choice) -> bool:
    return (
        choice.value
        in {
            "states": (filters.state,),
            "kinds": filters.kinds,
            "workspaces": (filters.scope.workspace,),
            "tags": filters.tags_all,
            "sources": filters.sources,
            "months": (),
        }[choice.facet]
    )


def _toggled(filters: Filters, choice: _Choice) -> Filters:
    lift, value = _is_chosen(filters, choice), choice.value
    if choice.facet == "states":
        return replace(filters, state=None if lift else value)
    if choice.facet == "workspaces":
        return replace(filters, scope=Scope() if lift else Scope("workspace", value, exact=True))
    chosen = () if lift else (value,)
    if choice.facet == "kinds":
        return replace(filters, kinds=chosen)
    if choice.facet == "tags":
        return replace(filters, tags_all=chosen)
    return replace(filters, sources=chosen) if choice.facet == "sources" else filters
