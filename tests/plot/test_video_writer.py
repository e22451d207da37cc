"""Video files, checked by other readers; nothing is left when the writer fails."""

from __future__ import annotations

import gc
import os
import sys

import numpy as np
import pytest
from PIL import Image

from polhode.errors import FileError
from polhode.plot.video_writer import check_film, open_video_writer

SIZE = (64, 36)


def picture(k):
    """A square that goes to the right, on a ground."""
    shown = np.full((36, 64, 3), (250, 245, 240), dtype=np.uint8)
    shown[10:20, 2 * k : 2 * k + 10] = (30, 60, 200)
    return shown


@pytest.mark.skipif(os.name != "posix", reason="the false FFmpeg is a script")
@pytest.mark.parametrize("reads", [True, False], ids=["fails at the end", "fails at once"])
def test_a_failing_ffmpeg_is_a_sentence_and_leaves_the_film_that_was_there(reads, tmp_path, monkeypatch):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    false, place = tmp_path / "ffmpeg", tmp_path / "x.mp4"
    reading = "sys.stdin.buffer.read(); open(sys.argv[-1].removeprefix('file:'), 'w').write('half')" if reads else ""
    false.write_text(f"#!{sys.executable}\nimport sys\n{reading}\nsys.exit('first line\\nNo space left on device')\n")
    false.chmod(0o755)
    monkeypatch.setattr(ffmpeg, "get_ffmpeg_exe", lambda: str(false))
    place.write_bytes(b"good")

    def three_pictures():
        with open_video_writer(place, (1920, 1080), 30, list) as add:
            for _ in range(3):
                add(np.zeros((1080, 1920, 3), dtype=np.uint8))  # more than a pipe holds

    with pytest.raises(FileError, match=r"x.mp4: FFmpeg ended with exit code 1: No space left on device"):
        three_pictures()
    assert place.read_bytes() == b"good"
    assert {p.name for p in tmp_path.iterdir()} == {"ffmpeg", "x.mp4"}


def test_an_installation_in_which_no_ffmpeg_is_found_says_so(tmp_path, monkeypatch):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")

    def none_found():
        raise RuntimeError("No ffmpeg exe could be found")

    monkeypatch.setattr(ffmpeg, "get_ffmpeg_exe", none_found)
    with pytest.raises(FileError, match=r"an .mp4 needs FFmpeg"):
        check_film(tmp_path / "x.mp4", SIZE, 30)


def test_an_mp4_whose_path_looks_like_an_option_or_a_protocol_is_written(tmp_path, monkeypatch):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "-a=b"
    folder.mkdir()
    with open_video_writer(folder.relative_to(tmp_path) / "x.mp4", SIZE, 30000 / 1001, list) as add:
        for k in range(5):
            add(picture(k))
    assert ffmpeg.count_frames_and_secs(str(folder / "x.mp4"))[0] == 5


def test_a_gif_shows_each_picture_as_pillow_alone_would(tmp_path):
    pictures = [picture(k) for k in (0, 1, 1, 2, 20, 3)]
    with open_video_writer(tmp_path / "x.gif", SIZE, 20, lambda: [pictures[0], pictures[-1]]) as add:
        for one in pictures:
            add(one)
    with Image.open(tmp_path / "x.gif") as film:
        assert (film.n_frames, film.info["loop"]) == (6, 0)
        for k, expected in enumerate(pictures):
            film.seek(k)
            assert film.info["duration"] == 50
            assert (np.asarray(film.convert("RGB")) == expected).all(), k


def test_a_gif_is_on_the_disk_as_far_as_it_is_made_and_no_picture_is_kept(tmp_path):
    with open_video_writer(tmp_path / "x.gif", SIZE, 20, lambda: [picture(0)]) as add:
        (draft,) = tmp_path.iterdir()
        for k in range(200):
            add(picture(k % 20))
        gc.collect()
        kept = [one for one in gc.get_objects() if issubclass(type(one), Image.Image) and one.size == SIZE]
        assert len(kept) <= 3
        assert draft.stat().st_size > 1000
    assert [p.name for p in tmp_path.iterdir()] == ["x.gif"]
