"""Every argument of every public function, spoiled: what comes is a sentence of ours, or it is taken."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
import public_calls
from polhode.errors import LONGEST_SHOWN, FileError, PolhodeError, show
from polhode.validation import check_path
from public_calls import BODY


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """Those that can be given by name."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in named and p.name != "self"]


def assert_spoiled_arguments_teach(name: str, function: Callable[..., Any], given: dict[str, Any]) -> None:
    raw = []
    names = dict.fromkeys([*parameters_of(function), *given])
    for parameter in names:
        if {name, parameter, (name, parameter)} & LEFT_OUT:
            continue
        for kind in public_calls.nasty_values():
            value = public_calls.nasty_values()[kind]
            try:
                call(function, {**given, parameter: value})
            except IndexError as error:  # by which Python's own loops know the end
                if name != "motion[...]":
                    raw.append(f"{name}({parameter}={kind}): {error}")
            except PolhodeError as error:
                if not str(error).strip():
                    raw.append(f"{name}({parameter}={kind}): an empty sentence")
            except Exception as error:
                raw.append(f"{name}({parameter}={kind}): {type(error).__name__}: {str(error)[:90]}")
    assert not raw, "\n".join([f"{len(raw)} raw errors", *raw])


def call(function: Callable[..., Any], given: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "params" in given and function is public_calls.push:
            function(given["params"])
        else:
            function(**given)


LEFT_OUT: set[Any] = {
    "figure",  # an object of Matplotlib, as are these axes
    ("motion.plot", "axes"),
    ("uncertainty", "build"),  # a function of the user's own: what it raises is the user's to see
    ("sweep", "build"),
    ("DrawnSource", "build"),
    *((name, "observe") for name in ("environment", "vector_environment")),
}


GROUPS = {
    "constructors": public_calls.constructors,
    "forces": public_calls.forces,
    "shapes": public_calls.shapes,
    "geometry": public_calls.geometry,
    "scenarios": public_calls.scenarios,
    "steps": public_calls.steps,
    "motions": public_calls.motions,
    "environments": public_calls.environments,
    "ensembles": public_calls.ensembles,
}


@pytest.mark.parametrize("group", GROUPS)
def test_every_argument_spoiled_is_a_sentence_or_is_taken(group, tmp_path, monkeypatch):
    if group == "environments":
        pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)  # some of what is given is the name of a file
    made = GROUPS[group]
    takes_folder = "folder" in inspect.signature(made).parameters
    for name, function, given in made(tmp_path) if takes_folder else made():
        assert_spoiled_arguments_teach(name, function, given)


def test_a_value_of_any_size_is_shown_in_a_line():
    for value in public_calls.nasty_values().values():
        text = show(value)
        assert 0 < len(text) <= LONGEST_SHOWN
        assert "\n" not in text


def test_paths_that_no_file_can_have_are_refused():
    for path in ("a\0b", "\ud800", b"bytes", 3, None, ["a"], Path("a\0b")):
        with pytest.raises(FileError, match="cannot be written to"):
            check_path(path, "the motion")


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: ph.mass_course((0, 1), None), "mass of a mass course must be numbers in kg"),
        (lambda: ph.Scenario(BODY, duration=10**400), "duration must be a number, not a whole number of 1329 bits"),
        (
            lambda: ph.Scenario(BODY, duration=1, method=np.array(["rk4", "exact"])),
            "method .* is unknown: it must be one",
        ),
        (lambda: ph.Scenario(BODY, duration=1, formulation=["momentum"]), r"formulation \['momentum'\] is unknown"),
        (lambda: ph.Scenario(BODY, duration=1, engine=np.zeros(3)), "engine array.* is unknown"),
        (lambda: ph.Scenario(BODY, duration=1, precision={"strict"}), "precision {'strict'} is unknown"),
        (lambda: ph.forces.torque((1, 0, 0), axes=np.array(["body", "world"])), "axes array.* is unknown"),
        (lambda: ph.State().to_array(np.zeros(3)), "body must be a ph.Body"),
        (lambda: ph.write_source("box", "c", "box.c"), "scenario must be a ph.Scenario, not 'box'"),
        (lambda: ph.reference.problem(np.zeros(2)), "reference problem array.* is unknown"),
    ],
)
def test_the_sentence_says_what_was_found_and_what_is_wanted(attempt, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        attempt()


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: ph.State(position=np.ma.masked_array((1.0, 2.0, 3.0), mask=(0, 1, 0))), "position must be 3 numbers"),
        (lambda: ph.CoefficientTable("mach", (1j, 2.0), (1.0, 2.0)), "knots of mach must be a list of numbers"),
        (lambda: ph.CoefficientTable("mach", (1.0, 2.0), (1j, 2.0)), "values of a table must be numbers"),
        (lambda: ph.air.wind_shear((1j, 100.0), ned=np.zeros((2, 3))), "must be a list of numbers"),
        (lambda: public_calls.push("1.0"), "parameter 1 of push must be numbers, not '1.0'"),
        (lambda: public_calls.height(np.datetime64("2020-01-01")), "parameter 1 of height must be numbers"),
        (lambda: public_calls.height(0.5, direction=True), "direction=True of height is unknown"),
        (lambda: ph.forces.torque((1, 0, 0), start=True), "start of torque must be a number, not True"),
        (lambda: ph.force(lambda t, s, b, p: ((0, 0, 0), (0, 0, 0)), potential=3), "potential must be a function"),
        (lambda: ph.Scenario(BODY, duration=5e-324), "duration .* is too short to be divided"),
        (lambda: ph.Scenario(BODY, duration=1, pivot=(1e308, 0, 0)), "the moment of inertia about the pivot overflows"),
        (lambda: ph.Scenario(BODY, duration=1, name="\ud800"), "cannot be written in UTF-8"),
        (lambda: ph.simulate(BODY, duration=1, progress=np.ones(2)), "progress must be True or False, not array"),
        (lambda: ph.sweep(public_calls.build_speeds, members=4, reduce=[]), "keeps nothing of a sweep"),
        (lambda: ph.reductions.histogram("speed", 10**9), "bins must be at most 10,000,000"),
    ],
)
def test_what_would_be_nonsense_is_not_taken_in_silence(attempt, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        attempt()


@pytest.mark.parametrize("make", ["environment", "vector_environment"])
def test_what_the_functions_of_an_environment_return_is_checked(make):
    pytest.importorskip("gymnasium")
    scenario = ph.Scenario(BODY, duration=1.0, method="rk4", step=0.25)
    given = {"interval": 0.5, "actions": {"force": 1.0}} | ({} if make == "environment" else {"num_envs": 2})
    for spoiled in (None, "text", {}, np.array(["a", "b"])):
        with pytest.raises(PolhodeError, match="observe must return numbers, not"):
            getattr(ph, make)(scenario, observe=lambda motions, spoiled=spoiled: spoiled, **given)
        env = getattr(ph, make)(scenario, ends=lambda motions, spoiled=spoiled: spoiled, **given)
        env.reset(seed=1)
        with pytest.raises(PolhodeError, match="ends"):
            env.step(np.zeros(env.action_space.shape))
