"""Judgments: which memories answer a question, said by a person."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.domain.errors import InvalidInput
from engine.domain.judgment import Judgment
from engine.use_cases.judge import JudgeRequest
from web_panel.answers import Body, action, caller, data, engine_of, text_of


def listed(request: Request) -> Response:
    """Every question that was judged, with what was said of it."""
    found: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in engine_of(request).judgments():
        found.setdefault((judgment.query, judgment.workspace), []).append(judgment)
    return data({"queries": [_query(*key, said) for key, said in found.items()]})


def judge(request: Request, body: Body) -> Response:
    """Keep what a person says: ``relevant`` and ``irrelevant`` are ids or uids of memories."""
    grade = body.get("grade")
    if grade is not None and (isinstance(grade, bool) or not isinstance(grade, (int, float))):
        raise InvalidInput("panel.needs_number", name="grade")
    wanted = JudgeRequest(
        text_of(body, "query"),
        relevant=_refs(body, "relevant"),
        irrelevant=_refs(body, "irrelevant"),
        grade=grade,
        workspace=text_of(body, "workspace", default="") or None,
    )
    return data({"kept": len(engine_of(request).judge(wanted, caller()))})


def remove(request: Request, body: Body) -> Response:
    """Take back what was said of a question, or only of ``refs``."""
    workspace = text_of(body, "workspace", default="")
    refs, query = _refs(body, "refs"), text_of(body, "query")
    return data({"removed": engine_of(request).remove_judgments(query, workspace, refs)})


def _query(query: str, workspace: str, said: list[Judgment]) -> Mapping[str, object]:
    return {
        "query": query,
        "workspace": workspace,
        "judged": [
            {"uid": one.memory_uid, "relevant": one.relevant, "grade": one.grade} for one in said
        ],
    }


def _refs(body: Body, name: str) -> tuple[str | int, ...]:
    given = body.get(name, [])
    if not isinstance(given, list):
        raise InvalidInput("panel_tune.needs_refs", name=name)
    refs = tuple(ref for ref in given if isinstance(ref, (str, int)) and not isinstance(ref, bool))
    if len(refs) != len(given):
        raise InvalidInput("panel_tune.needs_refs", name=name)
    return refs


ROUTES = [
    Route("/judgments", listed),
    Route("/judgments/judge", action(judge), methods=["POST"]),
    Route("/judgments/remove", action(remove), methods=["POST"]),
]
