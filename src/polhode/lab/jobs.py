"""One question computed in a thread of its own, which can be told to stop and says what it is doing."""

from __future__ import annotations

import asyncio
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from polhode.errors import CancelledError, PolhodeError, RunError
from polhode.lab import responses
from polhode.lab.requests import MotionRequest, RefusedRequestError, RunRequest
from polhode.lab.responses import ModelResult
from polhode.progress import ProgressReport, listening

PROGRESS_INTERVAL_S = 0.1
"""Between two messages about progress."""
SILENCE_LIMIT_S = 0.4
"""Of a computation that has reported nothing for so long, the page is told what it is about."""
SIMULATED_SHARE, PACKED_SHARE = 0.9, 0.95
"""How much of the answer there is when the motion is computed, and when it is shown."""
THREAD_NAME = "polhode-lab"

EnqueueMessage = Callable[[str | bytes], None]

_job_warnings: ContextVar[list[str] | None] = ContextVar("polhode_said", default=None)


class Job:
    """The answer to one question, while it is computed.

    The motion is told as soon as there is one; the numbers follow, one job at a time (`numbers_lock`).
    """

    def __init__(
        self,
        question: RunRequest | MotionRequest,
        last: ModelResult | None,
        tell: EnqueueMessage,
        numbers_lock: threading.Lock,
    ) -> None:
        self.question, self.result, self._send_unchecked, self._numbers_lock = question, last, tell, numbers_lock
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._is_cancelled = threading.Event()
        self._is_simulated = self._is_motion_sent = self._is_response_sent = False
        self._told = perf_counter()
        self._now = (0.0, "preparing: what runs for the first time is compiled")

    def cancel(self) -> None:
        """Stop at the next report.  If only the numbers are missing nobody waits for them: their thread ends alone."""
        self._is_cancelled.set()
        if self._is_motion_sent:
            self._finish_cancelled()

    async def done(self) -> None:
        """Compute, in a thread; returns when that has ended, or its end does not matter any more."""

        def work() -> None:
            then = self._end
            try:
                self._answer()
            except CancelledError:
                then = self._finish_cancelled
            finally:
                with _ignore_closed_loop():
                    self._loop.call_soon_threadsafe(then)

        # A daemon: a compiler cannot be interrupted, and must not keep the lab from ending.
        threading.Thread(target=work, name=THREAD_NAME, daemon=True).start()
        while not self._ended.done():
            await asyncio.wait({self._ended}, timeout=SILENCE_LIMIT_S)
            is_silent = perf_counter() - self._told > SILENCE_LIMIT_S
            if is_silent and not (self._ended.done() or self._is_cancelled.is_set()):
                self._send_progress()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _finish_cancelled(self) -> None:
        if not (self._ended.done() or self._is_response_sent):
            self._send_unchecked(responses.encode_message("cancelled", id=self.question.id))
        self._end()

    def _answer(self) -> None:
        """The answer, or a sentence why there is none."""
        try:
            with listening(self._on_progress):
                if isinstance(self.question, MotionRequest):
                    self._look(self.question)
                else:
                    said = list[str]()
                    _job_warnings.set(said)
                    self._run(self.question, said)
        except CancelledError:
            raise
        except RefusedRequestError as error:
            self._refuse(str(error), error.parameter)
        except PolhodeError as error:
            self._refuse(str(error))
        except Exception as error:
            traceback.print_exc()
            self._refuse(defect_message(error))

    def _run(self, question: RunRequest, said: list[str]) -> None:
        model, values = question.model, question.values
        try:
            motions: Any = model.run(**values)
        except RunError as error:
            raise self._stopped(question, error, said) from None
        by_name = motions if isinstance(motions, dict) else {model.name: motions}
        self._show(ModelResult(model.name, model.title, by_name, said))
        _job_warnings.set(None)  # the motion has its notes; what is warned of now goes to the window of the server
        self._is_motion_sent = True
        self._check()  # whoever cancelled just before did not see that it is shown, and waits for this thread
        with self._numbers_lock:
            self._update_progress("comparing with what is expected", PACKED_SHARE)
            self._send_unless_cancelled(
                responses.numbers_message(question.id, model.numbers(motions, **values)), is_last=True
            )

    def _look(self, question: MotionRequest) -> None:
        if self.result is None:
            raise RefusedRequestError("no model has been run yet: there is no other motion to look at")
        if question.run not in self.result.motions:
            names = ", ".join(self.result.motions)
            raise RefusedRequestError(f"the last run has no motion {question.run[:80]!r}: it has {names}")
        self._send_unless_cancelled(self._pack_motion(self.result, question.run), is_last=True)

    def _show(self, result: ModelResult) -> None:
        self._send_unless_cancelled(self._pack_motion(result))
        self.result = result

    def _pack_motion(self, result: ModelResult, run: str | None = None) -> bytes:
        self._is_simulated = True
        self._update_progress("drawing up the motion (the first time on a machine this is compiled)", SIMULATED_SHARE)
        return responses.motion_message(result, self.question.id, run)

    def _stopped(self, question: RunRequest, error: RunError, said: list[str]) -> RefusedRequestError:
        """The sentence about a run that had to stop; what was computed until then is shown before."""
        sentence = str(error).replace(" What was computed until then is in this error's .motion.", "")
        if len(error.motion.times):
            name = question.model.name
            self._show(ModelResult(name, question.model.title, {name: error.motion}, (*said, sentence)))
            sentence += " What was computed until then is shown."
        return RefusedRequestError(sentence, question.id)

    def _on_progress(self, heard: ProgressReport) -> None:
        """What the computation reports; the place where it is stopped."""
        self._check()
        if self._is_simulated or (heard.done <= 0 and self._now[0] == 0):
            return  # done with; or begun, but nothing is done before the machine code is made
        what = "simulating" if heard.unit == "s" else heard.what
        of = f" ({heard.part})" if heard.part else ""
        self._update_progress(
            f"{what}{of}: {heard.done:.3g} of {heard.total:.3g} {heard.unit}", SIMULATED_SHARE * heard.share
        )

    def _update_progress(self, words: str, share: float) -> None:
        self._check()
        self._now = (share, words)
        if perf_counter() - self._told > PROGRESS_INTERVAL_S:
            self._send_progress()

    def _send_progress(self) -> None:
        self._told = perf_counter()
        share, words = self._now
        self._send_unless_cancelled(responses.encode_message("progress", id=self.question.id, done=share, words=words))

    def _refuse(self, sentence: str, parameter: str | None = None) -> None:
        message = responses.encode_message("refused", id=self.question.id, sentence=sentence, parameter=parameter)
        self._send_unless_cancelled(message, is_last=True)

    def _send_unless_cancelled(self, message: str | bytes, is_last: bool = False) -> None:
        self._check()
        self._is_response_sent |= is_last  # before it is told: whoever has the answer gets no "cancelled" after it
        self._send_unchecked(message)

    def _check(self) -> None:
        if self._is_cancelled.is_set():
            raise CancelledError("nobody waits for this any more")


def defect_message(error: BaseException) -> str:
    """The sentence about an error that nobody has foreseen."""
    return (
        f"this is a defect of Polhode, not of your values: {type(error).__name__}: {error}. The lab goes on; the "
        "window in which it was started shows where it happened"
    )


@contextmanager
def collect_warnings() -> Iterator[None]:
    """Inside, a warning of a job goes into the notes of its motion; any other goes where it always went."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            said = _job_warnings.get()
            if said is not None and str(message) not in said:
                said.append(str(message))
            if said is None or not issubclass(category, UserWarning):
                usual(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


@contextmanager
def _ignore_closed_loop() -> Iterator[None]:
    """The lab may have ended while a thread was still computing: then nobody wants to know."""
    try:
        yield
    except RuntimeError as error:
        if "closed" not in str(error):
            raise
