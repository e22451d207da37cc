"""`polhode mass`: the mass properties of a part, from a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from polhode import __version__
from polhode.cli.mass_input import (
    ASSUMED_DENSITY,
    catch_mass_warnings,
    compare_approximations,
    given_amount_options,
    is_volume_file,
    load_body,
)
from polhode.cli.mass_table import format_mass_table, rephrase_as_options
from polhode.cli.output import check_picture_path, print_json
from polhode.errors import FileError, PolhodeError

if TYPE_CHECKING:
    from polhode.massprops.body import Body

LENGTH_UNITS = ("m", "mm", "cm", "um", "km", "in", "ft")
OUTPUT_FORMS = ("table", "json", "toml", "urdf", "sdf", "mjcf")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--density", type=float, metavar="D", help="In kg/m3; 1000 is assumed if neither it nor --mass is given.")
@click.option("--mass", "total", type=float, metavar="M", help="In kg: the density follows.")
@click.option(
    "--unit",
    type=click.Choice(LENGTH_UNITS),
    help="Unit of the file's coordinates; default: the one stated in the file, else m.",
)
@click.option("--shell", metavar="T", help="A wall of this thickness on the surface, hollow inside.")
@click.option("--about", metavar="X,Y,Z", help="A point: print the tensor about it, too.")
@click.option(
    "--to", "form", type=click.Choice(OUTPUT_FORMS), default="table", show_default=True, help="What to print."
)
@click.option("--json", "as_json", is_flag=True, help="Short for --to json.")
@click.option("--compare", is_flag=True, help="Compare bounding boxes, point sampling and the exact integral.")
@click.option(
    "--points", type=click.IntRange(100), default=100_000, show_default=True, help="For --compare: sample points."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For --compare: random seed.")
@click.option(
    "--repair",
    type=click.Choice(("flip", "fill", "hull")),
    multiple=True,
    help="Orient faces (or cells) outward, close holes, or take the convex hull; may be repeated.",
)
@click.option("--region", "regions", metavar="NAME=D", multiple=True, help="Density of a region of a volume mesh.")
@click.option("--density-field", metavar="NAME", help="The cell field with the densities.")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="Draw it: .png, .svg or .pdf.")
@click.pass_context
def mass(ctx: click.Context, /, file: Path, **given: Any) -> None:
    """Mass, center of mass and inertia of a part, from its mesh.

    FILE is a closed surface (stl, obj, ply, off, glb, gltf, 3mf) or a volume mesh (vtk, vtu, msh, exodus, inp and more;
    with the extra 'mesh'). Nothing is repaired by default; anything suspicious gives a warning, and a mesh
    without a well-defined inside is an error.

    Lengths (--shell, --about) are in m, whatever the --unit of the file, unless they carry their unit: 2mm. All
    results are in m, kg, kg m2, along the file's axes; products of inertia are the tensor's entries, -integral of
    rho x y, in every output format. JSON keys name their units: mass_kg, center_of_mass_m, inertia_body_kg_m2.

    URDF, SDF and MJCF blocks are <inertial> elements to paste. MuJoCo changes them if the model's compiler sets
    balanceinertia, boundmass, boundinertia, settotalmass or inertiafromgeom="true"; of a URDF it drops the root link's
    unless fusestatic="false".

    \b
    Examples:
      polhode mass bracket.stl --unit mm --density 2700
      polhode mass bracket.stl --unit mm --mass 0.114 --to urdf
      polhode mass hull.obj --shell 2mm --density 7850 --about 0,0,-1.5
      polhode mass part.3mf --compare --picture part.png
      polhode mass engine.msh --region block=7200 --region piston=2700 --json
    """
    form = _output_form(ctx, given)
    shell = None if given["shell"] is None else _parse_length(ctx, "--shell", given["shell"])
    about = _parse_point(ctx, given)
    _refuse_contradictions(ctx, file, given)
    try:
        check_picture_path(given["picture"])
        if not file.is_file():
            raise FileError(f"there is no file {file}")
        body, report = _load_and_report(ctx, file, given, shell, about)
        if given["picture"] is not None:
            _save_picture(body, file.name, given["picture"])
            report["picture"] = click.format_filename(given["picture"])
    except PolhodeError as error:
        raise click.ClickException(rephrase_as_options(str(error), file)) from error
    except UnicodeEncodeError as error:
        raise click.ClickException(
            f"{click.format_filename(file)}: this name is not valid text: rename the file"
        ) from error
    except OSError as error:
        raise click.ClickException(
            click.format_filename(str(error.filename or file)) + f": {error.strerror}"
        ) from error
    _print_mass_report(form, body, report)


def _output_form(ctx: click.Context, given: dict[str, Any]) -> str:
    form: str = given["form"]
    if given["as_json"] and form not in ("table", "json"):
        raise click.UsageError(f"--json and --to {form} contradict each other: give one of them", ctx)
    if given["compare"] and not given["as_json"] and form not in ("table", "json"):
        raise click.UsageError(f"--compare works with a table or JSON, not with {form}: omit one of them", ctx)
    return "json" if given["as_json"] else form


def _refuse_contradictions(ctx: click.Context, file: Path, given: dict[str, Any]) -> None:
    options = given_amount_options(given)
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} contradict each other: give one of them", ctx)
    for option in ("points", "seed"):
        if not given["compare"] and ctx.get_parameter_source(option) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{option} is for --compare: give it, too, or omit --{option}", ctx)
    if given["compare"] and given["shell"] is not None:
        raise click.UsageError("--compare is for solids, not for --shell: omit one of them", ctx)
    if is_volume_file(file):
        return
    for option, key in (("--region", "regions"), ("--density-field", "density_field")):
        if given[key]:
            raise click.UsageError(f"{option} is for volume meshes, and {file.name} is a surface: give --density", ctx)


def _parse_point(ctx: click.Context, given: dict[str, Any]) -> list[float] | None:
    if given["about"] is None:
        return None
    parts = given["about"].split(",")
    if len(parts) != 3:
        raise click.UsageError(f"--about takes three lengths, as in 0,0,25mm, not {given['about']!r}", ctx)
    return [_parse_length(ctx, "--about", part) for part in parts]


def _parse_length(ctx: click.Context, option: str, text: str) -> float:
    """A length in m, given as a number or a number with a unit."""
    match = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([a-z]*)\s*", text)
    if match is None or match[2] not in ("", *LENGTH_UNITS):
        raise click.UsageError(
            f"{option} takes lengths in m, or with their unit ({', '.join(LENGTH_UNITS)}), as in 2mm; not {text!r}", ctx
        )
    number, unit = float(match[1]), match[2]
    from polhode.massprops.length_units import meters_per

    return number * meters_per(unit or "m")


def _load_and_report(
    ctx: click.Context, file: Path, given: dict[str, Any], shell: float | None, about: list[float] | None
) -> tuple[Body, dict[str, Any]]:
    """The body and its report, with messages phrased for the command line."""
    (body, kind), odd = catch_mass_warnings(lambda: load_body(ctx, file, given, shell))
    report = _mass_report(file, body, kind, about, given)
    if given["compare"]:
        report["compare"], more = catch_mass_warnings(lambda: compare_approximations(ctx, file, kind, given))
        odd += [text for text in more if text not in odd]
    report["warnings"] = [rephrase_as_options(text, file) for text in odd]
    report["notes"] = [rephrase_as_options(text, file) for text in report["notes"] if text not in odd]
    return body, report


def _mass_report(file: Path, body: Body, kind: str, about: list[float] | None, given: dict[str, Any]) -> dict[str, Any]:
    from polhode.massprops.mass_report import build_mass_report

    stated = [match[1] for note in body.notes if (match := re.search(r"states its unit: (\w+)", note))]
    unit, origin = (given["unit"], "option") if given["unit"] else (stated[0], "file") if stated else ("m", "assumed")
    return {
        "polhode": __version__,
        "file": click.format_filename(file),
        "kind": kind,
        "unit": unit,
        "unit_from": origin,
        "density_assumed": not given_amount_options(given),
        **build_mass_report(body, click.format_filename(file, shorten=True), about),
    }


def _save_picture(body: Body, name: str, place: Path) -> None:
    from polhode.plot.part import part_picture

    try:
        part_picture(body, name=name).savefig(place)
    except (OSError, ValueError) as error:
        if isinstance(error, PolhodeError):
            raise
        raise FileError(f"the picture cannot be written to {place}: {error}") from None


def _print_mass_report(form: str, body: Body, report: dict[str, Any]) -> None:
    if form == "json":
        print_json(report)
        return
    if form == "table":
        title, *lines = format_mass_table(report)
        click.secho(title, bold=True)
        for line in lines:
            click.secho(line, fg="yellow" if line.startswith("warning:") else None)
        if "picture" in report:
            click.echo(f"\npicture: {report['picture']}")
        return
    from polhode.massprops.inertial_blocks import format_block

    assumed = [f"A density of {ASSUMED_DENSITY:g} kg/m3 was assumed."] if report["density_assumed"] else []
    messages = [*(f"note: {text}" for text in report["notes"]), *(f"warning: {text}" for text in report["warnings"])]
    click.echo(format_block(body, form, report["name"], [*assumed, *messages]))
    for text in report["warnings"]:
        click.echo(f"warning: {text}", err=True)
    if "picture" in report:
        click.echo(f"picture: {report['picture']}", err=True)
