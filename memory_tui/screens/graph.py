"""Graph: what surrounds a person, topic, fact or memory, drawn; and the memories behind it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from engine.domain.errors import NotFound
from engine.domain.graph import Edge, Node
from engine.use_cases.subgraph import Subgraph
from memory_tui.actions import GRAPH, Action
from memory_tui.messages import QueryChanged, RowOpened, RowsWanted, StoreChanged
from memory_tui.plain import content, fitted, one_line
from memory_tui.screens.place import Place
from memory_tui.widgets.graph_canvas import MARKS, GraphCanvas
from memory_tui.widgets.line_input import LineInput
from memory_tui.widgets.memory_list import MemoryList
from memory_tui.widgets.search_line import SearchLine

_EDGES_SHOWN = 12
_MOST_HOPS = 3
_STEP_CELLS = 16
_NAME_CELLS = 22


class GraphScreen(Place):
    """The drawing beside what is known of the chosen node."""

    place = GRAPH

    def __init__(self) -> None:
        super().__init__()
        self._hops = 1
        self._way: list[int] = []
        self._names: dict[int, str] = {}
        self._naming = ""

    def body(self) -> ComposeResult:
        """Search line, drawing, and the side."""
        with Horizontal(id="graph"):
            with Vertical(id="graph-left"):
                yield SearchLine(id="search")
                yield Static("", id="graph-way", markup=False)
                yield GraphCanvas(id="canvas")
            with Vertical(id="graph-side"):
                yield Static("", id="node")
                yield LineInput(id="new-name", compact=True)
                yield MemoryList(id="behind")

    @property
    def canvas(self) -> GraphCanvas:
        """The drawing."""
        return self.query_one("#canvas", GraphCanvas)

    def on_mount(self) -> None:
        """Begin with the node that most memories name."""
        super().on_mount()
        self.query_one("#new-name").display = False
        self.query_one("#behind", MemoryList).zone = self.browser.zone
        self.canvas.focus()
        if not self._way:
            self.ask(partial(self.engine.graph_nodes, None, 1), self._begin, "graph")

    def show_words(self) -> None:
        """Labels in the language of the interface."""
        super().show_words()
        line = self.query_one("#search", SearchLine)
        line.placeholder = self.browser.words("tui.graph.prompt")
        self._show_node()

    def can(self, action: Action) -> bool:
        """What needs a node needs one."""
        needs = ("rename", "merge", "hops", "back_node", "separate")
        return action.name not in needs or self.canvas.node is not None

    def look_at_memory(self, memory_id: int) -> None:
        """Show the surroundings of the first node that a memory names."""
        self.ask(partial(self.engine.graph_view.nodes_of, memory_id), self._begin, "graph")

    def _begin(self, nodes: Sequence[Node]) -> None:
        if nodes:
            self._go(nodes[0].id)
        else:
            self.query_one("#node", Static).update(content(self.browser.words("tui.graph.empty")))

    def _go(self, node_id: int) -> None:
        if not self._way or self._way[-1] != node_id:
            self._way.append(node_id)
        look = partial(self.engine.graph_view.around, node_id, hops=self._hops, limit=self._room())
        self.ask(look, self._show, "graph")

    def _room(self) -> int:
        """As many nodes as the drawing can hold without hiding itself."""
        size = self.canvas.size
        return max(6, min(40, size.width * size.height // 90))

    def _show(self, part: Subgraph) -> None:
        self.canvas.show(part)
        count = self.browser.words(
            "tui.graph.count", nodes=len(part.nodes), edges=len(part.edges), hidden=part.hidden
        )
        self.status.count(count)
        self._show_way(part)
        self._show_node()
        self.show_keys()

    def _show_way(self, part: Subgraph) -> None:
        self._names |= {node.id: node.name for node in part.nodes if node.id in self._way}
        steps = [
            fitted(self._names.get(node_id, "…"), _STEP_CELLS).rstrip()
            for node_id in self._way[-5:]
        ]
        hops = self.browser.words("tui.graph.hops", hops=self._hops)
        self.query_one("#graph-way", Static).update(f" {' › '.join(steps)}   {hops}")

    def _show_node(self) -> None:
        node = self.canvas.node
        if node is None:
            return
        words = self.browser.words
        kind = words(f"tui.node.{node.type}")
        lines = [
            Content.assemble((f"{MARKS[node.type]} {one_line(node.name)}", "bold"), f"  {kind}"),
            content(words("tui.graph.memories", count=node.memories), "dim"),
        ]
        lines += [self._edge(edge, node) for edge in self.canvas.edges_here()[:_EDGES_SHOWN]]
        self.query_one("#node", Static).update(Content("\n").join(lines))
        behind = partial(self.engine.graph_view.memories_of, node.id)
        self.ask(behind, self.query_one("#behind", MemoryList).show, "behind")

    def _edge(self, edge: Edge, node: Node) -> Content:
        forward = edge.source.id == node.id
        other = edge.target if forward else edge.source
        relation = self.browser.words(f"tui.relation.{edge.relation}")
        arrow = "→" if forward else "←"
        return Content.assemble(
            (f"{arrow} {relation} ", "dim"),
            f"{MARKS[other.type]} {fitted(other.name, _NAME_CELLS).rstrip()}",
            (f"  {edge.weight:.1f}", "dim"),
        )

    def on_graph_canvas_chosen(self, event: GraphCanvas.Chosen) -> None:
        """Tell of the chosen node, or go there."""
        if event.entered:
            self._go(event.node.id)
        else:
            self._show_node()

    def on_query_changed(self, event: QueryChanged) -> None:
        """Go to the node of that name on Enter; while typing when it is exact."""
        name = event.query.strip()
        if name:
            self.ask(partial(self._named, name, event.settled), self._found, "named")
        if event.settled:
            self.canvas.focus()

    def _named(self, name: str, settled: bool) -> Node | None:
        try:
            return self.engine.neighbourhood(name).node
        except NotFound:
            if settled:
                raise
            return None

    def _found(self, node: Node | None) -> None:
        if node is not None:
            self._go(node.id)

    def on_rows_wanted(self, event: RowsWanted) -> None:
        """Read the memories that came into view."""
        behind = self.query_one("#behind", MemoryList)
        self.ask(partial(self.engine.browsing.memories, event.ids), behind.supply)

    def on_row_opened(self, event: RowOpened) -> None:
        """Read a memory where memories are read."""
        self.browser.open_memory(event.row_id)

    def store_changed(self, event: StoreChanged) -> None:
        """Somebody wrote: draw the same place anew."""
        if self._way:
            self._go(self._way[-1])
        else:
            self.ask(partial(self.engine.graph_nodes, None, 1), self._begin, "graph")

    # ---- actions

    def do_search(self) -> None:
        """Into the search line."""
        self.query_one("#search", SearchLine).focus()

    def do_hops(self) -> None:
        """One step further, up to three, then back to one."""
        self._hops = self._hops % _MOST_HOPS + 1
        if self._way:
            self._go(self._way[-1])

    def do_back_node(self) -> None:
        """To the node before."""
        if len(self._way) > 1:
            self._way.pop()
            self._go(self._way[-1])

    def do_rename(self) -> None:
        """Give the chosen node another name."""
        self._ask_name("rename")

    def do_merge(self) -> None:
        """Let the chosen node mean another one."""
        self._ask_name("merge")

    def do_separate(self) -> None:
        """Make a name that was merged or renamed a node of its own again."""
        self._ask_name("separate")

    def _ask_name(self, what: str) -> None:
        self._naming = what
        line = self.query_one("#new-name", Input)
        node = self.canvas.node
        line.value = node.name if node is not None and what == "rename" else ""
        line.placeholder = self.browser.words(f"tui.graph.{what}")
        line.display = True
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The name is typed."""
        node, name = self.canvas.node, event.value.strip()
        self.step_out()
        if node is None or not name:
            return
        engine, caller = self.engine, self.browser.caller
        work = {
            "rename": partial(engine.rename_node, node.name, name, caller),
            "merge": partial(engine.merge_nodes, node.name, name, caller),
            "separate": partial(engine.separate_name, name, caller),
        }[self._naming]
        self.ask(work, self._named_anew)

    def _named_anew(self, node: Node) -> None:
        self.say(f"tui.graph.done_{self._naming}", name=node.name)
        self._way.clear()
        self._go(node.id)
        self.browser.look_now()

    def step_out(self) -> None:
        """Out of the name, back to the drawing, then to the node before."""
        line = self.query_one("#new-name", Input)
        if line.display:
            line.display = False
        elif self.canvas.has_focus:
            self.do_back_node()
        self.canvas.focus()
