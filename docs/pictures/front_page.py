"""Makes the moving picture of the README, flip.gif: python docs/pictures/front_page.py

`polhode film` draws the frames; here they get one small palette, so that the file stays below a megabyte.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageSequence

PICTURE = Path(__file__).parent / "flip.gif"
COLORS = 64
FILM = ["film", "dzhanibekov", "--from", "0", "--to", "6.1", "--size", "800x400"]


def main() -> None:
    """Film the box, and store the film with few colors."""
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "flip.gif"
        subprocess.run([sys.executable, "-m", "polhode", *FILM, "-o", str(film)], check=True)
        with Image.open(film) as opened:
            duration = opened.info["duration"]
            frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(opened)]
    palette = frames[len(frames) // 2].quantize(COLORS, dither=Image.Dither.NONE)
    first, *others = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    first.save(PICTURE, save_all=True, append_images=others, duration=duration, loop=0, optimize=True)


if __name__ == "__main__":
    main()
