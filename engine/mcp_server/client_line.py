"""The line to a client over the protocol, in both of its eras.

Clients of the handshake are asked while the call runs; later ones get the question as the
result and call again with the answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from anyio import from_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from engine.mcp_server.line import AnswerWanted, Line, state_of

log = logging.getLogger("jiyi.mcp")

Context = ServerRequestContext[Any, Any]

_KEY = "confirm"
_FIRST_WITHOUT_REQUESTS = "2026-07-28"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {_KEY: {"type": "boolean", "title": "OK", "default": False}},
    "required": [_KEY],
}


def line_to(context: Context, params: CallToolRequestParams) -> Line:
    """The line to whoever sent a call; used from the worker thread that answers it."""

    def tell(done: int, total: int) -> None:
        from_thread.run(context.session.report_progress, float(done), float(total))

    return Line(ask=_asking(context, params), tell=tell)


def question_result(question: str) -> InputRequiredResult:
    """The result that makes a client ask its user."""
    form = ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)
    return InputRequiredResult(
        input_requests={_KEY: ElicitRequest(params=form)}, request_state=state_of(question)
    )


def _asking(context: Context, params: CallToolRequestParams) -> Callable[[str], bool | None]:
    if not _has_forms(context):
        return lambda question: None
    if context.protocol_version >= _FIRST_WITHOUT_REQUESTS:
        return lambda question: _answered_before(question, params)
    if not context.session.can_send_request:
        return lambda question: None
    return lambda question: _asked_now(question, context)


def _has_forms(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _answered_before(question: str, params: CallToolRequestParams) -> bool:
    answer = (params.input_responses or {}).get(_KEY)
    if not isinstance(answer, ElicitResult) or params.request_state != state_of(question):
        raise AnswerWanted(question)
    return _is_yes(answer)


def _asked_now(question: str, context: Context) -> bool | None:
    try:
        answer = from_thread.run(context.session.elicit_form, question, _SCHEMA, context.request_id)
    except MCPError as error:
        log.info("the client did not ask its user: %s", type(error).__name__)
        return None
    return _is_yes(answer)


def _is_yes(answer: ElicitResult) -> bool:
    return answer.action == "accept" and (answer.content or {}).get(_KEY) is True
