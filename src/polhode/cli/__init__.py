"""The command line.  Heavy modules are imported inside the commands that need them: `polhode --help` stays fast."""

from __future__ import annotations

import os
import sys
from shutil import get_terminal_size
from textwrap import fill

import click

from polhode import __version__
from polhode.cli.bench import BENCH_HELP, BenchmarkGroup
from polhode.cli.command_group import CommandGroup
from polhode.cli.export import export
from polhode.cli.film import film
from polhode.cli.fmu import fmu
from polhode.cli.lab import lab
from polhode.cli.mass import mass
from polhode.cli.output import print_json
from polhode.cli.picture import picture
from polhode.cli.run import run
from polhode.cli.sweep import sweep
from polhode.cli.view import view


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="polhode")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Simulate rigid bodies: where they are, how they turn, and how well the answer can be trusted.

    \b
    Examples:
      polhode list                           the models that come with Polhode
      polhode run dzhanibekov                run one: its number, what was conserved, a picture
      polhode run dzhanibekov --spin 3       the same with one parameter changed
      polhode run my-scenario.toml --json    your own scenario, with JSON output
      polhode sweep my-sweep.toml            a scenario with distributions, for many members
      polhode lab                            the models in the browser, with their parameters
      polhode view my-motion.zarr            a stored motion in the browser
      polhode picture dzhanibekov --at 3.2   the motion at one time
      polhode film dzhanibekov -o flip.mp4   the motion as a film
      polhode export dzhanibekov -o flip.c   the scenario as a program in C, CUDA, Rust or JavaScript
      polhode fmu my-scenario.toml           the scenario as an FMU for co-simulation
      polhode mass part.stl --unit mm        the mass properties of a part
      polhode mass part.stl --to urdf        the same as an <inertial> block of a URDF
      polhode bench throughput               speed on this machine, beside NumPy and MuJoCo (in a checkout)
      polhode bench precision --quick        error against time, beside five packages (in a checkout)
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


cli.add_command(run)
cli.add_command(sweep)
cli.add_command(picture)
cli.add_command(film)
cli.add_command(export)
cli.add_command(fmu)
cli.add_command(mass)
cli.add_command(lab)
cli.add_command(view)


@cli.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def list_models(as_json: bool) -> None:
    """List the models that `polhode run NAME` runs.

    \b
    Examples:
      polhode list
      polhode list --json
    """
    from polhode.gallery import MODELS, THEMES

    models = sorted((MODELS[name] for name in MODELS), key=lambda m: THEMES.index(m.theme))
    if as_json:
        print_json([model.describe() for model in models])
        return
    width, columns = max(len(m.name) for m in models), max(60, get_terminal_size().columns)
    for theme in THEMES:
        click.secho(f"{theme}", bold=True)
        for m in (m for m in models if m.theme == theme):
            indent = " " * (width + 4)
            title = fill(m.title, columns, initial_indent=indent, subsequent_indent=indent)
            click.echo(f"  {m.name:<{width}}  {title.lstrip()}")
            options = " ".join(f"--{p.name.replace('_', '-')}" for p in m.parameters)
            listed = fill(options, columns, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
            click.secho(listed, dim=True)
        click.echo()
    click.echo("`polhode run NAME` runs one; `polhode run NAME --help` explains it and its options.")


cli.add_command(BenchmarkGroup("bench", help=BENCH_HELP))


def main() -> None:
    """What the `polhode` command runs."""
    try:
        cli(prog_name="polhode")
    except OSError as error:
        if error.filename is not None:
            sys.exit(f"Error: {error.filename}: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python would try again to write what is left at exit
        sys.exit(f"Error: the output cannot be written: {error.strerror}")
