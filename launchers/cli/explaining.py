"""How an answer came about, in lines that add up to each score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.domain.times import day

if TYPE_CHECKING:
    from datetime import tzinfo

    from engine.domain.graph import Step
    from engine.use_cases.recall import Explanation, Hit, RecallResult, RouteLines
    from launchers.cli.output import Output


# The one relation with a direction.
_ARROWS = {"describes": "—{}→"}


def print_explanation(output: Output, result: RecallResult, zone: tzinfo | None) -> None:
    """Print what was read from the query, why each result stands where it does, and the run."""
    if result.cached:
        output.line(output.say("cli.explain.cached"))
    if result.switched_off:
        output.line(output.say("cli.explain.off", channels=", ".join(result.switched_off)))
    for line in _understood(output, result, zone):
        output.line(line)
    for hit in result.hits:
        for line in _hit(output, hit):
            output.line(line)
    stages = ", ".join(f"{name} {ms:.1f} ms" for name, ms in result.stages_ms.items())
    output.line(
        output.say(
            "cli.explain.run",
            preset=result.preset,
            version=result.config_version,
            pool=result.pool,
            cut=result.cut,
            stages=stages,
        )
    )


def _understood(output: Output, result: RecallResult, zone: tzinfo | None) -> Iterator[str]:
    read = result.understood
    for window in read.windows:
        yield output.say(
            "cli.explain.window", start=day(window.start, zone), end=day(window.end, zone)
        )
    if read.people:
        yield output.say("cli.explain.people", people=", ".join(read.people))
    if read.ongoing:
        yield output.say("cli.explain.ongoing")
    if read.meaning != read.text:
        yield output.say("cli.explain.meaning", text=read.meaning)


def _hit(output: Output, hit: Hit) -> Iterator[str]:
    found = hit.explanation
    yield f"#{hit.memory.id}  {_evidence(output, hit)}"
    if hit.expansion is not None:
        along = hit.expansion
        arrow = "→" if not along.outwards else "←"
        said = output.say(
            "cli.explain.along",
            relation=along.relation,
            arrow=arrow,
            source=along.source_id,
            hop=along.hop,
        )
        yield f"    {said}"
    ranks = ", ".join(f"{channel} {rank + 1}" for channel, rank in found.ranks.items())
    yield f"    {output.say('cli.explain.ranks', ranks=ranks or '-')}"
    if hit.path:
        yield f"    {output.say('cli.explain.path', path=way(hit.path))}"
    for route in found.routes:
        yield from _route(output, route, several=len(found.routes) > 1)
    yield from _combined(output, found)
    yield f"    {output.say('cli.explain.sum'):<12} {hit.score:.6f}"


def way(path: Sequence[Step]) -> str:
    """A way through the graph: ``小明 —co_occurs_with— 阿丽 —describes→ …``."""
    shown = path[0].name
    for step in path[1:]:
        shown += f" {_ARROWS.get(step.relation, '—{}—').format(step.relation)} {step.name}"
    return shown


def _route(output: Output, route: RouteLines, *, several: bool) -> Iterator[str]:
    indent = "    "
    if several:
        yield f"{indent}[{route.route}]"
    for part in route.fusion:
        product = f"{part.value:.3f} × {part.weight:.3f} = {part.contribution:.3f}"
        yield f"{indent}  ({part.channel:<10} {product})"
    for line in route.signals:
        if not line.weight:
            continue
        yield f"{indent}{line.signal:<12} {_product(line.value, line.weight, line.rank, route)}"
    if route.factor_name:
        yield f"{indent}{route.factor_name:<12} × {route.factor:.3f}"
    if several and route.best:
        share = f"{route.weight:.3f} × {route.score:.6f} / {route.best:.6f}"
        yield f"{indent}{output.say('cli.explain.route')} {share} = {route.contribution:.6f}"


def _product(value: float, weight: float, rank: int | None, route: RouteLines) -> str:
    if rank is not None:
        return f"{weight:.3f} / ({route.rank_offset:.0f} + {rank})"
    return f"{value:.3f} × {weight:.3f} = {value * weight:.3f}"


def _combined(output: Output, found: Explanation) -> Iterator[str]:
    if found.boost != 1.0:
        yield f"    {output.say('cli.explain.boost', source=found.source)} × {found.boost:.2f}"
    if found.bonus:
        yield f"    {output.say('cli.explain.bonus')} + {found.bonus:.2f}"
    if found.cap is not None and found.score >= found.cap:
        yield f"    {output.say('cli.explain.cap')} {found.cap:.2f}"
    for name, value in found.order:
        yield f"    {output.say('cli.explain.order', signal=name)} {value:.3f}"
    choice = found.choice
    if choice is not None and choice.first_place != found.place:
        yield f"    {output.say('cli.explain.moved', place=choice.first_place)}"


def _evidence(output: Output, hit: Hit) -> str:
    return output.say(
        "cli.explain.hit",
        strength=f"{hit.strength:.3f}",
        cosine="-" if hit.cosine is None else f"{hit.cosine:.3f}",
        coverage=f"{hit.coverage:.0%}",
        words=" ".join(hit.matched) or "-",
    )
