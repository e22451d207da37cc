"""The ASGI application: the page, its WebSocket, and error responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from polhode.errors import nearest
from polhode.gallery import model_name
from polhode.gallery.thumbnails import read_thumbnail, thumbnail_files
from polhode.lab_server.jobs import collect_warnings
from polhode.lab_server.registry import LabModels
from polhode.lab_server.security import PublicAddress, SecurityMiddleware
from polhode.lab_server.session import ReceiveText, SendMessage, Session
from polhode.lab_server.turnstile import Turnstile
from polhode.web import html_page


@dataclass(frozen=True)
class Lab:
    """What is served, and at which host."""

    hosts: Sequence[str] = ("127.0.0.1",)
    """Accepted host names: the address at which it listens, and the name given."""
    token: str | None = None
    viewed: bytes | None = None
    """The encoded motion of `polhode view`; None for the gallery."""
    title: str = ""
    """Title of that motion."""
    models: LabModels = field(default_factory=LabModels)
    """Own models and the gallery."""
    frame_ancestors: str = "'none'"
    """Which pages may show this one in a frame, as a content security policy says it."""
    public: PublicAddress | None = None
    """Where a proxy shows the lab; None without a proxy."""


def create_app(lab: Lab) -> SecurityMiddleware:
    """The lab as an ASGI application."""

    turnstile = Turnstile()

    async def page(request: Request) -> Response:
        model = request.path_params.get("model", "")
        if lab.viewed is None and model not in lab.models and model_name(model) in lab.models:
            return RedirectResponse(f"./{model_name(model)}?{request.url.query}".rstrip("?"), 307)
        if model and (lab.viewed is not None or model not in lab.models):
            known = "a single motion is served at /" if lab.viewed is not None else nearest(model[:100], lab.models)
            raise HTTPException(404, f"there is no model {model[:100]!r}: {known}")
        options = {"mode": "live", "model": model, "title": lab.title}
        text = await asyncio.to_thread(html_page.build_page, options, None)
        policy = html_page.content_security_policy(live=True) + f"; frame-ancestors {lab.frame_ancestors}"
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})

    async def picture(request: Request) -> Response:
        file = request.path_params["file"]
        if file not in thumbnail_files():
            raise HTTPException(404, f"there is no picture {file[:100]!r}")
        return Response(read_thumbnail(file), media_type="image/webp")

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        session = Session(_make_sender(websocket), lab.viewed, turnstile, lab.title, lab.models)
        await session.handle_messages(_make_receiver(websocket))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with collect_warnings():
            yield

    routes = [
        Route("/", page),
        Route("/{model}", page),
        Route("/pictures/{file}", picture),
        WebSocketRoute("/ws", socket),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _error_response})
    app.router.redirect_slashes = False  # an error message is better than a redirect
    return SecurityMiddleware(app, lab.hosts, lab.token, lab.public)


def _error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = error.detail
    if error.status_code == 404 and sentence == "Not Found":
        sentence = f"there is no page {request.url.path[:100]!r}: the lab is at /"
    return PlainTextResponse(sentence + "\n", error.status_code, error.headers)


def _make_sender(websocket: WebSocket) -> SendMessage:
    async def send(message: str | bytes) -> None:
        if isinstance(message, str):
            await websocket.send_text(message)
        else:
            await websocket.send_bytes(message)

    return send


def _make_receiver(websocket: WebSocket) -> ReceiveText:
    async def receive() -> str | None:
        """The next text message; a binary one is passed on as text, which is refused as invalid JSON."""
        try:
            message = await websocket.receive()
        except WebSocketDisconnect:
            return None
        if message["type"] == "websocket.disconnect":
            return None
        text: str | None = message.get("text")
        return text if text is not None else "(bytes)"

    return receive
