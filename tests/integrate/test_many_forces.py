"""A thousand different forces in one process."""

import os
import subprocess
import sys
from itertools import pairwise

import pytest

pytestmark = pytest.mark.long
MOST_MB = 200
SCRIPT = """
import time
import psutil
import polhode as ph

body, start = ph.Body(1.0, (1.0, 2.0, 2.5)), ph.State(velocity=(1, 2, 3), angular_velocity_body=(1.0, 2.0, 3.0))

def make(strength):
    @ph.force
    def push(t, state, body, params):
        return (strength * ph.sin(t + strength), -strength * state.velocity[1], 0.0), (0.0, strength, 0.0)
    return push

for k in range({count} + 1):
    began = time.process_time()
    ph.simulate(body, start, [make(1.0 + k / 1000)], duration=1.0, {settings})
    print(time.process_time() - began, psutil.Process().memory_info().rss / 1e6)
"""


@pytest.mark.parametrize(
    ("settings", "count"), [("method='rk4', step=0.05", 1000), ("method='dop853'", 400)], ids=["rk4", "dop853"]
)
def test_memory_grows_little_and_no_run_slows_down(settings, count):
    """More of either than are kept in memory: their growth is that of a thousand."""
    pytest.importorskip("psutil")
    script = SCRIPT.replace("{settings}", settings).replace("{count}", str(count))
    variables = {**os.environ, "POLHODE_CACHE": ""}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=variables, check=True)
    rows = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    assert len(rows) == count + 1
    assert rows[-1][1] - rows[0][1] < MOST_MB
    assert rows[-1][1] - rows[-100][1] < MOST_MB / 8, "programs that are no longer kept are freed"
    hundreds = [sorted(seconds for seconds, _ in rows[i : i + 100])[50] for i in range(1, count - 99, 100)]
    assert max(hundreds) < 2 * hundreds[0]
    assert all(later < 1.5 * earlier for earlier, later in pairwise(hundreds))
