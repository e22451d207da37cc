"""`polhode sweep`: a scenario file with distributions, for many members."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.output import check_folder, check_picture_path, print_json, save_figure
from polhode.errors import FileError

if TYPE_CHECKING:
    from polhode.ensembles.sampling import SweepFile
    from polhode.ensembles.summary import SweepSummary

OUTPUTS = 51


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE.toml")
@click.option("--members", type=click.IntRange(1), help="How many. Default: what [sweep] in the file says.")
@click.option("--seed", type=click.IntRange(0), help="Another seed draws other members. Default: the file's, or 0.")
@click.option(
    "--design",
    type=click.Choice(["random", "latin_hypercube", "sobol"]),
    help="How the space of the inputs is covered. Default: the file's, or random.",
)
@click.option("--engine", type=click.Choice(["cpu", "gpu", "dask", "python"]), help="Default: the file's, or cpu.")
@click.option("--precision", type=click.Choice(["strict", "fused", "single"]), help="For the GPU. Default: strict.")
@click.option("--scheduler", metavar="ADDRESS", help="For dask: the scheduler. Default: a cluster on this machine.")
@click.option("--worker-engine", type=click.Choice(["cpu", "gpu", "python"]), help="For dask: inside each worker.")
@click.option("--threads", type=click.IntRange(1), help="How many at most.")
@click.option(
    "--store", type=click.Path(path_type=Path), metavar="FOLDER.zarr", help="Store the results while the run goes on."
)
@click.option("--resume", is_flag=True, help="Complete the store: what it has is not computed again.")
@click.option(
    "--keep",
    type=click.Choice(["samples", "reductions"]),
    help="What a store keeps. Default: reductions if any are asked for, else the samples of all members.",
)
@click.option(
    "--reduce",
    "reduce_texts",
    multiple=True,
    metavar="KIND:QUANTITY",
    help='What is wanted of all members together, such as "mean:position" or "quantiles:speed:0.01,0.99"; repeatable.',
)
@click.option(
    "--result",
    "results",
    multiple=True,
    metavar="QUANTITY@WHEN",
    help='What the summary looks at, such as "position.z@final"; repeatable. Default: final positions and speeds.',
)
@click.option("--outputs", type=click.IntRange(2), help=f"Output times. Default: the file's, or {OUTPUTS}.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to save the picture: .png, .svg or .pdf. Default: NAME.png.",
)
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    help="Where to save the page. Default: NAME.html.",
)
@click.option("--no-pictures", is_flag=True, help="Save neither picture nor page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
def sweep(
    ctx: click.Context,
    /,
    file: Path,
    members: int | None,
    seed: int | None,
    design: str | None,
    engine: str | None,
    precision: str | None,
    scheduler: str | None,
    worker_engine: str | None,
    threads: int | None,
    store: Path | None,
    resume: bool,
    keep: str | None,
    reduce_texts: tuple[str, ...],
    results: tuple[str, ...],
    outputs: int | None,
    picture: Path | None,
    page: Path | None,
    no_pictures: bool,
    as_json: bool,
) -> None:
    """Simulate a scenario file with distributions in place of numbers, for many members.

    Prints how the results scatter and which input matters most, and saves the same as a picture and as a page.

    \b
    Examples:
      polhode sweep examples/store-release-sweep.toml
      polhode sweep release.toml --members 1000000 --reduce covariance:position@final --json
      polhode sweep release.toml --members 1000000 --store out.zarr --keep samples
      polhode sweep release.toml --members 1000000 --store out.zarr --keep samples --resume
      polhode sweep release.toml --engine dask --scheduler tcp://10.0.0.5:8786 --store /shared/out.zarr
      polhode sweep release.toml --result position.z@final --result speed@final --page release.html
    """
    if no_pictures and (picture is not None or page is not None):
        raise click.UsageError("--no-pictures contradicts --picture and --page: give one of them", ctx)
    if resume and store is None:
        raise click.UsageError("--resume completes a store: give its path, --store FOLDER.zarr", ctx)
    place = None if no_pictures else Path(f"{file.stem}.png") if picture is None else picture
    page_place = None if no_pictures else Path(f"{file.stem}.html") if page is None else page
    _check_places(place, page_place, store)
    import numpy as np

    from polhode.ensembles.reductions import check_reductions
    from polhode.ensembles.sampling import read_sweep_file
    from polhode.ensembles.summary import summarize, summary_reductions
    from polhode.ensembles.sweep import sweep as run_sweep

    content = _with_options(read_sweep_file(file), outputs, precision)
    source = content.source(members, seed, design)
    scenario = source.take(np.arange(1))
    given = check_reductions(list(reduce_texts) or content.reduce or [])
    reductions = summary_reductions(source, given, results)
    options: dict[str, Any] = {"engine": engine, "scheduler": scheduler, "worker_engine": worker_engine}
    options["threads"] = threads
    if store is not None:
        kept = keep or ("reductions" if given else "samples")
        options |= {"store": store, "resume": resume, "keep": kept}
    elif keep == "samples":
        raise click.UsageError("--keep samples needs a place for them: give --store FOLDER.zarr", ctx)
    began = perf_counter()
    asked = {name: value for name, value in options.items() if value is not None}
    result = run_sweep(source, reduce=reductions, **asked)
    seconds = perf_counter() - began
    settings = _describe_settings(scenario, options, precision, len(result.times), file)
    summary = summarize(result, title=scenario.name or file.stem, settings=settings)
    if place is not None:
        save_figure(summary.plot(), place)
    if page_place is not None:
        summary.export_html(page_place)
    report: dict[str, Any] = {
        "seconds": seconds,
        "picture": None if place is None else str(place),
        "page": None if page_place is None else str(page_place),
        "store": None if store is None else str(store),
    }
    if as_json:
        from polhode import __version__

        found = {one.name: result.reductions[one.name].as_dict() for one in given}
        print_json({"polhode": __version__, **summary.as_dict(), "reductions": found, **report})
        return
    _print_summary(summary, report, options)
    for one in given:
        reduced = result.reductions[one.name]
        if reduced.kind == "covariance" or ("time" in reduced.coordinates and reduced.kind != "quantiles"):
            click.echo(f"\n{reduced!r}")


def _check_places(place: Path | None, page: Path | None, store: Path | None) -> None:
    check_picture_path(place)
    if page is not None:
        check_folder(page, "page", "--page")
        if page.suffix.lower() not in (".html", ".htm"):
            raise FileError(f"the page cannot be written to {page}: its name must end with .html")
    if store is not None:
        check_folder(store, "store", "--store")


def _with_options(file: SweepFile, outputs: int | None, precision: str | None) -> SweepFile:
    """The file with what options say in place of its own, and with output times for bands if it has none."""
    content = dict(file.content)
    if precision is not None:
        content["precision"] = precision
    has_own = any(key in content for key in ("output_step", "output_times"))
    if isinstance(content.get("duration"), (int, float)) and (outputs is not None or not has_own):
        content.pop("output_times", None)
        content["output_step"] = content["duration"] / ((outputs or OUTPUTS) - 1)
    return replace(file, content=content)


def _describe_settings(
    scenario: Any, options: dict[str, Any], precision: str | None, outputs: int, file: Path
) -> dict[str, str]:
    return {
        "duration": f"{scenario.duration:g} s",
        "method": scenario.method + (f", step {scenario.step:g} s" if scenario.step else ""),
        "engine": options["engine"] or scenario.engine,
        **({"precision": precision} if precision else {}),
        "outputs": f"{outputs}",
        "file": file.name,
    }


def _print_summary(summary: SweepSummary, report: dict[str, Any], options: dict[str, Any]) -> None:
    from polhode.ensembles.summary_table import can_print_blocks, format_summary
    from polhode.plot.sweep_panels import format_count

    settings = summary.settings
    click.secho(summary.title, bold=True)
    rate = summary.members / report["seconds"]
    counted = f"{format_count(summary.members, 'member')}, {settings['design']}, seed {settings['seed']}"
    click.echo(f"  {counted}: {format_count(len(summary.inputs), 'input')}")
    computed = f"computed in {report['seconds']:.3g} s: {rate:,.0f} members/s"
    click.echo(f"  {settings['duration']} of motion each, {computed}\n")
    if summary.failed:
        click.secho(f"{format_count(summary.failed, 'member')} failed:", fg="red")
        for sentence in summary.failures:
            click.echo(f"  {sentence}")
        click.echo()
    for line in format_summary(summary, can_print_blocks()):
        click.echo(line)
    for name in ("picture", "page", "store"):
        if report[name] is not None:
            kept = f" ({options['keep']})" if name == "store" else ""
            click.echo(f"\n{name}: {report[name]}{kept}" if name == "picture" else f"{name}: {report[name]}{kept}")
