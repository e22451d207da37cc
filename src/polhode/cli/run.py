"""`polhode run`: simulate a gallery model or a scenario file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from polhode import __version__
from polhode.cli.output import check_folder, check_picture_path, print_json, save_figure
from polhode.cli.target import MODEL_KEY, TargetCommand, parameter_values, simulate_file
from polhode.errors import RunError

if TYPE_CHECKING:
    from polhode.gallery import Model, ReferenceCheck
    from polhode.results.audit import Audit
    from polhode.results.motion import Motion


@click.command(cls=TargetCommand)
@click.argument("target", metavar="NAME|FILE.toml")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file of the picture: .png, .svg or .pdf. Default: NAME.png.",
)
@click.option("--no-picture", is_flag=True, help="Draw no picture.")
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="FILE.zarr", help="Store the motion; read it with ph.load."
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    metavar="FILE.zarr",
    help="Store the run while it goes on, so that it can be killed and resumed; at the end the motion, for ph.load.",
)
@click.option("--resume", is_flag=True, help="Continue the run in --store; begin it if there is none.")
@click.option(
    "--csv",
    "table",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.csv",
    help="Write a table: time, position, velocity, attitude; over the Earth also latitude, longitude, height, ...",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
def run(
    ctx: click.Context,
    /,
    target: str,
    picture: Path | None,
    no_picture: bool,
    save: Path | None,
    store: Path | None,
    resume: bool,
    table: Path | None,
    as_json: bool,
    **parameters: float | None,
) -> None:
    """Simulate a gallery model or a scenario file.

    Prints the reference number of the model beside the expected value, and the drift of the conserved quantities, and
    saves a picture. The parameters of a model are options: `polhode run NAME --help`.

    \b
    Examples:
      polhode run dzhanibekov
      polhode run dzhanibekov --spin 3 --nudge 0.01 --picture flip.svg
      polhode run free-fall-with-drag --drag 20 --no-picture --json
      polhode run my-scenario.toml --save my-motion.zarr
      polhode run my-scenario.toml --store my-motion.zarr --resume
      polhode run examples/nesc/case-06.toml --no-picture --csv case-06.csv
    """
    if picture is not None and no_picture:
        raise click.UsageError("--picture and --no-picture contradict each other: give one of them", ctx)
    if resume and store is None:
        raise click.UsageError("--resume continues the run in a store: give it with --store FILE.zarr", ctx)
    model: Model | None = ctx.meta.get(MODEL_KEY)
    values = parameter_values(ctx, parameters)
    stem = model.name if model is not None else Path(target).stem
    place = None if no_picture else Path(f"{stem}.png") if picture is None else picture
    check_picture_path(place)
    if save is not None:
        check_folder(save, "motion", "--save")
    if store is not None:
        check_folder(store, "run", "--store")
    if table is not None:
        check_folder(table, "table", "--csv")
    began = perf_counter()
    try:
        motions: Any = model.run(store, resume, **values) if model is not None else simulate_file(target, store, resume)
    except RunError as error:
        if save is not None and len(error.motion.times):
            error.motion.save(save)
            raise click.ClickException(f"{error} The motion up to that time is in {save}.") from error
        raise
    seconds = perf_counter() - began
    numbers = model.check(motions, values) if model is not None else []
    motion = _primary_motion(motions)
    if save is not None:
        motion.save(save)
    if table is not None:
        motion.export_csv(table)
    if place is not None:
        draw = None if model is None else model.picture
        save_figure(motion.plot() if draw is None else draw(motions, **values), place)
    audit = motion.audit()
    name = stem if model is not None else motion.scenario.name or stem
    report = _build_report(name, motions, audit, seconds, numbers, place, save)
    report["table"] = None if table is None else str(table)
    report["store"] = None if store is None else str(store)
    if model is not None:
        report |= {"title": model.title, "parameters": values}
    if as_json:
        print_json(report)
    else:
        _print_run(report, model, audit, numbers)
    wrong = [n for n in numbers if not n.holds]
    if wrong:
        raise click.ClickException("; ".join(map(_describe_mismatch, wrong)))


def _primary_motion(motions: Any) -> Motion:
    from polhode.gallery import main_motion

    return main_motion(motions)


def _describe_mismatch(number: ReferenceCheck) -> str:
    excess = f"by {_format_with_unit(f'{number.difference:g}', number.unit)}, more than {number.tolerance:g}"
    return f"{number.label} differs from the expected value {excess}"


def _build_report(
    name: str,
    motions: Any,
    audit: Audit,
    seconds: float,
    numbers: Sequence[ReferenceCheck],
    place: Path | None,
    save: Path | None,
) -> dict[str, Any]:
    """The report of a run, in plain numbers and strings."""
    found = [{**vars(n), "difference": n.difference, "holds": n.holds} for n in numbers]
    return {
        "polhode": __version__,
        "name": name,
        "runs": list(motions) if isinstance(motions, dict) else [name],
        "duration_s": _primary_motion(motions).scenario.duration,
        "seconds": seconds,
        "number": found[0] if found else None,
        "further_numbers": found[1:],
        "audit": audit.as_dict(),
        "picture": None if place is None else str(place),
        "saved": None if save is None else str(save),
    }


def _print_run(report: dict[str, Any], model: Model | None, audit: Audit, numbers: Sequence[ReferenceCheck]) -> None:
    click.secho(report["name"] + (f": {model.title}" if model is not None else ""), bold=True)
    if model is not None:
        values = report["parameters"]
        click.echo(
            "  " + ", ".join(f"{p.name} = {_format_with_unit(f'{values[p.name]:g}', p.unit)}" for p in model.parameters)
        )
    runs = report["runs"]
    several = f" ({len(runs)} runs: {', '.join(runs)})" if len(runs) > 1 else ""
    click.echo(f"  {report['duration_s']:.6g} s of motion, computed in {report['seconds']:.3g} s{several}\n")
    for number in numbers:
        _print_number(number)
    click.echo((f"{runs[0]}: " if several else "") + str(audit))
    if report["picture"] is not None:
        click.echo(f"\npicture: {report['picture']}")
    if report["saved"] is not None:
        click.echo(f"\nsaved: {report['saved']}" + (f" ({runs[0]}, the first of the runs)" if several else ""))
    if report["store"] is not None:
        click.echo(f"\nstored: {report['store']}" + (" and, for the other runs, beside it" if several else ""))
    if report["table"] is not None:
        click.echo(f"\ntable: {report['table']}")


def _print_number(number: ReferenceCheck) -> None:
    def written(value: str) -> str:
        return _format_with_unit(value, number.unit)

    click.secho(number.label, bold=True)
    click.echo(f"  found       {written(f'{number.found:.12g}')}")
    click.echo(f"  expected    {written(f'{number.expected:.12g}')}, {number.source}")
    verdict = click.style("agrees", fg="green") if number.holds else click.style("differs", fg="red")
    allowed = f"(allowed: {written(f'{number.tolerance:.1e}')})"
    click.echo(f"  difference  {written(f'{number.difference:.1e}')}: {verdict} {allowed}\n")


def _format_with_unit(number: str, unit: str) -> str:
    from polhode.gallery import format_with_unit

    return format_with_unit(number, unit)
