"""`polhode export`: write a scenario as a program in another language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.output import check_folder
from polhode.cli.target import MODEL_KEY, TargetCommand, default_stem, parameter_values
from polhode.ir.targets.languages import LANGUAGES

if TYPE_CHECKING:
    from polhode.gallery import Model

SUFFIXES = {name: language.suffixes[0] for name, language in LANGUAGES.items()}


@click.command(cls=TargetCommand)
@click.argument("target", metavar="NAME|FILE.toml")
@click.option(
    "--language",
    type=click.Choice(list(SUFFIXES)),
    help="Language of the program. Default: that of the output file's suffix, otherwise c.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Output file: {', '.join(SUFFIXES.values())}. Default: NAME with the suffix of the language.",
)
@click.option("--live", is_flag=True, help="Write a page whose knobs are live, with no server: of a model, as .html.")
@click.pass_context
def export(
    ctx: click.Context,
    /,
    target: str,
    language: str | None,
    output: Path | None,
    live: bool,
    **parameters: float | None,
) -> None:
    """Write a scenario as a program in C, CUDA C++, Rust or JavaScript, or a model as a page with live knobs.

    The file stands alone and prints the samples of the motion, with the same bits as Polhode. Its first lines say how
    to compile it and which number is what. The parameters of a model are options: `polhode export NAME --help`. If a
    model makes several runs, the first is written.

    \b
    Examples:
      polhode export my-scenario.toml --language c -o motion.c
      polhode export my-scenario.toml -o motion.js
      polhode export hydra-6dof --language cuda
      polhode export dzhanibekov -o flip.rs
      polhode export gyroscope --live -o gyroscope.html
    """
    if live:
        _export_page(ctx, target, language, output, parameters)
        return
    from polhode.scenario.scenario import Scenario
    from polhode.solve.write_source import write_source

    if language is None:
        suffix = "" if output is None else output.suffix
        language = next((name for name, one in LANGUAGES.items() if suffix in one.suffixes), "c")
    place = Path(default_stem(ctx, target) + SUFFIXES[language]) if output is None else output
    check_folder(place, "program", "--output")
    model: Model | None = ctx.meta.get(MODEL_KEY)
    planned: Any = Scenario.from_toml(target) if model is None else model.scenario(**parameter_values(ctx, parameters))
    write_source(next(iter(planned.values())) if isinstance(planned, Mapping) else planned, language, place)
    click.echo(f"program: {place} (its first lines say how to run it)")


def _export_page(
    ctx: click.Context, target: str, language: str | None, output: Path | None, parameters: Mapping[str, float | None]
) -> None:
    """Write a model as a page with live knobs, and say which knobs are not."""
    from polhode.gallery.live_page import live_page, program_of
    from polhode.own_models.model_file import read_model
    from polhode.web.html_page import write_page

    if language is not None:
        raise click.UsageError("--live writes a page, and --language a program: give one of them")
    place = Path(default_stem(ctx, target) + ".html") if output is None else output
    check_folder(place, "page", "--output")
    model: Model = ctx.meta.get(MODEL_KEY) or read_model(target)
    values = parameter_values(ctx, parameters) or model.values()
    program = program_of(model, values)
    write_page(live_page(model, values, program=program), place)
    click.echo(f"page: {place} ({', '.join(knob.name for knob in program.knobs)})")
    for name, why in program.fixed.items():
        click.echo(f"{name} is fixed: {why}")
