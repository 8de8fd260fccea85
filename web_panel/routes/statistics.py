"""Statistics: what the store holds, how it grows and fades, and how well it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.config.messages import template_of
from engine.domain.atom import ATOM_STATES, AtomFilters
from web_panel.answers import engine_of, page
from web_panel.charts import Bar, bars, columns
from web_panel.language import Words

if TYPE_CHECKING:
    from engine.domain.listing import FacetCount
    from engine.use_cases.health import Health

_MONTHS, _SHOWN = 24, 10


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its heading, and the same figures as rows."""

    name: str
    title: str
    drawn: Markup
    rows: Sequence[Bar]


def statistics_page(request: Request) -> Response:
    """Everything in one page; nothing of it is a guess."""
    engine, words = engine_of(request), request.state.words
    numbers, health = engine.statistics(), engine.forgetting.health(clusters=False)
    return page(
        request,
        "statistics.html",
        figures=[
            (words("panel.statistics.total"), numbers.total),
            (words("panel.statistics.live"), health.live),
            (words("panel.statistics.pinned"), numbers.pinned),
            (words("panel.statistics.vectors"), numbers.vectors),
            (words("panel.statistics.journal"), numbers.journal_entries),
            (words("panel.statistics.unused"), health.unused),
            (words("panel.statistics.duplicates"), health.duplicates),
            (words("panel.statistics.at_risk"), health.at_risk),
        ],
        charts=list(_charts(request, health)),
        model=engine.model_report(),
        disk=_disk(request),
    )


def _charts(request: Request, health: Health) -> Iterator[Chart]:
    engine, words = engine_of(request), request.state.words
    numbers, facets = engine.statistics(), engine.browsing.facets()
    yield _columns(words, "growth", _months(facets.months))
    yield _bars(words, "kinds", _named(words, "kind", numbers.by_kind))
    yield _bars(words, "states", _named(words, "state", numbers.by_state))
    yield _bars(words, "atoms", _atoms(request))
    yield _columns(words, "retention", _histogram(health))
    yield _bars(words, "forecast", _forecast(words, health))
    yield _bars(words, "workspaces", _named(words, "workspace", numbers.by_workspace))
    yield _bars(words, "sources", _named(words, "source", numbers.by_source))
    yield _bars(words, "tags", _named(words, "tag", numbers.by_tag))


def _bars(words: Words, name: str, figures: Sequence[Bar]) -> Chart:
    title = words(f"panel.chart.{name}")
    return Chart(name, title, bars(title, figures), figures)


def _columns(words: Words, name: str, figures: Sequence[Bar]) -> Chart:
    title = words(f"panel.chart.{name}")
    return Chart(name, title, columns(title, figures), figures)


def _named(words: Words, what: str, counts: Mapping[str, int]) -> list[Bar]:
    largest = sorted(counts.items(), key=lambda item: -item[1])[:_SHOWN]
    return [Bar(word_of(words, what, name), number) for name, number in largest]


def word_of(words: Words, what: str, name: str) -> str:
    """The name of a value of a closed vocabulary; any other name as it is."""
    key = f"panel.{what}.{name}"
    return words(key) if template_of(key, "en") is not None else name


def _months(counts: Sequence[FacetCount]) -> list[Bar]:
    return [Bar(count.value[2:], count.number) for count in reversed(counts[:_MONTHS])]


def _histogram(health: Health) -> list[Bar]:
    return [Bar(f"{n / 10:.1f}", number) for n, number in enumerate(health.histogram)]


def _forecast(words: Words, health: Health) -> list[Bar]:
    now = Bar(words("panel.statistics.today"), health.at_risk)
    later = [
        Bar(words("panel.statistics.in_days", days=risk.days), risk.at_risk)
        for risk in health.forecast
    ]
    return [now, *later]


def _atoms(request: Request) -> list[Bar]:
    browsing, words = engine_of(request).browsing, request.state.words
    counted = ((state, browsing.order_atoms(AtomFilters(states=(state,)))) for state in ATOM_STATES)
    return [Bar(word_of(words, "atom_state", state), len(found)) for state, found in counted]


def _disk(request: Request) -> list[tuple[str, str]]:
    """What lies in the home folder, by what it is."""
    home, words = engine_of(request).context.home, request.state.words
    parts = {"store": "jiyi.db*", "cache": "cache/**/*", "backups": "backups/*", "logs": "logs/*"}
    sizes = {name: _bytes(home.glob(pattern)) for name, pattern in parts.items()}
    return [(words(f"panel.disk.{name}"), megabytes(size)) for name, size in sizes.items()]


def _bytes(files: Iterable[Path]) -> int:
    total = 0
    for file in files:
        try:
            found = file.stat()
        except OSError:
            continue
        total += found.st_size
    return total


def megabytes(size_bytes: float) -> str:
    """A size as people read it."""
    return f"{size_bytes / 1e6:,.1f} MB"


ROUTES = [Route("/statistics", statistics_page)]
