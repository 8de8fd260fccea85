"""What a person writes as a provider's address, as the URLs to ask."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from engine.domain.errors import ModelUnavailable

_VERSION = re.compile(r"v\d+[a-z]*\d*")
_OPERATIONS = (("chat", "completions"), ("embeddings",), ("rerank",), ("models",))


@dataclass(frozen=True, slots=True)
class Address:
    """Where a provider answers.

    ``bases`` are URLs without an ending slash, most likely first: an address that names no
    version may mean itself or itself with ``/v1``. ``host`` with its port is what messages
    show. ``login`` is ``user:password`` written into the address, else empty.
    """

    bases: tuple[str, ...]
    host: str
    login: str = field(default="", repr=False)

    @property
    def canonical(self) -> str:
        """The one form of all spellings of this address."""
        return self.bases[0]


def parse_address(written: str) -> Address:
    """Read an address with or without scheme, ``/v1``, ending slash or operation.

    A query and a fragment are dropped. Raises :class:`ModelUnavailable` with
    ``error.remote_bad_address``, which never repeats what was written: it may be a key.
    """
    parts = _split(written.strip())
    login = parts.netloc.rpartition("@")[0]
    host = parts.netloc.rpartition("@")[2].lower()
    root = f"{parts.scheme}://{host}"
    return Address(tuple(root + path for path in _paths(parts.path)), host, login)


def is_loopback(hostname: str) -> bool:
    """True for names and numbers that mean this machine."""
    name = hostname.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(number, "ipv4_mapped", None) or number
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _split(written: str) -> SplitResult:
    try:
        parts = urlsplit(written if "://" in written else f"{_scheme(written)}://{written}")
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        raise ModelUnavailable("error.remote_bad_address") from None
    if not usable or re.search(r"[\s\\<>\"^`{|}\x00-\x20]", parts.netloc):
        raise ModelUnavailable("error.remote_bad_address")
    return parts


def _scheme(written: str) -> str:
    hostname = urlsplit(f"//{written}").hostname or ""
    return "http" if is_loopback(hostname) else "https"


def _paths(path: str) -> Iterator[str]:
    segments = [segment for segment in path.split("/") if segment]
    for operation in _OPERATIONS:
        if tuple(segments[-len(operation) :]) == operation:
            segments = segments[: -len(operation)]
    segments = _without_doubles(segments)
    joined = "".join(f"/{segment}" for segment in segments)
    if not any(_VERSION.fullmatch(segment) for segment in segments):
        yield f"{joined}/v1"
    yield joined


def _without_doubles(segments: list[str]) -> list[str]:
    return [
        segment
        for place, segment in enumerate(segments)
        if not (place and segment == segments[place - 1] and _VERSION.fullmatch(segment))
    ]
