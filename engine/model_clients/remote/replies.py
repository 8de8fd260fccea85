"""What a provider's HTTP answer means: data, a reason to wait, or a failure by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.failures import RequestRefused
from engine.model_clients.remote.gate import PAUSE_S

_UNPAID_CODES = ("insufficient_quota", "insufficient_balance", "billing_not_active")
_PASSING = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
)
_WRONG_PLACE = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. ``retry_after`` and ``location`` are the headers, empty without them."""

    status: int
    content: bytes
    retry_after: str = ""
    location: str = ""

    @property
    def is_success(self) -> bool:
        """The provider says that it served the request."""
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        """The provider names another place."""
        return 300 <= self.status < 400 and bool(self.location)

    @property
    def is_wrong_place(self) -> bool:
        """There is nothing to ask at this URL."""
        return self.status in _WRONG_PLACE


class Passing(Exception):
    """A failure that may be over in a moment. ``pause_s`` is what the provider asked for."""

    def __init__(self, failure: ModelUnavailable, pause_s: float | None = None) -> None:
        super().__init__(failure.key)
        self.failure = failure
        self.pause_s = pause_s


class Forbidding(Exception):
    """A failure that asking again cannot mend for a while."""

    def __init__(self, failure: ModelUnavailable, pause_s: float = PAUSE_S) -> None:
        super().__init__(failure.key)
        self.failure = failure
        self.pause_s = pause_s


def judged(reply: Reply, host: str, model: str, now: float) -> object:
    """The JSON value of a good reply; raises what a bad one means.

    ``now`` (epoch seconds) turns a date in ``Retry-After`` into a pause. The body of a bad
    reply decides, but is never handed on: providers repeat texts and keys in it.
    """
    if reply.is_success:
        return _json(reply.content, host)
    _raise_forbidding(reply, host)
    if reply.is_wrong_place:
        raise ModelUnavailable("error.remote_not_found", host=host, model=model)
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
        limited = ModelUnavailable("error.remote_rate_limited", host=host)
        raise Passing(limited, retry_after_s(reply.retry_after, now))
    if reply.status >= 500 or reply.status in _PASSING:
        failure = RequestRefused("error.remote_server_error", host=host, status=reply.status)
        raise Passing(failure, retry_after_s(reply.retry_after, now))
    raise RequestRefused("error.remote_refused", host=host, status=reply.status)


def retry_after_s(value: str, now: float) -> float | None:
    """Seconds that a ``Retry-After`` header asks for (RFC 9110: seconds or a date)."""
    if not value:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _raise_forbidding(reply: Reply, host: str) -> None:
    unpaid = reply.status in (429, 400) and _code(reply.content) in _UNPAID_CODES
    if reply.status == HTTPStatus.PAYMENT_REQUIRED or unpaid:
        raise Forbidding(ModelUnavailable("error.remote_unpaid", host=host))
    if reply.status == HTTPStatus.UNAUTHORIZED:
        raise Forbidding(ModelUnavailable("error.remote_key_refused", host=host))
    if reply.status == HTTPStatus.FORBIDDEN:
        raise Forbidding(ModelUnavailable("error.remote_forbidden", host=host))


def _json(content: bytes, host: str) -> object:
    try:
        value: object = json.loads(content)
    except (ValueError, RecursionError):
        # "from None": the decoder's error carries the whole body.
        raise ModelUnavailable("error.remote_no_json", host=host) from None
    return value


def _code(content: bytes) -> str:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return ""
    found = (error.get(name) for name in ("code", "type"))
    return next((code for code in found if code in _UNPAID_CODES), "")
