"""PTX of a step: LLVM's own assembler is the judge of its form; nothing may be fused, or the bits would differ."""

from __future__ import annotations

import re

import numpy as np
import pytest

import polhode as ph
from polhode.backends.graph import TraceError
from polhode.backends.ptx import ptx
from polhode.solve.write_source import source_of

BODY = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5))


@ph.force
def gusts(t, state, body, params):
    return (np.interp(state.position[2], (0.0, 1.0, 5.0), (1.0, 3.0, 2.0)), 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.force
def periodic(t, state, body, params):
    return (t % 0.25, 0.0, 0.0), (0.0, 0.0, 0.0)


def ptx_of(*forces):
    program = source_of(ph.Scenario(BODY, forces=forces, duration=1.0, step=0.1, method="rk4"), "c")
    sizes = program.initial_states.shape[1], program.parameters.shape[1]
    return ptx(program.traced[0].trace, *sizes, chip="sm_80")


def test_a_step_becomes_a_kernel_without_fused_operations():
    text = ptx_of(ph.forces.gravity(), ph.forces.linear_drag(0.3))
    assert ".target sm_80" in text
    assert re.search(r"\.visible \.entry polhode_steps\(", text)
    assert "fma" not in text
    assert text.count("mul.rn.f64") > 100


def test_tables_lie_in_the_module():
    assert re.search(r"\.global .*table", ptx_of(gusts()))


def test_what_does_not_change_is_computed_before_the_loop():
    """The mass times gravity is one product, not four for every step: no load after the label of the loop."""
    text = ptx_of(ph.forces.gravity())
    loop = text[text.index("_2:") : text.rindex("bra")]
    assert "ld.global" not in loop


def test_remainders_are_refused():
    with pytest.raises(TraceError, match="other bits"):
        ptx_of(periodic())
