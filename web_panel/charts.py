"""Charts as SVG, drawn on the server: they need no script and can be read as a table too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

_WIDTH, _LABEL, _ROW, _VALUE = 420, 120, 24, 60
_COLUMNS_HEIGHT, _FOOT, _HEAD = 140, 24, 18
_CJK_FROM = 0x2E80


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure of a chart."""

    label: str
    value: float
    shown: str = ""

    @property
    def text(self) -> str:
        """The figure as people read it."""
        return self.shown or f"{self.value:,.0f}"


def bars(title: str, figures: Sequence[Bar]) -> Markup:
    """Horizontal bars with names at the left; Markup that may be put into a page as it is."""
    largest = max((bar.value for bar in figures), default=0) or 1
    room = _WIDTH - _LABEL - _VALUE
    parts = []
    for place, bar in enumerate(figures):
        y = place * _ROW
        width = 0 if bar.value <= 0 else max(1.0, room * bar.value / largest)
        end = f"{_LABEL + width + 6:.1f}"
        parts.append(
            f'<text x="{_LABEL - 8}" y="{y + 15}" text-anchor="end">{_short(bar.label)}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{y + 3}" width="{width:.1f}" height="16" rx="3"/>'
            f'<text class="value" x="{end}" y="{y + 15}">{escape(bar.text)}</text>'
        )
    return _svg(title, figures, max(1, len(figures)) * _ROW, parts)


def columns(title: str, figures: Sequence[Bar]) -> Markup:
    """Vertical bars in order, such as months; every so many are named below."""
    largest = max((bar.value for bar in figures), default=0) or 1
    # One month alone is no wall.
    step = min(60.0, _WIDTH / max(1, len(figures)))
    every = max(1, -(-len(figures) // 10))
    floor = _HEAD + _COLUMNS_HEIGHT
    parts = [f'<line class="axis" x1="0" x2="{_WIDTH}" y1="{floor}" y2="{floor}"/>']
    for place, bar in enumerate(figures):
        height = _COLUMNS_HEIGHT * bar.value / largest
        middle = step * (place + 0.5)
        parts.append(
            f'<rect class="bar" x="{step * place + step * 0.12:.1f}" y="{floor - height:.1f}" '
            f'width="{step * 0.76:.1f}" height="{height:.1f}" rx="2"/>'
        )
        if place % every == 0:
            parts.append(
                f'<text x="{middle:.1f}" y="{floor + 16}" text-anchor="middle">'
                f"{escape(bar.label)}</text>"
                f'<text class="value" x="{middle:.1f}" y="{floor - height - 4:.1f}" '
                f'text-anchor="middle">{escape(bar.text)}</text>'
            )
    return _svg(title, figures, floor + _FOOT, parts)


def _svg(title: str, figures: Sequence[Bar], height: float, parts: Sequence[str]) -> Markup:
    told = "; ".join(f"{bar.label}: {bar.text}" for bar in figures)
    return Markup(
        f'<svg class="chart" role="img" viewBox="0 0 {_WIDTH} {height:.0f}" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f"<desc>{escape(told)}</desc>{''.join(parts)}</svg>"
    )


def _short(label: str, cells: int = 15) -> Markup:
    """As much of a name as there is room for; wide characters take two cells."""
    taken, kept = 0, ""
    for character in label:
        taken += 2 if ord(character) >= _CJK_FROM else 1
        if taken > cells:
            return escape(kept + "…")
        kept += character
    return escape(kept)
