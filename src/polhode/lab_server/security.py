"""Access control: only pages of this server and, unless it listens on localhost only, a token."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from polhode.errors import InputError

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
WILDCARD_ADDRESSES = ("0.0.0.0", "::")
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def normalize_host(host: str) -> str:
    """A name in lowercase, or an IP address in its canonical form.

    Examples
    --------
    >>> normalize_host("FD00:0:0:0:0:0:0:2"), normalize_host("::ffff:127.0.0.1")
    ('fd00::2', '127.0.0.1')
    """
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.lower()
    return str(getattr(found, "ipv4_mapped", None) or found)


def is_loopback(address: str) -> bool:
    """Whether an address can be reached from this machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    try:
        return ipaddress.ip_address(normalize_host(address)).is_loopback
    except ValueError:
        return False


def is_wildcard_address(address: str) -> bool:
    """Whether an address means all interfaces of this machine."""
    return normalize_host(address) in WILDCARD_ADDRESSES


@dataclass(frozen=True)
class PublicAddress:
    """Where a proxy, such as that of JupyterHub or Codespaces, shows the lab to browsers."""

    origin: str
    """Such as https://hub.example.org: what browsers send as `Origin`."""
    host: str
    path: str
    """The part of the path before the lab's own, without a slash at its end; "" if there is none."""

    @property
    def url(self) -> str:
        """The URL of the lab, with a slash at its end."""
        return f"{self.origin}{self.path}/"


def parse_public_url(text: str) -> PublicAddress:
    """The parts of a public URL.

    Examples
    --------
    >>> parse_public_url("https://hub.example.org/user/ann/proxy/8321/").path
    '/user/ann/proxy/8321'
    """
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname
    except ValueError as error:
        raise InputError(f"the public URL {text!r} cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or parts.username:
        raise InputError(
            f"the public URL {text!r} must be that of a proxy, such as https://hub.example.org/user/ann/proxy/8321/, "
            "without a query, a fragment or a user name"
        )
    shown = f"[{host}]" if ":" in host else host
    standard = {"http": 80, "https": 443}[parts.scheme]
    origin = f"{parts.scheme}://{shown}" + ("" if port in (None, standard) else f":{port}")
    return PublicAddress(origin, normalize_host(host), parts.path.rstrip("/"))


@dataclass(frozen=True)
class SecurityMiddleware:
    """Passes requests on, or rejects them with status 403; adds security headers to every response.

    - `Host` must be one of `hosts`, or a loopback name, which prevents DNS rebinding.  With a wildcard address, any
      host is accepted and the token is required instead.
    - The `Origin` of a WebSocket must be the page itself: pages of other sites can open sockets to this machine.
    - With a `public` address, that host and origin are accepted too, and its path may precede the lab's own.
    """

    app: ASGIApp
    hosts: Sequence[str]
    token: str | None
    public: PublicAddress | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        sentence = self._rejection(scope, Headers(scope=scope))
        if sentence is None:
            await self.app(self._without_prefix(scope), receive, _add_headers(send))
        elif scope["type"] == "http":
            await PlainTextResponse(sentence + "\n", 403)(scope, receive, _add_headers(send))
        else:
            await WebSocket(scope, receive, send).send_denial_response(PlainTextResponse(sentence + "\n", 403))

    def _rejection(self, scope: Scope, headers: Mapping[str, str]) -> str | None:
        host = headers.get("host", "")
        known = (*map(normalize_host, self.hosts), *LOOPBACK_HOSTS, *([self.public.host] if self.public else []))
        if not any(map(is_wildcard_address, self.hosts)) and normalize_host(_hostname(host)) not in known:
            return f"unknown host {host[:100]!r}: open the URL printed by the lab"
        origins = (f"http://{host}", *([self.public.origin] if self.public else []))
        if scope["type"] == "websocket" and headers.get("origin", "") not in origins:
            return "cross-origin request: this socket only accepts the lab's own page"
        if self.token is not None:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if not secrets.compare_digest(given.encode(), self.token.encode()):
                return "this lab requires a token: open the complete URL that it printed, with ?token=..."
        return None

    def _without_prefix(self, scope: Scope) -> Scope:
        """Some proxies pass the whole path on, others only what follows their own part."""
        path: str = scope["path"]
        if self.public is None or not self.public.path or not f"{path}/".startswith(f"{self.public.path}/"):
            return scope
        return {**scope, "path": path[len(self.public.path) :] or "/"}


def _hostname(host: str) -> str:
    """The hostname without the port; "" if there is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _add_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            headers.setdefault("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        await send(message)

    return sending


def required_token(address: str, given: str | None, is_public: bool = False) -> str | None:
    """The token for an address: the given one; otherwise a random one, or None on the loopback interface.

    Behind a proxy (`is_public`) there is always one: a proxy makes the loopback interface reachable from elsewhere.
    """
    if given is not None or (is_loopback(address) and not is_public):
        return given
    return secrets.token_urlsafe(16)
