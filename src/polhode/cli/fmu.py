"""`polhode fmu`: write a scenario as an FMU for co-simulation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.output import check_folder
from polhode.cli.target import MODEL_KEY, TargetCommand, default_stem, parameter_values

if TYPE_CHECKING:
    from polhode.gallery import Model


@click.command(cls=TargetCommand)
@click.argument("target", metavar="NAME|FILE.toml")
@click.option(
    "--fmi-version", type=click.Choice(["2.0", "3.0"]), default="2.0", show_default=True, help="FMI standard."
)
@click.option("--python", is_flag=True, help="A Python-based FMU, which runs where Polhode is installed: for contacts.")
@click.option("--source-only", is_flag=True, help="C source without a binary: the importing program compiles it.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file: .fmu. Default: NAME.fmu.",
)
@click.pass_context
def fmu(
    ctx: click.Context,
    /,
    target: str,
    fmi_version: str,
    source_only: bool,
    python: bool,
    output: Path | None,
    **parameters: float | None,
) -> None:
    """Write a scenario as an FMU for co-simulation.

    The FMU takes forces and torques as inputs and gives position, orientation, velocities and energies. It contains C
    code and a binary for this machine, and needs neither Python nor Polhode where it runs. The parameters of a model
    are options: `polhode fmu NAME --help`. If a model makes several runs, the first is written.

    \b
    Examples:
      polhode fmu my-scenario.toml -o body.fmu
      polhode fmu my-scenario.toml --fmi-version 3.0
      polhode fmu hydra-6dof --source-only
    """
    from polhode.scenario.scenario import Scenario
    from polhode.solve.write_fmu import write_fmu

    place = Path(default_stem(ctx, target) + ".fmu") if output is None else output
    check_folder(place, "FMU", "--output")
    model: Model | None = ctx.meta.get(MODEL_KEY)
    planned: Any = Scenario.from_toml(target) if model is None else model.scenario(**parameter_values(ctx, parameters))
    scenario = next(iter(planned.values())) if isinstance(planned, Mapping) else planned
    has_binary = write_fmu(scenario, place, fmi_version, compiled=False if source_only else None, python=python)
    if python:
        click.echo(f"FMU: {place} (FMI {fmi_version}, co-simulation; runs where Polhode is installed)")
        return
    kind = "C source and a binary for this machine" if has_binary else "C source"
    click.echo(f"FMU: {place} (FMI {fmi_version}, co-simulation; {kind})")
    if not has_binary and not source_only:
        click.echo("No C compiler was found: the importing program must compile it (in FMPy: fmpy compile).", err=True)
