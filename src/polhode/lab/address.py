"""Where the lab is found: a free port, and the line that tells it."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from polhode.errors import InputError
from polhode.lab.security import is_wildcard_address, normalize_host

DEFAULT_PORT = 8321
PORT_TRIES = 20
"""So many ports from the usual one on are tried; then any free one is taken."""


def open_listener(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at the port asked for, or at the first free one from the usual one on; 0 is any."""
    if port is not None:
        return _bind_socket(host, port)
    for candidate in (*range(DEFAULT_PORT, DEFAULT_PORT + PORT_TRIES), 0):
        try:
            return _bind_socket(host, candidate)
        except PortTakenError:
            continue
    raise InputError(f"{host} has no free port")


class PortTakenError(InputError):
    """A port at which somebody else listens."""


def _bind_socket(host: str, port: int) -> socket.socket:
    try:
        kind, _, protocol, _, place = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"{host!r} is no name or address of this machine: {error}") from None
    listener = socket.socket(kind, socket.SOCK_STREAM, protocol)  # named, so that small messages are sent at once
    try:
        if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # the latter means Windows
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"port {port} is taken: choose another, or leave --port out to get a free one"
            ) from None
        raise InputError(f"the lab cannot listen at {host}, port {port}: {error.strerror}") from None
    return listener


def page_url(host: str, listener: socket.socket, path: str, knobs: Mapping[str, float], token: str | None) -> str:
    """What to open, by the name that was asked for; who listens everywhere is found at this machine's own address.

    Examples
    --------
    >>> with listening_at("127.0.0.1", 0) as listener:
    ...     address("127.0.0.1", listener, "dzhanibekov", {"spin": 3.0}, None)
    'http://127.0.0.1:.../dzhanibekov?spin=3'
    """
    bound, port = listener.getsockname()[:2]
    name = normalize_host(host)
    if is_wildcard_address(bound):
        name = "::1" if ":" in normalize_host(bound) else "127.0.0.1"
    query = urlencode(
        {knob: repr(value).removesuffix(".0") for knob, value in knobs.items()}
        | ({} if token is None else {"token": token}),
        quote_via=quote,
        safe="",
    )
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/{path}" + (f"?{query}" if query else "")
