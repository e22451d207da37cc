"""Puts measured numbers into the README and the documentation: python docs/measured.py [first_run] [precision].

The numbers of a page come from `reference/measured/*.json`, each with the command that made it, and stand between two
comments. `first_run` measures how long first runs take, `precision` who reaches an error of 1e-12 first (the three
problems of the README, two formulations of each method here, and the packages that are installed). Without arguments
the pages alone are written.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "reference" / "measured"
PAGES = (ROOT / "README.md", ROOT / "docs" / "howto" / "precision-and-methods.md")
BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n)(.*?)(<!-- end of what was measured -->)", re.DOTALL)
PEERS = {"scipy": "SciPy", "heyoka": "heyoka", "mujoco": "MuJoCo", "drake": "Drake", "basilisk": "Basilisk"}
TITLES = {
    "boxes_complex": "a tumbling box under gravity, 10 s",
    "simo_wong_heavy_top": "a fast heavy top, 10 s",
    "drag_and_thruster": "gravity, drag and a thruster, 10 s",
}
TARGET = 1e-12


def record_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def seconds(value: float) -> str:
    """Two digits, in the unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{float(f'{value / size:.2g}'):g} {unit}"
    return f"{float(f'{value * 1e9:.2g}'):g} ns"


def precision_block() -> str:
    """Who reaches an error of 1e-12 first; a record may carry a note about its machine."""
    record = record_of("precision")
    others = [name for name in record["packages"] if name not in ("Polhode", "heyoka")]
    lines = [
        f"Measured by `{record['command']}` (in a clone) in one run on one core of {record['machine']['processor']}, "
        f"beside {', '.join(['heyoka', *others][:-1])} and {['heyoka', *others][-1]}:",
        "",
        f"| to an error of 1e-12 rad | Polhode | heyoka | best of {', '.join(others)} |",
        "|---|---|---|---|",
    ]
    for row in record["problems"]:
        cells = [_time(row["polhode"], shows_method=True), _time(row["heyoka"]), _time(row["best of the others"])]
        lines.append(f"| {TITLES[row['name']]} | {' | '.join(cells)} |")
    absent = (
        f"Not installed there, and so not in the table: {', '.join(record['missing'])}." if record["missing"] else ""
    )
    remarks = " ".join(filter(None, (absent, record.get("note", ""))))
    return "\n".join(lines + ["", remarks] * bool(remarks)) + "\n"


def _time(found: dict[str, Any] | None, shows_method: bool = False) -> str:
    if found is None:
        return "not reached"
    return seconds(found["seconds"]) + (f" ({found['method']})" if shows_method else "")


def first_run_block() -> str:
    """What is compiled, once."""
    record = record_of("first_run")
    rows = record["first_runs"]
    least, most = (f(row["new"] for name, row in rows.items() if "touch" not in name and name != "a floor")
                   for f in (min, max))  # fmt: skip
    kept = max(row["cached"] for row in rows.values())
    return (
        f"A new combination of forces and parts compiles once: {least:.1f} to {most:.1f} s, a floor under a box "
        f"{rows['a floor']['new']:.1f} s, two boxes that touch {rows['two bodies that touch']['new']:.1f} s (measured "
        f"by `{record['command']}` on {record['machine']['processor']}). The result is cached on disk; later runs, "
        f"also in other processes, start within {kept:.1f} s.\n"
    )


BLOCKS: dict[str, Callable[[], str]] = {"precision": precision_block, "first_run": first_run_block}


def up_to_date(text: str) -> str:
    """A page with what was measured."""
    return BLOCK.sub(lambda found: found[1] + BLOCKS[found[2]]() + found[4], text)


def measure_precision_here() -> None:
    """Of the benchmark's record, what the pages show."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.precision import measure_precision
    from benchmarks.work_precision import FULL_BUDGET

    whole = measure_precision(
        quick=True, budget=FULL_BUDGET, problems=list(TITLES), report=lambda part, text: print(f"{part:.2f} {text}")
    )
    problems, packages = [], set()
    for problem in whole["problems"]:
        row: dict[str, Any] = {"name": problem["name"], "polhode": None, "heyoka": None, "best of the others": None}
        for entry in problem["contestants"]:
            if entry["per_member"] or entry["name"].startswith("auto"):
                continue
            family = entry["family"]
            packages.add(PEERS.get(family.lower(), "Polhode" if family.lower() == "polhode" else family))
            place = family.lower() if family.lower() in ("polhode", "heyoka") else "best of the others"
            reached = entry["seconds_to"][f"{TARGET:g}"]
            if reached is not None and (row[place] is None or reached < row[place]["seconds"]):
                row[place] = {"seconds": reached, "method": entry["name"], "package": family}
        problems.append(row)
    kept = {
        "command": "python docs/measured.py precision",
        "what": whole["what"],
        "machine": whole["machine"],
        "best_of": whole["best_of"],
        "versions": whole["versions"],
        "missing": sorted(PEERS.get(name.lower(), name) for name in whole["missing"]),
        "packages": sorted(packages),
        "problems": problems,
    }
    _write("precision", kept)


def measure_first_runs_here() -> None:
    sys.path.insert(0, str(ROOT))
    from benchmarks.first_run import measure_first_runs
    from benchmarks.throughput import machine_info, package_versions

    found = measure_first_runs(3, lambda text: print(text, flush=True))
    _write(
        "first_run",
        {
            "command": "python docs/measured.py first_run",
            "machine": machine_info(),
            "versions": package_versions(),
            "first_runs": {
                name: {kind: round(row[kind], 4) for kind in ("new", "cached")} for name, row in found.items()
            },
        },
    )


def _write(name: str, record: dict[str, Any]) -> None:
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    if "first_run" in arguments:
        measure_first_runs_here()
    if "precision" in arguments:
        measure_precision_here()
    for page in PAGES:
        page.write_text(up_to_date(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
