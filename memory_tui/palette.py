"""The command palette over the one list of actions."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import (
    CommandPalette,
    DiscoveryHit,
    Hit,
    Hits,
    Provider,
)

from memory_tui.actions import Action, actions_in, shown_key

if TYPE_CHECKING:
    from memory_tui.app import Browser


class ActionCommands(Provider):
    """Every action of the place that is shown."""

    async def discover(self) -> Hits:
        """All of them, for an empty query."""
        for action in self._actions():
            label, sentence = self._words(action)
            yield DiscoveryHit(label, partial(self._act, action), help=sentence)

    async def search(self, query: str) -> Hits:
        """Those whose label or sentence matches."""
        matcher = self.matcher(query)
        for action in self._actions():
            label, sentence = self._words(action)
            score = max(matcher.match(label), matcher.match(sentence), matcher.match(action.name))
            if score > 0:
                yield Hit(
                    score, matcher.highlight(label), partial(self._act, action), help=sentence
                )

    def _actions(self) -> tuple[Action, ...]:
        here = self._browser.here
        return actions_in(here.place) if here else ()

    def _words(self, action: Action) -> tuple[str, str]:
        words = self._browser.words
        label = f"{words(f'tui.action.{action.name}')}  {shown_key(action.keys[0])}"
        return label, words(f"tui.sentence.{action.name}")

    def _act(self, action: Action) -> None:
        if self._browser.here is not None:
            self._browser.here.action_act(action.name)

    @property
    def _browser(self) -> Browser:
        return cast("Browser", self.app)


class Palette(CommandPalette):
    """The palette on a window of any size."""

    def _action_command_list(self, action: str) -> None:
        # Textual 8 fails when a list that has no room is asked for its next page.
        with suppress(KeyError):
            super()._action_command_list(action)
