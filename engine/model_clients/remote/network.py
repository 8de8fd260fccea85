"""The way to a host: never through a proxy on this machine, through the system's elsewhere."""

from __future__ import annotations

import importlib.util
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from engine.model_clients.remote.address import is_loopback


@dataclass(frozen=True, slots=True)
class Route:
    """``proxy`` is the proxy's URL or ``None`` for the direct way. ``ignored`` names a
    proxy that is set but cannot be used, so that the direct way is taken."""

    proxy: str | None = field(default=None, repr=False)
    ignored: str = ""

    @property
    def shown(self) -> str:
        """The proxy without the login in it; empty for the direct way."""
        return shown_proxy(self.proxy) if self.proxy else ""


def route_to(url: str) -> Route:
    """The way to ``url`` by the environment's or the system's proxy settings.

    Loopback goes direct whatever they say: a system-wide proxy would look for the server on
    its own machine, and answers 502.
    """
    target = urlsplit(url)
    if is_loopback(target.hostname or ""):
        return Route()
    proxies = urllib.request.getproxies()
    proxy = proxies.get(target.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(target.netloc):
        return Route()
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    return Route(proxy) if _is_usable(proxy) else Route(ignored=shown_proxy(proxy))


def shown_proxy(proxy: str) -> str:
    """A proxy's scheme, host and port: what may be shown of it."""
    parts = _split(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts else "?"


def _is_usable(proxy: str) -> bool:
    parts = _split(proxy)
    if parts is None or not parts.hostname:
        return False
    if parts.scheme in ("socks5", "socks5h"):
        return importlib.util.find_spec("socksio") is not None
    return parts.scheme in ("http", "https")


def _split(proxy: str) -> SplitResult | None:
    try:
        parts = urlsplit(proxy)
        _ = parts.port
    except ValueError:
        return None
    return parts
