"""The work-precision record for people: a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

MAX_PEER_RATIO, MAX_OTHER_RATIO = 1.1, 1 / 20
"""What the best method here may cost, in units of the fastest peer, and of the fastest other than heyoka."""

MAX_CLOSED_FORM_RATIO, MAX_MEMBER_S = 0.1, 1.5e-6
"""What one look at the closed form may cost, in units of heyoka's propagation; and a member's, in s."""


def format_precision_table(result: dict[str, Any]) -> str:
    """Problem by problem, who is first; then the closed form, DOP853 and auto."""
    where, best = result["machine"], result["best_of"]
    lines = [
        result["what"],
        f"best of {best['rounds']} x {best['repeats']} or more, {where['processor']}, {where['cores']} cores",
        ", ".join(f"{name} {version}" for name, version in result["versions"].items()),
        *(f"{name}: {why}" for name, why in result["missing"].items()),
        "ratio: time here to time there, below 1 is faster here",
    ]
    for problem in result["problems"]:
        lines += ["", *_problem_lines(problem)]
    if any(problem["is_forced"] for problem in result["problems"]):
        lines += ["", *_goal_lines(result["problems"])]
    for name, shown in (("closed_form", _closed_form_lines), ("dop853", _dop853_lines), ("auto", _auto_lines)):
        section = result[name]
        failed = section.get("failed") if isinstance(section, dict) else None
        lines += ["", *([f"{name.replace('_', ' ')}: {failed}"] if failed else shown(section))]
    return "\n".join(lines)


def _problem_lines(problem: dict[str, Any]) -> Iterator[str]:
    yield f"{problem['name']}: {problem['title']}"
    rows = [("error", "", "here", "", "fastest peer", "", "ratio", "fastest but heyoka", "", "ratio")]
    for kind, key in (("one run", "record"), ("a member", "record_per_member")):
        for record in problem[key]:
            own, peer, other = (record[k] for k in ("here", "fastest_peer", "fastest_peer_but_heyoka"))
            if own is None and peer is None and key == "record_per_member":
                continue
            ratios = (record["ratio_to_fastest_peer"], record["ratio_to_fastest_peer_but_heyoka"])
            rows.append(
                (
                    *(
                        f"{record['target']:.0e}",
                        kind,
                        *_format_fastest(own),
                        *_format_fastest(peer),
                        _format_ratio(ratios[0]),
                    ),
                    *(*_format_fastest(other, key == "record"), _format_ratio(ratios[1])),
                )
            )
    yield from _align_columns(rows)
    yield "  smallest error: " + ", ".join(_smallest_errors(problem["contestants"]))
    whys: dict[str, list[str]] = {}
    for name, why in problem["refused"].items():
        whys.setdefault(why, []).append(name)
    for why, names in whys.items():
        yield f"  {'; '.join(names[:4])}{f' and {len(names) - 4} more' if len(names) > 4 else ''}: {why}"


def _smallest_errors(contestants: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Of each package: the smallest error, and of what it was, attitude and position."""
    best: dict[str, dict[str, Any]] = {}
    for entry in contestants:
        for point in entry["points"] if not entry["per_member"] else ():
            known = best.get(entry["family"])
            if point["error"] == point["error"] and (known is None or point["error"] < known["error"]):
                best[entry["family"]] = point
    for family, point in best.items():
        place = point["position_relative"]
        parts = "" if place is None else f" (attitude {point['attitude_rad']:.0e}, position {place:.0e})"
        yield f"{family} {point['error']:.0e}{parts}"


def _format_fastest(found: dict[str, Any] | None, expected: bool = True) -> tuple[str, str]:
    if found is None:
        return ("not reached", "") if expected else ("", "")
    return format_seconds(found["seconds"]), found["name"]


def _format_ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"


def format_seconds(seconds: float) -> str:
    """3.1 us, 45 ms, 1.2 s"""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()


def _closed_form_lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"closed form: {found['what']}"
    rows = [
        ("", "one look", "error", f"a member of {found['members']}"),
        _closed_form_row("motion.at(t)", found["at_seconds"], found["at_error_rad"], found["member_seconds"]),
    ]
    if "heyoka_seconds" in found:
        rows += [
            _closed_form_row(
                "heyoka", found["heyoka_seconds"], found["heyoka_error_rad"], found["heyoka_member_seconds"]
            ),
            ("ratio", _format_ratio(found["part_of_heyoka"]), "", _format_ratio(found["member_part_of_heyoka"])),
        ]
        allowed = max(3 * found["heyoka_error_rad"], 5 * found["conditioning_rad"])
        look = _verdict(found["part_of_heyoka"] <= MAX_CLOSED_FORM_RATIO)
        rows.append(
            (
                "wanted",
                f"ratio <= {MAX_CLOSED_FORM_RATIO:g}: {look}",
                f"<= {allowed:.1e} rad: {_verdict(found['at_error_rad'] <= allowed)}",
                f"<= {format_seconds(MAX_MEMBER_S)}: {_verdict(found['member_seconds'] <= MAX_MEMBER_S)}",
            )
        )
    yield from _align_columns(rows)
    yield f"  the data's last digits, each moved by one, move the answer by {found['conditioning_rad']:.1e} rad"


def _closed_form_row(name: str, seconds: float, error: float, member: float) -> tuple[str, str, str, str]:
    return name, format_seconds(seconds), f"{error:.1e} rad", format_seconds(member)


def _dop853_lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"dop853: {found['what']}"
    scipy, errors = found["scipy_seconds"], found["errors_rad"]
    theirs, own = f"error {errors['scipy']:.0e} rad", f"error {errors['here']:.0e} rad"
    rows = [
        ("SciPy solve_ivp, right-hand side on plain numbers", format_seconds(scipy["numbers"]), theirs, "", ""),
        ("SciPy solve_ivp, right-hand side on arrays", format_seconds(scipy["arrays"]), "", "", ""),
    ]
    names = {
        "prepared": "here, prepared",
        "simulate": "here, through ph.simulate",
        "member": f"here, a member of {found['members']}",
    }
    for key, name in names.items():
        faster, wanted = found["times_faster"][key], found["wanted_times_faster"][key]
        verdict = f"wanted {wanted}: {_verdict(faster >= wanted)}"
        rows.append(
            (name, format_seconds(found["seconds"][key]), own if key != "member" else "", f"{faster:.0f} x", verdict)
        )
    yield from _align_columns(rows)


def _goal_lines(problems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The issue's question: what the best method here costs beside the fastest peers, where a force acts."""
    yield "with forces: the best method here, the fastest peer, and the fastest other than heyoka"
    head = ("problem", "error", "here", "", "fastest peer", "", f"ratio, wanted <= {MAX_PEER_RATIO:g}", "but heyoka")
    rows = [(*head, "", f"ratio, wanted <= 1/{1 / MAX_OTHER_RATIO:.0f}")]
    for problem in problems:
        if not problem["is_forced"]:
            continue
        for record in problem["record"]:
            own, peer, other = (record[k] for k in ("here", "fastest_peer", "fastest_peer_but_heyoka"))
            first = _format_goal(record["ratio_to_fastest_peer"], MAX_PEER_RATIO, own, peer)
            second = _format_goal(record["ratio_to_fastest_peer_but_heyoka"], MAX_OTHER_RATIO, own, other)
            who = (problem["name"], f"{record['target']:.0e}")
            rows.append((*who, *_format_fastest(own), *_format_fastest(peer), first, *_format_fastest(other), second))
    yield from _align_columns(rows)


def _format_goal(ratio: float | None, most: float, own: Any, peer: Any) -> str:
    if ratio is None:
        return _verdict(own is not None) if peer is None else _verdict(False)
    return f"{ratio:.3g}: {_verdict(ratio <= most)}"


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"


def _auto_lines(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "auto, through ph.simulate"
    yield from _align_columns(
        [
            (f["problem"], f["failed"], "", "")
            if "failed" in f
            else (f["problem"], f"rtol {f['rtol']:.0e}", f"error {f['error']:.1e}", format_seconds(f["seconds"]))
            for f in found
        ]
        or [("nothing measured",)]
    )
