"""The report of `polhode mass` as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

LABEL_WIDTH = 24
"""Width of the column of names."""
UNIT_ORIGINS = {
    "option": "as requested",
    "file": "as stated in the file",
    "assumed": "assumed, since the file states none; for millimeters give --unit mm",
}

_REPAIRS = r"(?:['\"](?:flip|fill|hull)['\"],?\s*)+"
OPTION_REPLACEMENTS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"shell= or area_density=|area_density=", "--shell"),
    (rf"(?:\brepair=)?\(({_REPAIRS})\)", lambda match: " ".join(f"--repair {r}" for r in re.findall(r"\w+", match[1]))),
    (r"\b(repair|unit)=(['\"])(\w+)\2", r"--\1 \3"),
    (r"\b(repair|unit|shell|points|seed|density|mass)=(?=$|[\s,;:.)])", r"--\1"),
)
"""Command-line options in place of Python arguments."""


def rephrase_as_options(text: str, file: Path) -> str:
    """A message with options in place of Python arguments; the file's own name is left unchanged."""
    names = [re.escape(name) for name in (str(file), file.name) if "=" in name]
    pieces = re.split(f"({'|'.join(names)})", text) if names else [text]
    for k in range(0, len(pieces), 2):
        for pattern, option in OPTION_REPLACEMENTS:
            pieces[k] = re.sub(pattern, option, pieces[k])
    return click.format_filename("".join(pieces))


def format_mass_table(report: dict[str, Any]) -> list[str]:
    """The lines of the report; the first is its title."""
    lines = [report["name"], *_extent_rows(report), *_tensor_rows(report), "", *_principal_rows(report)]
    if "compare" in report:
        lines += ["", *format_comparison(report)]
    messages = [f"note: {text}" for text in report["notes"]] + [f"warning: {text}" for text in report["warnings"]]
    return [*lines, *([""] if messages else []), *messages]


def _extent_rows(report: dict[str, Any]) -> Iterator[str]:
    if report["density_assumed"]:
        yield _labeled_row("density", "1000 kg/m3, assumed: give --density or --mass")
    elif report["density_kg_m3"] is not None:
        yield _labeled_row("density", f"{report['density_kg_m3']:.12g} kg/m3")
    yield _labeled_row("unit", f"{report['unit']}, {UNIT_ORIGINS[report['unit_from']]}")
    if report["size_m"] is not None:
        yield _labeled_row("size", f"{_format_sides(report['size_m'])} m")
    for key, unit in (("volume", "m3"), ("area", "m2"), ("mass", "kg")):
        if (value := report[f"{key}_{unit}"]) is not None:
            yield _labeled_row(key, f"{value:.12g} {unit}")
    yield _labeled_row("center of mass", f"({', '.join(f'{x + 0.0:.12g}' for x in report['center_of_mass_m'])}) m")


def _tensor_rows(report: dict[str, Any]) -> Iterator[str]:
    titles = {"inertia_body_kg_m2": "the center of mass"}
    if "about_m" in report:
        titles["inertia_about_kg_m2"] = f"({', '.join(f'{x + 0.0:.12g}' for x in report['about_m'])}) m"
    for key, where in titles.items():
        yield from ("", f"  inertia about {where}, kg m2; products with their minus sign")
        yield from ("    " + _format_columns(row) for row in report[key])


def _principal_rows(report: dict[str, Any]) -> Iterator[str]:
    yield f"  principal{'moment, kg m2':>19}{'gyration, m':>20}   axis (x, y, z)"
    keys = ("principal_moments_kg_m2", "radii_of_gyration_m", "principal_axes")
    for i, (moment, radius, axis) in enumerate(zip(*(report[key] for key in keys), strict=True)):
        yield f"  {i + 1:<9}{moment:>19.11e}{radius:>20.11e}  " + " ".join(f"{round(x, 9) + 0.0:12.9f}" for x in axis)
    for name, key in (("box", "equivalent_box_sides_m"), ("ellipsoid", "equivalent_ellipsoid_semi_axes_m")):
        what = f"equivalent {name}"
        if report[key] is None:
            yield _labeled_row(what, "none: no solid has these moments")
        else:
            yield _labeled_row(
                what,
                f"{_format_sides(report[key])} m, {key.removeprefix(f'equivalent_{name}_')[:-2].replace('_', '-')}",
            )


COMPARED_QUANTITIES = {
    "volume, m3": ("volume_m3", None),
    "mass, kg": ("mass_kg", None),
    **{f"center {name}, m": ("center_of_mass_m", i) for i, name in enumerate("xyz")},
    **{
        f"I{'xyz'[i]}{'xyz'[j]}, kg m2": ("inertia_body_kg_m2", (i, j))
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    },
}


def format_comparison(report: dict[str, Any]) -> Iterator[str]:
    """A table of the approximations, with relative differences from the exact values in the last column."""
    *others, exact = report["compare"]
    wholes = {key: report[key] for key in ("volume_m3", "mass_kg")}
    wholes["center_of_mass_m"] = max(report["size_m"])
    wholes["inertia_body_kg_m2"] = max(report["principal_moments_kg_m2"])
    yield f"  {'approximations':<18}" + "".join(
        f"{_short_name(one):>{_column_width(one)}}" for one in report["compare"]
    )
    for label, (key, at) in COMPARED_QUANTITIES.items():
        truth, line = _comparison_entry(exact, key, at), f"  {label:<18}"
        for one in others:
            value = _comparison_entry(one, key, at)
            spread = f" ± {_comparison_entry(one['standard_error'], key, at):<7.1e}" if one["standard_error"] else ""
            line += f"{value + 0.0:>13.6g}{spread} {_format_percent((value - truth) / wholes[key]):>11}"
        yield f"{line}{truth + 0.0:>{_column_width(exact)}.6g}"
    times = (f"{1e3 * one['seconds']:.3g} ms" for one in report["compare"])
    yield f"  {'time':<18}" + "".join(
        f"{t:>{_column_width(one)}}" for t, one in zip(times, report["compare"], strict=True)
    )
    yield "  differences from the exact values in % of the volume, mass, longest side and largest principal moment"
    if any(one["standard_error"] for one in others):
        yield "  ± one standard error"


def _format_percent(part: float) -> str:
    return f"{100 * part:+.2g} %" if part else "0 %"


def _column_width(one: dict[str, Any]) -> int:
    """Column width: 13 for the number, 12 for the difference, 10 for a standard error."""
    return 20 if one["name"].startswith("exact") else 35 if one["standard_error"] else 25


def _short_name(one: dict[str, Any]) -> str:
    return str(one["name"]).replace("bounding ", "").replace("boundary ", "")


def _comparison_entry(one: dict[str, Any], key: str, at: Any) -> float:
    value = one[key]
    if at is None:
        return float(value)
    return float(value[at]) if isinstance(at, int) else float(value[at[0]][at[1]])


def _labeled_row(label: str, value: str) -> str:
    return f"  {label:<{LABEL_WIDTH}}{value}"


def _format_sides(lengths: Sequence[float]) -> str:
    return " x ".join(f"{length:.9g}" for length in lengths)


def _format_columns(numbers: Sequence[float]) -> str:
    return "".join(f"{x + 0.0:>20.11e}" for x in numbers)
