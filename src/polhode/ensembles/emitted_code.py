"""The hash of the code that a run executes: a store remembers it, so that a run is resumed by the same code only."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any, NoReturn

from polhode.archive.manifest import version_of
from polhode.integrate.driver import drive, integrator_for
from polhode.integrate.run_plan import RunPlan
from polhode.ir.graph import TraceError
from polhode.ir.program import Program
from polhode.scenario.scenario import Scenario
from polhode.solve.scenario_description import digest_functions


class _Found(Exception):  # noqa: N818, not an error
    """Carries the record that a loop was to be bound to."""

    def __init__(self, record: Any) -> None:
        super().__init__()
        self.record = record


class _Spy(Program):
    """In place of a program: says what it was to run on, before it runs."""

    def __init__(self) -> None:
        """It needs nothing of a program."""

    def bind(self, record: Any) -> NoReturn:
        raise _Found(record)


def digest_emitted_code(scenario: Scenario) -> str:
    """The SHA-256 of the text that the loops and laws of an ensemble are compiled from; its functions are traced.

    Some members suffice: code does not depend on numbers.  Of Taylor series, which heyoka compiles, it is that of
    heyoka's version and of the functions of the user; of functions that cannot be compiled, of them alone.
    """
    if scenario.used_method.is_taylor_series:
        return _digest_functions(scenario, f"heyoka {version_of('heyoka')}")
    try:
        return _digest_loop(scenario)
    except TraceError:
        if scenario.engine != "python":
            raise
        return _digest_functions(scenario, "not compiled")


def _digest_functions(scenario: Scenario, compiler: str) -> str:
    return sha256("\0".join((compiler, *digest_functions(scenario))).encode()).hexdigest()


def _digest_loop(scenario: Scenario) -> str:
    integrator = integrator_for(RunPlan(replace(scenario, engine="cpu", precision="strict"), counts_work=False), 1)
    program = integrator.plan.program
    assert isinstance(program, Program)
    integrator.plan = integrator.plan._replace(program=_Spy())
    try:
        drive(integrator)
    except _Found as found:
        return program.digest(found.record)
    raise AssertionError("a run has no loop")
