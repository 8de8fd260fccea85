"""Lists of short things within the size of an answer: what does not fit is counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from engine.mcp_server.quoting import one_line, size
from engine.mcp_server.recorded import View

_PREVIEW_CHARS = 120
_LEFT_OUT_SIZE = 40


def fitted(top: Sequence[str], lines: Sequence[str], view: View) -> str:
    """The lines below ``top`` as far as they fit, and how many more there are."""
    shown = list(top)
    for number, line in enumerate(lines):
        more = view.say("mcp.undo.more", count=len(lines) - number)
        if size("\n".join([*shown, line, more])) > view.limit:
            return "\n".join([*shown, more])
        shown.append(line)
    return "\n".join(shown)


def fitted_json(
    whole: Mapping[str, object], name: str, entries: Sequence[object], view: View
) -> str:
    """One object with ``entries`` under ``name`` as far as they fit; ``left_out`` counts the
    rest."""
    kept = list(entries)
    while True:
        document = {**whole, name: kept, "left_out": len(entries) - len(kept)}
        text = json.dumps(document, ensure_ascii=False)
        if not kept or size(text) <= view.limit - _LEFT_OUT_SIZE:
            return text
        kept = kept[: len(kept) * 3 // 4]


def preview(text: str) -> str:
    """The beginning of a recorded text on one line, behind its bar."""
    return f"│ {one_line(text, _PREVIEW_CHARS)}"


def data_frame(lines: Sequence[str], view: View) -> list[str]:
    """Lines with recorded text under the sentence that says they are data."""
    return [view.say("mcp.frame_begin"), *lines] if lines else []
