"""Writing a memory beside the list: the form, its draft, and two versions of one memory."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from engine.config.messages import render
from engine.domain.errors import Conflict, JiyiError
from engine.domain.memory import Memory
from engine.use_cases.drafts import Draft
from engine.use_cases.edit import Edited, EditRequest
from engine.use_cases.memorize import Memorized, MemorizeRequest
from memory_tui.actions import Action
from memory_tui.messages import StoreChanged
from memory_tui.screens.place import Place
from memory_tui.widgets.detail import Detail
from memory_tui.widgets.editor import Editor
from memory_tui.widgets.versions import Versions

_WHILE_WRITING = ("help", "palette", "quit", "theme", "save", "back", "copy_file")


class WritingPlace(Place):
    """A place where the memory at the right can become a form."""

    def right_side(self) -> ComposeResult:
        """The memory, its form, or two versions of it."""
        with ContentSwitcher(initial="detail", id="right"):
            yield Detail(id="detail")
            yield Editor(id="editor")
            yield Versions(id="versions")

    @property
    def editor(self) -> Editor:
        """The form."""
        return self.query_one("#editor", Editor)

    @property
    def is_writing(self) -> bool:
        """Whether the form, or the choice between two versions, is open."""
        return self._right.current != "detail"

    @property
    def _right(self) -> ContentSwitcher:
        return self.query_one("#right", ContentSwitcher)

    @property
    def home_widget(self) -> Widget:
        """What has the keyboard when nothing is written."""
        raise NotImplementedError

    def can(self, action: Action) -> bool:
        """While a form is open only it is worked on."""
        if not self.is_writing:
            return action.name != "save"
        if action.name == "save":
            return self._right.current == "editor"
        return action.name in _WHILE_WRITING

    def step_out(self) -> None:
        """Out of the choice of versions, out of the form."""
        if self._right.current == "versions":
            self._right.current = "editor"
            self.editor.focus_text()
        else:
            self._leave()

    # ---- the form

    def do_new(self) -> None:
        """Write a new memory; a draft that was left is there again."""
        self.ask(partial(self.engine.drafts.find, None), partial(self._open_form, None), "form")

    def edit_memory(self, memory_id: int) -> None:
        """Edit a memory, on from its draft if there is one."""
        self.ask(partial(self._to_edit, memory_id), lambda found: self._open_form(*found), "form")

    def _to_edit(self, memory_id: int) -> tuple[Memory | None, Draft | None]:
        memory = self.engine.browsing.memories([memory_id]).get(memory_id)
        return memory, self.engine.drafts.find(memory_id)

    def _open_form(self, memory: Memory | None, draft: Draft | None) -> None:
        browser = self.browser
        self._right.current = "editor"
        self.add_class("-editing")
        self.editor.load(memory, browser.words, browser.language, browser.zone)
        self.say("tui.editor.keys")
        if draft is not None and self.editor.take_up(draft):
            self.say("tui.draft.found")
        self.show_keys()

    def do_save(self) -> None:
        """Write what the form holds."""
        self.editor.save()

    def _leave(self) -> None:
        if self.keep_typed():
            self.say("tui.draft.kept")
        else:
            memory = self.editor.memory
            self.engine.drafts.drop(None if memory is None else memory.id)
            self.say("tui.editor.left")
        self._close()

    def _close(self) -> None:
        self.editor.finish()
        self._right.current = "detail"
        self.remove_class("-editing")
        self.home_widget.focus()
        self.show_keys()

    def _close_saved(self, memory_id: int | None) -> None:
        self._close()
        self.engine.drafts.drop(memory_id)

    def keep_typed(self) -> bool:
        """Keep what is being typed at once."""
        if not self.is_writing or not self.editor.changed:
            return False
        try:
            self.engine.drafts.keep(self.editor.draft)
        except JiyiError as error:
            self.complain(error)
            return False
        return True

    def on_editor_typed(self, event: Editor.Typed) -> None:
        """Keep a draft."""
        self.ask(partial(self.engine.drafts.keep, event.draft), lambda _: None, "draft")

    def on_editor_saved(self, event: Editor.Saved) -> None:
        """Write it; when somebody was faster, both versions are offered."""
        memory, caller = event.memory, self.browser.caller
        if memory is None:
            request = MemorizeRequest({"source": "tui", **event.fields})
            self.ask(partial(self.engine.memorize, request, caller), self._stored)
            return
        if not event.fields:
            self._close_saved(memory.id)
            self.say("tui.done.nothing")
            return
        edit = EditRequest(memory.id, event.fields, memory.revision)
        self.ask(partial(self._edit, edit), self._edited)

    def _edit(self, request: EditRequest) -> Edited | Conflict:
        try:
            return self.engine.edit(request, self.browser.caller)
        except Conflict as conflict:
            return conflict

    def _edited(self, done: Edited | Conflict) -> None:
        if isinstance(done, Conflict):
            self._offer_versions()
            return
        self._close_saved(done.memory.id)
        self.say("tui.done.edit", count=len(done.changed))
        self.browser.look_now()

    def _stored(self, done: Memorized) -> None:
        self._close_saved(None)
        self.say("tui.done.new", id=done.memory.id)
        self.written(done.memory)
        self.browser.look_now()

    def written(self, memory: Memory) -> None:
        """A new memory was written."""

    # ---- somebody else wrote the same memory

    def tell_of_newer(self, event: StoreChanged) -> None:
        """Say so when what is being edited was changed by somebody else."""
        memory = self.editor.memory
        if memory is None or memory.id not in event.memories:
            return
        newer = event.memories[memory.id]
        if newer is None or newer.revision != memory.revision:
            self.editor.note(self.browser.words("tui.editor.newer"))

    def _offer_versions(self) -> None:
        mine = self.editor.memory
        assert mine is not None
        theirs = self.engine.browsing.memories([mine.id]).get(mine.id)
        versions = self.query_one("#versions", Versions)
        versions.show(self.editor.draft.text, theirs, self.browser.words)
        self._right.current = "versions"
        versions.focus()

    def on_versions_chosen(self, event: Versions.Chosen) -> None:
        """Keep one of two versions, or go on editing mine against the newer one."""
        theirs, mine = event.theirs, self.editor.memory
        if event.choice == "theirs":
            self._close_saved(None if mine is None else mine.id)
            self.say("tui.versions.theirs")
            return
        self._right.current = "editor"
        if theirs is None or theirs.deleted_at is not None:
            self._keep_as_new()
            return
        self.editor.rebase(theirs)
        if event.choice == "mine":
            self.editor.save()
        else:
            self.editor.focus_text()

    def _keep_as_new(self) -> None:
        """What I edited is gone: my text becomes a new memory."""
        old = self.editor.memory
        request = MemorizeRequest({"source": "tui", "text": self.editor.draft.text})
        self.engine.drafts.drop(None if old is None else old.id)
        self.ask(partial(self.engine.memorize, request, self.browser.caller), self._stored)

    def complain(self, error: JiyiError) -> None:
        """What went wrong stands where one looks: in the form while it is open."""
        if self._right.current == "editor":
            self.editor.note(render(error, self.browser.language))
        else:
            super().complain(error)
