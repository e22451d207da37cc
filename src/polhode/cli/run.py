"""`polhode run`: simulate a model of the gallery, or the scenario of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from polhode import __version__
from polhode.cli.output import check_folder, check_picture, print_json
from polhode.errors import FileError, RunError

if TYPE_CHECKING:
    from polhode.audit import Audit
    from polhode.gallery import Model, Shown
    from polhode.motion import Motion

MODEL_KEY = "polhode.model"


class Run(click.Command):
    """The command whose options are its own and those of the model that it is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        target = self._target(ctx, args)
        if target is not None and not _is_file(target):
            from polhode.gallery import MODELS

            if _model_name(target) not in MODELS:
                close = get_close_matches(_model_name(target), list(MODELS), n=1, cutoff=0.5)
                guess = f": did you mean {close[0]!r}?" if close else "."
                hint = "`polhode list` shows all of them; a scenario's file ends with .toml."
                raise click.UsageError(f"there is no model {target!r}{guess} {hint}", ctx)
            ctx.meta[MODEL_KEY] = MODELS[_model_name(target)]
        return super().parse_args(ctx, args)

    def _target(self, ctx: click.Context, args: Sequence[str]) -> str | None:
        """What to run: the first argument that is a model or a file; else the first that is no option nor its value."""
        own = [p for p in super().get_params(ctx) if isinstance(p, click.Option) and not p.is_flag]
        taking_a_value = {name for option in own for name in option.opts}
        pairs = zip(["", *args], args, strict=False)
        free = [arg for before, arg in pairs if not arg.startswith("-") and before not in taking_a_value]
        return next((arg for arg in free if _is_model(arg) or _is_file(arg)), free[0] if free else None)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        model: Model | None = ctx.meta.get(MODEL_KEY)
        knobs: list[click.Parameter] = [
            click.Option(
                [f"--{p.name.replace('_', '-')}", p.name],
                type=float,
                metavar="<number>" if p.unit == "1" else f"<{p.unit}>",
                help=f"{p.help}; {p.low:g} to {p.high:g}, {p.default:g} if not given",
                default=None,
            )
            for p in (model.parameters if model is not None else ())
        ]
        own = super().get_params(ctx)
        return [own[0], *knobs, *own[1:]]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        model: Model | None = ctx.meta.get(MODEL_KEY)
        if model is None:
            super().format_help_text(ctx, formatter)
            return
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"{model.name}: {model.title}.")
            formatter.write_paragraph()
            formatter.write_text(model.explanation.replace("\n", " "))
            formatter.write_paragraph()
            formatter.write_text(f"Source: {model.source}")


@click.command(cls=Run)
@click.argument("target", metavar="NAME|FILE.toml")
@click.option(
    "--picture", type=click.Path(dir_okay=False, path_type=Path), help="Where to put the picture: .png, .svg or .pdf."
)
@click.option("--no-picture", is_flag=True, help="Draw no picture.")
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="FILE.zarr", help="Store the motion; ph.load reads it."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
@click.pass_context
def run(
    ctx: click.Context,
    /,
    target: str,
    picture: Path | None,
    no_picture: bool,
    save: Path | None,
    as_json: bool,
    **knobs: float | None,
) -> None:
    """Simulate a model of the gallery, or the scenario of a file.

    Prints the number that the model must show beside the expected one, and what was conserved, and how well. Saves a
    picture and says where. A model's own options: `polhode run NAME --help`.

    \b
    Examples:
      polhode run dzhanibekov
      polhode run dzhanibekov --spin 3 --nudge 0.01 --picture flip.svg
      polhode run free-fall-with-drag --drag 20 --no-picture --json
      polhode run my-scenario.toml --save my-motion.zarr
    """
    if picture is not None and no_picture:
        raise click.UsageError("--picture and --no-picture contradict each other: give one of them", ctx)
    model: Model | None = ctx.meta.get(MODEL_KEY)
    values = model.values(**{k: v for k, v in knobs.items() if v is not None}) if model is not None else {}
    stem = model.name if model is not None else Path(target).stem
    place = None if no_picture else Path(f"{stem}.png") if picture is None else picture
    check_picture(place)
    if save is not None:
        check_folder(save, "motion", "--save")
    began = perf_counter()
    try:
        motions: Any = model.run(**values) if model is not None else _run_file(target)
    except RunError as error:
        if save is not None and len(error.motion.times):
            error.motion.save(save)
            raise click.ClickException(f"{error} What was computed until then is in {save}.") from error
        raise
    seconds = perf_counter() - began
    numbers = model.numbers(motions, **values) if model is not None else []
    motion = _watched(motions)
    if save is not None:
        motion.save(save)
    if place is not None:
        _draw(model.picture(motions, **values) if model is not None else motion.plot(), place)
    audit = motion.audit()
    name = stem if model is not None else motion.scenario.name or stem
    report = _report(name, motions, audit, seconds, numbers, place, save)
    if model is not None:
        report |= {"title": model.title, "parameters": values}
    if as_json:
        print_json(report)
    else:
        _print_run(report, model, audit, numbers)
    wrong = [n for n in numbers if not n.holds]
    if wrong:
        raise click.ClickException("; ".join(map(_complaint, wrong)))


def _is_file(target: str) -> bool:
    """Whether a scenario's file is meant; a model's name means the model, whatever files there are."""
    return target.endswith(".toml") or os.sep in target or (Path(target).is_file() and not _is_model(target))


def _is_model(target: str) -> bool:
    from polhode.gallery import MODELS

    return _model_name(target) in MODELS


def _model_name(target: str) -> str:
    """As the gallery writes it: thin-rod for Thin_Rod."""
    return target.lower().replace("_", "-")


def _run_file(target: str) -> Motion:
    from polhode.scenario import Scenario
    from polhode.simulation import ensemble, simulate

    scenario = Scenario.from_toml(target)
    return simulate(scenario) if scenario.members is None else ensemble(scenario)


def _watched(motions: Any) -> Motion:
    from polhode.gallery import watched

    return watched(motions)


def _complaint(number: Shown) -> str:
    excess = f"by {_in_unit(f'{number.difference:g}', number.unit)}, more than {number.tolerance:g}"
    return f"{number.label} differs from the expected value {excess}"


def _draw(figure: Any, place: Path) -> None:
    try:
        figure.savefig(place)
    except (OSError, ValueError) as error:
        raise FileError(f"the picture cannot be written to {place}: {error}") from None


def _report(
    name: str,
    motions: Any,
    audit: Audit,
    seconds: float,
    numbers: Sequence[Shown],
    place: Path | None,
    save: Path | None,
) -> dict[str, Any]:
    """Everything that a run has to say, in plain numbers and texts."""
    found = [{**vars(n), "difference": n.difference, "holds": n.holds} for n in numbers]
    return {
        "polhode": __version__,
        "name": name,
        "runs": list(motions) if isinstance(motions, dict) else [name],
        "duration_s": _watched(motions).scenario.duration,
        "seconds": seconds,
        "number": found[0] if found else None,
        "further_numbers": found[1:],
        "audit": audit.as_dict(),
        "picture": None if place is None else str(place),
        "saved": None if save is None else str(save),
    }


def _print_run(report: dict[str, Any], model: Model | None, audit: Audit, numbers: Sequence[Shown]) -> None:
    click.secho(report["name"] + (f": {model.title}" if model is not None else ""), bold=True)
    if model is not None:
        values = report["parameters"]
        click.echo("  " + ", ".join(f"{p.name} = {_in_unit(f'{values[p.name]:g}', p.unit)}" for p in model.parameters))
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


def _print_number(number: Shown) -> None:
    def written(value: str) -> str:
        return _in_unit(value, number.unit)

    click.secho(number.label, bold=True)
    click.echo(f"  found       {written(f'{number.found:.12g}')}")
    click.echo(f"  expected    {written(f'{number.expected:.12g}')}, {number.source}")
    verdict = click.style("agrees", fg="green") if number.holds else click.style("differs", fg="red")
    allowed = f"(allowed: {written(f'{number.tolerance:.1e}')})"
    click.echo(f"  difference  {written(f'{number.difference:.1e}')}: {verdict} {allowed}\n")


def _in_unit(number: str, unit: str) -> str:
    from polhode.gallery import in_unit

    return in_unit(number, unit)
