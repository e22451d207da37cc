"""Whoever listens hears how far a run has come, whatever the method, and can stop it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import polhode as ph
from polhode.errors import CancelledError
from polhode.gallery import THEMES, Model, Parameter
from polhode.integrate import integrator
from polhode.integrate.taylor import taylor_series as taylor
from polhode.progress import listening, progress, progress_part

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SPIN = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
THREE = ph.State(angular_velocity_body=[(0.1, 5.0, 0.1), (0.1, 4.0, 0.1), (0.1, 3.0, 0.1)])
TOP = ph.Body(mass=2.0, inertia=(3.0, 3.0, 1.0))
TILTED = ph.State(quaternion_wxyz=(1.0, 0.025, 0.0, 0.0), angular_velocity_body=(0.0, 0.0, 50.0))
GRAVITY = [ph.forces.gravity()]
IMPULSES = [ph.forces.impulse((0.0, 0.0, 1.0), [0.2, 0.4, 0.6])]

RUNS = {
    "fixed steps": lambda: ph.simulate(BOX, SPIN, GRAVITY, duration=1.0, step=1e-3, method="rk4"),
    "uncompiled": lambda: ph.simulate(BOX, SPIN, duration=1.0, step=0.05, method="rk4", engine="python"),
    "uncompiled, adaptive": lambda: ph.simulate(
        BOX, SPIN, duration=4.0, output_step=1.0, method="dop853", rtol=1e-6, engine="python"
    ),
    "closed form": lambda: ph.simulate(BOX, SPIN, duration=1.0, output_step=0.1, method="exact"),
    "taylor": lambda: ph.simulate(BOX, SPIN, GRAVITY, duration=100.0, output_step=10.0, method="taylor"),
    "taylor, members": lambda: ph.ensemble(BOX, THREE, GRAVITY, duration=1.0, method="taylor"),
    "auto": lambda: ph.simulate(TOP, TILTED, [ph.forces.gravity(10.0)], pivot=(0, 0, -1), duration=10.0),
    "groups of members": lambda: ph.ensemble(BOX, THREE, IMPULSES, duration=1.0, method="exact"),
}


@pytest.fixture
def short_portions(monkeypatch):
    """Reports after each look or few steps: a listener hears of runs that take no time at all."""
    monkeypatch.setattr(integrator, "PORTION_S", 1e-7)
    monkeypatch.setattr(taylor, "PORTION_S", 0.0)
    monkeypatch.setattr(taylor, "FIRST_PORTION", 5)


@pytest.mark.filterwarnings("ignore:engine='python'")
@pytest.mark.parametrize("name", RUNS)
def test_a_listener_hears_of_every_kind_of_run_and_changes_no_bit_of_it(name, short_portions):
    alone, heard = RUNS[name](), []
    with listening(heard.append):
        motion = RUNS[name]()
    assert np.array_equal(motion.quaternion_wxyz, alone.quaternion_wxyz)
    assert np.array_equal(motion.position, alone.position)
    assert heard[0].done == 0
    assert any(h.done > 0 for h in heard)
    unit = "s" if motion.scenario.members is None else "members"
    assert all(0 <= h.share <= 1 and h.unit == unit for h in heard)


@pytest.mark.filterwarnings("ignore:engine='python'")
@pytest.mark.parametrize("name", RUNS)
def test_what_a_listener_raises_ends_every_kind_of_run(name, short_portions):
    heard = []

    def stop(h):
        heard.append(h)
        if h.done > 0:
            raise CancelledError("enough")

    with pytest.raises(CancelledError, match="enough"), listening(stop):
        RUNS[name]()
    assert sum(h.done > 0 for h in heard) <= 2  # once in each thread that computes members
    RUNS[name]()


def test_a_run_that_is_cancelled_before_it_begins_never_begins(monkeypatch):
    def stop(_):
        raise CancelledError("not now")

    monkeypatch.setattr("polhode.solve.simulate.run_scenario", pytest.fail)
    with pytest.raises(CancelledError, match="not now"), listening(stop):
        ph.simulate(BOX, SPIN, duration=1.0, method="exact")


def test_a_force_of_ones_own_is_not_blamed_for_a_cancelled_run(short_portions):
    @ph.force
    def push(t, state, body, params):
        return (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    def stop(h):
        if h.done > 0:
            raise CancelledError("enough")

    with pytest.warns(UserWarning, match="engine='python'"), pytest.raises(CancelledError), listening(stop):
        ph.simulate(BOX, SPIN, [push()], duration=1.0, step=0.1, method="rk4", engine="python")


def test_a_model_of_several_runs_is_heard_as_one(short_portions):
    def scenarios(spin):
        start = ph.State(angular_velocity_body=(0.1, spin, 0.1))
        one = ph.Scenario(BOX, start, duration=1.0, output_step=0.1, method="exact")
        return {"one": one, "two": one}

    knob = Parameter("spin", "rad/s", 5.0, 0.1, 20.0, "about the middle axis")
    model = Model("pair", "pair", THEMES[2], "", "", (knob,), scenarios, None, None)
    heard = []
    with listening(heard.append):
        model.run(spin=5.0)
    shares = [h.share for h in heard]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert {h.part for h in heard} == {"one, 1 of 2", "two, 2 of 2"}
    assert max(h.share for h in heard if h.part == "one, 1 of 2") == 0.5


def test_parts_of_parts_are_parts_of_the_whole():
    heard = []
    with (
        listening(heard.append),
        progress_part(2, 1, "outer"),
        progress_part(4, 2, "inner"),
        progress("work") as report,
    ):
        report(1, 2)
    assert heard[0].share == 1 / 2 + (2 + 1 / 2) / 8
    assert heard[0].part == "inner, 3 of 4"


def test_nobody_hears_what_another_thread_computes():
    heard = []
    with listening(heard.append):
        thread = threading.Thread(target=RUNS["closed form"])
        thread.start()
        thread.join()
    assert heard == []


def test_threads_that_prepare_the_same_run_at_once_get_the_same_bits():
    found = []
    threads = [threading.Thread(target=lambda: found.append(RUNS["fixed steps"]())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(motion.quaternion_wxyz, found[0].quaternion_wxyz) for motion in found)


def test_a_bar_is_drawn_no_more_often_than_the_eye_can_see(monkeypatch, capsys):
    clock = iter(np.arange(0.0, 100.0, 0.03).tolist())
    monkeypatch.setattr("polhode.progress.perf_counter", lambda: next(clock))
    drawn = []
    with progress("counting", "sheep", wanted=True) as report:
        import tqdm

        monkeypatch.setattr(tqdm.tqdm, "refresh", lambda bar, *_, **__: drawn.append(bar.n))
        for i in range(300):
            report(i, 300)
    assert 50 < len(drawn) < 80
