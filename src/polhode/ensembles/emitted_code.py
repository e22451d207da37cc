"""The hash of the code that a run executes: a store remembers it, so that a run is resumed by the same code only."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

from polhode.backends.loops import compile_loop
from polhode.engines.driver import drive, integrator_for
from polhode.model.scenario import Scenario

WIDTH = 8
"""Doubles in a vector of the text that is hashed: the same on every machine."""


class _Found(Exception):  # noqa: N818, not an error
    """Carries the record that a loop was to be bound to."""

    def __init__(self, record: Any) -> None:
        super().__init__()
        self.record = record


class _Spy:
    """In place of a program: says what it was to run on, before it runs."""

    def bind(self, record: Any) -> NoReturn:
        raise _Found(record)


def digest_emitted_code(scenario: Scenario) -> str:
    """The SHA-256 of the text that the loops and laws of an ensemble are compiled from; its functions are traced.

    Some members suffice: code does not depend on numbers.  Of Taylor series, which heyoka compiles, it is that of
    heyoka's version.
    """
    if scenario.used_method.is_taylor_series:
        return sha256(f"heyoka {_version_of('heyoka')}".encode()).hexdigest()
    changes: dict[str, Any] = {"engine": "cpu"}
    if hasattr(scenario, "precision"):  # of another engine, which runs the same laws
        changes["precision"] = "strict"
    integrator = integrator_for(replace(scenario, **changes), False, 1)
    program = integrator.plan.program
    integrator.plan = integrator.plan._replace(program=_Spy())  # type: ignore[arg-type]
    try:
        drive(integrator)
    except _Found as found:
        texts = compile_loop(program.function, found.record, program.unit_size, program.width or WIDTH)
        return sha256("\0".join(texts).encode()).hexdigest()
    raise AssertionError("a run has no loop")


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
