"""`polhode view`: one motion as an interactive page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from polhode.cli.lab import serve_page, server_options


@click.command()
@click.argument("file", metavar="FILE.zarr|FILE.toml", type=click.Path(path_type=Path))
@server_options
def view(file: Path, **server: Any) -> None:
    """View a stored motion in the browser, or that of a scenario file, which is simulated first.

    The page is served from this machine and needs no network. Ctrl-C stops the server.

    \b
    Examples:
      polhode view my-motion.zarr
      polhode view my-scenario.toml --no-browser
    """
    from polhode.cli.target import load_stored_motion, simulate_file
    from polhode.gallery import MODELS, model_name
    from polhode.web.motion_record import record_motion
    from polhode.web.record_encoding import encode_record

    if not file.exists() and model_name(file.name) in MODELS:
        raise click.UsageError(f"{file} is a model, not a file: `polhode lab {model_name(file.name)}` opens it")
    motion = simulate_file(str(file)) if file.suffix == ".toml" else load_stored_motion(str(file))
    title = motion.scenario.name or file.stem
    serve_page(viewed=encode_record(record_motion(motion, name=file.stem, title=title)), title=title, **server)
