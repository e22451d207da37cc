"""`polhode picture`: draw a motion at one time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from polhode.cli.output import check_picture_path, print_json
from polhode.cli.target import MotionCommand, default_stem, parameter_values, resolve_motion


def look_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a picture or a film looks."""
    for option in reversed(
        (
            click.option(
                "--views",
                type=click.Choice(["both", "space", "body"]),
                default="both",
                help="The views to draw. Default: both.",
            ),
            click.option("--dark", is_flag=True, help="On a dark background."),
            click.option("--caption", default="", help="Words to draw into it. Default: none."),
            click.option(
                "--drawn-by",
                type=click.Choice(["auto", "page", "matplotlib"]),
                default="auto",
                help="By the interactive page, in a browser without a window, or by Matplotlib. Default: by the page "
                "if Chromium, Chrome or Edge is there (or named in CHROMIUM).",
            ),
        )
    ):
        command = option(command)
    return command


@click.command(cls=MotionCommand)
@click.argument("target", metavar="NAME|FILE")
@click.option("--at", "time", type=float, metavar="<s>", help="The time to draw. Default: the start.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file: .png, .svg or .pdf. Default: NAME.png.",
)
@click.option("--body", type=click.IntRange(0), default=0, help="For a system: index of the body of the second view.")
@look_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
def picture(
    ctx: click.Context,
    /,
    target: str,
    time: float | None,
    output: Path | None,
    body: int,
    views: str,
    dark: bool,
    caption: str,
    drawn_by: str,
    as_json: bool,
    **parameters: float | None,
) -> None:
    """Draw a motion at one time, in space and as seen from the body.

    The motion is that of a gallery model (whose parameters are options: `polhode picture NAME --help`), of a scenario
    in a .toml file, or a stored motion (a .zarr folder). If a model makes several runs, the first is shown.

    \b
    Examples:
      polhode picture dzhanibekov --at 3.2
      polhode picture dzhanibekov --spin 3 --at 3.2 -o flip.svg
      polhode picture my-motion.zarr --at 0.5 -o halfway.pdf
    """
    values = parameter_values(ctx, parameters)
    place = Path(f"{default_stem(ctx, target)}.png") if output is None else output
    check_picture_path(place, "--output")
    shown = resolve_motion(ctx, target, values)
    look: Any = {"views": views, "dark": dark, "caption": caption, "drawn_by": drawn_by}
    shown.motion.picture(place, time, body=body, **look)
    at = shown.motion.scenario.start_time if time is None else time
    report: dict[str, Any] = {"name": shown.name, "picture": str(place), "time_s": at, "parameters": shown.parameters}
    if as_json:
        print_json(report | {"run": shown.runs[0] if shown.runs else shown.name})
        return
    click.echo(f"picture: {place} ({shown.name}{describe_run(shown.runs)}, at t = {at:.15g} s)")


def describe_run(runs: tuple[str, ...]) -> str:
    """The part of the message that says which of a model's runs is shown."""
    return f", {runs[0]!r}, the first of {len(runs)} runs" if len(runs) > 1 else ""
