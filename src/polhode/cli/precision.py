"""`polhode bench precision`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from polhode.cli.output import print_json, to_json
from polhode.errors import FileError

PROBLEM_NAMES = (
    "hairer_vilmart_asymmetric",
    "hairer_vilmart_flat",
    "boxes_complex",
    "simo_wong_heavy_top",
    "drag_and_thruster",
)


@click.command()
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
    if json_path == "-":
        print_json(result)
        return
    click.echo(format_precision_table(result))
    if json_path is not None:
        try:
            Path(json_path).write_text(to_json(result) + "\n", encoding="utf-8")
        except OSError as error:
            raise FileError(f"the figures cannot be written to {json_path}: {error}") from None
        click.echo(f"\nfigures: {json_path}")
    if figure_path is not None:
        click.echo(f"{'' if json_path else chr(10)}picture: {figure_path}")


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
