"""The work-precision record for people: a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

MOST_OF_PEER, MOST_OF_OTHERS = 1.1, 1 / 20
"""What the best method here may cost, in units of the fastest peer, and of the fastest other than heyoka."""

MOST_OF_LOOK, MOST_OF_MEMBER_S = 0.1, 1.5e-6
"""What one look at the closed form may cost, in units of heyoka's propagation; and a member's, in s."""


def table(result: dict[str, Any]) -> str:
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
        lines += ["", *_problem(problem)]
    if any(problem["is_forced"] for problem in result["problems"]):
        lines += ["", *_goals(result["problems"])]
    for name, shown in (("closed_form", _closed_form), ("dop853", _dop853), ("auto", _auto)):
        section = result[name]
        failed = section.get("failed") if isinstance(section, dict) else None
        lines += ["", *([f"{name.replace('_', ' ')}: {failed}"] if failed else shown(section))]
    return "\n".join(lines)


def _problem(problem: dict[str, Any]) -> Iterator[str]:
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
                    *(f"{record['target']:.0e}", kind, *_who(own), *_who(peer), _ratio(ratios[0])),
                    *(*_who(other, key == "record"), _ratio(ratios[1])),
                )
            )
    yield from _aligned(rows)
    yield "  smallest error: " + ", ".join(_finest(problem["contestants"]))
    whys: dict[str, list[str]] = {}
    for name, why in problem["refused"].items():
        whys.setdefault(why, []).append(name)
    for why, names in whys.items():
        yield f"  {'; '.join(names[:4])}{f' and {len(names) - 4} more' if len(names) > 4 else ''}: {why}"


def _finest(contestants: Sequence[dict[str, Any]]) -> Iterator[str]:
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


def _who(found: dict[str, Any] | None, expected: bool = True) -> tuple[str, str]:
    if found is None:
        return ("not reached", "") if expected else ("", "")
    return time_text(found["seconds"]), found["name"]


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"


def time_text(seconds: float) -> str:
    """3.1 us, 45 ms, 1.2 s"""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()


def _closed_form(found: dict[str, Any]) -> Iterator[str]:
    yield f"closed form: {found['what']}"
    rows = [
        ("", "one look", "error", f"a member of {found['members']}"),
        _looks("motion.at(t)", found["at_seconds"], found["at_error_rad"], found["member_seconds"]),
    ]
    if "heyoka_seconds" in found:
        rows += [
            _looks("heyoka", found["heyoka_seconds"], found["heyoka_error_rad"], found["heyoka_member_seconds"]),
            ("ratio", _ratio(found["part_of_heyoka"]), "", _ratio(found["member_part_of_heyoka"])),
        ]
        allowed = max(3 * found["heyoka_error_rad"], 5 * found["conditioning_rad"])
        look = _verdict(found["part_of_heyoka"] <= MOST_OF_LOOK)
        rows.append(
            (
                "wanted",
                f"ratio <= {MOST_OF_LOOK:g}: {look}",
                f"<= {allowed:.1e} rad: {_verdict(found['at_error_rad'] <= allowed)}",
                f"<= {time_text(MOST_OF_MEMBER_S)}: {_verdict(found['member_seconds'] <= MOST_OF_MEMBER_S)}",
            )
        )
    yield from _aligned(rows)
    yield f"  the data's last digits, each moved by one, move the answer by {found['conditioning_rad']:.1e} rad"


def _looks(name: str, seconds: float, error: float, member: float) -> tuple[str, str, str, str]:
    return name, time_text(seconds), f"{error:.1e} rad", time_text(member)


def _dop853(found: dict[str, Any]) -> Iterator[str]:
    yield f"dop853: {found['what']}"
    scipy, errors = found["scipy_seconds"], found["errors_rad"]
    theirs, own = f"error {errors['scipy']:.0e} rad", f"error {errors['here']:.0e} rad"
    rows = [
        ("SciPy solve_ivp, right-hand side on plain numbers", time_text(scipy["numbers"]), theirs, "", ""),
        ("SciPy solve_ivp, right-hand side on arrays", time_text(scipy["arrays"]), "", "", ""),
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
            (name, time_text(found["seconds"][key]), own if key != "member" else "", f"{faster:.0f} x", verdict)
        )
    yield from _aligned(rows)


def _goals(problems: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The issue's question: what the best method here costs beside the fastest peers, where a force acts."""
    yield "with forces: the best method here, the fastest peer, and the fastest other than heyoka"
    head = ("problem", "error", "here", "", "fastest peer", "", f"ratio, wanted <= {MOST_OF_PEER:g}", "but heyoka")
    rows = [(*head, "", f"ratio, wanted <= 1/{1 / MOST_OF_OTHERS:.0f}")]
    for problem in problems:
        if not problem["is_forced"]:
            continue
        for record in problem["record"]:
            own, peer, other = (record[k] for k in ("here", "fastest_peer", "fastest_peer_but_heyoka"))
            first = _judged(record["ratio_to_fastest_peer"], MOST_OF_PEER, own, peer)
            second = _judged(record["ratio_to_fastest_peer_but_heyoka"], MOST_OF_OTHERS, own, other)
            who = (problem["name"], f"{record['target']:.0e}")
            rows.append((*who, *_who(own), *_who(peer), first, *_who(other), second))
    yield from _aligned(rows)


def _judged(ratio: float | None, most: float, own: Any, peer: Any) -> str:
    if ratio is None:
        return _verdict(own is not None) if peer is None else _verdict(False)
    return f"{ratio:.3g}: {_verdict(ratio <= most)}"


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"


def _auto(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "auto, through ph.simulate"
    yield from _aligned(
        [
            (f["problem"], f["failed"], "", "")
            if "failed" in f
            else (f["problem"], f"rtol {f['rtol']:.0e}", f"error {f['error']:.1e}", time_text(f["seconds"]))
            for f in found
        ]
        or [("nothing measured",)]
    )
