"""Output of commands: JSON, and picture files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from polhode.errors import FileError
from polhode.io.atomic_files import atomic_path

PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


def print_json(report: Any) -> None:
    """Print JSON to standard output."""
    click.echo(to_json(report))


def to_json(report: Any) -> str:
    """A report of plain numbers, texts and lists as JSON."""
    return json.dumps(_to_jsonable(report), indent=2, allow_nan=False)


def _to_jsonable(value: Any) -> Any:
    """Replace infinities and NaN, which JSON cannot hold, by null."""
    if isinstance(value, dict):
        return {key: _to_jsonable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_jsonable(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_picture_path(place: Path | None, option: str = "--picture") -> None:
    """Raise an error if a picture cannot be written there, before any work is done."""
    if place is None:
        return
    check_folder(place, "picture", option)
    if place.suffix.lower() not in PICTURE_SUFFIXES:
        raise FileError(f"the picture cannot be written to {place}: its name must end with .png, .svg or .pdf")


def save_figure(figure: Any, place: Path) -> None:
    """Write a picture atomically."""
    with atomic_path(place, "the picture") as draft:
        try:
            figure.savefig(draft)
        except ValueError as error:
            raise FileError(f"the picture cannot be written to {place}: {error}") from None


def check_folder(place: Path, thing: str, option: str) -> None:
    """Raise an error if the folder does not exist."""
    if not place.parent.is_dir():
        raise FileError(f"there is no folder {place.parent} for the {thing}: create it, or choose another {option}")
