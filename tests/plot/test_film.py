"""Films: times of frames, pace, aliasing of fast rotation, and atomic writing."""

from __future__ import annotations

import json
import sys
from math import pi

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.text import Text
from PIL import Image, ImageColor

import polhode as ph
from polhode.cli import cli
from polhode.errors import FileError, InputError
from polhode.plot import film as films
from polhode.plot.film import film
from polhode.plot.film_plan import FilmWarning, aliasing_warning, default_pace, describe_pace, frame_times
from polhode.plot.style import COLORS
from polhode.plot.time_labels import choose_time_format

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SMALL = (320, 180)


def spun(rate=5.0, duration=3.0):
    return ph.simulate(BOX, ph.State(angular_velocity_body=(0.1, rate, 0.1)), duration=duration, method="exact")


# When frames are -----------------------------------------------------------------------------------------------------
def test_thirty_frames_a_second_for_ten_seconds_end_at_exactly_ten():
    """[Baraff 1997, section 3]: summing 1/30 would give one frame too many."""
    times = frame_times(0.0, 10.0, 1.0, 30.0)
    assert len(times) == 301
    assert times[-1] == 10.0
    assert times == pytest.approx(np.arange(301) / 30, abs=1e-14)


def test_real_time_from_2_to_20_s_and_about_8_s_of_film_for_all_others():
    assert [default_pace(d) for d in (2.0, 9.1, 20.0)] == [1.0, 1.0, 1.0]
    for duration in (*np.geomspace(1e-12, 1.99, 60), *np.geomspace(20.1, 1e12, 60)):
        assert 5.2 < duration / default_pace(duration) < 12.1
    assert [describe_pace(p) for p in (1.0, 0.07, 4e5)] == [
        "real time",
        "\N{MULTIPLICATION SIGN} 0.07",
        "1 s shows 4.63 days",
    ]


def test_too_many_frames_are_rejected():
    with pytest.raises(InputError, match=r"1.04e\+08 frames.*choose a larger pace \(such as 400000\)"):
        frame_times(0.0, 40 * 86400.0, 1.0, 30.0)


@pytest.mark.parametrize(
    ("first", "duration", "middle"),
    [
        (0.0, 1e-12, "0.5 ps"),
        (0.0, 4.0, "2 s"),
        (1e8, 4.0, "100000000 s + 2 s"),
        (-3.0, 4.0, "-1 s"),
        (0.0, 40 * 86400.0, "20 days"),
        (1e6, 40 * 86400.0, "31.5741 days"),
        (0.0, 1e-17, "0.005 fs"),
    ],
)
def test_the_time_of_every_frame_differs_from_that_of_the_next(first, duration, middle):
    pace = default_pace(duration)
    times = frame_times(first, first + duration, pace, 30.0)
    said = [choose_time_format(first, first + duration, pace / 30.0).format(float(t)) for t in times]
    assert len(set(said)) == len(said) > 100
    assert max(map(len, said)) < 28
    assert choose_time_format(first, first + duration).format_short(first + duration / 2) == middle


# Aliasing ------------------------------------------------------------------------------------------------------------
def test_more_than_half_a_turn_between_frames_raises_a_warning_with_a_better_pace(tmp_path):
    """[Christian 2011, section 17.6]: half a turn per frame is 30 pi rad/s at 30 frames per second."""
    slow, fast = (spun(rate, 0.001) for rate in (29.9 * pi, 30.1 * pi))
    unseen = ph.simulate(ph.particle(1.0), duration=0.001, output_step=0.001)
    assert aliasing_warning(slow, 1.0, 30.0) is None
    assert aliasing_warning(unseen, 1.0, 30.0) is None  # a particle, whose turns nobody sees
    sentence = aliasing_warning(fast, 1.0, 30.0)
    assert "up to 0.502 turns between two frames" in sentence
    pace = float(sentence.split("a pace of ")[1].split()[0])
    assert 0.45 < pace <= 0.5
    assert aliasing_warning(fast, pace, 30.0) is None
    with pytest.warns(FilmWarning, match="a pace of 0.24 shows it correctly"):
        made = film(spun(100.0, 0.2), tmp_path / "x.gif", pace=1.0, size=SMALL)
    assert made.warning is not None


# What is written -----------------------------------------------------------------------------------------------------
def test_a_gif_has_every_frame_for_its_time_and_the_body_moves(tmp_path):
    made = film(spun(), tmp_path / "x.gif", "A box", end=0.5, pace=1.0, size=SMALL)
    with Image.open(tmp_path / "x.gif") as image:
        assert image.size == SMALL
        assert image.n_frames == made.frames == 11
        pictures = []
        for k in range(image.n_frames):
            image.seek(k)
            assert image.info["duration"] == 50
            pictures.append(np.asarray(image.convert("RGB"), dtype=int))
    assert (made.seconds, made.pace, made.frames_per_second) == (11 / 20, 1.0, 20.0)
    moved = np.abs(pictures[0] - pictures[-1]).max(axis=2) > 60
    in_space, title = moved[30:135, :155], moved[:15, :150]
    assert in_space.sum() > 200
    assert not title.any()


def test_the_colors_of_arrows_and_curves_in_a_gif_are_exact(tmp_path):
    """Beside the many shades of bodies of other colors, which a palette by frequency would take instead."""
    pair = ph.simulate(
        [BOX, BOX],
        [
            ph.State(angular_velocity_body=(0.5, 3, 0.5)),
            ph.State(position=(1.5, 0, 0), angular_velocity_body=(1, 1, 3)),
        ],
        duration=2.0,
        output_step=0.5,
        method="exact",
    )
    film(pair, tmp_path / "x.gif", end=0.2, pace=1.0)
    with Image.open(tmp_path / "x.gif") as image:
        image.seek(3)
        shown = np.asarray(image.convert("RGB"), dtype=int)
    legend = shown[32:50, 560:]
    for name in ("omega", "L"):
        assert np.abs(legend - np.array(ImageColor.getrgb(COLORS[name]))).max(axis=2).min() <= 3, name
    for name in ("axis_1", "axis_2", "axis_3"):
        assert np.abs(shown[340:355] - np.array(ImageColor.getrgb(COLORS[name]))).max(axis=2).min() <= 3, name
    assert (shown[2, 2] == 255).all()


@pytest.mark.parametrize("size", [(1280, 720), (800, 450), (640, 360)])
def test_words_can_be_read_and_do_not_overlap_at_any_usual_size(tmp_path, monkeypatch, size):
    def looked_at(self, now):
        figure, renderer = self._canvas.figure, self._canvas.get_renderer()
        self._time.set_text("t = 0.000 s")
        words = [t for t in figure.findobj(Text) if t.get_text() and t.get_visible() and t.axes not in self._views]
        boxes = [t.get_window_extent(renderer) for t in words]
        assert len(words) > 15
        assert min(t.get_fontsize() * figure.dpi / 72 for t in words) >= 8.99
        for i, box in enumerate(boxes):
            assert box.x0 >= 0, words[i]
            assert box.y0 >= 0, words[i]
            assert box.x1 <= size[0], words[i]
            assert box.y1 <= size[1], words[i]
            for k in range(i):
                assert not box.padded(-1).overlaps(boxes[k].padded(-1)), (words[i], words[k])
        raise KeyboardInterrupt  # enough

    monkeypatch.setattr(films._FrameRenderer, "picture", looked_at)
    with pytest.raises(KeyboardInterrupt):
        film(spun(), tmp_path / "x.gif", "A box", size=size)


def test_an_mp4_can_be_read_back(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    made = film(spun(), tmp_path / "x.mp4", end=0.3, pace=1.0, size=SMALL)
    frames = ffmpeg.read_frames(str(tmp_path / "x.mp4"))
    about = next(frames)
    assert (about["size"], about["fps"], about["codec"]) == (SMALL, 30.0, "h264")
    assert len(list(frames)) == made.frames == 10
    assert [p.name for p in tmp_path.iterdir()] == ["x.mp4"]


@pytest.mark.parametrize("suffix", ["gif", "mp4"])
def test_what_is_interrupted_leaves_nothing_and_touches_nothing(tmp_path, monkeypatch, suffix):
    if suffix == "mp4":
        pytest.importorskip("imageio_ffmpeg")
    (tmp_path / f"x.{suffix}").write_text("an older film")
    pictures = iter(range(5))

    def interrupted(self, now):
        if next(pictures) == 4:
            raise KeyboardInterrupt
        return np.zeros((*SMALL[::-1], 3), dtype=np.uint8)

    monkeypatch.setattr(films._FrameRenderer, "picture", interrupted)
    with pytest.raises(KeyboardInterrupt):
        film(spun(), tmp_path / f"x.{suffix}", size=SMALL)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["an older film"]


def test_several_bodies_particles_and_ensembles_can_be_filmed(tmp_path):
    pair = ph.simulate(
        [BOX, ph.particle(1.0)],
        [ph.State(angular_velocity_body=(0, 3, 0)), ph.State(position=(2, 0, 0), velocity=(0, 0, 1))],
        duration=2.0,
        output_step=0.5,
        method="exact",
    )
    velocities = np.random.default_rng(2).normal(0, 1, (30, 3))
    many = ph.ensemble(ph.particle(1.0), ph.State(velocity=velocities), duration=2.0, output_step=0.5, method="exact")
    for i, motion in enumerate((pair, many)):
        assert film(motion, tmp_path / f"{i}.gif", end=0.1, pace=1.0, size=SMALL).frames == 3


# Complaints ----------------------------------------------------------------------------------------------------------
def test_without_ffmpeg_a_sentence_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(FileError, match=r"pip install '.*\[film\]'"):
        film(spun(), tmp_path / "x.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("x.avi", {}, "must end with .mp4 or .gif"),
        ("no/x.gif", {}, "there is no folder"),
        ("x.mp4", {"size": (321, 180)}, "width and height must be even"),
        ("x.gif", {"size": (32, 18)}, "size = 32 x 18 pixels is out of range"),
        ("x.gif", {"size": "large"}, "size must be width and height in pixels"),
        ("x.gif", {"frames_per_second": 30}, "a .gif counts in hundredths of a second"),
        ("x.gif", {"frames_per_second": 0}, "frames_per_second must be positive"),
        ("x.gif", {"pace": -1}, "pace must be positive, but is -1"),
        ("x.gif", {"start": 2, "end": 1}, "2 to 1 s is not a part of the motion, which lasts from 0 to 3 s"),
        ("x.gif", {"end": 4}, "0 to 4 s is not a part of the motion"),
        ("x.gif", {"body": 1}, "there is no body 1"),
    ],
)
def test_error_messages(tmp_path, name, options, sentence):
    if name.endswith(".mp4"):
        pytest.importorskip("imageio_ffmpeg")
    with pytest.raises((InputError, FileError)) as error:
        film(spun(), tmp_path / name, **options)
    assert sentence in str(error.value)


def test_the_film_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        return CliRunner().invoke(cli, arguments)

    short = ("--to", "0.1", "--pace", "1", "--size", "320x180", "--drawn-by", "matplotlib", "-o", "x.gif")
    spun().save(tmp_path / "spin.zarr")
    result = call("film", "spin.zarr", *short)
    assert result.exit_code == 0, result.output
    assert result.stdout == "film: x.gif (spin: 3 frames, 0.15 s in real time)\n"
    report = json.loads(call("film", "spin.zarr", *short, "--json").stdout)
    assert report["film"] == "x.gif"
    assert (report["frames"], report["seconds"], report["pace"], report["size"]) == (3, 0.15, 1.0, [320, 180])
    fast = call("film", "toutatis", "--pace", "2e7", "--size", "320x180", "--drawn-by", "matplotlib", "-o", "y.gif")
    assert fast.stdout.startswith("film: y.gif (toutatis, 'forty days', the first of 3 runs: 4 frames")
    assert fast.stderr.startswith("warning: the rotation is aliased")
    assert "is not a size: give width and height" in call("film", "spin.zarr", "--size", "large").stderr
    assert "must end with .mp4 or .gif" in call("film", "spin.zarr", "-o", "x.avi").stderr
    assert "Examples" in call("film", "--help").stdout
    assert {p.name for p in tmp_path.iterdir()} == {"spin.zarr", "x.gif", "y.gif"}
