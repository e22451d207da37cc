"""A request computed in its own thread, with progress reports and cancellation."""

from __future__ import annotations

import asyncio
import re
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from polhode.errors import CancelledError, PolhodeError, RunError
from polhode.gallery.gallery_model import run_stored
from polhode.lab_server import responses
from polhode.lab_server.knob_sweep import record_sweep
from polhode.lab_server.requests import MotionRequest, RefusedRequestError, RunRequest, SweepRequest
from polhode.lab_server.responses import ModelResult
from polhode.lab_server.turnstile import Turnstile
from polhode.progress import ProgressReport, listening, progress_part
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.web.record_encoding import encode_record

PROGRESS_INTERVAL_S = 0.1
"""Minimum time between two progress messages."""
SILENCE_LIMIT_S = 0.4
"""After this time without a report the last progress message is repeated."""
SIMULATED_SHARE, PACKED_SHARE = 0.9, 0.95
"""Progress when the motion has been computed, and when it has been sent."""
THREAD_NAME = "polhode-lab"

EnqueueMessage = Callable[[str | bytes], None]

_job_warnings: ContextVar[list[str] | None] = ContextVar("polhode_job_warnings", default=None)


class Job:
    """The computation of the response to one request.

    The motion is sent as soon as it is available; the reference checks follow, one job at a time (`checks_lock`).
    A few jobs of all pages compute at once (`turnstile`); the others wait.
    """

    def __init__(
        self,
        request: RunRequest | SweepRequest | MotionRequest,
        last: ModelResult | None,
        send: EnqueueMessage,
        checks_lock: threading.Lock,
        turnstile: Turnstile,
    ) -> None:
        self.request, self.result, self._send_unchecked, self._checks_lock = request, last, send, checks_lock
        self._turnstile = turnstile
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._is_cancelled = threading.Event()
        self._is_simulated = self._is_motion_sent = self._is_response_sent = False
        self._last_sent = perf_counter()
        self._progress = (0.0, "preparing: compiling code that runs for the first time")

    def cancel(self) -> None:
        """Stop at the next progress report; if only the checks are missing, do not wait for their thread."""
        self._is_cancelled.set()
        if self._is_motion_sent:
            self._finish_cancelled()

    async def done(self) -> None:
        """Compute in a thread; returns when it has ended, or its result is no longer needed."""

        def work() -> None:
            finish = self._end
            try:
                self._respond()
            except CancelledError:
                finish = self._finish_cancelled
            finally:
                with _ignore_closed_loop():
                    self._loop.call_soon_threadsafe(finish)

        # A daemon: a compiler cannot be interrupted, and must not keep the lab from exiting.
        threading.Thread(target=work, name=THREAD_NAME, daemon=True).start()
        while not self._ended.done():
            await asyncio.wait({self._ended}, timeout=SILENCE_LIMIT_S)
            is_silent = perf_counter() - self._last_sent > SILENCE_LIMIT_S
            if is_silent and not (self._ended.done() or self._is_cancelled.is_set()):
                self._send_progress()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _finish_cancelled(self) -> None:
        if not (self._ended.done() or self._is_response_sent):
            self._send_unchecked(responses.encode_message("cancelled", id=self.request.id))
        self._end()

    def _respond(self) -> None:
        """Send the response, or the reason why there is none."""
        try:
            with listening(self._on_progress):
                if isinstance(self.request, MotionRequest):
                    self._send_requested_motion(self.request)
                elif isinstance(self.request, SweepRequest):
                    self._send_sweep(self.request)
                else:
                    warned = list[str]()
                    _job_warnings.set(warned)
                    self._run_model(self.request, warned)
        except CancelledError:
            raise
        except RefusedRequestError as error:
            self._refuse(str(error), error.parameter)
        except PolhodeError as error:
            self._refuse(str(error))
        except Exception as error:
            traceback.print_exc()
            self._refuse(defect_message(error))

    def _run_model(self, request: RunRequest, warned: list[str]) -> None:
        model, values = request.model, request.values
        if request.is_quick:
            self._run_quickly(request, warned)
            return
        with self._turnstile.turn(self._wait_for_turn):
            scenarios = model.scenario(**values)
            by_name = self._run_scenarios(request, scenarios, warned)
        _job_warnings.set(None)  # the motion has been sent with its notes; later warnings go to the terminal
        motions = by_name if isinstance(scenarios, Mapping) else by_name[model.name]
        with self._checks_lock, self._turnstile.turn(self._wait_for_turn):
            self._update_progress("checking against reference values", PACKED_SHARE)
            self._send_unless_cancelled(
                responses.checks_message(request.id, model.check(motions, values)), is_last=True
            )

    def _run_scenarios(
        self, request: RunRequest, scenarios: Scenario | Mapping[str, Scenario], warned: list[str]
    ) -> dict[str, Motion]:
        """Simulate all scenarios; the first motion is sent as soon as it is there."""
        model, motions = request.model, dict[str, Motion]()
        named = scenarios if isinstance(scenarios, Mapping) else {model.name: scenarios}
        stage_of = partial(model.stage_of, request.values)
        for i, (name, scenario) in enumerate(named.items()):
            try:
                with progress_part(len(named), i, name if len(named) > 1 else ""):
                    motions[name] = run_stored(scenario)
            except RunError as error:
                raise self._failed_run(request, error, warned) from None
            result = ModelResult(model.name, model.title, dict(motions), warned, stage_of, list(named))
            if i == 0:
                self._send_first_motion(result, SIMULATED_SHARE / len(named))
                self._is_simulated = False
            else:
                self.result = result
            self._raise_if_cancelled()
        # Only now: a cancellation must not leave a thread behind that still compiles.
        self._is_simulated = self._is_motion_sent = True
        self._raise_if_cancelled()  # a cancellation just before did not know that the motions were there, and waits
        return motions

    def _run_quickly(self, request: RunRequest, warned: list[str]) -> None:
        """One scenario alone, for a knob that is still moving; the last complete result stays as it is."""
        model = request.model
        with self._turnstile.turn(self._wait_for_turn):
            by_name = model.name_scenarios(request.values)
            name = request.run if request.run in by_name else next(iter(by_name))
            try:
                motion = run_stored(by_name[name])
            except RunError as error:
                raise self._failed_run(request, error, warned) from None
            stage_of = partial(model.stage_of, request.values)
            result = ModelResult(model.name, model.title, {name: motion}, warned, stage_of, list(by_name))
            self._is_simulated = True
            message = responses.motion_message(result, request.id, has_closed_form=False)
        self._send_unless_cancelled(message, is_last=True)

    def _send_sweep(self, request: SweepRequest) -> None:
        levels = np.linspace(request.low, request.high, request.members)
        with self._turnstile.turn(self._wait_for_turn):
            record = record_sweep(
                request.model, request.values, request.knob, levels.tolist(), run=request.run, id=request.id
            )
            message = encode_record(record)
        self._send_unless_cancelled(message, is_last=True)

    def _wait_for_turn(self, ahead: int) -> None:
        self._update_progress(f"waiting for {ahead} {'other' if ahead == 1 else 'others'}", 0.0)

    def _send_requested_motion(self, request: MotionRequest) -> None:
        if self.result is None:
            raise RefusedRequestError("no model has been run yet: there is no other motion to show")
        if request.run not in self.result.motions:
            names = ", ".join(self.result.motions)
            raise RefusedRequestError(f"the last run has no motion {request.run[:80]!r}; it has {names}")
        self._send_unless_cancelled(self._pack_motion(self.result, request.run), is_last=True)

    def _send_first_motion(self, result: ModelResult, share: float = SIMULATED_SHARE) -> None:
        self._send_unless_cancelled(self._pack_motion(result, share=share))
        self.result = result

    def _pack_motion(self, result: ModelResult, run: str | None = None, share: float = SIMULATED_SHARE) -> bytes:
        self._is_simulated = True
        self._update_progress("preparing the motion (compiled on first use)", share)
        return responses.motion_message(result, self.request.id, run)

    def _failed_run(self, request: RunRequest, error: RunError, warned: list[str]) -> RefusedRequestError:
        """The error of a run that failed; the motion up to the failure is sent first."""
        sentence = re.sub(r" [^.]*\.motion\.", "", str(error))  # the page has no error object
        if len(error.motion.times):
            name = request.model.name
            self._send_first_motion(ModelResult(name, request.model.title, {name: error.motion}, (*warned, sentence)))
            sentence += " The motion up to that time is shown."
        return RefusedRequestError(sentence, request.id)

    def _on_progress(self, report: ProgressReport) -> None:
        """Handle a progress report; a canceled computation is stopped here."""
        self._raise_if_cancelled()
        if self._is_simulated or (report.done <= 0 and self._progress[0] == 0):
            return  # finished, or still compiling
        what = "simulating" if report.unit == "s" else report.what
        part = f" ({report.part})" if report.part else ""
        self._update_progress(
            f"{what}{part}: {report.done:.3g} of {report.total:.3g} {report.unit}", SIMULATED_SHARE * report.share
        )

    def _update_progress(self, text: str, share: float) -> None:
        self._raise_if_cancelled()
        self._progress = (share, text)
        if perf_counter() - self._last_sent > PROGRESS_INTERVAL_S:
            self._send_progress()

    def _send_progress(self) -> None:
        self._last_sent = perf_counter()
        share, text = self._progress
        self._send_unless_cancelled(responses.encode_message("progress", id=self.request.id, done=share, text=text))

    def _refuse(self, sentence: str, parameter: str | None = None) -> None:
        message = responses.encode_message("refused", id=self.request.id, sentence=sentence, parameter=parameter)
        self._send_unless_cancelled(message, is_last=True)

    def _send_unless_cancelled(self, message: str | bytes, is_last: bool = False) -> None:
        self._raise_if_cancelled()
        self._is_response_sent |= is_last  # set first: no "cancelled" is sent after the response
        self._send_unchecked(message)

    def _raise_if_cancelled(self) -> None:
        if self._is_cancelled.is_set():
            raise CancelledError("the request was canceled")


def defect_message(error: BaseException) -> str:
    """The message about an unexpected error."""
    return (
        f"this is a bug in Polhode, not in your values: {type(error).__name__}: {error}. The lab is still running; the "
        "terminal in which it was started shows the traceback"
    )


@contextmanager
def collect_warnings() -> Iterator[None]:
    """Within this context, warnings of a job become notes of its motion; others are shown as usual."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        show_as_usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            warned = _job_warnings.get()
            if warned is not None and str(message) not in warned:
                warned.append(str(message))
            if warned is None or not issubclass(category, UserWarning):
                show_as_usual(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


@contextmanager
def _ignore_closed_loop() -> Iterator[None]:
    """Ignore that the lab has exited while a thread was still computing."""
    try:
        yield
    except RuntimeError as error:
        if "closed" not in str(error):
            raise
