"""Tune: weights moved over real questions, before anything is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.config.presets import Preset, load_preset, preset_names
from engine.config.setting import plain
from engine.domain.errors import InvalidInput
from engine.domain.times import minute_with_offset
from engine.evaluation.search import Proposal
from engine.evaluation.session import EvaluationRequest
from engine.use_cases.preview import (
    PRESET,
    SHARES,
    WEIGHTS,
    Asked,
    Evaluated,
    Placed,
    Preview,
    Ranked,
    WeightSet,
)
from engine.use_cases.tune import TuneRequest
from web_panel.answers import Body, action, data, engine_of, page, sentence, text_of
from web_panel.forms import Field, fields_by_key
from web_panel.language import Words
from web_panel.work import Outcome, Work, Works

MAX_SIDES = 8
_EXCERPT = 280
_TRIALS = 120


def tune_page(request: Request) -> Response:
    """The sliders and an empty comparison; what is shown comes by script."""
    engine = engine_of(request)
    fields = fields_by_key(engine.settings.live, request.state.words)
    return page(
        request,
        "tune.html",
        sliders=_sliders(fields),
        presets=preset_names(),
        numbers={name: _numbers(load_preset(name)) for name in preset_names()},
        state=_state(request),
        workspaces=[one.name for one in engine.workspaces()],
        signals=_signals(request.state.words, fields),
    )


def tune_state(request: Request) -> Response:
    """The weights in force now, for a page that is open while others change them."""
    return data(_state(request))


def show(request: Request, body: Body) -> Response:
    """One query by several weight sets; nothing is changed."""
    shown = body.get("shown", 10)
    if not isinstance(shown, int):
        raise InvalidInput("panel.needs_number", name="shown")
    workspace = text_of(body, "workspace", default="")
    asked = Asked(text_of(body, "query"), workspace, shown)
    return data(_previewed(request, engine_of(request).tuning.preview(asked, _sets(body))))


def evaluate(request: Request, body: Body) -> Response:
    """Several weight sets over everything that was judged."""
    return _start(request, "evaluate", partial(_evaluate, request, _sets(body)))


def propose(request: Request, body: Body) -> Response:
    """Look for better weights; they are shown, never applied."""
    return _start(request, "propose", partial(_propose, request))


def _start(request: Request, name: str, job: partial[Outcome]) -> Response:
    works: Works = request.app.state.works
    works.start(name, job)
    return data({"started": name}, 202)


def _evaluate(request: Request, sets: Sequence[WeightSet], work: Work) -> Outcome:
    found = engine_of(request).tuning.evaluate(sets, work.step_or_end)
    return {"result": _evaluated(found)}


def _propose(request: Request, work: Work) -> Outcome:
    def step(_: str, __: str, done: int, of: int) -> None:
        work.step_or_end(done, of)

    wanted = TuneRequest(EvaluationRequest(judgments=True), max_trials=_TRIALS)
    try:
        return {"result": _proposed(engine_of(request).tune(wanted, step))}
    except InvalidInput as error:
        if error.key == "error.tune_one_part":
            raise InvalidInput("panel_tune.too_few") from error
        raise


def _sets(body: Body) -> list[WeightSet]:
    given = body.get("sets")
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_SIDES:
        raise InvalidInput("panel_tune.needs_sets", high=MAX_SIDES)
    return [_set(one) for one in given]


def _set(given: object) -> WeightSet:
    if not isinstance(given, Mapping):
        raise InvalidInput("panel_tune.needs_sets", high=MAX_SIDES)
    values = given.get("values", {})
    if not isinstance(values, Mapping):
        raise InvalidInput("panel_tune.needs_sets", high=MAX_SIDES)
    numbers = {str(key): _number(str(key), value) for key, value in values.items()}
    return WeightSet(text_of(given, "preset"), numbers)


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput("panel.needs_number", name=key[:60])
    return value


def _sliders(fields: Mapping[str, Field]) -> list[Field]:
    return [field for key, field in fields.items() if key.startswith((WEIGHTS, SHARES))]


def _numbers(preset: Preset) -> Mapping[str, float]:
    """What a preset puts at each slider; where its ways of searching differ, the first's."""
    weights = {f"{WEIGHTS}{name}": value for name, value in preset.weights.used().items()}
    if preset.fusion.method == "rrf":
        return weights
    shares = {"vector": preset.fusion.vector_share, "lexical": preset.fusion.lexical_share}
    return weights | {f"{SHARES}{name}": value for name, value in shares.items()}


def _signals(words: Words, fields: Mapping[str, Field]) -> Mapping[str, str]:
    names = [key.removeprefix(WEIGHTS) for key in fields if key.startswith(WEIGHTS)]
    return {name: words(f"panel_tune.signal.{name}") for name in [*names, "boost"]}


def _state(request: Request) -> dict[str, object]:
    engine = engine_of(request)
    book, force = engine.settings, engine.tuning.in_force()
    fields = fields_by_key(book.live, request.state.words)
    steps = book.steps()
    mine = [field for key, field in fields.items() if key.startswith((PRESET, WEIGHTS, SHARES))]
    return {
        "seen": book.fingerprint(),
        "preset": force.preset,
        "values": dict(force.values),
        "locked": {field.key: field.variable for field in mine if field.variable},
        "returned": engine.context.settings.recall.k,
        "undo": steps.earlier is not None,
        "problem": _problem(request),
    }


def _problem(request: Request) -> str:
    problem = engine_of(request).settings.live.problem
    return "" if problem is None else sentence(request, problem)


def _previewed(request: Request, found: Preview) -> dict[str, object]:
    return {
        "query": found.query,
        "sides": [_side(request, side) for side in found.sides],
        "pool": found.pool,
        "returned": found.returned,
        "fetched": found.fetched,
        "ms": round(found.took_ms, 1),
        "degraded": [sentence(request, reason) for reason in found.degraded],
    }


def _side(request: Request, side: Ranked) -> dict[str, object]:
    return {
        "preset": side.weights.preset,
        "hits": [_hit(request, hit) for hit in side.hits],
        "ndcg": side.ndcg,
        "recall": side.recall,
        "cut": side.cut,
    }


def _hit(request: Request, hit: Placed) -> dict[str, object]:
    memory, words = hit.memory, request.state.words
    zone = engine_of(request).context.zone
    return {
        "id": memory.id,
        "excerpt": memory.text[:_EXCERPT],
        "kind": words(f"panel.kind.{memory.kind}"),
        "workspace": memory.workspace,
        "at": minute_with_offset(memory.event_time or memory.created_at, zone)[:10],
        "place": hit.place,
        "before": hit.before,
        "score": hit.score,
        "strength": hit.strength,
        "weak": hit.weak,
        "judged": hit.judged,
        "channels": dict(hit.channels),
        "parts": [
            {
                "signal": part.signal,
                "value": part.value,
                "weight": part.weight,
                "contribution": part.contribution,
            }
            for part in hit.parts
        ],
    }


def _evaluated(found: Evaluated) -> dict[str, object]:
    return {
        "means": [dict(means) for means in found.means],
        "queries": [
            {
                "query": one.query,
                "workspace": one.workspace,
                "relevant": one.relevant,
                "values": [dict(values) for values in one.values],
            }
            for one in found.queries
        ],
        "without_gold": found.without_gold,
        "ms": round(found.took_ms, 1),
    }


def _proposed(found: Proposal) -> dict[str, object]:
    return {
        "start": {key: plain(value) for key, value in found.start.items()},
        "changed": dict(found.changed),
        "measure": found.measure,
        "searched": list(found.searched),
        "held_out": list(found.held_out),
        "searched_count": found.searched_count,
        "held_out_count": found.held_out_count,
        "trials": found.trials,
    }


ROUTES = [
    Route("/tune", tune_page),
    Route("/tune/state", tune_state),
    Route("/tune/preview", action(show), methods=["POST"]),
    Route("/tune/evaluate", action(evaluate), methods=["POST"]),
    Route("/tune/propose", action(propose), methods=["POST"]),
]
