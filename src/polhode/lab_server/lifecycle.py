"""Starts and stops the server of the lab."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import NoReturn

import uvicorn

from polhode.errors import PolhodeError
from polhode.lab_server.jobs import THREAD_NAME
from polhode.lab_server.registry import LabModels
from polhode.lab_server.server import Lab, create_app
from polhode.web.browser import open_url

MAX_MESSAGE_BYTES = 2**20
"""A page that sends a longer message is disconnected; requests are limited to much less."""


def serve(lab: Lab, listener: socket.socket, begin: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; `begin` is called once their handlers are installed.

    At the end open sockets are closed and running computations stopped.
    """
    server = make_server(lab)

    def end(*_: object) -> None:
        """Handle a signal before the server installs its handlers, and the one that it raises again after shutdown."""
        server.should_exit = True

    previous = {kind: signal.signal(kind, end) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        begin()
        server.run(sockets=[listener])
    finally:
        for kind, handler in previous.items():
            signal.signal(kind, handler)


def make_server(lab: Lab) -> uvicorn.Server:
    """The server of a lab, not yet running."""
    config = uvicorn.Config(
        create_app(lab),
        log_level="error",
        access_log=False,
        server_header=False,
        loop="asyncio",
        http="h11",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,  # on one machine compressing takes longer than sending
        timeout_graceful_shutdown=1,
    )
    for name in ("uvicorn.error", "websockets.server", "asyncio"):
        logging.getLogger(name).addFilter(_is_worth_logging)
    return uvicorn.Server(config)


_ROUTINE = (
    "without completing handshake",
    "graceful shutdown exceeded",
    "socket.send() raised exception",  # asyncio, about a page that was closed while its motion was sent
    "opening handshake failed",
    "data transfer failed",
    "Invalid HTTP request received",  # of a scanner, or of a browser that tries https
)
"""Messages about sockets that were refused, aborted, or open at shutdown, which are of no interest in the terminal."""


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Filter what is routine for a server whose pages come and go."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, ConnectionError) or type(error).__name__ in ("ClientDisconnected", "WebSocketDisconnect"):
        return False
    return not any(routine in record.getMessage() for routine in _ROUTINE)


def exit_now() -> NoReturn:
    """Exit at once: a compiler in a thread cannot be interrupted, and an orderly exit of the interpreter takes long."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def warm_up(models: LabModels, model: str, parameters: Mapping[str, float]) -> None:
    """Preload in a thread what the first page will request: the gallery, and the compiled code of its model."""

    def work() -> None:
        from polhode.lab_server import responses
        from polhode.lab_server.responses import ModelResult

        try:
            first = models[model] if model else responses.models_by_theme()[0]
            motions = first.run(**first.values(**parameters))
            by_name = motions if isinstance(motions, dict) else {first.name: motions}
            responses.motion_message(ModelResult(first.name, first.title, by_name), 0)
            responses.models_by_theme()
        except PolhodeError:
            pass  # the page that requests this model gets the error

    threading.Thread(target=work, name=THREAD_NAME, daemon=True).start()


def open_browser(url: str, warn: Callable[[str], None]) -> None:
    """Open the page in the browser, in a thread."""

    def work() -> None:
        if not open_url(url):
            warn("could not open a browser: open this URL yourself")

    threading.Thread(target=work, daemon=True).start()
