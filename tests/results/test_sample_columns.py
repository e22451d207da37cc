"""The columns of a run's samples have names, and these name what the motion derives from them."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.equations.formulations import FORMULATIONS
from polhode.integrate.run_result import SampleColumns

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")


@pytest.mark.parametrize("counts_work", [False, True])
@pytest.mark.parametrize("form", FORMULATIONS.values(), ids=FORMULATIONS)
def test_columns_cover_a_row_once(form, counts_work):
    columns = SampleColumns.of(form.sizes, counts_work)
    row = np.arange(sum(form.sizes) + counts_work + 1)
    groups = [row[part].tolist() for part in (columns.position, columns.attitude, columns.momentum, columns.spin)]
    assert [len(group) for group in groups] == list(form.sizes)
    assert [i for group in groups for i in group] == row[columns.state].tolist()
    assert row[columns.integrated].tolist() == row[columns.state].tolist() + ([columns.work] if counts_work else [])
    assert row[columns.drift] == row[-1]


@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor", "exact"])
def test_every_engine_names_its_columns(method):
    settings = {"step": 0.1} if method == "rk4" else {}
    engine = "cpu" if method == "taylor" else "python"
    start = ph.State(velocity=(1.0, 0.0, 2.0), angular_velocity_body=(0.0, 0.0, 3.0))
    body = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5))
    motion = ph.simulate(body, start, [ph.forces.gravity()], duration=1.0, method=method, engine=engine, **settings)
    run = motion.run_result
    assert (run.samples[:, 0, run.columns.position] == motion.position).all()
    assert (run.samples[:, 0, run.columns.momentum] == motion.linear_momentum).all()
    assert (run.samples[:, 0, run.columns.work] == motion.work).all()
    assert (run.samples[:, 0, run.columns.drift] == motion.attitude_drift).all()
    gained = motion.kinetic_energy - motion.kinetic_energy[0]
    assert motion.work == pytest.approx(gained, abs=1e-9)
