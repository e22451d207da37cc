"""Pictures into a film: .mp4 by FFmpeg, .gif by Pillow.  Whole or not at all: a half-written file never appears."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode.errors import FileError, InputError

Picture = NDArray[np.uint8]
"""(height, width, 3): red, green and blue."""
FILMS = (".mp4", ".gif")
COLOURS_OF_A_GIF = 128


def check_film(path: Path, size: tuple[int, int], frames_per_second: float) -> None:
    """Whether such a film can be written there: asked before the work, not after."""
    suffix, (width, height) = path.suffix.lower(), size
    if suffix not in FILMS:
        raise FileError(f"the film cannot be written to {path}: its name must end with .mp4 or .gif")
    if not path.parent.is_dir():
        raise FileError(f"there is no folder {path.parent} for the film: make it, or choose another place")
    if suffix == ".mp4":
        _ffmpeg()
        if width % 2 or height % 2:
            raise InputError(
                f"an .mp4 of {width} x {height} cannot be: width and height must be even numbers of pixels"
            )
    elif abs(_hundredths(frames_per_second) - 100 / frames_per_second) > 1e-6:
        near = 100 / _hundredths(frames_per_second)
        raise InputError(
            f"a .gif counts in hundredths of a second and cannot show {frames_per_second:g} frames in one: the nearest "
            f"is {near:.4g}; 20, 25 and 50 are exact"
        )


@contextmanager
def reel(
    path: Path, size: tuple[int, int], frames_per_second: float, samples: Callable[[], list[Picture]]
) -> Iterator[Callable[[Picture], None]]:
    """A function that takes pictures one by one; the film is in its place when all is done, and nothing otherwise.

    `samples` makes a few pictures of the film, from which a .gif takes its colours.
    """
    draft = path.with_name(f".{path.stem}.part{path.suffix.lower()}")
    opened = _mp4 if path.suffix.lower() == ".mp4" else _gif
    try:
        with opened(draft, size, frames_per_second, samples) as add:
            yield add
        os.replace(draft, path)
    except OSError as error:
        raise FileError(f"the film cannot be written to {path}: {error}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def _mp4(draft: Path, size: tuple[int, int], fps: float, samples: Any) -> Iterator[Callable[[Picture], None]]:
    writer = _ffmpeg().write_frames(
        str(draft),
        size,
        fps=fps,
        codec="libx264",
        macro_block_size=1,
        ffmpeg_log_level="error",
        # Quality by the eye's measure, in the one arrangement of colours that every player knows, first things first.
        output_params=["-crf", "18", "-movflags", "+faststart", "-f", "mp4"],
        quality=None,
        bitrate=None,
    )
    writer.send(None)
    try:
        yield lambda picture: writer.send(np.ascontiguousarray(picture))
    finally:
        writer.close()


@contextmanager
def _gif(
    draft: Path, size: tuple[int, int], fps: float, samples: Callable[[], list[Picture]]
) -> Iterator[Callable[[Picture], None]]:
    from PIL import Image

    some = Image.fromarray(np.concatenate(samples()))
    colours = some.quantize(COLOURS_OF_A_GIF, dither=Image.Dither.NONE)
    pictures: list[Any] = []
    yield lambda picture: pictures.append(Image.fromarray(picture).quantize(palette=colours, dither=Image.Dither.NONE))
    first, *others = pictures
    first.save(draft, save_all=True, append_images=others, duration=10 * _hundredths(fps), loop=0, optimize=False)


def _hundredths(fps: float) -> int:
    """How long a picture of a .gif stays, in hundredths of a second: at least two, since players slow down the rest."""
    return max(2, round(100 / fps))


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise FileError(
            "an .mp4 needs the package imageio-ffmpeg: pip install 'polhode[film]' gets it; a .gif does without"
        ) from None
    return imageio_ffmpeg
