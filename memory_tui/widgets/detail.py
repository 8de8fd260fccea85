"""One memory whole: what it says, where it comes from, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from engine.domain.ids import short_uid
from engine.domain.links import Neighbour
from engine.domain.memory import Memory, Strength
from engine.domain.times import minute_with_offset
from engine.use_cases.atoms import AtomView
from memory_tui.highlight import spans
from memory_tui.plain import content, one_line

Words = Callable[..., str]
_LINK_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class DetailView:
    """What is shown of a memory. ``now`` is when it was read."""

    memory: Memory
    strength: Strength | None
    atoms: Sequence[AtomView]
    links: Sequence[Neighbour]
    now: float


class Detail(VerticalScroll):
    """The memory under the cursor. What ``query_shown`` names is highlighted in its text."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view: DetailView | None = None
        self.query_shown = ""

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(id="detail-text")

    def show(self, view: DetailView, words: Words, zone: tzinfo | None) -> None:
        """Show a memory; another one starts at its top."""
        if self.view is None or self.view.memory.id != view.memory.id:
            self.scroll_home(animate=False)
        self.view = view
        self.query_one("#detail-text", Static).update(
            detail_content(view, words, zone, self.query_shown)
        )

    def explain(self, sentence: str) -> None:
        """Nothing to show, and why."""
        self.view = None
        self.query_one("#detail-text", Static).update(content(sentence, "dim"))


def detail_content(view: DetailView, words: Words, zone: tzinfo | None, query: str = "") -> Content:
    """The memory as one styled text, with what a query names of it highlighted."""
    memory = view.memory
    text = content(memory.text)
    for start, end in spans(memory.text, query):
        text = text.stylize("$match", start, end)
    lines = [_title(view, words), Content(""), text, Content("")]
    lines += [_field(words, name, value) for name, value in _said(memory)]
    lines.append(Content(""))
    lines += [_field(words, name, value) for name, value in _life(view, words, zone)]
    if view.atoms:
        lines += [Content(""), Content.styled(words("tui.detail.atoms"), "bold")]
        lines += [_atom(atom, words, view.now) for atom in view.atoms]
    if view.links:
        lines += [Content(""), Content.styled(words("tui.detail.links"), "bold")]
        lines += [_link(link, words) for link in view.links]
    return Content("\n").join(lines)


def _link(neighbour: Neighbour, words: Words) -> Content:
    arrow = "→" if neighbour.outwards else "←"
    relation = words(f"tui.link.{neighbour.link.relation}")
    other = neighbour.memory
    return Content.assemble(
        (f"{arrow} {relation} #{other.id} ", "dim"), one_line(other.text[:_LINK_CHARACTERS])
    )


def _title(view: DetailView, words: Words) -> Content:
    memory = view.memory
    state = words(f"tui.state.{memory.state(view.now)}")
    parts: list[tuple[str, str] | str] = [(f"#{memory.id}", "bold"), f"  {memory.kind}  {state}"]
    if memory.pinned:
        parts.append(f"  ★ {words('tui.detail.pinned')}")
    if memory.trust == "external":
        parts.append((f"  ⚠ {words('tui.detail.external')}", "$text-warning"))
    return Content.assemble(*parts)


def _said(memory: Memory) -> Iterator[tuple[str, str]]:
    lists = ("topics", "participants", "key_facts", "tags")
    for name in ("summary", "persona_summary"):
        if value := getattr(memory, name):
            yield name, str(value)
    for name in lists:
        if values := getattr(memory, name):
            yield name, ", ".join(values)
    if memory.sentiment:
        yield "sentiment", memory.sentiment
    if memory.details:
        yield "details", memory.details


def _life(view: DetailView, words: Words, zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    memory, strength = view.memory, view.strength
    yield "workspace", memory.workspace
    yield "source", " · ".join(filter(None, (memory.source, memory.source_ref, memory.agent)))
    yield "trust", words(f"tui.trust.{memory.trust}")
    importance = f"{memory.importance:.2f}"
    if strength is not None:
        importance += words("tui.detail.importance_now", value=f"{strength.importance_now:.2f}")
    yield "importance", importance
    for name in ("event_time", "created_at", "updated_at", "expires_at", "archived_at"):
        if (moment := getattr(memory, name)) is not None:
            yield name, minute_with_offset(moment, zone)
    if memory.superseded_by is not None:
        yield "superseded_by", f"#{memory.superseded_by}"
    if strength is not None:
        yield "access", words("tui.detail.access", count=strength.access_count)
        yield "salience", f"{strength.salience:.2f}"
    yield "revision", str(memory.revision)
    yield "uid", f"{memory.uid} ({short_uid(memory.uid)})"


def _field(words: Words, name: str, value: str) -> Content:
    return Content.assemble((f"{words(f'tui.field.{name}')}: ", "dim"), one_line(value))


def _atom(view: AtomView, words: Words, now: float) -> Content:
    atom = view.atom
    left = words(f"tui.atom_state.{atom.state}")
    if atom.state == "active" and atom.expires_at is not None:
        days = max(0, round((atom.expires_at - now) / 86_400))
        left = words("tui.detail.days_left", days=days)
    kind = words(f"tui.atom_type.{atom.type}")
    return Content.assemble(("• ", "dim"), one_line(atom.text), (f"  {kind}, {left}", "dim"))
