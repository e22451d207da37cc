"""`polhode view`: one motion as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from polhode.cli.lab import serve_page, served


@click.command()
@click.argument("file", metavar="FILE.zarr|FILE.toml", type=click.Path(path_type=Path))
@served
def view(file: Path, **where: Any) -> None:
    """Watch a stored motion in the browser, or the motion of a scenario's file, which is simulated first.

    The page comes from this machine and asks no other. Ctrl-C ends it.

    \b
    Examples:
      polhode view my-motion.zarr
      polhode view my-scenario.toml --no-browser
    """
    from polhode.cli.target import run_file, stored_motion
    from polhode.gallery import MODELS, model_name
    from polhode.web.motion_record import recorded
    from polhode.web.record_encoding import packed

    if not file.exists() and model_name(file.name) in MODELS:
        raise click.UsageError(f"{file} is a model, not a file: `polhode lab {model_name(file.name)}` opens it")
    motion = run_file(str(file)) if file.suffix == ".toml" else stored_motion(str(file))
    title = motion.scenario.name or file.stem
    serve_page(viewed=packed(recorded(motion, name=file.stem, title=title)), title=title, **where)
