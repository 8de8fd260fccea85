"""What the places of the browser share: asking the engine beside the keyboard, saying what
came of it, and the line of keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.worker import WorkType

from engine.bootstrap import Engine
from engine.config.messages import render
from engine.domain.errors import JiyiError
from memory_tui.actions import ACTIONS, GO, NOT_WHILE_TYPING, Action, actions_in
from memory_tui.long_work import LongWork
from memory_tui.messages import StoreChanged
from memory_tui.widgets.key_bar import KeyBar
from memory_tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from memory_tui.app import Browser

T = TypeVar("T")


class Place(Screen[None]):
    """One place. Subclasses name it, compose :meth:`body` and carry out actions by ``do_…``."""

    place: ClassVar[str] = ""

    def __init_subclass__(cls, **options: bool) -> None:
        """Bind the keys of the actions that work in this place, before Textual reads them."""
        bound: list[BindingType] = [
            Binding(",".join(action.keys), f"act('{action.name}')", show=False)
            for action in actions_in(cls.place)
        ]
        cls.BINDINGS = [*cls.__dict__.get("BINDINGS", ()), *bound]
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._long: LongWork | None = None

    def compose(self) -> ComposeResult:
        """The status line, the body, the keys."""
        yield StatusLine(id="status")
        yield from self.body()
        yield KeyBar(id="keys")

    def body(self) -> ComposeResult:
        """What is between status line and keys."""
        yield Widget()

    @property
    def browser(self) -> Browser:
        """The app."""
        return cast("Browser", self.app)

    @property
    def engine(self) -> Engine:
        """The open store."""
        return self.browser.engine

    @property
    def status(self) -> StatusLine:
        """The top line."""
        return self.query_one("#status", StatusLine)

    @property
    def is_typing(self) -> bool:
        """Whether letters go into a text."""
        return isinstance(self.focused, Input | TextArea)

    def say(self, key: str, **params: object) -> None:
        """Tell in the top line what happened; it stays until the next thing happens."""
        self.status.tell(self.browser.words(key, **params))

    def complain(self, error: JiyiError) -> None:
        """Tell what went wrong and what to do."""
        self.status.warn(render(error, self.browser.language))

    def ask(self, work: Callable[[], T], then: Callable[[T], None], group: str = "") -> None:
        """Let the engine work in a thread and go on with its answer.

        A newer question of the same group makes an older one's answer void; without a group
        every answer counts.
        """

        async def run() -> None:
            try:
                answer = await self.browser.in_thread(work)
            except JiyiError as error:
                self.complain(error)
                return
            then(answer)

        asked: WorkType[None] = run
        self.run_worker(asked, group=group, exclusive=bool(group))

    def ask_long(self, work: Callable[[LongWork], T], then: Callable[[T], None]) -> None:
        """The same for work that tells how far it is; Escape stops it. One at a time."""
        if self._long is not None:
            self.say("tui.busy")
            return
        loop = asyncio.get_running_loop()

        def tell(done: int, of: int) -> None:
            loop.call_soon_threadsafe(self.status.progress, done, of)

        self._long = LongWork(tell)

        async def run(long: LongWork) -> None:
            try:
                answer = await self.browser.in_thread(partial(work, long))
            except JiyiError as error:
                self.complain(error)
                return
            finally:
                self._long = None
                self.status.progress(0, 0)
            then(answer)

        asked: WorkType[None] = partial(run, self._long)
        self.run_worker(asked)

    def stop_long(self) -> bool:
        """Stop long work; False when there is none."""
        if self._long is None:
            return False
        self._long.stop()
        return True

    def on_mount(self) -> None:
        """Show the keys that work here."""
        self.show_words()

    def on_descendant_focus(self) -> None:
        """Other keys work in a text than in a list."""
        self.show_keys()

    def show_words(self) -> None:
        """Everything that depends on the language."""
        self.status.place(self.browser.words(f"tui.place.{self.place}"), self.browser.store_name)
        self.show_keys()

    def show_keys(self) -> None:
        """The next useful keys."""
        usable = [action for action in actions_in(self.place) if self.is_usable(action)]
        labelled = [(one, self.browser.words(f"tui.action.{one.name}")) for one in usable]
        self.query_one("#keys", KeyBar).show(labelled, typing=self.is_typing)

    def is_usable(self, action: Action) -> bool:
        """Whether an action would do something now: what writes needs a store that can be
        written."""
        if action.writes and not self.browser.is_writable:
            return False
        return self.can(action)

    def can(self, action: Action) -> bool:
        """Whether an action of this place would do something now."""
        return True

    def action_act(self, name: str) -> None:
        """Carry out an action by name."""
        action = next(one for one in ACTIONS if one.name == name)
        if self.is_typing and name in NOT_WHILE_TYPING:
            return
        if not action.works_in(self.place) or not self.is_usable(action):
            return
        if name.startswith(GO):
            self.browser.go(name.removeprefix(GO))
            return
        handler = getattr(self, f"do_{name}", None) or getattr(self.app, f"do_{name}")
        handler()

    def do_back(self) -> None:
        """Stop long work, else one step out."""
        if not self.stop_long():
            self.step_out()

    def step_out(self) -> None:
        """Out of what was last gone into."""

    def keep_typed(self) -> bool:
        """The program ends: keep what is being typed. False when there is nothing to keep."""
        return False

    def store_changed(self, event: StoreChanged) -> None:
        """Somebody wrote; show it."""
