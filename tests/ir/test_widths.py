"""The bits of plain Python, whatever the width of the vectors: all methods, formulations and forces."""

from dataclasses import replace

import numpy as np
import pytest

import digest_entries as entries
import polhode as ph
from polhode.integrate import prepare
from polhode.ir.targets import native
from polhode.scenario import forces as library

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
WIDTHS = (1, 2, 4, 8)
MEMBERS = 9
QUICK = [
    ("free", "exact", "momentum"),
    ("thrown", "rk4", "momentum"),
    ("pushed", "dop853", "body_rates"),
    ("top", "splitting4", "momentum"),
    ("system", "midpoint", "momentum"),
    ("system", "dop853", "momentum_matrix"),
]
ALL = [(scenario, *case) for scenario in entries.SCENARIOS for case in entries.GRID]


@pytest.fixture
def with_width(monkeypatch):
    """Vectors of a given width."""

    def of(width):
        monkeypatch.setattr(native, "vector_width", lambda: width)
        prepare._build_plan.cache_clear()

    yield of
    prepare._build_plan.cache_clear()


def spread(state):
    """Nine starts: the first is the given one, the others spin faster."""
    faster = 1.0 + np.arange(MEMBERS)[:, None] / 64
    return replace(state, angular_velocity_body=state.angular_velocity_body * faster)


def plain(case, member):
    """The motion of one member, in plain Python."""
    scenario, *rest = case
    if member == 0:
        return entries.motion_of(*case)
    given = entries.SCENARIOS[scenario]()
    states = given["state"] if isinstance(given["state"], list) else [given["state"]]
    own = [replace(s, angular_velocity_body=spread(s).angular_velocity_body[member]) for s in states]
    given["state"] = own if isinstance(given["state"], list) else own[0]
    return ph.simulate(**given, **settings_of(scenario, *rest, "python"))


def settings_of(scenario, *case):
    settings = entries.settings_of(*case)
    return {**settings, "step": 0.1} if scenario == "system" and "step" in settings else settings


def compiled(case):
    """All members by machine code."""
    scenario, *rest = case
    given = entries.SCENARIOS[scenario]()
    states = given["state"]
    given["state"] = [spread(s) for s in states] if isinstance(states, list) else spread(states)
    return ph.ensemble(**given, **settings_of(scenario, *rest, "cpu"))


def assert_same_bits(one, other):
    assert one.times.tolist() == other.times.tolist()
    for name in entries.STATE:
        found, wanted = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        assert found.tobytes() == wanted.tobytes(), name


def assert_same_at_every_width(case, members, with_width):
    wanted = {member: plain(case, member) for member in members}
    for width in WIDTHS:
        with_width(width)
        motions = compiled(case)
        for member, motion in wanted.items():
            assert_same_bits(motions.member(member), motion)


@pytest.mark.parametrize("case", QUICK, ids="-".join)
def test_every_width_has_the_bits_of_plain_python(case, with_width):
    assert_same_at_every_width(case, (0, MEMBERS - 1), with_width)


@pytest.mark.long
@pytest.mark.parametrize("case", ALL, ids="-".join)
def test_all_methods_and_formulations_at_every_width(case, with_width):
    """And the body alone, which runs without vectors."""
    assert_same_bits(entries.motion_of.__wrapped__(*case, "cpu"), entries.motion_of(*case))
    assert_same_at_every_width(case, (0,), with_width)


def test_the_scenarios_hold_every_force_of_the_library():
    made = {f.name for make in entries.SCENARIOS.values() for f in make().get("forces", ())}
    offered = {
        name
        for name, value in vars(library).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == library.__name__
    }
    assert offered <= made | {"magnetic_torquer"}  # its bits are compared in tests/flight/test_flight_everywhere.py


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_any_number_of_threads(method, threads):
    """Ninety bodies are three units; more threads than units share them out with some idle."""
    spins = np.random.default_rng(2).normal(size=(90, 3))
    settings = {"duration": 0.5, "method": method, **({"step": 0.02} if method == "rk4" else {})}
    members = ph.State(velocity=(1.0, 0.0, 2.0), angular_velocity_body=spins)
    body, forces = ph.Body(2.0, (1.0, 1.7, 2.3)), [ph.forces.gravity(), ph.forces.quadratic_drag(0.3)]
    final = ph.ensemble(body, members, forces, threads=threads, **settings).final
    for i in (0, 31, 32, 89):
        start = ph.State(velocity=(1.0, 0.0, 2.0), angular_velocity_body=spins[i])
        alone = ph.simulate(body, start, forces, engine="python", **settings).final
        for name in entries.STATE:
            assert np.array_equal(getattr(final, name)[i], getattr(alone, name))
