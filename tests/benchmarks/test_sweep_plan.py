"""The plan of a sweep: its arithmetic against numbers worked out by hand, and the command that measures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from benchmarks.sweep_plan import SweepPlan, plan_costs

STORE = {"bytes_per_member": 200.0, "sample_bytes": 100, "files": 10, "record_bytes": 1000, "write_s": 1.0}
MEASURED = {
    "speed": {"step_ns": 10.0, "draw_ns_random": 0.0},
    "store": {"finals": {**STORE, "verify_s": 0.5}, "trajectory": {**STORE, "verify_s": 0.5}},
    "reductions": {name: {"bytes": 10.0, "task_bytes": 7} for name in ("finals", "trajectory")},
    "scheduler": {"seconds_per_task": 0.01},
}


def test_the_arithmetic_of_a_plan_against_numbers_worked_out_by_hand() -> None:
    plan = SweepPlan(members=65_536_000, machines=10, cores=10, steps=1000, outputs=3)
    found = plan_costs(plan, MEASURED)
    assert found["chunks"] == 1000
    assert found["compute_s"] == pytest.approx(65_536_000 * 1e-5 / 100)
    assert found["bytes"] == 65_536_000 * 400
    assert found["verify_s_one_process"] == pytest.approx(
        1000.0
    )  # 0.5 s for 200 bytes of each member, and 400 are kept
    assert found["files"] == 10_000
    assert found["scheduler_s"] == pytest.approx(10.0)
    assert found["partials_bytes_finals"] == 10_000


@pytest.mark.long
def test_the_command_measures_and_plans() -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "benchmarks.sweep_plan", "--quick"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600, check=True)
    found = json.loads(done.stdout)
    assert found["measured"]["store"]["finals"]["sample_bytes"] == 14 * 8
    assert found["plans"]["finals, CPU"]["chunks"] == 15_259
