"""The messages of one WebSocket; front/src/transport/protocol.ts is the other side."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Awaitable, Callable, Sequence

from polhode.errors import PolhodeError
from polhode.gallery import Model
from polhode.lab_server import responses
from polhode.lab_server.jobs import Job, defect_message
from polhode.lab_server.registry import LabModels
from polhode.lab_server.requests import (
    CancelRequest,
    MotionRequest,
    PageRequest,
    RefusedRequestError,
    RunRequest,
    SweepRequest,
    TakeRequest,
    TextRequest,
    parse_request,
    request_id,
)
from polhode.lab_server.responses import ModelResult
from polhode.lab_server.takeaway import TakeawayDesk
from polhode.lab_server.turnstile import Turnstile

MAX_UNSENT = 100
"""With more unsent messages than this, no further requests are read."""
MAX_TAKING = 4
"""Things to take away that one page may wait for."""
WATCH_INTERVAL_S = 1.0
"""Time between two looks at the user's files."""

SendMessage = Callable[[str | bytes], Awaitable[None]]
ReceiveText = Callable[[], Awaitable[str | None]]
"""The next text message; None at the end."""


class Session:
    """One page: computes one response at a time, and only to the latest request.

    `viewed` is the encoded motion of `polhode view`; None in the lab, which offers `models`.  `turnstile` is that
    of the server.
    """

    def __init__(
        self,
        send: SendMessage,
        viewed: bytes | None = None,
        turnstile: Turnstile | None = None,
        title: str = "",
        models: LabModels | None = None,
    ) -> None:
        self._send, self._viewed, self._turnstile = send, viewed, turnstile or Turnstile()
        self._models = LabModels() if models is None else models
        self._unsent: asyncio.Queue[str | bytes] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._job: Job | None = None
        self._next_run: RunRequest | SweepRequest | None = None
        self._next_motion_request: MotionRequest | None = None
        self._has_next = asyncio.Event()
        self._last: ModelResult | None = None
        self._checks_lock = threading.Lock()
        self._desk = TakeawayDesk(viewed, title)
        self._taking: set[asyncio.Task[None]] = set()

    async def handle_messages(self, receive: ReceiveText) -> None:
        """Send the greeting, then answer requests until the socket is closed."""
        watching = None
        if self._viewed is None:
            await asyncio.to_thread(self._models.refresh)
            own = self._models.own
            self._enqueue(await asyncio.to_thread(responses.hello_message, own))
            watching = self._watch_models(own)
        else:
            self._enqueue(responses.hello_without_gallery())
            self._enqueue(self._viewed)
        tasks = [asyncio.create_task(self._send_all()), asyncio.create_task(self._process_requests())]
        if watching is not None:
            tasks.append(asyncio.create_task(watching))
        try:
            while (text := await receive()) is not None:
                self._handle_text(text)
                while self._unsent.qsize() > MAX_UNSENT and not tasks[0].done():
                    await asyncio.sleep(0.05)
        finally:
            if self._job is not None:
                self._job.cancel()
            tasks += self._taking
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch_models(self, known: Sequence[Model]) -> None:
        """Greet the page again whenever models of the user's own have changed."""
        while True:
            await asyncio.sleep(WATCH_INTERVAL_S)
            await asyncio.to_thread(self._models.refresh)
            own = self._models.own
            changed = [model.name for model in own if not any(model is one for one in known)]
            if changed or len(own) != len(known):
                self._enqueue(await asyncio.to_thread(responses.hello_message, own, changed))
                known = own

    def _handle_text(self, text: str) -> None:
        """Handle one message; no message ends the session."""
        try:
            self._dispatch_request(parse_request(text, self._models))
        except RefusedRequestError as refused:
            parts = {"sentence": str(refused), "parameter": refused.parameter}
            self._enqueue(responses.encode_message("refused", id=refused.id, **parts))
        except Exception as error:
            traceback.print_exc()
            self._enqueue(
                responses.encode_message("refused", id=request_id(text), sentence=defect_message(error), parameter=None)
            )

    def _dispatch_request(self, request: PageRequest) -> None:
        """A run supersedes all earlier requests; a motion request waits for the run before it."""
        if isinstance(request, CancelRequest):
            self._cancel(request.id)
            return
        if isinstance(request, TakeRequest | TextRequest):
            self._start_taking(request)
            return
        if self._viewed is not None:
            raise RefusedRequestError("only one motion is viewed here; use `polhode lab` to run models", request.id)
        if isinstance(request, RunRequest | SweepRequest):
            self._cancel(None)
            self._next_run = request
        else:
            if self._next_motion_request is not None:
                self._enqueue(responses.encode_message("cancelled", id=self._next_motion_request.id))
            self._next_motion_request = request
        self._has_next.set()

    def _start_taking(self, request: TakeRequest | TextRequest) -> None:
        """Make something to take away, beside the run of the page."""
        if len(self._taking) >= MAX_TAKING:
            raise RefusedRequestError("wait for what you have asked for before asking for more", request.id)
        task = asyncio.create_task(self._take(request))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)

    async def _take(self, request: TakeRequest | TextRequest) -> None:
        try:
            if isinstance(request, TextRequest):
                self._enqueue(await asyncio.to_thread(responses.text_message, request))
            else:
                self._enqueue(await asyncio.to_thread(self._desk.answer, request))
        except PolhodeError as error:
            self._enqueue(responses.encode_message("refused", id=request.id, sentence=str(error), parameter=None))
        except Exception as error:
            traceback.print_exc()
            sentence = defect_message(error)
            self._enqueue(responses.encode_message("refused", id=request.id, sentence=sentence, parameter=None))

    def _cancel(self, id: int | None) -> None:
        """Cancel a request, or all of them: waiting ones at once, the running one at its next progress report."""
        if self._next_run is not None and id in (None, self._next_run.id):
            self._enqueue(responses.encode_message("cancelled", id=self._next_run.id))
            self._next_run = None
        if self._next_motion_request is not None and id in (None, self._next_motion_request.id):
            self._enqueue(responses.encode_message("cancelled", id=self._next_motion_request.id))
            self._next_motion_request = None
        if self._job is not None and id in (None, self._job.request.id):
            self._job.cancel()

    async def _process_requests(self) -> None:
        while True:
            await self._has_next.wait()
            request: RunRequest | SweepRequest | MotionRequest | None = self._next_run or self._next_motion_request
            if request is self._next_run:
                self._next_run = None
            else:
                self._next_motion_request = None
            if request is None:
                self._has_next.clear()
                continue
            self._job = Job(request, self._last, self._enqueue_threadsafe, self._checks_lock, self._turnstile)
            await self._job.done()
            self._last, self._job = self._job.result, None

    def _enqueue(self, message: str | bytes) -> None:
        self._unsent.put_nowait(message)

    def _enqueue_threadsafe(self, message: str | bytes) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._enqueue, message)

    async def _send_all(self) -> None:
        while True:
            await self._send(await self._unsent.get())
