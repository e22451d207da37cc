"""What the page offers to take away and cannot make itself: a page in one file, a table, the model's own figure."""

from __future__ import annotations

import base64
import io
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from polhode.gallery import Model
from polhode.gallery.live_page import live_page, program_of
from polhode.lab_server import responses
from polhode.lab_server.requests import RefusedRequestError, TakeRequest
from polhode.results.motion import Motion
from polhode.web import html_page
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record

MAX_SVG_BYTES = 1_500_000
"""A larger figure is sent as pixels, which every browser draws at once."""
FIGURE_DPI = 200

_turn = threading.Lock()
"""One at a time in the whole server: Matplotlib's settings are global, and a page may ask for many."""


class TakeawayDesk:
    """Answers requests of one page; the motions of the last values are kept for the next request.

    `viewed` is the encoded motion of `polhode view`, and `title` its title.
    """

    def __init__(self, viewed: bytes | None = None, title: str = "") -> None:
        self._viewed, self._title = viewed, title
        self._model: Model | None = None
        self._values: dict[str, float] = {}
        self._motions: Motion | Mapping[str, Motion] | None = None

    def answer(self, request: TakeRequest) -> str:
        """The message that answers a request; it raises what the page is told."""
        with _turn:
            if request.model is None:
                return self._answer_viewed(request)
            if request.kind == "page":
                answer = _answer_live_page if request.is_live else self._answer_page
                return answer(request, request.model)
            if request.kind == "csv":
                name, motion = self._motion_of(request, request.model)
                return _text_message(request, f"{name}.csv", _write_csv(motion))
            return self._answer_figure(request, request.model)

    def _answer_viewed(self, request: TakeRequest) -> str:
        if self._viewed is None or request.kind != "page" or request.is_live:
            raise RefusedRequestError(f"there is no model of which to make a {request.kind}", request.id)
        text = html_page.build_page({"mode": "file", "title": self._title}, self._viewed)
        return _text_message(request, f"{self._title or 'motion'}.html", text)

    def _answer_page(self, request: TakeRequest, model: Model) -> str:
        name, motion = self._motion_of(request, model)
        stage = model.stage_of(request.values, request.run)
        record = record_motion(motion, name=model.name, title=model.title, stage=stage)
        about = {
            "explanation": model.explanation,
            "source": model.source,
            "lesson": _lesson_of_recording(request, model),
        }
        options = {"mode": "file", "title": model.title, "about": about}
        return _text_message(request, f"{name}.html", html_page.build_page(options, encode_record(record)))

    def _answer_figure(self, request: TakeRequest, model: Model) -> str:
        if model.picture is None:
            raise RefusedRequestError(f"{model.name} has no figure of its own", request.id)
        figure = model.picture(self._run(model, request.values), **request.values)
        data, kind = _save_figure(figure, "svg"), "image/svg+xml"
        if len(data) > MAX_SVG_BYTES:
            data, kind = _save_figure(figure, "png"), "image/png"
        encoded = base64.b64encode(data).decode()
        name = f"{model.name}.{'svg' if kind.startswith('image/svg') else 'png'}"
        return responses.encode_message("taken", id=request.id, name=name, mime=kind, data=encoded)

    def _motion_of(self, request: TakeRequest, model: Model) -> tuple[str, Motion]:
        """The motion of a request, and a name for its file."""
        motions = self._run(model, request.values)
        if not isinstance(motions, Mapping):
            return model.name, motions
        run = request.run or next(iter(motions))
        if run not in motions:
            names = ", ".join(motions)
            raise RefusedRequestError(f"{model.name} has no run {run[:80]!r}; it has {names}", request.id)
        return f"{model.name}-{run}", motions[run]

    def _run(self, model: Model, values: dict[str, float]) -> Any:
        if model is not self._model or values != self._values or self._motions is None:
            self._motions, self._model, self._values = model.run(**values), model, values
        return self._motions


def _answer_live_page(request: TakeRequest, model: Model) -> str:
    """The model as a file with live knobs; where no knob can be live, the page is told why."""
    program = program_of(model, request.values)
    names = [run.name for run in program.runs]
    if request.run and request.run not in names:
        why = program.left_out.get(request.run, f"{model.name} has no such run; it has {', '.join(names)}")
        raise RefusedRequestError(f"the run {request.run[:80]!r} cannot be live: {why}", request.id)
    page = live_page(model, request.values, request.run, program=program)
    return _text_message(request, f"{'-'.join(filter(None, (model.name, request.run)))}-live.html", page)


def _lesson_of_recording(request: TakeRequest, model: Model) -> dict[str, Any] | None:
    """The lesson with those steps alone that need no other motion."""
    lesson = model.lesson
    if lesson is None:
        return None
    steps = [s for s in lesson.steps if model.values(**s.values) == request.values and s.run == request.run]
    return replace(lesson, steps=tuple(steps)).describe()


def _text_message(request: TakeRequest, name: str, text: str) -> str:
    return responses.encode_message("taken", id=request.id, name=name, mime="", text=text)


def _write_csv(motion: Motion) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.csv"
        motion.export_csv(path)
        return path.read_text(encoding="utf-8")


def _save_figure(figure: Any, kind: str) -> bytes:
    """A figure without background, so that it lies on the page's own."""
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, dpi=FIGURE_DPI, transparent=True)
    return stream.getvalue()
