"""A run that is interrupted and resumed has every bit of one that is not, whatever it is and wherever it is killed."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import polhode as ph
from durable_cases import CASES
from polhode.archive.checkpoints import CheckpointChain
from polhode.errors import RunError
from polhode.integrate import contact_steps, integrator
from polhode.integrate.taylor import taylor_series as taylor
from polhode.solve import durable_run


class Killed(BaseException):
    """As if the process had ended."""


@pytest.fixture
def short_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every portion, and portions of a few steps."""
    monkeypatch.setattr(durable_run, "CHECKPOINT_S", 0.0)
    monkeypatch.setattr(durable_run, "CHECKPOINT_SHARE", 0.0)
    monkeypatch.setattr(integrator, "PORTION_S", 2e-5)
    monkeypatch.setattr(taylor, "FIRST_PORTION", 3)
    monkeypatch.setattr(taylor, "LARGEST_PORTION", 7)
    monkeypatch.setattr(contact_steps, "BUDGET", 5)
    monkeypatch.setattr(os, "fsync", lambda _: None)


def run_case(name: str, **options: Any) -> tuple[Any, str]:
    """The motion, also of a run that fails, and the sentence about the failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ph.simulate(**CASES[name], **options), ""
        except RunError as error:
            return error.motion, str(error)


def resume_until_done(name: str, store: Path, every: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, str, int]:
    """Run a case that is killed after every so many checkpoints; count how often."""
    write, kills = CheckpointChain.write, 0
    while True:
        left = every

        def write_and_die(self: Any, *arguments: Any) -> None:
            nonlocal left
            write(self, *arguments)
            left -= 1
            if left == 0:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(CheckpointChain, "write", write_and_die)
            try:
                return (*run_case(name, store=store, resume=True), kills)
            except Killed:
                kills += 1


def assert_same_bits(one: Any, other: Any) -> None:
    a, b = one.run_result, other.run_result
    for name in ("times", "samples", "checkpoints", "contact", "impact_totals", "impacts"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None), name
        if x is not None:
            assert x.shape == y.shape, name
            assert x.tobytes() == y.tobytes(), name
    assert (a.steps, a.refused, a.switches) == (b.steps, b.refused, b.switches)
    assert len(a.crossings) == len(b.crossings)
    for c, d in zip(a.crossings, b.crossings, strict=True):
        assert (c.event, c.body, c.time, c.name, c.ends) == (d.event, d.body, d.time, d.name, d.ends)
        assert c.sample.tobytes() == d.sample.tobytes()
    assert repr(a.auto_report) == repr(b.auto_report)
    if a.failure is not None or b.failure is not None:
        f, g = a.failure, b.failure
        assert (f.reason, f.time, f.body, f.event) == (g.reason, g.time, g.body, g.event)
        assert f.last_good.tobytes() == g.last_good.tobytes()
    for name in ("method", "formulation", "rtol", "atol", "breaks"):
        assert getattr(one.scenario, name) == getattr(other.scenario, name)
    if len(a.times) > 1:
        assert str(one.audit()) == str(other.audit())


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.long), 4])
@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_run_has_the_bits_of_one_that_is_not(
    name: str, every: int, tmp_path: Path, short_portions: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, sentence = run_case(name)
    store = tmp_path / "x.zarr"
    found, same, kills = resume_until_done(name, store, every, monkeypatch)
    assert kills > (4 if every == 1 else 0) or name == "taylor in lanes"
    assert same == sentence
    assert_same_bits(found, wanted)
    assert any(c.ends for c in found.run_result.crossings) == ("stops" in name or name == "auto with events")
    if not sentence:
        loaded = ph.load(store)
        assert loaded.run_result.samples.tobytes() == wanted.run_result.samples.tobytes()
        again, _ = run_case(name, store=store, resume=True)
        assert again.run_result.samples.tobytes() == wanted.run_result.samples.tobytes()
        assert sorted(os.listdir(tmp_path)) == ["x.zarr"]
