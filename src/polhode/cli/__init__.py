"""The command line.  Heavy things are imported inside the commands that need them: `polhode --help` stays quick."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

import click

from polhode import __version__
from polhode.cli.film import film
from polhode.cli.lab import lab
from polhode.cli.mass import mass
from polhode.cli.output import print_json
from polhode.cli.output import to_json as json_of
from polhode.cli.picture import picture
from polhode.cli.precision import precision
from polhode.cli.run import run
from polhode.cli.view import view
from polhode.errors import FileError, PolhodeError, nearest


class CommandGroup(click.Group):
    """Commands whose complaints are sentences: Polhode's own with exit code 1, those about usage with 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PolhodeError as error:
            raise click.ClickException(str(error)) from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"there is no command {args[0]!r}: {nearest(args[0], self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="polhode")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Simulate rigid bodies: where they are, how they turn, and how well the answer can be trusted.

    \b
    Examples:
      polhode list                           the models that come with Polhode
      polhode run dzhanibekov                run one: its number, what was conserved, a picture
      polhode run dzhanibekov --spin 3       the same with one of its knobs turned
      polhode run my-scenario.toml --json    a scenario of your own, answered for machines
      polhode lab                            the models in the browser, with their knobs
      polhode view my-motion.zarr            a stored motion there
      polhode picture dzhanibekov --at 3.2   the motion at an instant
      polhode film dzhanibekov -o flip.mp4   the motion as a film
      polhode mass part.stl --unit mm        what a part weighs, and how it turns
      polhode mass part.stl --to urdf        the same as a block for a robot's description
      polhode bench throughput               how fast it is here, beside NumPy and MuJoCo
      polhode bench precision --quick        how exact for how much time, beside five others
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


cli.add_command(run)
cli.add_command(picture)
cli.add_command(film)
cli.add_command(mass)
cli.add_command(lab)
cli.add_command(view)


@cli.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def list_models(as_json: bool) -> None:
    """Show the models that `polhode run NAME` knows.

    \b
    Examples:
      polhode list
      polhode list --json
    """
    from polhode.gallery import MODELS, THEMES

    models = sorted((MODELS[name] for name in MODELS), key=lambda m: THEMES.index(m.theme))
    if as_json:
        print_json([model.described() for model in models])
        return
    width, columns = max(len(m.name) for m in models), max(60, get_terminal_size().columns)
    for theme in THEMES:
        click.secho(f"{theme}", bold=True)
        for m in (m for m in models if m.theme == theme):
            indent = " " * (width + 4)
            title = fill(m.title, columns, initial_indent=indent, subsequent_indent=indent)
            click.echo(f"  {m.name:<{width}}  {title.lstrip()}")
            knobs = " ".join(f"--{p.name.replace('_', '-')}" for p in m.parameters)
            listed = fill(knobs, columns, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
            click.secho(listed, dim=True)
        click.echo()
    click.echo("`polhode run NAME` runs one; `polhode run NAME --help` explains it and its options.")


@cli.group(cls=CommandGroup)
def bench() -> None:
    """Measure how fast, and how exact, Polhode is on this machine.

    \b
    Examples:
      polhode bench throughput
      polhode bench precision --quick
      polhode bench mass
    """


bench.add_command(precision)


@bench.command("mass")
@click.option(
    "--json", "json_path", help="Where to write the figures; - prints them, and nothing else. By default nowhere."
)
@click.option("--triangles", type=click.IntRange(100), default=1_000_000, show_default=True, help="Of the mesh.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="The best of so many counts.")
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
    type=click.IntRange(1),
    multiple=True,
    default=(4096, 65536),
    show_default=True,
    help="How many independent bodies; may be given several times.",
)
@click.option(
    "--steps", type=click.IntRange(1), help="Steps a repeat; by default as many as make a repeat long enough to time."
)
@click.option("--repeats", type=click.IntRange(1), default=7, show_default=True, help="The best of so many counts.")
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


def _write_report(result: dict[str, Any], text: str, json_path: str | None) -> None:
    """Figures as a table, and as JSON where they are wanted; with - only that, on the standard output."""
    if json_path == "-":
        print_json(result)
        return
    click.echo(text)
    if json_path is None:
        return
    try:
        Path(json_path).write_text(json_of(result) + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(f"the figures cannot be written to {json_path}: {error}") from None
    click.echo(f"\nfigures: {json_path}")


def main() -> None:
    """What the `polhode` command runs."""
    cli(prog_name="polhode")
