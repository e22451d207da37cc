"""The compiled code is kept on disk, found again by another process, and never found when an equation has changed."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.long

PROBE = """
import json, sys
sys.path.insert(0, {folder!r})
import polhode as ph
from polhode.engines import prepare
{setup}
body = ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0))
motion = ph.simulate(body, forces={forces}, duration=1.0, step=0.1, method="euler")
stats = prepare.prepare_kernel(prepare.structure_of(motion.scenario, True)).advance.stats
hits, misses = (sum(counted.values()) for counted in (stats.cache_hits, stats.cache_misses))
print(json.dumps({{"x": motion.final.position[0], "hits": hits, "misses": misses}}))
"""


def probe(folder, setup="", forces="[ph.forces.gravity((1.0, 0.0, 0.0))]", **environment):
    script = folder / "probe.py"
    script.write_text(textwrap.dedent(PROBE.format(folder=str(folder), setup=setup, forces=forces)))
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **environment}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=variables, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing_nor_do_other_numbers(tmp_path):
    first = probe(tmp_path, PYTHONHASHSEED="1")
    second = probe(tmp_path, PYTHONHASHSEED="2")
    assert (first["misses"], second["misses"], second["hits"]) == (1, 0, 1)
    assert first["x"] == second["x"] == pytest.approx(0.45)
    again = probe(tmp_path, forces="[ph.forces.gravity((2.0, 0.0, 0.0))]")
    assert again["misses"] == 0
    assert again["x"] == pytest.approx(0.9)


USER = """
import helper
K = {k}
@ph.force
def push(t, state, body, params):
    return (K * helper.strength(t), 0.0, 0.0), (0.0, 0.0, 0.0)
"""
HELPER = "import polhode as ph\n@ph.law\ndef strength(t):\n    return {strength} + 0.0 * t\n"


def test_a_user_s_force_is_kept_and_an_edited_helper_or_constant_is_noticed(tmp_path):
    answers = []
    for strength, k in ((1.0, 1.0), (1.0, 1.0), (3.0, 1.0), (3.0, 2.0)):
        (tmp_path / "helper.py").write_text(HELPER.format(strength=strength))
        answers.append(probe(tmp_path, USER.format(k=k), "[push]"))
    assert [answer["misses"] for answer in answers] == [1, 0, 1, 1]
    assert [answer["x"] for answer in answers] == pytest.approx([0.45, 0.45, 1.35, 2.7])


def test_old_and_new_code_in_one_process_do_not_meet(tmp_path):
    """Symbols of cached and of new machine code share one space: each method must still give its own answer."""
    script = tmp_path / "both.py"
    script.write_text(
        "import sys, polhode as ph\n"
        "body, spin = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5)), ph.State(angular_velocity_body=(1.0, 2.0, 3.0))\n"
        "for m in sys.argv[1:]:\n"
        "    print(m, ph.simulate(body, spin, duration=1.0, step=0.1, method=m).final.quaternion_wxyz.tolist())\n"
    )
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*methods):
        done = subprocess.run(
            [sys.executable, str(script), *methods], capture_output=True, text=True, env=variables, check=True
        )
        return sorted(done.stdout.splitlines())

    alone = run("euler")
    before = set((tmp_path / "cache").rglob("*.nbi"))
    alone = sorted(alone + run("rk4"))
    of_rk4 = set((tmp_path / "cache").rglob("*.nbi")) - before
    assert before
    assert of_rk4
    for order in (("euler", "rk4"), ("rk4", "euler")):
        assert run(*order) == alone
        for file in of_rk4:  # forget one half, so that old and new code meet
            file.unlink()
        assert run(*order) == alone
    assert run("euler", "rk4") == alone


def test_importing_polhode_loads_nothing_heavy():
    heavy = ("numba", "scipy", "xarray", "matplotlib", "zarr")
    code = f"import sys, polhode; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
