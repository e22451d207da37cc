"""Programs of live pages, run by Node."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

COMPUTE = """
const { polhode_answer } = require(process.argv[1]);
const answer = polhode_answer({ id: 1, run: Number(process.argv[2]), knobs: JSON.parse(process.argv[3]) });
if (answer.refused) process.exit(3);
process.stdout.write(Buffer.concat([Buffer.from(answer.time.buffer), Buffer.from(answer.seen.buffer)]));
"""


def computed(program, run: int, values, folder):
    """What the program computes for these values: times, and columns by name."""
    if shutil.which("node") is None:
        pytest.skip("no Node")
    path = folder / "program.cjs"
    path.write_text(program.text)
    knobs = json.dumps([values[knob.name] for knob in program.knobs])
    done = subprocess.run(["node", "-e", COMPUTE, path, str(run), knobs], check=True, capture_output=True)
    seen = program.runs[run].observables
    numbers = np.frombuffer(done.stdout)
    count = len(numbers) // (1 + seen.size)
    rows = numbers[count:].reshape(count, seen.size)
    return numbers[:count], {c.name: rows[:, c.start : c.start + c.size] for c in seen.columns}
