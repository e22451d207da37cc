"""The comments of an exported program: what it computes, and which number of its arrays is what."""

from __future__ import annotations

from collections.abc import Iterator

from polhode.integrate.straight import UnitArrays
from polhode.scenario.force import flatten_leaves
from polhode.scenario.scenario import Scenario


def describe_run(scenario: Scenario) -> str:
    """What a program computes, and how."""
    who = scenario.name or ("the motion of a body" if scenario.count == 1 else f"the motion of {scenario.count} bodies")
    adaptive = f", rtol {scenario.tolerances[0]}, atol {scenario.tolerances[1]}"
    how = f"method {scenario.used_method.name}{adaptive if scenario.used_method.is_adaptive else ''}"
    return one_line(f"{who[0].upper()}{who[1:]}: {how}, formulation {scenario.form.name}")


def sample_header(scenario: Scenario, counts_work: bool) -> list[str]:
    """The names of the columns that a program prints; the bodies of an ensemble of systems are counted through."""
    who = "body" if scenario.members is None or scenario.is_system else "member"
    columns = [name for _, names in _groups(scenario) for name in names]
    return ["t", who, *columns, *["work"] * counts_work, "drift"]


def describe_arrays(scenario: Scenario, arrays: UnitArrays, counts_work: bool) -> Iterator[str]:
    """What each number of the arrays of a unit is."""
    layout = arrays.layout
    each = f"; body b at {layout.sample_size} b" if arrays.bodies > 1 else ""
    yield f"state, {arrays.state_size} numbers{each}:"
    counter = _Counter()
    for what, names in _groups(scenario):
        yield counter.line(len(names), what)
    if counts_work:
        yield counter.line(1, "work done by the forces since the start, in J")
    drift = "square of the largest turn of phi in a step, in rad^2" if scenario.form.keeps_angles else "attitude drift"
    yield counter.line(1, f"{drift}, since the last sample")
    if layout.clock:
        counter = _Counter(arrays.bodies * layout.sample_size)
        yield counter.line(1, "time from the start of the run on, in s")
        yield counter.line(1, "step to try next, in s; 0: it has shrunk to nothing, and the run is over")
        yield counter.line(1, "above 0 if the last step was rejected, by the size of the error before if that counts")
        yield counter.line(2, "number of steps accepted, and rejected")
    each = f"; body b at {arrays.own_parameters} b" if arrays.bodies > 1 else ""
    yield f"parameters, {arrays.parameter_size} numbers{each}:"
    counter, about = _Counter(), "pivot" if scenario.form.is_held else "center of mass"
    yield counter.line(2, "mass in kg, and its reciprocal")
    yield counter.line(3, f"principal moments of inertia about the {about}, in kg m^2")
    yield counter.line(3, "their reciprocals; 0 where nothing turns")
    yield counter.line(4, "quaternion a of the principal axes in the body axes; these are turned by attitude * a^-1")
    yield counter.line(3, "from the center of mass to the pivot, in m")
    if scenario.form.is_held:
        yield counter.line(10, "moments, reciprocals and axes about the center of mass")
    for f, params in zip(scenario.of_kind("body"), scenario.problem.load_params, strict=True):
        mask = "1 or 0 (whether it acts on the body), then " if f.bodies is not None else ""
        yield counter.line(len(flatten_leaves(params)), f"{f.name}: {mask}its parameters, in SI units")
    if layout.least:
        yield counter.line(4, "errors of position, attitude, momentum and spin that no tolerance forbids")
    if layout.member is not None:
        yield counter.line(1, "number of the member")
    counter = _Counter(arrays.pair_start(0))
    for size in arrays.pair_sizes:
        yield counter.line(size, "parameters of forces between two bodies, pair by pair")
    for f, size in zip(scenario.of_kind("impulse"), arrays.impulse_sizes, strict=True):
        yield counter.line(size * arrays.bodies, f"{f.name}: 1 or 0 (whether it acts), its parameters; for each body")


def one_line(text: str) -> str:
    """Text for a comment, without line breaks of any kind."""
    return " ".join(text.split())


class _Counter:
    """Lines that say what the next numbers of an array are."""

    def __init__(self, start: int = 0) -> None:
        self.at = start

    def line(self, count: int, what: str) -> str:
        first, self.at = self.at, self.at + count
        numbers = "-" if count == 0 else f"{first}" if count == 1 else f"{first} to {self.at - 1}"
        return f"  {numbers:<10} {what}"


def _groups(scenario: Scenario) -> list[tuple[str, list[str]]]:
    """The groups of a state: what they are, and the names of their columns."""
    form, held = scenario.form, scenario.form.is_held
    quaternion = "attitude: quaternion (w, x, y, z) from the principal axes to the world"
    attitudes = {
        "momentum_matrix": (
            "attitude: rotation matrix from the principal axes to the world, row by row",
            [f"r{i}{j}" for i in range(3) for j in range(3)],
        ),
        "euler_angles": ("attitude: Euler angles phi, theta, psi (ZXZ) of the principal axes", ["phi", "theta", "psi"]),
    }
    spins = {
        "body_rates": ("angular velocity, principal axes, in rad/s", ["w1", "w2", "w3"]),
        "euler_angles": ("angular velocity, principal axes, in rad/s", ["w1", "w2", "w3"]),
        "quaternion_acceleration": ("rate of the quaternion, in 1/s", ["dqw", "dqx", "dqy", "dqz"]),
    }
    about = "pivot" if held else "center of mass"
    more = [name for part in scenario.parts for name in part.state_names(getattr(scenario, part.name))]
    spin = (f"angular momentum about the {about}, world axes, in kg m^2/s", ["Lx", "Ly", "Lz"])
    return [
        (f"position of the {about}, world axes, in m", ["x", "y", "z"]),
        attitudes.get(form.name, (quaternion, ["qw", "qx", "qy", "qz"])),
        ("linear momentum, world axes, in kg m/s" + (" (0: the pivot is held)" if held else ""), ["px", "py", "pz"]),
        spins.get(form.name, spin),
        *([("of parts: momenta about their axes in kg m^2/s, and the time in s", more)] if more else []),
    ]
