"""What is said on one socket.  front/src/transport/protocol.ts is the other side."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Awaitable, Callable

from polhode.lab import responses
from polhode.lab.jobs import Job, defect
from polhode.lab.requests import Cancel, Look, Question, RefusedError, Run, asked, number_of
from polhode.lab.responses import Result

MOST_UNSENT = 100
"""With so many messages that the page has not taken, nothing more is read from it."""

Send = Callable[[str | bytes], Awaitable[None]]
Hear = Callable[[], Awaitable[str | None]]
"""The next text; None at the end."""


class Conversation:
    """One page: computes one answer at a time, and only what was asked last.

    `viewed` is the one motion of `polhode view`, packed; None in the lab.
    """

    def __init__(self, send: Send, viewed: bytes | None = None) -> None:
        self._send, self._viewed = send, viewed
        self._unsent: asyncio.Queue[str | bytes] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._job: Job | None = None
        self._next_run: Run | None = None
        self._next_look: Look | None = None
        self._has_next = asyncio.Event()
        self._last: Result | None = None
        self._numbers_alone = threading.Lock()

    async def go_on(self, hear: Hear) -> None:
        """Greet, and answer until nothing more is heard."""
        if self._viewed is None:
            self._say(await asyncio.to_thread(responses.hello))
        else:
            self._say(responses.hello_of_one_motion())
            self._say(self._viewed)
        tasks = [asyncio.create_task(self._send_all()), asyncio.create_task(self._work_off())]
        try:
            while (text := await hear()) is not None:
                self._take(text)
                while self._unsent.qsize() > MOST_UNSENT and not tasks[0].done():
                    await asyncio.sleep(0.05)
        finally:
            if self._job is not None:
                self._job.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, text: str) -> None:
        """One message; whatever it holds, the conversation goes on."""
        try:
            self._consider(asked(text))
        except RefusedError as refused:
            parts = {"sentence": str(refused), "parameter": refused.parameter}
            self._say(responses.text("refused", id=refused.id, **parts))
        except Exception as error:
            traceback.print_exc()
            self._say(responses.text("refused", id=number_of(text), sentence=defect(error), parameter=None))

    def _consider(self, question: Question) -> None:
        """A newer run takes the place of all before; a look waits for the run that was asked for before it."""
        if isinstance(question, Cancel):
            self._drop(question.id)
            return
        if self._viewed is not None:
            raise RefusedError("one motion is viewed here: `polhode lab` runs models", question.id)
        if isinstance(question, Run):
            self._drop(None)
            self._next_run = question
        else:
            if self._next_look is not None:
                self._say(responses.text("cancelled", id=self._next_look.id))
            self._next_look = question
        self._has_next.set()

    def _drop(self, id: int | None) -> None:
        """Stop a question, or all of them: those that wait at once, the one that is computed as soon as it can."""
        if self._next_run is not None and id in (None, self._next_run.id):
            self._say(responses.text("cancelled", id=self._next_run.id))
            self._next_run = None
        if self._next_look is not None and id in (None, self._next_look.id):
            self._say(responses.text("cancelled", id=self._next_look.id))
            self._next_look = None
        if self._job is not None and id in (None, self._job.question.id):
            self._job.cancel()

    async def _work_off(self) -> None:
        while True:
            await self._has_next.wait()
            question: Run | Look | None = self._next_run or self._next_look
            if question is self._next_run:
                self._next_run = None
            else:
                self._next_look = None
            if question is None:
                self._has_next.clear()
                continue
            self._job = Job(question, self._last, self._say_from_a_thread, self._numbers_alone)
            await self._job.done()
            self._last, self._job = self._job.result, None

    def _say(self, message: str | bytes) -> None:
        self._unsent.put_nowait(message)

    def _say_from_a_thread(self, message: str | bytes) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._say, message)

    async def _send_all(self) -> None:
        while True:
            await self._send(await self._unsent.get())
