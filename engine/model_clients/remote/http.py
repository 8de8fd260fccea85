"""The one door to a provider: keys, proxies, time limits, retries and pauses."""

from __future__ import annotations

import base64
import json
import logging
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count

import httpx

from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.address import Address, parse_address
from engine.model_clients.remote.config import RemoteConfig
from engine.model_clients.remote.failures import RequestRefused
from engine.model_clients.remote.gate import PAUSE_S, Gate, ProviderState
from engine.model_clients.remote.network import Route, route_to
from engine.model_clients.remote.replies import Forbidding, Passing, Reply, judged

log = logging.getLogger("jiyi.models")

LARGEST_ANSWER_BYTES = 64 * 1024 * 1024
"""256 vectors of 4,096 numbers written out are 23 MB."""

_LARGEST_ERROR_BYTES = 64 * 1024
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
_CONNECT_S = 10.0
_REDIRECTS = 3


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often to try: until ``deadline`` (``time.monotonic()``), ``retries``
    times after the first, and for status 500 only with ``retry_500``: it is what a provider
    says to a text it stumbles over, where parting the batch helps and asking again does not.
    """

    deadline: float
    retries: int
    retry_500: bool = True

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()


class RemoteClient:
    """Sends requests to one provider; safe to use from several threads.

    ``clock`` gives seconds since the epoch and moves the pauses. Opens no connection before
    the first request. Raises :class:`ModelUnavailable` for an unusable address, key or model.
    """

    def __init__(self, config: RemoteConfig, clock: Callable[[], float] = time.time) -> None:
        self._address = parse_address(config.base_url)
        if not config.model.strip():
            raise ModelUnavailable("error.remote_no_model", host=self._address.host)
        self._config = config
        self._headers = _headers(config, self._address)
        self._clock = clock
        self._gate = Gate(clock)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._route = Route()
        self._bases = self._address.bases

    @property
    def host(self) -> str:
        """The provider's host and port, for messages."""
        return self._address.host

    def state(self) -> ProviderState:
        """What is known of the provider."""
        return self._gate.state()

    def notice(self) -> ModelUnavailable | None:
        """What a person should know although requests go on: a proxy that cannot be used.
        Known from the first request on."""
        if not self._route.ignored:
            return None
        return ModelUnavailable("error.remote_proxy_ignored", proxy=self._route.ignored)

    def patience(self, wait_s: float | None = None) -> Patience:
        """The configured retries, for at most ``wait_s`` seconds."""
        longest_s = (self._config.timeout_s + _LONGEST_PAUSE_S) * (self._config.max_retries + 1)
        limit_s = longest_s if wait_s is None else wait_s
        return Patience(time.monotonic() + limit_s, self._config.max_retries)

    def post(self, operation: str, payload: Mapping[str, object], patience: Patience) -> object:
        """The JSON answer to ``payload`` sent to ``<base>/<operation>``.

        Waits and retries within ``patience``. Raises :class:`RequestRefused` when the
        provider answers but not this, else :class:`ModelUnavailable`; a provider that
        refuses key, account or access is then not asked again for a while.
        """
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        for attempt in count():
            self._check_open()
            self._gate.check()
            try:
                return self._attempt(operation, body, patience)
            except Passing as passing:
                self._pause(passing, patience, attempt)
        raise AssertionError("unreachable")

    def clear(self) -> None:
        """The last failure was a text's own: the provider is as good as before."""
        self._gate.succeeded()

    def report(self, failure: ModelUnavailable) -> None:
        """The provider answers, but with nothing that can be used."""
        if self.state().state != "paused":
            self._gate.failed(failure)

    def close(self) -> None:
        """End waiting and running requests with ``error.model_closed``."""
        self._stop.set()
        with self._lock:
            if self._http is not None:
                self._http.close()

    def _attempt(self, operation: str, body: bytes, patience: Patience) -> object:
        try:
            answer = judged(
                self._asked(operation, body, patience),
                self.host,
                self._config.model,
                self._clock(),
            )
        except Forbidding as forbidding:
            self._gate.failed(forbidding.failure, forbidding.pause_s)
            log.warning("%s; not asked for %.0f s", forbidding.failure, forbidding.pause_s)
            raise forbidding.failure from None
        except ModelUnavailable as failure:
            self._gate.failed(failure)
            raise
        self._gate.succeeded()
        return answer

    def _pause(self, passing: Passing, patience: Patience, attempt: int) -> None:
        """Wait for the next try, or raise when there is none."""
        asked_s = passing.pause_s
        pause_s = _FIRST_PAUSE_S * 2**attempt if asked_s is None else asked_s
        retries = patience.retries
        if passing.failure.params.get("status") == 500 and not patience.retry_500:
            retries = 0
        if attempt >= retries or pause_s > min(patience.left_s, _LONGEST_PAUSE_S):
            self._gate.failed(passing.failure, min(asked_s or 0.0, PAUSE_S))
            raise passing.failure from None
        if self._stop.wait(pause_s):
            self._check_open()

    def _asked(self, operation: str, body: bytes, patience: Patience) -> Reply:
        """The reply of the base that knows the operation; it is the first one from then on."""
        first: Reply | None = None
        for base in self._bases:
            reply = self._followed(f"{base}/{operation}", body, patience)
            if not reply.is_wrong_place:
                if reply.is_success:
                    self._bases = (base,)
                return reply
            first = first or reply
        assert first is not None
        return first

    def _followed(self, url: str, body: bytes, patience: Patience) -> Reply:
        """The reply after redirects within the provider's own host; key and texts go nowhere
        else."""
        for _ in range(_REDIRECTS):
            reply = self._exchange(url, body, patience)
            if not reply.is_redirect:
                return reply
            url = self._own_url(url, reply.location)
        raise ModelUnavailable("error.remote_redirected", host=self.host, target=self.host)

    def _own_url(self, url: str, location: str) -> str:
        try:
            target = httpx.URL(url).join(location)
        except httpx.InvalidURL:
            raise ModelUnavailable("error.remote_redirected", host=self.host, target="?") from None
        source = httpx.URL(url)
        upgraded = (source.scheme, target.scheme, source.port, target.port) == (
            *("http", "https"),
            *(None, None),
        )
        same = (source.scheme, source.port) == (target.scheme, target.port) or upgraded
        if source.host != target.host or not same:
            shown = target.netloc.decode("ascii", "replace")
            raise ModelUnavailable("error.remote_redirected", host=self.host, target=shown)
        # A login in the target would replace the key.
        return str(target.copy_with(userinfo=b""))

    def _exchange(self, url: str, body: bytes, patience: Patience) -> Reply:
        limit_s = min(self._config.timeout_s, patience.left_s)
        if limit_s <= 0:
            raise self._slow(0)
        end = time.monotonic() + limit_s
        timeout = httpx.Timeout(limit_s, connect=min(limit_s, _CONNECT_S))
        try:
            with self._opened().stream(
                "POST", url, content=body, headers=self._headers, timeout=timeout
            ) as response:
                return Reply(
                    response.status_code,
                    self._read(response, end, limit_s),
                    response.headers.get("retry-after", ""),
                    response.headers.get("location", ""),
                )
        except httpx.HTTPError as error:
            self._check_open()
            raise self._failure(error, limit_s) from error
        except RuntimeError:
            # What httpx raises when another thread closes the client meanwhile.
            self._check_open()
            raise

    def _read(self, response: httpx.Response, end: float, limit_s: float) -> bytes:
        largest = LARGEST_ANSWER_BYTES if response.is_success else _LARGEST_ERROR_BYTES
        parts = []
        size = 0
        for part in response.iter_bytes():
            size += len(part)
            if size > largest:
                if not response.is_success:
                    break
                raise RequestRefused("error.remote_too_large", host=self.host, size=largest)
            if time.monotonic() > end:
                raise self._slow(limit_s)
            parts.append(part)
        return b"".join(parts)

    def _failure(self, error: httpx.HTTPError, limit_s: float) -> Exception:
        if isinstance(error, httpx.ConnectTimeout):
            return self._unreachable()
        if isinstance(error, httpx.TimeoutException):
            return self._slow(limit_s)
        if isinstance(error, httpx.ProxyError):
            return Passing(self._unreachable())
        if isinstance(error.__cause__, ssl.SSLError) or "CERTIFICATE_VERIFY" in str(error):
            return ModelUnavailable("error.remote_tls", host=self.host)
        if isinstance(error, httpx.TransportError):
            return Passing(self._unreachable())
        return ModelUnavailable("error.remote_no_json", host=self.host)

    def _slow(self, limit_s: float) -> RequestRefused:
        return RequestRefused("error.remote_slow", host=self.host, seconds=round(limit_s, 1))

    def _unreachable(self) -> ModelUnavailable:
        if self._route.shown:
            return ModelUnavailable(
                "error.remote_unreachable_by_proxy", host=self.host, proxy=self._route.shown
            )
        return ModelUnavailable("error.remote_unreachable", host=self.host)

    def _check_open(self) -> None:
        if self._stop.is_set():
            raise ModelUnavailable("error.model_closed")

    def _opened(self) -> httpx.Client:
        with self._lock:
            self._check_open()
            if self._http is None:
                self._route = route_to(self._address.canonical)
                if self._route.ignored:
                    log.warning("the proxy %s cannot be used; going direct", self._route.ignored)
                # A transport of its own keeps httpx from reading the proxies again; the
                # certificate variables are still honoured.
                transport = httpx.HTTPTransport(proxy=self._route.proxy, trust_env=True)
                self._http = httpx.Client(transport=transport, trust_env=False)
            return self._http


def _headers(config: RemoteConfig, address: Address) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": "jiyi"}
    key = config.api_key.strip().removeprefix("Bearer ").strip()
    # Checked here: what httpx raises for such a header repeats the key.
    if not key.isascii() or any(not "!" <= char <= "~" for char in key):
        raise ModelUnavailable("error.remote_bad_key", host=address.host)
    if key:
        headers["Authorization"] = f"Bearer {key}"
    elif address.login:
        encoded = base64.b64encode(address.login.encode("utf-8")).decode("ascii")
        headers["Authorization"] = f"Basic {encoded}"
    return headers
