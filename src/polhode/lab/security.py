"""Who may come in: pages of this server only, and where the lab is open to others, only those who know the token."""

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
    """A name in small letters, or an address in its shortest form: many ways of writing mean one host.

    Examples
    --------
    >>> written_plainly("FD00:0:0:0:0:0:0:2"), written_plainly("::ffff:127.0.0.1")
    ('fd00::2', '127.0.0.1')
    """
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.lower()
    return str(getattr(found, "ipv4_mapped", None) or found)


def is_loopback(address: str) -> bool:
    """Whether an address means this machine, and no other can reach it.

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
    """Whether who listens there is reached under every address of this machine."""
    return normalize_host(address) in WILDCARD_ADDRESSES


@dataclass(frozen=True)
class SecurityMiddleware:
    """Lets requests through, or answers them with 403 and a sentence; puts the safety headers on every answer.

    - `Host` must be one of the lab's `hosts`, or this machine's own: a foreign name that was made to point here
      (DNS rebinding) is refused.  Bound everywhere, the lab has too many names to know, and the token stands guard.
    - A socket's `Origin` must be the page's own: other sites' pages may open sockets to this machine, but not this one.
    """

    app: ASGIApp
    hosts: Sequence[str]
    token: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        sentence = self._complaint(scope, Headers(scope=scope))
        if sentence is None:
            await self.app(scope, receive, _add_headers(send))
        elif scope["type"] == "http":
            await PlainTextResponse(sentence + "\n", 403)(scope, receive, _add_headers(send))
        else:
            await WebSocket(scope, receive, send).send_denial_response(PlainTextResponse(sentence + "\n", 403))

    def _complaint(self, scope: Scope, headers: Mapping[str, str]) -> str | None:
        host = headers.get("host", "")
        known = (*map(normalize_host, self.hosts), *LOOPBACK_HOSTS)
        if not any(map(is_wildcard_address, self.hosts)) and normalize_host(_hostname(host)) not in known:
            return f"the lab is not known as {host[:100]!r} here: open the address that it printed"
        if scope["type"] == "websocket" and headers.get("origin", "") != f"http://{host}":
            return "this socket is for the lab's own page, and the question came from elsewhere"
        if self.token is not None:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if not secrets.compare_digest(given.encode(), self.token.encode()):
                return "this lab wants a token: open the whole address that it printed, with ?token=..."
        return None


def _hostname(host: str) -> str:
    """A host's name without its port; "" where there is none."""
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
    """The token that is demanded at an address: the one given, one made up where others can reach it, none at home."""
    if given is not None or is_loopback(address):
        return given
    return secrets.token_urlsafe(16)
