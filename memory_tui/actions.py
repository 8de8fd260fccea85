"""Everything a person can do, once: keys, footer, command palette and help read this list.

A label is the message ``tui.action.<name>``, what it does in a sentence
``tui.sentence.<name>``. An action is carried out by the method ``do_<name>`` of the screen,
else of the app.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MEMORIES = "memories"
GRAPH = "graph"
ATOMS = "atoms"
TIMELINE = "timeline"
LAB = "lab"
HEALTH = "health"
PLACES = (MEMORIES, GRAPH, ATOMS, TIMELINE, LAB, HEALTH)
"""The places of the browser, in the order of their number keys."""

GO = "go_"
"""The names of actions that lead to a place are this and the place."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do.

    ``keys`` are Textual key names, the first is shown. ``places`` are where it works, empty for
    everywhere. ``weight`` orders the footer: the smallest come first and stay when it is narrow;
    0 is not shown there. ``writes`` are those that a store which cannot be written refuses.
    """

    name: str
    keys: tuple[str, ...]
    places: tuple[str, ...] = ()
    weight: int = 0
    writes: bool = False

    def works_in(self, place: str) -> bool:
        """Whether it works in a place."""
        return not self.places or place in self.places


_HERE = (MEMORIES,)

NOT_WHILE_TYPING = ("undo", "redo")
"""Their control keys are a text's own while one types."""


def _writing(
    name: str, keys: tuple[str, ...], places: tuple[str, ...] = (), weight: int = 0
) -> Action:
    return Action(name, keys, places, weight, writes=True)


ACTIONS: tuple[Action, ...] = (
    Action("go_memories", ("1",)),
    Action("go_graph", ("2",)),
    Action("go_atoms", ("3",)),
    Action("go_timeline", ("4",)),
    Action("go_lab", ("5",)),
    Action("go_health", ("6",)),
    _writing("sample", ("i",), _HERE, 5),
    _writing("save", ("ctrl+s", "f2"), _HERE, 6),
    Action("back", ("escape",), (), 7),
    Action("search", ("slash", "ctrl+f"), (MEMORIES, GRAPH, ATOMS, TIMELINE, LAB), 10),
    _writing("new", ("n", "ctrl+n"), _HERE, 20),
    _writing("edit", ("e", "f4"), _HERE, 21),
    Action("mark", ("space", "x"), _HERE, 22),
    Action("mark_all", ("A", "ctrl+a"), _HERE),
    _writing("delete", ("d", "delete"), _HERE, 23),
    _writing("pin", ("p",), _HERE, 24),
    _writing("archive", ("a",), _HERE, 25),
    _writing("restore", ("r",), _HERE, 26),
    _writing("tag", ("number_sign", "t"), _HERE, 27),
    _writing("merge_marked", ("m",), _HERE, 17),
    _writing("link_marked", ("l",), _HERE, 18),
    _writing("supersede_marked", ("s",), _HERE, 19),
    Action("order", ("o",), (MEMORIES, ATOMS), 30),
    Action("facets", ("f",), _HERE, 31),
    Action("copy", ("y", "c"), (MEMORIES, TIMELINE), 32),
    Action("copy_file", ("Y",), _HERE),
    Action("follow", ("g",), _HERE, 28),
    Action("hops", ("plus", "equals_sign"), (GRAPH,), 20),
    Action("back_node", ("backspace", "b"), (GRAPH,), 21),
    _writing("rename", ("R",), (GRAPH,), 22),
    _writing("merge", ("M",), (GRAPH,), 23),
    _writing("separate", ("S",), (GRAPH,), 24),
    Action("state", ("s",), (ATOMS,), 20),
    Action("type", ("t",), (ATOMS,), 21),
    _writing("strengthen", ("plus", "equals_sign"), (ATOMS,), 22),
    _writing("expire", ("x",), (ATOMS,), 23),
    _writing("wake", ("w",), (ATOMS,), 24),
    _writing("retype", ("y",), (ATOMS,), 25),
    Action("preset_one", ("a",), (LAB,), 20),
    Action("preset_two", ("b",), (LAB,), 21),
    _writing("relevant", ("plus", "equals_sign"), (LAB,), 22),
    _writing("irrelevant", ("minus",), (LAB,), 23),
    Action("view", ("v",), (TIMELINE, HEALTH), 20),
    _writing("undo_this", ("z",), (TIMELINE,), 21),
    Action("keep_both", ("k",), (HEALTH,), 21),
    _writing("supersede", ("s",), (HEALTH,), 22),
    _writing("merge_pair", ("m",), (HEALTH,), 23),
    _writing("tick", ("t",), (HEALTH,), 24),
    Action("backup", ("b",), (HEALTH,), 25),
    Action("doctor", ("D",), (HEALTH,), 26),
    _writing("undo", ("u", "ctrl+z"), (), 40),
    _writing("redo", ("U", "ctrl+y"), (), 41),
    Action("theme", ("T",)),
    Action("language", ("L",)),
    Action("help", ("question_mark", "f1"), (), 1),
    Action("palette", ("colon", "ctrl+p"), (), 2),
    Action("quit", ("q", "ctrl+q"), (), 3),
)
"""All actions, in the order of help and palette."""


def actions_in(place: str) -> tuple[Action, ...]:
    """The actions that work in a place."""
    return tuple(action for action in ACTIONS if action.works_in(place))


def shown_key(key: str) -> str:
    """How a key is written on the screen."""
    return _SHOWN.get(key, key.replace("ctrl+", "^"))


def key_shown(action: Action, *, typing: bool) -> str | None:
    """The key to show for an action: its first, or while one types the first that is no letter of
    the text; ``None`` for none."""
    usable = (key for key in action.keys if not typing or _is_no_letter(key))
    return next((shown_key(key) for key in usable), None)


def _is_no_letter(key: str) -> bool:
    return key.startswith("ctrl+") or key == "escape" or bool(re.fullmatch(r"f\d+", key))


_SHOWN = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "space": "␣",
    "delete": "Del",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "number_sign": "#",
    "backspace": "⌫",
    "escape": "Esc",
}
