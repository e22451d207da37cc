"""Small pictures of the models for the gallery of the page; docs/pictures/thumbnails.py makes them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

FOLDER = ("data", "thumbnails")
SUFFIX, DARK_SUFFIX = ".webp", "-dark.webp"


@cache
def thumbnail_files() -> frozenset[str]:
    """Names of the files: NAME.webp and NAME-dark.webp for each model that has been photographed.

    Examples
    --------
    >>> "dzhanibekov.webp" in thumbnail_files()
    True
    """
    folder = files("polhode.gallery").joinpath(*FOLDER)
    return frozenset(file.name for file in folder.iterdir() if file.name.endswith(SUFFIX))


@cache
def read_thumbnail(file: str) -> bytes:
    """The contents of one of `thumbnail_files`, a WebP image."""
    return files("polhode.gallery").joinpath(*FOLDER, file).read_bytes()


def thumbnail_name(model: str) -> str:
    """The name of a model's picture in the light theme; "" if it has none."""
    file = model + SUFFIX
    return file if file in thumbnail_files() and model + DARK_SUFFIX in thumbnail_files() else ""
