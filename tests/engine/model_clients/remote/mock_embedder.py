"""A provider to test against: a real HTTP server on this machine, with switches for faults."""

from __future__ import annotations

import base64
import json
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from engine.model_clients.hashing import HashingEmbedder

KNOWN_FIELDS = {"model", "input"}


@dataclass
class Request:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict

    @property
    def texts(self) -> list[str]:
        """The texts to embed."""
        return list(self.body.get("input", []))


@dataclass
class Switches:
    """What goes wrong; may be changed between requests.

    ``max_batch``: 400 above it. ``fail_if``: ``fail_status`` when a text contains it.
    ``max_chars``: ``max_chars_status`` for a longer text. ``status``: for every request, or
    only the first ``status_times``. ``delay``: seconds before an answer. ``strict``: 400 on
    fields beside model and input. ``nan`` and ``nan_if``: NaN instead of numbers. ``zero``:
    only zeros. ``short``: the last vector is missing. ``base64``: answers in base64 when
    asked for it, or always with "always". ``shuffle``: answers backwards. ``same_index``:
    every answer says index 0. ``root``: where the interface lies. ``redirect``: 307 to there.
    ``raw``: this very body with 200. ``error_code``: in the body of errors. ``drop``: so many
    connections are closed without an answer.
    """

    dim: int = 8
    max_batch: int = 0
    fail_if: str = ""
    fail_status: int = 500
    max_chars: int = 0
    max_chars_status: int = 500
    status: int = 0
    status_times: int = 1_000_000
    retry_after: str = ""
    delay: float = 0.0
    strict: bool = False
    nan: bool = False
    nan_if: str = ""
    zero: bool = False
    short: bool = False
    base64: bool | str = False
    shuffle: bool = False
    same_index: bool = False
    root: str = "/v1"
    redirect: str = ""
    raw: bytes | None = None
    error_code: str = ""
    drop: int = 0
    scores: list = field(default_factory=list)
    reply: object = "answer"


class MockEmbedder(ThreadingHTTPServer):
    """The server; ``requests`` holds what came in, in order."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int = 0, **switches) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.switches = Switches(**switches)
        self.requests: list[Request] = []
        self.stopping = threading.Event()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Its address as a person would write it."""
        return f"http://127.0.0.1:{self.port}{self.switches.root}"

    @property
    def texts(self) -> list[str]:
        """All texts it was asked to embed."""
        return [text for request in self.requests for text in request.texts]

    @property
    def batches(self) -> list[int]:
        """Texts per request."""
        return [len(request.texts) for request in self.requests]

    def handle_error(self, request, client_address) -> None:
        """A client that has gone away is nothing to print."""


@contextmanager
def running(port: int = 0, **switches) -> Iterator[MockEmbedder]:
    """A server for the time of a test."""
    server = MockEmbedder(port, **switches)
    thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def vector_of(text: str, dim: int) -> list[float]:
    """The vector this server gives a text: texts that share words are near each other."""
    return [float(number) for number in HashingEmbedder(dim).embed_query(text)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: MockEmbedder

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        path = urlsplit(self.path).path
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append(Request(path, headers, body))
        switches = self.server.switches
        if switches.delay and self.server.stopping.wait(switches.delay):
            return
        if switches.drop:
            switches.drop -= 1
            self.close_connection = True
            return
        self.answer(path, body, switches)

    def answer(self, path: str, body: dict, switches: Switches) -> None:
        if switches.status and switches.status_times > 0:
            switches.status_times -= 1
            self.refuse(switches.status)
        elif switches.redirect:
            self.send(307, b"", {"Location": switches.redirect})
        elif switches.raw is not None:
            self.send(200, switches.raw)
        elif path == f"{switches.root}/embeddings":
            self.embed(body, switches)
        elif path == f"{switches.root}/chat/completions":
            choice = {"index": 0, "message": {"role": "assistant", "content": switches.reply}}
            self.send_json({"choices": [choice]})
        elif path == f"{switches.root}/rerank":
            self.send_json({"results": switches.scores})
        else:
            self.refuse(404)

    def embed(self, body: dict, switches: Switches) -> None:
        texts = body["input"]
        refusal = refusal_of(texts, body, switches)
        if refusal:
            self.refuse(refusal)
            return
        items = [item_of(place, text, body, switches) for place, text in enumerate(texts)]
        if switches.short:
            items.pop()
        if switches.shuffle:
            items.reverse()
        self.send_json({"object": "list", "data": items, "model": body["model"]})

    def refuse(self, status: int) -> None:
        """An error that repeats what it was sent, as real providers do."""
        last = self.server.requests[-1]
        error = {"message": f"bad input {last.body} {last.headers}"}
        error["code"] = self.server.switches.error_code
        after = self.server.switches.retry_after
        content = json.dumps({"error": error}).encode()
        self.send(status, content, {"Retry-After": after} if after else {})

    def send_json(self, value: object) -> None:
        self.send(200, json.dumps(value).encode())

    def send(self, status: int, content: bytes, headers: dict | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


def refusal_of(texts: Sequence[str], body: dict, switches: Switches) -> int:
    """The status to refuse a request with, 0 to serve it."""
    if switches.strict and set(body) - KNOWN_FIELDS:
        return 400
    if switches.max_batch and len(texts) > switches.max_batch:
        return 400
    if not all(text.strip() for text in texts):
        return 400
    if switches.max_chars and max(map(len, texts)) > switches.max_chars:
        return switches.max_chars_status
    if switches.fail_if and any(switches.fail_if in text for text in texts):
        return switches.fail_status
    return 0


def item_of(place: int, text: str, body: dict, switches: Switches) -> dict:
    """One entry of the answer."""
    numbers = vector_of(text, switches.dim)
    if switches.nan or (switches.nan_if and switches.nan_if in text):
        numbers = [float("nan")] * switches.dim
    if switches.zero:
        numbers = [0.0] * switches.dim
    # Not of length one, as many providers' vectors are not.
    numbers = [3 * number for number in numbers]
    asked = body.get("encoding_format") == "base64" and switches.base64
    embedding: object = numbers
    if switches.base64 == "always" or asked:
        embedding = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
    index = 0 if switches.same_index else place
    return {"object": "embedding", "index": index, "embedding": embedding}
