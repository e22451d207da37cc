"""Pictures and films of a motion, drawn by the interactive page in a browser without a window."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.plot.film_plan import Film, FilmWarning, aliasing_warning, plan_film, validate_size
from polhode.plot.video_writer import RGBImage, open_video_writer
from polhode.progress import progress
from polhode.results.trajectory import Trajectory
from polhode.web.headless_browser import BrowserPage, find_browser, open_page
from polhode.web.html_page import build_page
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record

VIEWS = ("both", "space", "body")
DRAWN_BY = ("auto", "page", "matplotlib")
PICTURE_SIZE = (1280, 720)
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


def choose_drawing(drawn_by: str, can_be_drawn_by_the_page: bool = True) -> str | None:
    """The browser that draws the page, or None for Matplotlib."""
    validation.check_word(drawn_by, "drawn_by", DRAWN_BY)
    browser = None if drawn_by == "matplotlib" else find_browser()
    if drawn_by == "page" and browser is None:
        raise InputError(
            "the page is drawn by Chromium, Chrome or Edge, and none was found: install one, name it in the "
            "environment variable CHROMIUM, or use drawn_by='matplotlib'"
        )
    if drawn_by == "page" and not can_be_drawn_by_the_page:
        raise InputError("the page draws .png pictures: for .svg and .pdf use drawn_by='matplotlib'")
    return browser if can_be_drawn_by_the_page else None


@contextmanager
def _open_views(
    motion: Trajectory, browser: str, size: tuple[int, int], dark: bool, views: str, title: str, body: int
) -> Iterator[BrowserPage]:
    """The views of the page alone, ready to be drawn at any time."""
    validation.check_word(views, "views", VIEWS)
    name = title or motion.scenario.name or "motion"
    record = encode_record(record_motion(motion, name=name, title=name))
    options = {"mode": "file", "title": name, "only": views, "watched": body, "caption": title}
    with open_page(build_page(options, record), size, browser, dark=dark) as page:
        page.wait_for("document.body && document.body.dataset.state === 'ready'")
        yield page


def _draw_at(page: BrowserPage, t: float) -> bytes:
    page.evaluate(f"polhode.time({json.dumps(t)})")
    return page.take_screenshot()


def _pixels(png: bytes, size: tuple[int, int]) -> RGBImage:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as picture:
        rgb = picture.convert("RGB")
        return np.asarray(rgb if rgb.size == size else rgb.resize(size))


def write_picture(
    motion: Trajectory,
    path: Path,
    time: float | None,
    size: tuple[int, int] | None,
    *,
    views: str,
    dark: bool,
    body: int,
    caption: str,
    drawn_by: str,
) -> None:
    """Write the views of a motion at one time."""
    check_suffix(path, PICTURE_SUFFIXES, "a picture")
    at = float(motion.times[0]) if time is None else validation.check_number(time, "time")
    low, high = float(motion.times[0]), float(motion.times[-1])
    if not low <= at <= high:
        raise InputError(f"t = {at:g} s is outside the run, which lasts from {low:g} to {high:g} s")
    shown = validate_size(PICTURE_SIZE if size is None else size)
    browser = choose_drawing(drawn_by, path.suffix.lower() == ".png")
    if browser is None:
        _draw_by_matplotlib(motion, path, at, shown, caption, body)
        return
    with _open_views(motion, browser, shown, dark, views, caption, body) as page:
        write_atomic(path, _draw_at(page, at))


def _draw_by_matplotlib(
    motion: Trajectory, path: Path, time: float, size: tuple[int, int], title: str, body: int
) -> None:
    from polhode.io.atomic_files import atomic_path
    from polhode.plot.snapshot.figure import draw_snapshot

    figure = draw_snapshot(motion, time, title, body=body)
    with atomic_path(path, "the picture") as draft:
        figure.savefig(draft, format=path.suffix.lower()[1:], dpi=size[0] / figure.get_figwidth())


def write_film(
    motion: Trajectory,
    path: Path,
    *,
    pace: float | None,
    frames_per_second: float | None,
    size: tuple[int, int] | None,
    start: float | None,
    end: float | None,
    views: str,
    dark: bool,
    body: int,
    caption: str,
    drawn_by: str,
) -> Film:
    """Write a motion as a film."""
    browser = choose_drawing(drawn_by)
    parts: dict[str, Any] = {"pace": pace, "frames_per_second": frames_per_second, "size": size}
    if browser is None:
        from polhode.plot.film import film

        return film(motion, path, caption, **parts, start=start, end=end, body=body)
    plan = plan_film(motion, path, **parts, start=start, end=end)
    warning = aliasing_warning(motion, plan.pace, plan.rate)
    if warning is not None:
        warnings.warn(warning, FilmWarning, stacklevel=3)
    times = plan.times
    with _open_views(motion, browser, plan.size, dark, views, caption, body) as page:

        def samples() -> list[RGBImage]:
            chosen = sorted({(len(times) - 1) * i // 4 for i in range(5)})
            return [_pixels(_draw_at(page, float(times[k])), plan.size) for k in chosen]

        with open_video_writer(path, plan.size, plan.rate, samples) as add, progress("film", "frames") as report:
            for k, t in enumerate(times):
                add(_pixels(_draw_at(page, float(t)), plan.size))
                report(k + 1, len(times))
    return Film(path, len(times), len(times) / plan.rate, plan.pace, plan.rate, plan.size, warning)
