"""`polhode film`: write a motion as a film."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import click

from polhode.cli.output import print_json
from polhode.cli.picture import describe_run, look_options
from polhode.cli.target import MotionCommand, default_stem, parameter_values, resolve_motion


class PixelSize(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Width x height, such as 1280x720."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = re.fullmatch(r"(\d+)[xX](\d+)", str(value))
        if found is None:
            self.fail(f"{value!r} is not a size: give width and height in pixels, such as 1280x720", param, ctx)
        return int(found[1]), int(found[2])


@click.command(cls=MotionCommand)
@click.argument("target", metavar="NAME|FILE")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file: .mp4 (needs the extra 'film') or .gif. Default: NAME.mp4.",
)
@click.option(
    "--pace",
    type=float,
    metavar="<number>",
    help="Seconds of motion per second of film: 0.1 is slow motion. Default: real time if the part shown "
    "(--from, --to) lasts 2 to 20 s, otherwise about 8 s of film.",
)
@click.option("--fps", type=float, metavar="<1/s>", help="Frames per second. Default: 30, for a .gif 20.")
@click.option("--size", type=PixelSize(), metavar="WxH", help="Size in pixels. Default: 1280x720, for a .gif 800x450.")
@click.option("--from", "start", type=float, metavar="<s>", help="Start of the part to show.")
@click.option("--to", "end", type=float, metavar="<s>", help="End of the part to show.")
@click.option("--body", type=click.IntRange(0), default=0, help="For a system: index of the body of the second view.")
@look_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
def film(
    ctx: click.Context,
    /,
    target: str,
    output: Path | None,
    pace: float | None,
    fps: float | None,
    size: tuple[int, int] | None,
    start: float | None,
    end: float | None,
    body: int,
    views: str,
    dark: bool,
    caption: str,
    drawn_by: str,
    as_json: bool,
    **parameters: float | None,
) -> None:
    """Film a motion, in space and as seen from the body.

    The motion is that of a gallery model (whose parameters are options: `polhode film NAME --help`), of a scenario in
    a .toml file, or a stored motion (a .zarr folder). If a model makes several runs, the first is shown. A warning
    suggests a slower pace if a body rotates by more than half a turn between two frames.

    \b
    Examples:
      polhode film dzhanibekov -o flip.mp4
      polhode film falling-phone --pace 0.05 -o phone.gif
      polhode film my-motion.zarr --from 2 --to 5 --size 1920x1080 -o part.mp4
    """
    values = parameter_values(ctx, parameters)
    place = Path(f"{default_stem(ctx, target)}.mp4") if output is None else output
    from polhode.plot.film_plan import FilmWarning, validate_format

    validate_format(place, fps, size)
    shown = resolve_motion(ctx, target, values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FilmWarning)  # printed below
        made = shown.motion.film(
            place,
            pace=pace,
            frames_per_second=fps,
            size=size,
            start=start,
            end=end,
            body=body,
            views=views,
            dark=dark,
            caption=caption,
            drawn_by=drawn_by,
        )
    if as_json:
        report = {key: value for key, value in vars(made).items() if key != "path"}
        run = shown.runs[0] if shown.runs else shown.name
        print_json({"name": shown.name, "film": str(place), "run": run, "parameters": shown.parameters} | report)
        return
    speed = "in real time" if made.pace == 1 else f"at a pace of {made.pace:g}"
    click.echo(
        f"film: {place} ({shown.name}{describe_run(shown.runs)}: {made.frames} frames, {made.seconds:.3g} s {speed})"
    )
    if made.warning is not None:
        click.echo(f"warning: {made.warning} (--pace)", err=True)
