"""The browser: six places over one open store."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from typing import ClassVar, TypeVar

from textual.app import App
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.worker import WorkType

from engine.bootstrap import Engine
from engine.config.editing import set_value
from engine.config.messages import Language, detect_language, text
from engine.domain.caller import Caller
from engine.domain.errors import JiyiError
from engine.domain.memory import Memory
from engine.use_cases.undo import Undone
from memory_tui.messages import StoreChanged
from memory_tui.palette import ActionCommands, Palette
from memory_tui.screens.atoms import AtomsScreen
from memory_tui.screens.graph import GraphScreen
from memory_tui.screens.health import HealthScreen
from memory_tui.screens.help import HelpScreen
from memory_tui.screens.lab import LabScreen
from memory_tui.screens.memories import MemoriesScreen
from memory_tui.screens.place import Place
from memory_tui.screens.timeline import TimelineScreen
from memory_tui.sturdy_driver import driver_class
from memory_tui.themes import PREFIX, THEMES, VARIABLES

ACTOR = "tui"
_LOOK_EVERY_S = 0.7
_THREADS = 4
_MOST_TOLD = 1_000
"""After larger changes everything in view is read again."""
T = TypeVar("T")


class Browser(App[None]):
    """The terminal browser of one store."""

    TITLE = "Jiyi"
    CSS_PATH = "styles/browser.tcss"
    COMMANDS = {ActionCommands}  # noqa: RUF012 - Textual reads it as it is
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-normal"), (120, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self, engine: Engine, language: Language | None = None, *, store_name: str | None = None
    ) -> None:
        """``store_name`` is shown in place of the folder of the store."""
        super().__init__(driver_class=driver_class())
        self._store_name = store_name or str(engine.context.home)
        self.engine = engine
        self.caller = Caller(ACTOR)
        settings = engine.context.settings
        self.language: Language = language or detect_language(
            settings.language, engine.context.live.environ
        )
        self._places: dict[str, Place] = {}
        self._seen = 0
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="jiyi-tui")
        self.is_writable = engine.browsing.is_writable

    @property
    def failure(self) -> Exception | None:
        """What ended the browser, when it was no person."""
        return self._exception

    @property
    def zone(self) -> tzinfo | None:
        """The zone in which times are shown."""
        return self.engine.context.zone

    @property
    def store_name(self) -> str:
        """The folder of the store, as it is shown."""
        name = self._store_name
        return name if self.is_writable else f"{name} {self.words('tui.read_only')}"

    def words(self, key: str, **params: object) -> str:
        """A sentence of the catalogue in the language of the interface."""
        return text(key, self.language, **params)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours that our styles name and a theme need not."""
        return VARIABLES

    def on_mount(self) -> None:
        """Open the first place and begin to watch the store."""
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = PREFIX + self.engine.context.settings.tui.theme
        self.set_class(self.no_color, "-no-colour")
        self._seen = self.engine.browsing.changes().number
        self._heed_signals()
        self.go("memories")
        self.set_interval(_LOOK_EVERY_S, self.look_now)

    def go(self, place: str) -> Place:
        """Show a place; each is made when it is first wanted and keeps what it shows."""
        screen = self._places.get(place)
        if screen is None:
            screen = self._places[place] = PLACE_SCREENS[place]()
            # An installed screen lives on when it is left.
            self.install_screen(screen, place)
        if self.screen is not screen:
            if len(self.screen_stack) > 1:
                self.pop_screen()
            self.push_screen(screen)
        return screen

    def open_memory(self, memory_id: int) -> None:
        """Show one memory where memories are read."""
        place = self.go("memories")
        assert isinstance(place, MemoriesScreen)
        self.call_after_refresh(place.open, memory_id)

    def open_graph(self, memory_id: int) -> None:
        """Show the surroundings of a memory in the graph."""
        place = self.go("graph")
        assert isinstance(place, GraphScreen)
        self.call_after_refresh(place.look_at_memory, memory_id)

    @property
    def here(self) -> Place | None:
        """The place that is shown, under whatever lies over it."""
        places = [screen for screen in self.screen_stack if isinstance(screen, Place)]
        return places[-1] if places else None

    async def in_thread(self, work: Callable[[], T]) -> T:
        """What the engine answers. Few threads that stay, since each has its own connection."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def look_now(self) -> None:
        """Ask whether somebody wrote; the question costs less than a millisecond."""
        look: WorkType[None] = self._look
        self.run_worker(look, group="changes", exclusive=True)

    async def _look(self) -> None:
        try:
            changed = await self.in_thread(self._changed)
        except JiyiError:
            # A store that is busy is looked at again at the next turn.
            return
        if changed is not None:
            self._tell(*changed)

    def _changed(self) -> tuple[int, dict[int, Memory | None] | None] | None:
        changed = self.engine.browsing.changes(self._seen)
        if changed.number == self._seen:
            return None
        if len(changed.memory_ids) > _MOST_TOLD:
            return changed.number, None
        found = self.engine.browsing.memories(changed.memory_ids)
        return changed.number, {one: found.get(one) for one in changed.memory_ids}

    def _tell(self, number: int, memories: dict[int, Memory | None] | None) -> None:
        self._seen = number
        for place in self._places.values():
            if place.is_running:
                place.store_changed(StoreChanged(memories))

    def on_unmount(self) -> None:
        """Nobody waits for the engine any more."""
        for place in self._places.values():
            place.stop_long()
        self._threads.shutdown(wait=False, cancel_futures=True)

    # ---- ends that nobody asked for

    def _heed_signals(self) -> None:
        """A closed terminal or a kill is an orderly end: what is typed is kept and the terminal
        is left as it was. Windows has no such signals for a loop."""
        if self.is_headless:
            return
        for name in ("SIGTERM", "SIGHUP"):
            with suppress(NotImplementedError, AttributeError):
                number = getattr(signal, name)
                asyncio.get_running_loop().add_signal_handler(number, self._ended_by, number)

    def _ended_by(self, number: int) -> None:
        self.keep_typed()
        self.exit(return_code=128 + number)

    def keep_typed(self) -> bool:
        """Keep as drafts what is being typed; False when nothing is."""
        return any([place.keep_typed() for place in self._places.values() if place.is_running])

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own way out of a fault; before it is taken nothing that was typed may be lost.
        with suppress(JiyiError, NoMatches):
            self.keep_typed()
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        # The traceback belongs in the log, which whoever started the browser writes.
        self._close_messages_no_wait()

    def do_undo(self) -> None:
        """Take the last change of this browser back."""
        if self.here is not None:
            work = partial(self.engine.journal.undo, self.caller, None)
            self.here.ask(work, self.tell_undone)

    def do_redo(self) -> None:
        """Do again what was taken back."""
        if self.here is not None:
            self.here.ask(partial(self.engine.journal.redo, self.caller), self.tell_undone)

    def tell_undone(self, done: Undone) -> None:
        """Say what was taken back or brought back, and show it."""
        if self.here is not None:
            self.here.say(f"tui.done.{done.operation}", count=len(done.entries))
        self.look_now()

    def do_theme(self) -> None:
        """The next theme, kept for the next start."""
        names = [theme.name for theme in THEMES]
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]
        self._keep_setting("tui.theme", self.theme.removeprefix(PREFIX))

    def do_language(self) -> None:
        """The other language, kept for the next start."""
        self.language = "en" if self.language == "zh" else "zh"
        for place in self._places.values():
            if place.is_running:
                place.show_words()
        self._keep_setting("language", self.language)

    def _keep_setting(self, key: str, value: str) -> None:
        """Write it into the settings of the user; one that cannot be written is said."""
        if self.here is not None:
            path = self.engine.context.live.path
            self.here.ask(partial(set_value, path, key, value), lambda _: None)

    def do_help(self) -> None:
        """The keys of this place."""
        if self.here is not None:
            self.push_screen(HelpScreen(self.here.place, self.words))

    def do_palette(self) -> None:
        """Everything that can be done, by name."""
        self.action_command_palette()

    def action_command_palette(self) -> None:
        """The same, however it is asked for."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def do_quit(self) -> None:
        """Leave; what is being typed stays as a draft."""
        kept = self.keep_typed()
        self.exit(message=self.words("tui.draft.kept_at_exit") if kept else None)


PLACE_SCREENS: dict[str, Callable[[], Place]] = {
    "memories": MemoriesScreen,
    "graph": GraphScreen,
    "atoms": AtomsScreen,
    "timeline": TimelineScreen,
    "lab": LabScreen,
    "health": HealthScreen,
}
"""How each place is made."""
