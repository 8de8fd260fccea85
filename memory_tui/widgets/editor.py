"""Writing a memory: its text and its fields, checked while they are typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Label, Static, TextArea

from engine.config.messages import Language, render
from engine.domain.errors import JiyiError
from engine.domain.memory import Memory
from engine.use_cases.drafts import Draft
from memory_tui.fields import FORM_FIELDS, read_field, shown_field
from memory_tui.plain import content
from memory_tui.widgets.body_area import BodyArea
from memory_tui.widgets.line_input import LineInput

Words = Callable[..., str]
_DRAFT_PAUSE_S = 0.5


class Editor(Vertical):
    """The form of one memory, new or there already. It only says what was typed; whoever hears
    :class:`Saved` writes it."""

    class Saved(Message):
        """The form is to be written. ``fields`` are those that differ from what was loaded."""

        def __init__(self, memory: Memory | None, fields: Mapping[str, object]) -> None:
            super().__init__()
            self.memory = memory
            self.fields = fields

    class Typed(Message):
        """Something was typed: a moment to keep a draft."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.memory: Memory | None = None
        self._language: Language = "en"
        self._zone: tzinfo | None = None
        self._loaded: dict[str, str] = {}
        self._pause: Timer | None = None

    def compose(self) -> ComposeResult:
        """The text above, the fields below."""
        yield Label("", id="editor-title", markup=False)
        yield BodyArea(id="body")
        with VerticalScroll(id="fields"):
            for name in FORM_FIELDS:
                with Horizontal(classes="field"):
                    yield Label(name, id=f"label-{name}", markup=False)
                    yield LineInput(id=f"field-{name}", compact=True, select_on_focus=False)
        yield Static("", id="editor-note")

    def load(
        self, memory: Memory | None, words: Words, language: Language, zone: tzinfo | None
    ) -> None:
        """Begin with a memory, or with an empty form."""
        self.memory, self._language, self._zone = memory, language, zone
        title = "tui.editor.new" if memory is None else "tui.editor.title"
        number = memory.id if memory else 0
        self.query_one("#editor-title", Label).update(words(title, id=number))
        text = memory.text if memory else ""
        self._loaded = {name: shown_field(memory, name, zone) for name in FORM_FIELDS}
        self._loaded["text"] = text
        for name in FORM_FIELDS:
            self.query_one(f"#label-{name}", Label).update(words(f"tui.field.{name}"))
            self.query_one(f"#field-{name}", Input).value = self._loaded[name]
        self.query_one("#body", BodyArea).load_text(text)
        self.note("")
        self.focus_text()

    @property
    def _text(self) -> str:
        return self.query_one("#body", BodyArea).text

    @property
    def changed(self) -> bool:
        """Whether anything differs from what was loaded."""
        return self._typed() != self._loaded

    @property
    def draft(self) -> Draft:
        """What was typed, to be kept: the text and every field that was changed."""
        typed = self._typed()
        fields = {name: typed[name] for name in FORM_FIELDS if typed[name] != self._loaded[name]}
        if self.memory is None:
            return Draft(self._text, fields=fields)
        return Draft(self._text, self.memory.id, self.memory.revision, fields)

    def take_up(self, draft: Draft) -> bool:
        """Go on from a draft; False when it says nothing new."""
        self.query_one("#body", BodyArea).text = draft.text
        for name, value in draft.fields.items():
            if name in FORM_FIELDS:
                self.query_one(f"#field-{name}", Input).value = value
        return self.changed

    def focus_text(self) -> None:
        """Type in the body."""
        self.query_one("#body", BodyArea).focus()

    def rebase(self, memory: Memory) -> None:
        """The memory changed meanwhile: what was typed now stands against its newest form."""
        self.memory = memory
        self._loaded = {name: shown_field(memory, name, self._zone) for name in FORM_FIELDS}
        self._loaded["text"] = memory.text

    def finish(self) -> None:
        """What was typed is dealt with: no draft of it is to be kept any more."""
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        self._loaded = self._typed()

    def note(self, sentence: str) -> None:
        """What is wrong with the form, or worth a word."""
        self.query_one("#editor-note", Static).update(content(sentence))

    def save(self) -> None:
        """Hand over what was typed, if it can be read."""
        try:
            fields = self._fields()
        except JiyiError as error:
            self.note(render(error, self._language))
            return
        self.post_message(self.Saved(self.memory, fields))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say at once when a field cannot be read."""
        event.stop()
        name = (event.input.id or "").removeprefix("field-")
        try:
            read_field(name, event.value, self._zone)
        except JiyiError as error:
            event.input.add_class("-wrong")
            self.note(render(error, self._language))
            return
        event.input.remove_class("-wrong")
        self.note("")
        self._rest()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keep a draft."""
        event.stop()
        self._rest()

    def _rest(self) -> None:
        """At most once in a while, however fast one types."""
        if self._pause is None:
            self._pause = self.set_timer(_DRAFT_PAUSE_S, self._tell)

    def _tell(self) -> None:
        self._pause = None
        if self.changed:
            self.post_message(self.Typed(self.draft))

    def _typed(self) -> dict[str, str]:
        typed = {name: self.query_one(f"#field-{name}", Input).value for name in FORM_FIELDS}
        return typed | {"text": self._text}

    def _fields(self) -> dict[str, object]:
        typed = self._typed()
        return {
            name: value if name == "text" else read_field(name, value, self._zone)
            for name, value in typed.items()
            if value != self._loaded[name]
        }
