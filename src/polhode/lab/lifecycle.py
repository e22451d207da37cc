"""The lab from its first line to Ctrl-C."""

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
from polhode.lab.jobs import THREAD_NAME
from polhode.lab.server import Lab, create_app
from polhode.web.browser import open_url

MAX_MESSAGE_BYTES = 2**20
"""In bytes.  A page that sends more is cut off; what is too long for a question is refused far below."""


def serve(lab: Lab, listener: socket.socket, begin: Callable[[], None]) -> None:
    """Answer until SIGINT or SIGTERM comes; `begin` is called when they are awaited.

    Open sockets are closed then, and running computations stopped.
    """
    config = uvicorn.Config(
        create_app(lab),
        log_level="error",
        access_log=False,
        server_header=False,
        loop="asyncio",
        http="h11",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,  # on one machine squeezing costs more than sending
        timeout_graceful_shutdown=1,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    server = uvicorn.Server(config)

    def end(*_: object) -> None:
        """For a signal before the server listens to them itself, and for the one that it hands on when it has ended."""
        server.should_exit = True

    before = {kind: signal.signal(kind, end) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        begin()
        server.run(sockets=[listener])
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Whether a complaint of the server tells anybody anything: not that it refused a socket, as it was told to, nor
    that at the end somebody had not hung up."""
    text = record.getMessage()
    return "without completing handshake" not in text and "graceful shutdown exceeded" not in text


def exit_now() -> NoReturn:
    """End the process at once.  A compiler that works for somebody who has left cannot be asked to stop, and an
    orderly end of the interpreter takes longer than a person waits after Ctrl-C; nothing is left to be written."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def warm_up(model: str, knobs: Mapping[str, float]) -> None:
    """Load, beside the server, what the first page will ask for: the gallery, and the machine code of its model."""

    def work() -> None:
        from polhode.gallery import MODELS
        from polhode.lab import responses
        from polhode.lab.responses import ModelResult

        try:
            first = MODELS[model] if model else responses.models_by_theme()[0]
            motions = first.run(**first.values(**knobs))
            by_name = motions if isinstance(motions, dict) else {first.name: motions}
            responses.motion_message(ModelResult(first.name, first.title, by_name), 0)
            responses.models_by_theme()
        except PolhodeError:
            pass  # whoever asks for that model will be told

    threading.Thread(target=work, name=THREAD_NAME, daemon=True).start()


def open_browser(address: str, complain: Callable[[str], None]) -> None:
    """Open the page in the browser, beside the server."""

    def work() -> None:
        if not open_url(address):
            complain("no browser could be opened: open that address by hand")

    threading.Thread(target=work, daemon=True).start()
