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
class SecurityMiddleware:
    """Passes requests on, or rejects them with status 403; adds security headers to every response.

    - `Host` must be one of `hosts`, or a loopback name, which prevents DNS rebinding.  With a wildcard address, any
      host is accepted and the token is required instead.
    - The `Origin` of a WebSocket must be the page itself: pages of other sites can open sockets to this machine.
    """

    app: ASGIApp
    hosts: Sequence[str]
    token: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        sentence = self._rejection(scope, Headers(scope=scope))
        if sentence is None:
            await self.app(scope, receive, _add_headers(send))
        elif scope["type"] == "http":
            await PlainTextResponse(sentence + "\n", 403)(scope, receive, _add_headers(send))
        else:
            await WebSocket(scope, receive, send).send_denial_response(PlainTextResponse(sentence + "\n", 403))

    def _rejection(self, scope: Scope, headers: Mapping[str, str]) -> str | None:
        host = headers.get("host", "")
        known = (*map(normalize_host, self.hosts), *LOOPBACK_HOSTS)
        if not any(map(is_wildcard_address, self.hosts)) and normalize_host(_hostname(host)) not in known:
            return f"unknown host {host[:100]!r}: open the URL printed by the lab"
        if scope["type"] == "websocket" and headers.get("origin", "") != f"http://{host}":
            return "cross-origin request: this socket only accepts the lab's own page"
        if self.token is not None:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if not secrets.compare_digest(given.encode(), self.token.encode()):
                return "this lab requires a token: open the complete URL that it printed, with ?token=..."
        return None


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


def required_token(address: str, given: str | None) -> str | None:
    """The token for an address: the given one; otherwise a random one, or None on the loopback interface."""
    if given is not None or is_loopback(address):
        return given
    return secrets.token_urlsafe(16)
