"""Pictures and films that the page draws in a browser without a window."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import polhode as ph
from polhode.errors import InputError
from polhode.web import headless_browser
from polhode.web.headless_browser import BrowserError, find_browser, open_page

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SPIN = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
needs_browser = pytest.mark.skipif(find_browser() is None, reason="there is no Chromium, Chrome or Edge")


@pytest.fixture(scope="module")
def motion() -> ph.Motion:
    return ph.simulate(BOX, SPIN, duration=3.0, output_step=0.02, method="exact", name="flip")


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def share_drawn(image: np.ndarray) -> float:
    """The part of the picture that is not background."""
    return float((np.abs(image - image[2, image.shape[1] // 4]).sum(axis=-1) > 30).mean())


@needs_browser
def test_a_picture_shows_the_body_at_a_time(motion, tmp_path):
    motion.picture(tmp_path / "a.png", size=(640, 360))
    motion.picture(tmp_path / "b.png", time=1.2, size=(640, 360))
    first, later = pixels(tmp_path / "a.png"), pixels(tmp_path / "b.png")
    assert first.shape == later.shape == (360, 640, 3)
    assert 0.02 < share_drawn(first) < 0.6
    assert (np.abs(first - later).sum(axis=-1) > 60).mean() > 0.01
    motion.picture(tmp_path / "again.png", time=1.2, size=(640, 360))
    assert np.array_equal(pixels(tmp_path / "again.png"), later)


@needs_browser
def test_dark_pictures_of_one_view(motion, tmp_path):
    motion.picture(tmp_path / "a.png", views="space", dark=True, size=(400, 300), drawn_by="page")
    image = pixels(tmp_path / "a.png")
    assert image[:, :, :].mean() < 100
    assert share_drawn(image) > 0.02
    middle = image[60:240, 195:205]  # where the line between two views would be, the body is
    assert np.ptp(middle) > 60


@needs_browser
def test_a_film_has_its_frames(motion, tmp_path):
    made = motion.film(tmp_path / "x.gif", end=0.5, pace=1.0, frames_per_second=10, size=(320, 180), drawn_by="page")
    assert (made.frames, made.size, made.warning) == (6, (320, 180), None)
    with Image.open(tmp_path / "x.gif") as film:
        assert film.n_frames == 6
        frames = []
        for k in range(6):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
    differ = [(np.abs(a - b).sum(axis=-1) > 60).mean() for a, b in pairwise(frames)]
    assert min(differ) > 0.005


@needs_browser
def test_words_are_drawn_only_where_they_are_asked_for(motion, tmp_path):
    motion.picture(tmp_path / "a.png", size=(640, 480))
    motion.picture(tmp_path / "b.png", size=(640, 480), caption="A box flips")
    differs = np.abs(pixels(tmp_path / "a.png") - pixels(tmp_path / "b.png")).sum(axis=-1) > 100
    rows = np.flatnonzero(differs.any(axis=1))
    assert differs.sum() > 100
    assert rows.min() > 420


def test_without_a_browser_matplotlib_draws(motion, tmp_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "there-is-no-such-browser")
    motion.picture(tmp_path / "a.png", size=(640, 360))
    assert share_drawn(pixels(tmp_path / "a.png")) > 0.02
    with pytest.raises(InputError, match="none was found"):
        motion.picture(tmp_path / "b.png", drawn_by="page")
    assert not (tmp_path / "b.png").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time": 4.0}, "t = 4 s is outside the run"),
        ({"drawn_by": "pen"}, "drawn_by 'pen' is unknown"),
        ({"size": (10, 10)}, "out of range"),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(motion, tmp_path, options, words):
    with pytest.raises(InputError, match=words):
        motion.picture(tmp_path / "a.png", **options)
    assert not list(tmp_path.iterdir())


@needs_browser
def test_an_unknown_view_is_a_sentence(motion, tmp_path):
    with pytest.raises(InputError, match="views 'above' is unknown: known are"):
        motion.picture(tmp_path / "a.png", views="above")


def test_a_browser_that_ends_at_once_is_a_sentence(tmp_path):
    broken = tmp_path / "browser"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(BrowserError, match="ended at once, with code 3"), open_page("", (320, 180), str(broken)):
        pass


def test_the_environment_names_the_browser(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "python3")
    assert "python3" in str(find_browser())
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setattr(headless_browser, "NAMES", ())
    monkeypatch.setattr(headless_browser, "PLACES", ())
    assert find_browser() is None
