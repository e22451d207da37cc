"""The port and the URL of the lab."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from polhode.errors import InputError
from polhode.lab_server.security import PublicAddress, is_wildcard_address, normalize_host

DEFAULT_PORT = 8321
PORT_TRIES = 20
"""Number of ports tried from the default one; then any free port is used."""


def open_listener(host: str, port: int | None) -> socket.socket:
    """A listening socket at the given port, or at the first free one from the default on; 0 means any."""
    if port is not None:
        return _bind_socket(host, port)
    for candidate in (*range(DEFAULT_PORT, DEFAULT_PORT + PORT_TRIES), 0):
        try:
            return _bind_socket(host, candidate)
        except PortTakenError:
            continue
    raise InputError(f"{host} has no free port")


class PortTakenError(InputError):
    """The port is already in use."""


def _bind_socket(host: str, port: int) -> socket.socket:
    try:
        kind, _, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"{host!r} is not a name or address of this machine: {error}") from None
    listener = socket.socket(kind, socket.SOCK_STREAM, protocol)  # with its protocol, so that asyncio sets TCP_NODELAY
    try:
        if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # the latter means Windows
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"port {port} is already in use: choose another, or omit --port to get a free one"
            ) from None
        raise InputError(f"the lab cannot listen on {host}, port {port}: {error.strerror}") from None
    return listener


def page_url(
    host: str,
    listener: socket.socket,
    path: str,
    parameters: Mapping[str, float],
    token: str | None,
    public: PublicAddress | None = None,
) -> str:
    """The URL of the page, with the host as given; a wildcard address is replaced by the loopback address.

    With a `public` address it is the one of the proxy.

    Examples
    --------
    >>> with open_listener("127.0.0.1", 0) as listener:
    ...     page_url("127.0.0.1", listener, "dzhanibekov", {"spin": 3.0}, None)
    'http://127.0.0.1:.../dzhanibekov?spin=3'
    """
    bound, port = listener.getsockname()[:2]
    name = normalize_host(host)
    if is_wildcard_address(bound):
        name = "::1" if ":" in normalize_host(bound) else "127.0.0.1"
    query = urlencode(
        {key: repr(value).removesuffix(".0") for key, value in parameters.items()}
        | ({} if token is None else {"token": token}),
        quote_via=quote,
        safe="",
    )
    start = f"http://{f'[{name}]' if ':' in name else name}:{port}/" if public is None else public.url
    return f"{start}{path}" + (f"?{query}" if query else "")
