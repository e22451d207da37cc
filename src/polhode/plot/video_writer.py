"""Frames into a video file: .mp4 with FFmpeg, .gif with Pillow.  An incomplete file never appears."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from polhode.errors import FileError, InputError
from polhode.installation import install_hint
from polhode.io.atomic_files import atomic_path
from polhode.plot.style import COLOR_CYCLE, COLORS

RGBImage = NDArray[np.uint8]
"""(height, width, 3): red, green and blue."""
VIDEO_SUFFIXES = (".mp4", ".gif")
FREQUENT_COLORS, OTHER_COLORS = 64, 140
"""Palette of a .gif: the most frequent colors of its frames, and colors for all others; 256 with those of `COLORS`."""
TINTS = (1.0, 0.67, 0.33)
"""Each color of `COLORS` is in the palette as it is, and mixed with white as at the edges of thin lines."""


def check_film(path: Path, size: tuple[int, int], frames_per_second: float) -> None:
    """Raise an error if such a film cannot be written: called before the frames are drawn."""
    suffix, (width, height) = path.suffix.lower(), size
    if suffix not in VIDEO_SUFFIXES:
        raise FileError(f"the film cannot be written to {path}: its name must end with .mp4 or .gif")
    if not path.parent.is_dir():
        raise FileError(f"there is no folder {path.parent} for the film: create it, or choose another path")
    if suffix == ".mp4":
        _find_ffmpeg()
        if width % 2 or height % 2:
            raise InputError(f"an .mp4 of {width} x {height} pixels is not possible: width and height must be even")
    elif abs(_frame_hundredths(frames_per_second) - 100 / frames_per_second) > 1e-6:
        near = 100 / _frame_hundredths(frames_per_second)
        raise InputError(
            f"a .gif counts in hundredths of a second and cannot show {frames_per_second:g} frames per second: the "
            f"nearest rate is {near:.4g}; 20, 25 and 50 are exact"
        )


@contextmanager
def open_video_writer(
    path: Path, size: tuple[int, int], frames_per_second: float, samples: Callable[[], list[RGBImage]]
) -> Iterator[Callable[[RGBImage], None]]:
    """A function that appends a frame; the file appears when the context ends without an error.

    `samples` draws a few frames, from which a .gif takes its palette.
    """
    opened = _open_mp4 if path.suffix.lower() == ".mp4" else _open_gif
    with atomic_path(path, "the film") as draft, opened(draft, size, frames_per_second, samples) as add:
        yield add


@contextmanager
def _open_mp4(draft: Path, size: tuple[int, int], fps: float, samples: Any) -> Iterator[Callable[[RGBImage], None]]:
    (width, height), rate = size, str(Fraction(fps).limit_denominator())
    read = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", rate]
    # Constant visual quality, the pixel format that every player supports, and the index first for streaming.
    written = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"]
    command = [_find_ffmpeg(), "-y", "-v", "error", *read, "-i", "-", *written, f"file:{draft}"]
    with TemporaryFile() as log:
        # A session of its own: Ctrl-C interrupts this process, which then stops FFmpeg.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        )
        assert process.stdin is not None
        pipe = process.stdin

        def add(picture: RGBImage) -> None:
            try:
                pipe.write(np.ascontiguousarray(picture).data)
            except OSError as error:
                _finish_ffmpeg(process, log)
                raise error from None

        try:
            yield add
            _finish_ffmpeg(process, log)
        finally:
            process.kill()  # no effect if it has ended
            process.wait()
            with suppress(OSError):
                pipe.close()


def _finish_ffmpeg(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Wait for FFmpeg to finish; raise OSError with its message if it failed."""
    broken = None
    try:
        assert process.stdin is not None
        process.stdin.close()
    except OSError as error:
        broken = error
    code = process.wait()
    if code:
        log.seek(0)
        lines = log.read().decode(errors="replace").strip().splitlines() or ["no message"]
        raise OSError(f"FFmpeg ended with exit code {code}: {lines[-1]}")
    if broken is not None:
        raise broken


@contextmanager
def _open_gif(
    draft: Path,
    size: tuple[int, int],
    fps: float,
    samples: Callable[[], list[RGBImage]],
) -> Iterator[Callable[[RGBImage], None]]:
    """Frame by frame, of each only the part that changed: Pillow's own writer keeps all frames in memory."""
    from PIL import GifImagePlugin, Image, ImageChops

    colors = build_palette(samples())
    number = _nearest_color_lookup(colors)
    before: Any = None
    with draft.open("wb") as file:

        def add(picture: RGBImage) -> None:
            nonlocal before
            now = Image.fromarray(number(picture))
            now.putpalette(colors.tobytes())
            place = (0, 0, *now.size)
            if before is None:
                file.writelines(GifImagePlugin.getheader(now, info={"loop": 0})[0])
            else:  # by color index; where nothing changed, one pixel is written to keep the timing
                place = ImageChops.difference(_index_image(now), _index_image(before)).getbbox() or (0, 0, 1, 1)
            file.writelines(GifImagePlugin.getdata(now.crop(place), place[:2], duration=10 * _frame_hundredths(fps)))
            before = now

        yield add
        file.write(b";")


def build_palette(pictures: list[RGBImage]) -> RGBImage:
    """The palette of a .gif (n, 3): the colors of `COLORS`, the most frequent of these frames, and some for the rest.

    Ranked by pixel count alone, the color of an arrow would lose to the shades of a body.
    """
    from PIL import Image, ImageColor

    own = np.array([ImageColor.getrgb(c)[:3] for c in dict.fromkeys((*COLORS.values(), *COLOR_CYCLE))], dtype=float)
    named = np.concatenate([255.0 + share * (own - 255.0) for share in TINTS]).round().astype(np.uint8)
    met, counts = np.unique(np.concatenate(pictures).reshape(-1, 3), axis=0, return_counts=True)
    others = Image.fromarray(met[None]).quantize(OTHER_COLORS, dither=Image.Dither.NONE).getpalette()
    quantized = np.array(others, dtype=np.uint8).reshape(-1, 3)
    frequent = met[np.argsort(-counts, kind="stable")[:FREQUENT_COLORS]]
    unique = dict.fromkeys(map(tuple, np.concatenate((named, frequent, quantized)).tolist()))
    return np.array(list(unique), dtype=np.uint8)[:256]


def _nearest_color_lookup(colors: RGBImage) -> Callable[[RGBImage], NDArray[np.uint8]]:
    """A function that returns the index of the nearest color for each pixel, and caches it.

    Pillow's own lookup uses six bits per channel: white would not stay white.
    """
    found, known = np.zeros(1 << 24, dtype=np.uint8), np.zeros(1 << 24, dtype=bool)

    def number(picture: RGBImage) -> NDArray[np.uint8]:
        red, green, blue = (picture[..., k].astype(np.int32) for k in range(3))
        codes = red << 16 | green << 8 | blue
        new = np.unique(codes[~known[codes]])
        for some in np.array_split(new, len(new) // 4096 + 1):
            parts = np.stack((some >> 16, some >> 8 & 255, some & 255), axis=1)
            apart = ((parts[:, None] - colors.astype(np.int32)) ** 2).sum(axis=2)
            found[some], known[some] = apart.argmin(axis=1), True
        return np.asarray(found[codes])

    return number


def _index_image(image: Any) -> Any:
    """The color indices of an image, as an image."""
    from PIL import Image

    return Image.frombytes("L", image.size, image.tobytes())


def _frame_hundredths(fps: float) -> int:
    """Duration of a frame in hundredths of a second: at least two, since players slow down shorter ones."""
    return max(2, round(100 / fps))


def _find_ffmpeg() -> str:
    """The path of the FFmpeg executable."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except ImportError:
        raise FileError(
            f"an .mp4 needs the package imageio-ffmpeg: {install_hint('film')}; a .gif does not need it"
        ) from None
    except RuntimeError:
        raise FileError(
            "an .mp4 needs FFmpeg, which imageio-ffmpeg does not find here: install it, or write a .gif"
        ) from None
