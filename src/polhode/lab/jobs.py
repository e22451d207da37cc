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
from polhode.lab.requests import Look, RefusedError, Run
from polhode.lab.responses import Result
from polhode.progress import Heard, listening

PAUSE_S = 0.1
"""Between two messages about progress."""
PATIENCE_S = 0.4
"""Of a computation that has reported nothing for so long, the page is told what it is about."""
SIMULATED, DRAWN = 0.9, 0.95
"""How much of the answer there is when the motion is computed, and when it is shown."""
THREADS = "polhode-lab"

Tell = Callable[[str | bytes], None]

_said: ContextVar[list[str] | None] = ContextVar("polhode_said", default=None)


class Job:
    """The answer to one question, while it is computed.

    The motion is told as soon as there is one; the numbers follow, one job at a time (`numbers_alone`).
    """

    def __init__(self, question: Run | Look, last: Result | None, tell: Tell, numbers_alone: threading.Lock) -> None:
        self.question, self.result, self._tell_anyway, self._numbers_alone = question, last, tell, numbers_alone
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._is_cancelled = threading.Event()
        self._is_simulated = self._is_shown = self._is_answered = False
        self._told = perf_counter()
        self._now = (0.0, "preparing: what runs for the first time is compiled")

    def cancel(self) -> None:
        """Stop at the next report.  If only the numbers are missing nobody waits for them: their thread ends alone."""
        self._is_cancelled.set()
        if self._is_shown:
            self._call_off()

    async def done(self) -> None:
        """Compute, in a thread; returns when that has ended, or its end does not matter any more."""

        def work() -> None:
            then = self._end
            try:
                self._answer()
            except CancelledError:
                then = self._call_off
            finally:
                with _closed_loop_ignored():
                    self._loop.call_soon_threadsafe(then)

        # A daemon: a compiler cannot be interrupted, and must not keep the lab from ending.
        threading.Thread(target=work, name=THREADS, daemon=True).start()
        while not self._ended.done():
            await asyncio.wait({self._ended}, timeout=PATIENCE_S)
            is_silent = perf_counter() - self._told > PATIENCE_S
            if is_silent and not (self._ended.done() or self._is_cancelled.is_set()):
                self._tell_progress()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _call_off(self) -> None:
        if not (self._ended.done() or self._is_answered):
            self._tell_anyway(responses.text("cancelled", id=self.question.id))
        self._end()

    def _answer(self) -> None:
        """The answer, or a sentence why there is none."""
        try:
            with listening(self._hear):
                if isinstance(self.question, Look):
                    self._look(self.question)
                else:
                    said = list[str]()
                    _said.set(said)
                    self._run(self.question, said)
        except CancelledError:
            raise
        except RefusedError as error:
            self._refuse(str(error), error.parameter)
        except PolhodeError as error:
            self._refuse(str(error))
        except Exception as error:
            traceback.print_exc()
            self._refuse(defect(error))

    def _run(self, question: Run, said: list[str]) -> None:
        model, values = question.model, question.values
        try:
            motions: Any = model.run(**values)
        except RunError as error:
            raise self._stopped(question, error, said) from None
        by_name = motions if isinstance(motions, dict) else {model.name: motions}
        self._show(Result(model.name, model.title, by_name, said))
        _said.set(None)  # the motion has its notes; what is warned of now goes to the window of the server
        self._is_shown = True
        self._check()  # whoever cancelled just before did not see that it is shown, and waits for this thread
        with self._numbers_alone:
            self._go_on("comparing with what is expected", DRAWN)
            self._tell(responses.numbers(question.id, model.numbers(motions, **values)), is_last=True)

    def _look(self, question: Look) -> None:
        if self.result is None:
            raise RefusedError("no model has been run yet: there is no other motion to look at")
        if question.run not in self.result.motions:
            names = ", ".join(self.result.motions)
            raise RefusedError(f"the last run has no motion {question.run[:80]!r}: it has {names}")
        self._tell(self._drawn_up(self.result, question.run), is_last=True)

    def _show(self, result: Result) -> None:
        self._tell(self._drawn_up(result))
        self.result = result

    def _drawn_up(self, result: Result, run: str | None = None) -> bytes:
        self._is_simulated = True
        self._go_on("drawing up the motion (the first time on a machine this is compiled)", SIMULATED)
        return responses.motion(result, self.question.id, run)

    def _stopped(self, question: Run, error: RunError, said: list[str]) -> RefusedError:
        """The sentence about a run that had to stop; what was computed until then is shown before."""
        sentence = str(error).replace(" What was computed until then is in this error's .motion.", "")
        if len(error.motion.times):
            name = question.model.name
            self._show(Result(name, question.model.title, {name: error.motion}, (*said, sentence)))
            sentence += " What was computed until then is shown."
        return RefusedError(sentence, question.id)

    def _hear(self, heard: Heard) -> None:
        """What the computation reports; the place where it is stopped."""
        self._check()
        if self._is_simulated or (heard.done <= 0 and self._now[0] == 0):
            return  # done with; or begun, but nothing is done before the machine code is made
        what = "simulating" if heard.unit == "s" else heard.what
        of = f" ({heard.part})" if heard.part else ""
        self._go_on(f"{what}{of}: {heard.done:.3g} of {heard.total:.3g} {heard.unit}", SIMULATED * heard.share)

    def _go_on(self, words: str, share: float) -> None:
        self._check()
        self._now = (share, words)
        if perf_counter() - self._told > PAUSE_S:
            self._tell_progress()

    def _tell_progress(self) -> None:
        self._told = perf_counter()
        share, words = self._now
        self._tell(responses.text("progress", id=self.question.id, done=share, words=words))

    def _refuse(self, sentence: str, parameter: str | None = None) -> None:
        message = responses.text("refused", id=self.question.id, sentence=sentence, parameter=parameter)
        self._tell(message, is_last=True)

    def _tell(self, message: str | bytes, is_last: bool = False) -> None:
        self._check()
        self._is_answered |= is_last  # before it is told: whoever has the answer gets no "cancelled" after it
        self._tell_anyway(message)

    def _check(self) -> None:
        if self._is_cancelled.is_set():
            raise CancelledError("nobody waits for this any more")


def defect(error: BaseException) -> str:
    """The sentence about an error that nobody has foreseen."""
    return (
        f"this is a defect of Polhode, not of your values: {type(error).__name__}: {error}. The lab goes on; the "
        "window in which it was started shows where it happened"
    )


@contextmanager
def warnings_told() -> Iterator[None]:
    """Inside, a warning of a job goes into the notes of its motion; any other goes where it always went."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            said = _said.get()
            if said is not None and str(message) not in said:
                said.append(str(message))
            if said is None or not issubclass(category, UserWarning):
                usual(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


@contextmanager
def _closed_loop_ignored() -> Iterator[None]:
    """The lab may have ended while a thread was still computing: then nobody wants to know."""
    try:
        yield
    except RuntimeError as error:
        if "closed" not in str(error):
            raise
