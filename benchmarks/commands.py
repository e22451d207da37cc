"""The commands of `polhode bench`: throughput, scale, latency, precision, mass, drag."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from polhode.cli.command_group import CommandGroup
from polhode.cli.output import print_json, to_json
from polhode.errors import FileError

PROBLEM_NAMES = (
    "hairer_vilmart_asymmetric",
    "hairer_vilmart_flat",
    "boxes_complex",
    "simo_wong_heavy_top",
    "drag_and_thruster",
)


@click.group(cls=CommandGroup)
def bench() -> None:
    """Measure speed and precision on this machine.

    \b
    Examples:
      polhode bench throughput
      polhode bench scale
      polhode bench latency
      polhode bench precision --quick
      polhode bench mass
      polhode bench drag
    """


@bench.command()
@click.option(
    "--json", "json_path", help="Where to write the figures; - prints them, and nothing else. By default nowhere."
)
@click.option(
    "--members",
    type=click.IntRange(1, 1_000_000_000),
    multiple=True,
    default=(10_000, 100_000, 1_000_000),
    show_default=True,
    help="How many; may be given several times.",
)
@click.option(
    "--threads", type=click.IntRange(1), multiple=True, default=(1, 2), show_default=True, help="May be repeated."
)
@click.option("--steps", type=click.IntRange(1), default=1000, show_default=True, help="Of each member.")
def scale(json_path: str | None, members: tuple[int, ...], threads: tuple[int, ...], steps: int) -> None:
    """Measure how time and memory grow with the members of an ensemble, in memory and as a sweep that is reduced.

    Every figure is that of a process of its own, with its peak memory. Ten million members take 5 GB.

    \b
    Examples:
      polhode bench scale
      polhode bench scale --members 1000000 --members 10000000 --json scale.json
    """
    from benchmarks.ensemble_scale import format_scale_table, measure_ensemble_scale

    _check_folder(json_path)
    result = measure_ensemble_scale(
        members, threads, steps, report=lambda text: click.echo(text, err=True) if sys.stderr.isatty() else None
    )
    _write_report(result, format_scale_table(result), json_path)


@bench.command("mass")
@click.option(
    "--json", "json_path", help="Where to write the figures; - prints them, and nothing else. By default nowhere."
)
@click.option(
    "--triangles", type=click.IntRange(100, 10_000_000), default=1_000_000, show_default=True, help="Of the mesh."
)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="The best of them counts.")
def bench_mass(json_path: str | None, triangles: int, repeats: int) -> None:
    """Time how long a mesh takes to become a body, beside trimesh, and what is left of the digits far away.

    They take turns, repeat after repeat, and the best counts. Ours looks for defects first; trimesh does not.

    \b
    Examples:
      polhode bench mass
      polhode bench mass --triangles 100000 --json -
    """
    from benchmarks.mass_properties import format_mass_benchmark, measure_mass_properties

    result = measure_mass_properties(
        triangles, repeats, lambda text: click.echo(text, err=True) if sys.stderr.isatty() else None
    )
    _write_report(result, format_mass_benchmark(result), json_path)


@bench.command()
@click.option(
    "--json",
    "json_path",
    default="throughput.json",
    show_default=True,
    help="Where to write the figures; - prints them, and nothing else.",
)
@click.option(
    "--bodies",
    type=click.IntRange(1, 10_000_000),
    multiple=True,
    default=(4096, 65536),
    show_default=True,
    help="How many independent bodies; may be given several times.",
)
@click.option(
    "--steps", type=click.IntRange(1), help="Steps a repeat; by default as many as make a repeat long enough to time."
)
@click.option("--repeats", type=click.IntRange(1), default=7, show_default=True, help="The best of them counts.")
def throughput(json_path: str, bodies: tuple[int, ...], steps: int | None, repeats: int) -> None:
    """Time RK4 steps, in nanoseconds per body and step: this engine, NumPy, and MuJoCo if installed.

    Independent bodies in double precision, under gravity and quadratic drag (MuJoCo: gravity only). They take turns,
    repeat after repeat, and the best counts.

    \b
    Examples:
      polhode bench throughput
      polhode bench throughput --bodies 4096 --repeats 3 --json -
    """
    from benchmarks.throughput import format_throughput_table, measure_throughput

    result = measure_throughput(
        bodies, steps, repeats, lambda text: click.echo(text, err=True) if sys.stderr.isatty() else None
    )
    _write_report(result, format_throughput_table(result), json_path)


@bench.command()
@click.option(
    "--json", "json_path", help="Where to write the figures; - prints them, and nothing else. By default nowhere."
)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="The best of them counts.")
@click.option(
    "--stones", type=click.IntRange(1, 10_000_000), default=10_000, show_default=True, help="Members that land."
)
@click.option(
    "--advances", type=click.IntRange(100, 10_000_000), default=20_000, show_default=True, help="Of the stepper."
)
def latency(json_path: str | None, repeats: int, stones: int, advances: int) -> None:
    """Time what one waits for: the first run of a new force, landings in an ensemble, steppers and environments.

    First runs take place in fresh processes, without and with cached machine code.

    \b
    Examples:
      polhode bench latency
      polhode bench latency --repeats 1 --json -
    """
    from benchmarks.latency import format_latency, measure_latency

    result = measure_latency(
        repeats, stones, advances, lambda text: click.echo(text, err=True) if sys.stderr.isatty() else None
    )
    _write_report(result, format_latency(result), json_path)


@bench.command()
@click.option("--json", "json_path", help="Where to write all figures; - prints them, and nothing else.")
@click.option("--figure", "figure_path", help="Where to draw error against wall time: a .png, .svg or .pdf file.")
@click.option("--quick", is_flag=True, help="Two formulations, one round, short runs: a minute or two once compiled.")
@click.option(
    "--problem",
    "problems",
    type=click.Choice(PROBLEM_NAMES),
    multiple=True,
    help="Only this problem; may be given several times.",
)
def precision(json_path: str | None, figure_path: str | None, quick: bool, problems: tuple[str, ...]) -> None:
    """Measure error against wall time: every method and formulation here, SciPy, heyoka, MuJoCo, Drake, Basilisk.

    Five problems with answers of 40 digits. Each contestant runs from coarse to fine, compiled and prepared; the best
    time of several rounds counts. The table tells who reaches an error of 1e-6 and of 1e-12 first. Packages that are
    missing are left out and named; `make bench` installs them. The first run compiles for some minutes.

    \b
    Examples:
      polhode bench precision --quick
      polhode bench precision --json precision.json --figure precision.png
      polhode bench precision --problem simo_wong_heavy_top
    """
    from benchmarks.precision import measure_precision
    from benchmarks.precision_table import format_precision_table

    for path in (json_path, figure_path):
        _check_folder(path)
    with _progress_bar() as report:
        result = measure_precision(quick, problems=problems or None, report=report)
    if figure_path is not None:
        from benchmarks.precision_figure import draw_precision_figure

        try:
            draw_precision_figure(result).savefig(figure_path)
        except (OSError, ValueError) as error:
            raise FileError(f"the figure cannot be drawn to {figure_path}: {error}") from None
    _write_report(result, format_precision_table(result), json_path)
    if figure_path is not None and json_path != "-":
        click.echo(f"{'' if json_path else chr(10)}picture: {figure_path}")


@bench.command()
@click.argument("targets", nargs=-1)
@click.option("--seconds", type=click.FloatRange(0.5), default=6.0, show_default=True, help="Of dragging.")
@click.option("--json", "json_path", help="Where to write the figures; - prints them, and nothing else.")
def drag(targets: tuple[str, ...], seconds: float, json_path: str | None) -> None:
    """Measure how many motions a second the page shows while a knob is dragged, in Chromium with WebGL in software.

    TARGETS are models of the gallery, by default dzhanibekov and gyroscope, or exported pages with live knobs, which
    are opened without a network. Needs Playwright and Chromium.
    """
    from benchmarks.lab_drag import format_drags, measure_drags

    found = measure_drags(list(targets) or ["dzhanibekov", "gyroscope"], seconds)
    _write_report(found, format_drags(found), json_path)


def _check_folder(path: str | None) -> None:
    """Before minutes of work, not after."""
    if path is not None and path != "-" and not Path(path).resolve().parent.is_dir():
        raise FileError(f"{path} cannot be written: there is no folder {Path(path).parent}")


@contextmanager
def _progress_bar() -> Iterator[Callable[[float, str], Any]]:
    """A progress bar on the standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda part, text: None
        return
    from tqdm import tqdm

    form = "{percentage:3.0f}%|{bar}| {elapsed}, {remaining} left, {desc}"
    with tqdm(total=1.0, bar_format=form, leave=False) as bar:

        def report(part: float, text: str) -> None:
            bar.n = part
            bar.set_description_str(text)

        yield report


def _write_report(result: dict[str, Any], text: str, json_path: str | None) -> None:
    """Figures as a table, and as JSON where wanted; with - only JSON, on the standard output."""
    if json_path == "-":
        print_json(result)
        return
    click.echo(text)
    if json_path is None:
        return
    try:
        Path(json_path).write_text(to_json(result) + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(f"the figures cannot be written to {json_path}: {error}") from None
    click.echo(f"\nfigures: {json_path}")
