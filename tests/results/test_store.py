"""A stored motion comes back to the last bit, or not at all."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray

import polhode as ph
from polhode.errors import FileError, RunError, ScenarioError

f = ph.forces
# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
PLAIN = {"engine": "python", "duration": 0.4, "step": 0.02, "method": "rk4"}
PLAIN_ADAPTIVE = {"engine": "python", "duration": 0.2, "output_step": 0.1}

TENSOR = [[2.0, -0.1, 0.2], [-0.1, 2.5, 0.3], [0.2, 0.3, 3.0]]
SOLID = ph.Body(mass=1.7, inertia=TENSOR)
START = ph.State(
    position=(0.1, -0.2, 1 / 3),
    quaternion_wxyz=(0.3, -0.5, 0.7, 0.2),
    velocity=(1e-3, 2.0, -3.0),
    angular_velocity=(0.7, 1.9, -1 / 7),
    time=0.25,
)
HELD = START.replace(velocity=(0.0, 0.0, 0.0))
AIR = [f.gravity(), f.quadratic_drag(0.3, (1.0, 0.0, 0.1))]
IMPULSES = [f.thruster((0.1, 0.0, 0.0), (1.0, 2.0, 2.0), 5.0, start=0.3, stop=0.333), f.impulse((1.0, 2.0, 3.0), 0.41)]

N = 100
RANDOM = np.random.default_rng(4)
MANY_BODIES = ph.Body(mass=RANDOM.uniform(1, 2, N), inertia=RANDOM.uniform(1, 1.9, (N, 3)))
MANY_STARTS = ph.State(
    position=RANDOM.normal(size=(N, 3)),
    quaternion_wxyz=RANDOM.normal(size=(N, 4)),
    velocity=(1.0, 2.0, 3.0),
    angular_velocity_body=RANDOM.normal(size=(N, 3)),
)
MANY_FORCES = [f.gravity(), f.linear_drag(RANDOM.uniform(0, 1, N), RANDOM.normal(size=(N, 3)))]
MANY = {"engine": "python", "duration": 0.06, "step": 0.02, "method": "rk4"}


def moving(formulation):
    return lambda: ph.simulate(SOLID, START, AIR, formulation=formulation, output_step=0.1, **PLAIN)


MOTIONS = {
    "one body": lambda: ph.simulate(SOLID, START, AIR, name="thrown", **PLAIN),
    "particle": lambda: ph.simulate(ph.particle(0.1), START, AIR, **PLAIN),
    "momentum_matrix": moving("momentum_matrix"),
    "body_rates": moving("body_rates"),
    "quaternion_acceleration": moving("quaternion_acceleration"),
    "euler_angles": moving("euler_angles"),
    "pivot": lambda: ph.simulate(SOLID, HELD, [f.gravity()], pivot=(0.0, 0.1, -0.3), **PLAIN),
    "events": lambda: ph.simulate(SOLID, START, IMPULSES, output_times=[0.26, 0.5, 0.61], **PLAIN),
    "adaptive": lambda: ph.simulate(SOLID, START, AIR, engine="python", duration=0.4, output_step=0.1, atol=1e-12),
    "system": lambda: ph.simulate(
        [SOLID, ph.particle(1.0)],
        [START, START.replace(position=(1, 1, 1))],
        [f.spring_between(0, 1, 3.0, length=0.5), f.mutual_gravity(0.1), f.gravity().on(1)],
        **PLAIN,
    ),
    "ensemble": lambda: ph.ensemble(MANY_BODIES, MANY_STARTS, MANY_FORCES, output_step=0.03, **MANY),
    "ensemble of finals": lambda: ph.ensemble(MANY_BODIES, MANY_STARTS, MANY_FORCES, **MANY),
    "ensemble on pivots": lambda: ph.ensemble(
        SOLID, HELD, [f.gravity()], pivot=RANDOM.normal(size=(N, 3)), output_times=[0.31], **MANY
    ),
    "ensemble of events": lambda: ph.ensemble(
        SOLID, START, [f.impulse((1.0, 2.0, 3.0), np.array([0.26, 0.27, 0.28, 0.29]))], output_times=[0.31], **MANY
    ),
}
PUBLIC = ("times", "position", "quaternion_wxyz", "linear_momentum", "angular_momentum", "work", "attitude_drift")


def assert_same_state(a, b):
    for one, other in zip(np.atleast_1d(a), np.atleast_1d(b), strict=True):
        for name in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body", "time"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.fixture(params=MOTIONS.values(), ids=MOTIONS.keys())
def both(request, tmp_path):
    """A motion, and what comes back from the disk."""
    motion = request.param()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion.save(tmp_path / "motion.zarr")
        return motion, ph.load(tmp_path / "motion.zarr")


def test_every_bit_comes_back(both):
    motion, loaded = both
    for name in PUBLIC:
        a, b = getattr(motion, name), getattr(loaded, name)
        assert (a is None) == (b is None), name
        assert a is None or (a.shape == b.shape and (a == b).all()), name
    assert (loaded.steps, loaded.axis) == (motion.steps, motion.axis)
    assert loaded.scenario.as_mapping() == motion.scenario.as_mapping()
    assert str(loaded.audit()) == str(motion.audit())
    assert (loaded.energy == motion.energy).all()
    assert_same_state(loaded.final, motion.final)
    assert loaded.run_result.samples.flags.writeable
    if motion.scenario.pivot is not None:
        assert (loaded.reaction_force == motion.reaction_force).all()


def test_the_time_between_two_outputs_comes_back(both):
    motion, loaded = both
    end = float(motion.times[-1])
    for t in (end - 1e-3, end - motion.scenario.duration / 3, motion.scenario.start_time):
        assert_same_state(loaded.at(t), motion.at(t))


def test_a_loaded_motion_can_be_stored_again(both, tmp_path):
    motion, loaded = both
    loaded.save(tmp_path / "again.zarr")
    assert (ph.load(tmp_path / "again.zarr").position == motion.position).all()


# What a file cannot hold ---------------------------------------------------------------------------------------------
@ph.force
def own_push(t, state, body, params):
    return (params[0] * body.mass, 0.0, 0.0), (0.0, 0.0, 0.0)


def test_a_force_of_ones_own_is_missed_where_it_is_needed(tmp_path):
    motion = ph.simulate(SOLID, START, [f.gravity(), own_push(2.0)], **PLAIN)
    motion.save(tmp_path / "motion.zarr")
    loaded = ph.load(tmp_path / "motion.zarr")
    assert (loaded.position == motion.position).all()
    assert (loaded.kinetic_energy == motion.kinetic_energy).all()
    assert_same_state(loaded.at(float(motion.times[3])), motion.at(float(motion.times[3])))
    for what, attempt in {
        "a time between the stored ones": lambda: loaded.at(float(motion.times[3]) + 1e-3),
        "the potential energy": lambda: loaded.potential_energy,
    }.items():
        with pytest.raises(ScenarioError, match=f"{what} needs own_push.*simulate again"):
            attempt()
    for audit in (motion.audit(), loaded.audit()):
        assert "own_push" in audit["linear momentum"].reason
        assert not audit["linear momentum"].conserved
        assert audit["work-energy residual"].relative < 1e-9
    loaded.save(tmp_path / "again.zarr")
    assert ph.load(tmp_path / "again.zarr").unknown_forces == ("own_push",)


def test_members_that_differ_in_a_force_of_ones_own_only_are_still_members(tmp_path):
    motion = ph.ensemble(SOLID, START, [own_push(np.linspace(0, 1, 5))], **PLAIN)
    motion.save(tmp_path / "motion.zarr")
    loaded = ph.load(tmp_path / "motion.zarr")
    assert loaded.axis == "member"
    assert (loaded.position == motion.position).all()
    assert_same_state(loaded.final, motion.final)


def test_what_a_stopped_run_had_computed_can_be_stored(tmp_path):
    blow_up = [f.quadratic_drag(1e6)]
    with np.errstate(all="ignore"), pytest.raises(RunError) as caught:
        ph.simulate(SOLID, START, blow_up, **PLAIN)
    partial = caught.value.motion
    partial.save(tmp_path / "partial.zarr")
    assert 0 < len(partial.times) < len(partial.scenario.times)
    assert (ph.load(tmp_path / "partial.zarr").position == partial.position).all()


@ph.event
def low(t, state, body, params):
    return state.position[2] - params[0]


@pytest.fixture
def crossed():
    """A motion with an event."""
    motion = ph.simulate(ph.particle(1.0), START, [f.gravity()], events=[low(0.2, action="record")], **PLAIN_ADAPTIVE)
    assert motion.run_result.crossings
    return motion


# For others ----------------------------------------------------------------------------------------------------------
def test_xarray_reads_it_with_units(tmp_path):
    motion = MOTIONS["system"]()
    motion.save(tmp_path / "motion.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = xarray.open_zarr(tmp_path / "motion.zarr").load()
    units = {
        "time": "s",
        "position": "m",
        "quaternion_wxyz": "1",
        "linear_momentum": "kg m s-1",
        "angular_momentum": "kg m2 s-1",
        "work": "J",
        "attitude_drift": "1",
    }
    for name, unit in units.items():
        assert dataset[name].attrs["units"] == unit
    assert all(dataset[name].attrs["long_name"] for name in units if name != "time")
    assert dataset["position"].dims == ("time", "body", "axis")
    assert dataset["quaternion_wxyz"].dims == ("time", "body", "wxyz")
    assert list(dataset["axis"].values) == ["x", "y", "z"]
    assert list(dataset["wxyz"].values) == ["w", "x", "y", "z"]
    assert (dataset["position"].values == motion.position).all()
    assert (dataset["quaternion_wxyz"].values == motion.quaternion_wxyz).all()
    assert dataset.attrs["method"] == "rk4"
    assert (motion.dataset["work"].values == motion.work).all()


# Accidents -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("accident", [KeyboardInterrupt, OSError, ValueError])
def test_an_interrupted_save_leaves_the_old_motion(accident, tmp_path, monkeypatch):
    path = tmp_path / "motion.zarr"
    old, new = MOTIONS["one body"](), MOTIONS["particle"]()
    old.save(path)
    write = Path.write_bytes

    def interrupted(self, content):
        if self.parent.name == "position":  # a part is on the disk already
            raise accident("the disk is full")
        return write(self, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", interrupted)
        with pytest.raises(FileError if accident is OSError else accident, match="the disk is full"):
            new.save(path)
        fresh = tmp_path / "fresh.zarr"
        with pytest.raises(FileError if accident is OSError else accident, match="the disk is full"):
            new.save(fresh)
    assert (ph.load(path).position == old.position).all()
    assert not fresh.exists()
    new.save(path)
    assert (ph.load(path).position == new.position).all()
    assert (old.position != new.position).any()
    assert [place.name for place in tmp_path.iterdir()] == ["motion.zarr"]


def test_a_folder_that_is_not_there_is_made(tmp_path):
    motion = MOTIONS["particle"]()
    motion.save(str(tmp_path / "results" / "today" / "motion.zarr"))
    assert (ph.load(str(tmp_path / "results" / "today" / "motion.zarr")).position == motion.position).all()


def remove_numbers(array):
    for file in array.glob("c.*"):
        file.unlink()


@pytest.mark.parametrize("name", ["time", "computed", "crossing_computed"])
def test_a_missing_piece_of_what_was_computed_is_noticed(name, crossed, tmp_path):
    crossed.save(tmp_path / "motion.zarr")
    remove_numbers(tmp_path / "motion.zarr" / name)
    with pytest.raises(FileError, match=r"motion.zarr is damaged"):
        ph.load(tmp_path / "motion.zarr")


def test_a_missing_piece_of_what_is_derived_is_derived_here_and_no_zero_for_others(crossed, tmp_path):
    path = tmp_path / "motion.zarr"
    crossed.save(path)
    for name in ("position", "work", "crossing_time", "crossing_body", "crossing_name"):
        remove_numbers(path / name)
    loaded = ph.load(path)
    assert (loaded.position == crossed.position).all()
    for name in ("time", "name"):
        expected = [getattr(c, name) for c in crossed.run_result.crossings]
        assert [getattr(c, name) for c in loaded.run_result.crossings] == expected
    dataset = xarray.open_zarr(path).load()
    for name in ("position", "work", "crossing_time"):
        assert np.isnan(dataset[name].values).all(), name
    assert (dataset["crossing_body"].values == -1).all()
    assert dataset["crossing_body"].dtype.kind == "i"


def test_nan_comes_back_to_the_last_bit_too(tmp_path):
    motion = MOTIONS["particle"]()
    motion.run_result.samples[-1] = -np.float64(np.nan)
    motion.save(tmp_path / "motion.zarr")
    assert ph.load(tmp_path / "motion.zarr").run_result.samples.tobytes() == motion.run_result.samples.tobytes()


def test_a_file_or_folder_of_another_kind_is_not_called_a_stored_motion(tmp_path):
    (tmp_path / "x.csv").write_text("1, 2")
    xarray.Dataset({"a": ("x", [1.0])}).to_zarr(tmp_path / "foreign.zarr", consolidated=False)
    for place in (tmp_path / "x.csv", tmp_path, tmp_path / "foreign.zarr"):
        with pytest.raises(FileError, match=r"is not a stored motion: motion.save"):
            ph.load(place)
    with pytest.raises(FileError, match="there is no motion at"):
        ph.load(tmp_path / "nowhere.zarr")
