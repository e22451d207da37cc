"""The library of problems, against a second computation of its answers and by published end states."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import make_reference_problems as maker
import polhode as ph
from polhode.reference import PROBLEMS

REFERENCES = json.loads((Path(__file__).parents[1] / "data" / "reference_states.json").read_text())["cases"]
SOURCES = {problem["name"]: maker.completed(problem) for problem in maker.PROBLEMS}


def kept(name):
    """The stored answer, as fractions."""
    return {key: [Fraction(x) for x in values] for key, values in PROBLEMS[name].answer.decimals.items()}


@pytest.mark.parametrize("name", REFERENCES)
def test_answers_against_the_40_digit_end_states(name):
    final = [Fraction(x) for x in REFERENCES[name]["final"]]
    found = kept(name)
    assert maker.attitude_between(found["quaternion_wxyz"], final[:4]) < 1e-37
    off = [a - b for a, b in zip(found["angular_velocity_body"], final[4:], strict=True)]
    assert maker.length(off) < 1e-37


@pytest.mark.parametrize("name", PROBLEMS)
def test_answers_against_taylor_series_in_whole_numbers(name):
    gaps = maker.apart(maker.by_taylor(SOURCES[name], 30), kept(name))
    assert max(gaps.values()) < 1e-28


def test_the_forced_answer_against_heyoka_in_momenta():
    pytest.importorskip("heyoka")
    gaps = maker.apart(maker.by_heyoka(SOURCES["drag_and_thruster"], 160), kept("drag_and_thruster"))
    assert max(gaps.values()) < 1e-36


@pytest.mark.parametrize(
    "name", [name for name in PROBLEMS if name not in ("simo_wong_heavy_top", "drag_and_thruster")]
)
def test_conditioning_against_the_closed_form(name):
    found = maker.conditioning(SOURCES[name], lambda data: maker.by_closed_form(data, 34))
    assert found == PROBLEMS[name].conditioning._asdict()


@pytest.mark.parametrize("name", PROBLEMS)
def test_data_are_those_of_the_script(name):
    problem, source = PROBLEMS[name], SOURCES[name]
    assert problem.moments == tuple(float(Fraction(x)) for x in source["moments"])
    assert problem.start.angular_velocity_body == tuple(float(Fraction(x)) for x in source["angular_velocity_body"])
    assert [f["kind"] for f in problem.forces] == [f["kind"] for f in source["forces"]]
    assert all(len(text.strip("-0.").replace(".", "")) >= 30 for text in problem.answer.decimals["quaternion_wxyz"])


@pytest.mark.filterwarnings("ignore:engine='python'")
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_run_of_the_scenario_meets_the_answer(name):
    """`scenario()` states the same problem as the data: DOP853 comes as near as its tolerance lets it."""
    problem = PROBLEMS[name]
    scenario = problem.scenario(method="dop853", rtol=1e-12, engine="python", output_times=[problem.duration])
    final = ph.simulate(scenario).final
    error = problem.error_of(
        quaternion_wxyz=final.quaternion_wxyz,
        angular_velocity_body=final.angular_velocity_body,
        position=final.position,
    )
    assert error.attitude < 1e-6
    assert error.rates < 1e-6
    assert error.position < 1e-6
    assert np.linalg.norm(final.velocity - problem.answer.velocity) < 1e-6


def test_the_heavy_top_turns_about_its_tip_as_the_literature_has_it():
    """J about the tip diag(5, 5, 1), m g l = 20, energy 1269.975."""
    problem = PROBLEMS["simo_wong_heavy_top"]
    m, height, g = problem.mass, -problem.pivot[2], -problem.forces[0]["g"][2]
    J = np.array(problem.moments) + m * height**2 * np.array((1, 1, 0))
    assert J.tolist() == [5, 5, 1]
    assert m * g * height == 20
    for at in (problem.start, problem.answer):
        energy = (J * np.square(at.angular_velocity_body)).sum() / 2 + m * g * at.position[2]
        assert energy == pytest.approx(1269.9750052079, abs=1e-9)


def test_the_box_is_a_box_with_the_published_energy():
    """368.5464167 J; the center of mass by x0 + v t + g t^2/2."""
    problem = PROBLEMS["boxes_complex"]
    assert problem.moments == pytest.approx(ph.shapes.box((0.1, 0.4, 0.9), mass=10.0).principal_moments, rel=1e-15)
    v, w = np.array(problem.start.velocity), np.array(problem.start.angular_velocity_body)
    assert (10 * v @ v + w @ (problem.moments * w)) / 2 == pytest.approx(368.5464167, abs=5e-8)
    assert problem.answer.position == (-20.0, 20.0, -410.0)


def test_errors_of_the_answer_itself_are_those_of_its_digits():
    for problem in PROBLEMS.values():
        told = problem.answer.decimals
        names = ("quaternion_wxyz", "angular_velocity_body", "position")
        assert max(problem.error_of(**{name: told[name] for name in names})) < 1e-39
        floats = {name: getattr(problem.answer, name) for name in names}
        assert max(problem.error_of(**floats)[:2]) < 2.3e-16
        opposite = [-2.0 * x for x in problem.answer.quaternion_wxyz]
        assert problem.error_of(quaternion_wxyz=opposite).attitude < 2.3e-16
        exact = {name: getattr(problem.answer_of_doubles, name) for name in names}
        assert problem.error_of(**exact, of_doubles=True).attitude < 2.3e-16
        assert problem.error_of(**exact).attitude <= problem.conditioning.attitude


def test_an_error_of_a_known_angle_is_found_at_any_size():
    problem = PROBLEMS["boxes_complex"]
    with mpmath.workdps(60):
        a, b, c, d = (mpmath.mpf(x) for x in problem.answer.decimals["quaternion_wxyz"])
        for angle in (1e-30, 1e-12, 1e-3, 3.0):
            k, s = mpmath.cos(mpmath.mpf(angle) / 2), mpmath.sin(mpmath.mpf(angle) / 2)
            turned = (a * k - b * s, b * k + a * s, c * k + d * s, d * k - c * s)
            assert problem.error_of(quaternion_wxyz=turned).attitude == pytest.approx(angle, rel=1e-8)


def test_unknown_names_bring_the_nearest():
    with pytest.raises(ph.PolhodeError, match="did you mean 'boxes_complex'"):
        ph.reference.problem("boxes_complx")
    with pytest.raises(ph.PolhodeError, match="4 numbers"):
        PROBLEMS["boxes_complex"].error_of(quaternion_wxyz=(1, 0, 0))
    with pytest.raises(AttributeError, match=r"ph\.reference has no .problms.: did you mean .problem."):
        ph.reference.problms  # noqa: B018


def test_the_public_face_is_light_and_complete():
    heavy = ("numpy", "mpmath", "polhode.scenario.scenario")
    code = f"import sys, polhode as ph; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    code = (
        "import polhode as ph; print(ph.reference.AsymmetricTop, [getattr(ph.reference, n) for n in dir(ph.reference)])"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(name in ph.reference.table() for name in PROBLEMS)
    assert pickle.loads(pickle.dumps(PROBLEMS["boxes_complex"])) == PROBLEMS["boxes_complex"]
