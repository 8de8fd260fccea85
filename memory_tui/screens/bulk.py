"""What is done to marked memories: states, tags, and joining them with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual.app import ComposeResult

from engine.config.messages import render
from engine.domain.memory import Memory
from engine.domain.vocabulary import RELATIONS
from engine.use_cases.bulk import BulkDone, BulkRequest
from engine.use_cases.drafts import Draft
from engine.use_cases.join import Joined, JoinRequest
from memory_tui.actions import Action
from memory_tui.clipboard import write_copy
from memory_tui.long_work import LongWork
from memory_tui.screens.writing import WritingPlace
from memory_tui.widgets.memory_list import MemoryList
from memory_tui.widgets.prompt_line import PromptLine

_NEED_ONE = (
    *("edit", "mark", "mark_all", "pin", "archive", "delete", "restore", "copy", "copy_file"),
    *("follow", "tag"),
)
_NEED_MARKS = ("merge_marked", "link_marked", "supersede_marked")
_READ_AT_ONCE = 500


class BulkPlace(WritingPlace):
    """A place with a list of memories that can be marked."""

    def left_side(self) -> ComposeResult:
        """The list, and the line that asks."""
        yield MemoryList(id="list")
        yield PromptLine(id="prompt")

    @property
    def rows(self) -> MemoryList:
        """The list."""
        return self.query_one("#list", MemoryList)

    def can(self, action: Action) -> bool:
        """What needs a memory needs one; joining needs others than the one under the cursor."""
        if action.name in _NEED_ONE and self.rows.current is None:
            return False
        if action.name in _NEED_MARKS and not self._others:
            return False
        return super().can(action)

    @property
    def _others(self) -> list[int]:
        """The marked ones without the one under the cursor."""
        if not self.rows.marks:
            return []
        return [one for one in self.rows.chosen if one != self.rows.current]

    def tell_of_drafts(self, drafts: Sequence[Draft]) -> None:
        """Say what was being typed when the program ended."""
        for draft in drafts[:1]:
            if draft.memory_id is None:
                self.say("tui.draft.new_waits")
            else:
                self.say("tui.draft.waits", id=draft.memory_id)

    # ---- marking

    def do_mark(self) -> None:
        """Mark the memory under the cursor."""
        self.rows.change_marks()

    def do_mark_all(self) -> None:
        """Mark everything that is listed."""
        self.rows.marks.add(self.rows.ids)
        self.rows.refresh()
        self.say("tui.marked", count=len(self.rows.marks))
        self.show_keys()

    # ---- states

    def do_delete(self) -> None:
        """To the trash; undo brings it back."""
        self._change("delete")

    def do_restore(self) -> None:
        """Back from the trash, the archive, or from being superseded."""
        self._change("restore")

    def do_pin(self) -> None:
        """Pin, or unpin what is pinned."""
        self._change("pin", "unpin", lambda memory: memory.pinned)

    def do_archive(self) -> None:
        """Archive, or bring back what is archived."""
        self._change("archive", "unarchive", lambda memory: memory.archived_at is not None)

    def do_tag(self) -> None:
        """Ask for tags."""
        self.query_one("#prompt", PromptLine).ask("tag", self.browser.words("tui.prompt.tag"))
        self.show_keys()

    def _change(
        self, action: str, reverse: str = "", is_so: Callable[[Memory], bool] | None = None
    ) -> None:
        """Change the chosen ones; where all of them are so already, the reverse."""
        refs, browsing = self.rows.chosen, self.engine.browsing

        def choose() -> BulkRequest:
            so = is_so is not None and all(
                is_so(memory)
                for start in range(0, len(refs), _READ_AT_ONCE)
                for memory in browsing.memories(refs[start : start + _READ_AT_ONCE]).values()
            )
            return BulkRequest(refs, reverse if so else action)

        self._run(choose)

    def _run(self, choose: Callable[[], BulkRequest]) -> None:
        caller = self.browser.caller

        def work(long: LongWork) -> tuple[BulkRequest, BulkDone]:
            request = choose()
            return request, self.engine.bulk.change(request, caller, long)

        self.ask_long(work, self._changed)

    def _changed(self, answer: tuple[BulkRequest, BulkDone]) -> None:
        request, done = answer
        seen = len(done.changed) + done.unchanged + len(done.failed)
        key = f"tui.done.{request.action}"
        if request.action == "edit":
            key = "tui.done.tagged"
        if seen < len(request.refs):
            key = "tui.done.stopped"
        self.rows.change_marks(on=False)
        self.say(key, count=len(done.changed), of=len(request.refs))
        if done.failed:
            ref, reason = done.failed[0]
            self.status.warn(f"{ref}: {render(reason, self.browser.language)}")
        self.browser.look_now()

    # ---- joining

    def do_merge_marked(self) -> None:
        """The marked ones become one with the one under the cursor."""
        self._join("merge")

    def do_supersede_marked(self) -> None:
        """The one under the cursor takes the place of the marked ones."""
        self._join("supersede")

    def do_link_marked(self) -> None:
        """Ask how the one under the cursor is related to the marked ones."""
        hint = self.browser.words("tui.prompt.link", relations=", ".join(RELATIONS))
        self.query_one("#prompt", PromptLine).ask("link", hint)
        self.show_keys()

    def _join(self, how: str, relation: str = "related") -> None:
        if self.rows.current is None:
            return
        request = JoinRequest(how, self.rows.current, self._others, relation)
        work = partial(self.engine.bulk.join, request, self.browser.caller)
        self.ask(work, partial(self._joined, how))

    def _joined(self, how: str, done: Joined) -> None:
        self.rows.change_marks(on=False)
        self.say(f"tui.done.{how}", count=len(done.changed), id=done.memory.id)
        self.browser.look_now()

    def on_prompt_line_answered(self, event: PromptLine.Answered) -> None:
        """Tags to add and to take away, or a relation."""
        self.rows.focus()
        if event.asked == "link":
            self._join("link", event.answer or "related")
            return
        words = [word for word in event.answer.replace("，", ",").split(",") if word.strip()]
        add = tuple(word.strip().lstrip("+") for word in words if not word.strip().startswith("-"))
        remove = tuple(word.strip()[1:].strip() for word in words if word.strip().startswith("-"))
        request = BulkRequest(self.rows.chosen, "edit", {}, add, remove)
        if add or remove:
            self._run(lambda: request)

    # ---- copying

    def do_copy(self) -> None:
        """Copy the text of the chosen memories."""
        self.ask(self._texts, self._copy)

    def do_copy_file(self) -> None:
        """Write the text of the chosen memories to a file."""
        home = self.engine.context.home
        self.ask(
            lambda: write_copy(home, "\n\n".join(self._texts())),
            lambda path: self.say("tui.copied_file", path=path),
        )

    def _texts(self) -> list[str]:
        refs = self.rows.chosen
        found = self.engine.browsing.memories(refs)
        return [found[ref].text for ref in refs if ref in found]

    def _copy(self, texts: Sequence[str]) -> None:
        self.app.copy_to_clipboard("\n\n".join(texts))
        self.say("tui.copied", count=len(texts))
