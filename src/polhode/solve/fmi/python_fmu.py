"""The files of a Python-based FMU: for scenarios that cannot be written as C.  It runs where Polhode is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from polhode.errors import ForceError, ScenarioError
from polhode.installation import install_hint
from polhode.integrate.traced_functions import trace_functions
from polhode.scenario.method_choice import AUTO, RUNGE_KUTTA
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.scenario import Scenario

SCRIPT = '''\
"""The motion of a Polhode scenario, for pythonfmu."""

from pathlib import Path

from polhode.solve.fmi.python_slave import SlaveMotion
from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Status


class PolhodeSlave(Fmi2Slave):
    # pythonfmu does not survive an exception after the initialization: a step that fails is discarded instead, and so
    # is the step after a value that was refused, and every step after parameters that no body has.

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.motion = SlaveMotion.load(Path(self.resources) / "scenario.pickle")

    def setup_experiment(self, start_time, stop_time, tolerance):
        self.motion.set_experiment(start_time, stop_time)

    def exit_initialization_mode(self):
        try:
            self.motion.begin()
        except Exception as error:
            self.motion.give_up(str(error))
            self.log(str(error), Fmi2Status.error)

    def do_step(self, current_time, step_size):
        try:
            self.motion.step(current_time, step_size)
        except Exception as error:
            self.log(str(error), Fmi2Status.error)
            return False
        return True

    def terminate(self):
        self.motion.terminate()

    def get_real(self, vrs):
        return self.motion.get(vrs)

    def set_real(self, vrs, values):
        try:
            self.motion.set(vrs, values)
        except Exception as error:
            self.motion.refused = str(error)
            self.log(str(error), Fmi2Status.error)

    def _get_fmu_state(self):
        return {"motion": self.motion.save()}

    def _set_fmu_state(self, state):
        self.motion.restore(state["motion"])

    @staticmethod
    def _fmu_state_to_bytes(state):
        return state["motion"]

    @staticmethod
    def _fmu_state_from_bytes(state):
        return {"motion": bytes(state)}
'''


def settle_for_python(scenario: Scenario) -> Scenario:
    """The scenario as a Python-based FMU runs it: in plain Python, if a function of it cannot be compiled."""
    if scenario.members is not None:
        raise ScenarioError("an FMU is one motion: take a member of the ensemble, scenario.take(0)")
    if scenario.method == AUTO:
        scenario = replace(scenario, method=RUNGE_KUTTA.name)
    if scenario.engine == "gpu":  # it runs on other machines, one body at a time
        scenario = replace(scenario, engine="cpu", precision="strict")
    check_user_functions(scenario)
    try:
        trace_functions(scenario)
    except (ForceError, ScenarioError):
        return replace(scenario, engine="python")
    return scenario


def python_entries(scenario: Scenario, identifier: str) -> dict[str, bytes]:
    """The files of the FMU besides its description."""
    try:
        import cloudpickle
        import pythonfmu
    except ImportError as error:
        raise ScenarioError(
            f"a Python-based FMU needs {error.name}: {install_hint('fmu')}, here and where the FMU runs"
        ) from None
    entries = {
        "resources/polhode_slave.py": SCRIPT.encode(),
        "resources/slavemodule.txt": b"polhode_slave",
    }
    with _functions_by_value(scenario, cloudpickle):
        entries["resources/scenario.pickle"] = cloudpickle.dumps(scenario)
    package = Path(pythonfmu.__file__).parent
    for path in sorted(package.glob("*.py")):
        entries[f"resources/pythonfmu/{path.name}"] = path.read_bytes()
    binaries = package / "resources" / "binaries"
    for path in sorted(binaries.rglob("*")):
        if path.suffix in (".so", ".dll", ".dylib"):
            platform = path.parent.relative_to(binaries).as_posix()
            entries[f"binaries/{platform}/{identifier}{path.suffix}"] = path.read_bytes()
    return entries


@contextmanager
def _functions_by_value(scenario: Scenario, cloudpickle: Any) -> Iterator[None]:
    """Store the code of the modules in which a user's functions are, since the target does not have them."""
    functions = [f.function for f in scenario.forces] + [e.function for e in scenario.events]
    names = {getattr(function, "__module__", None) for function in functions if function is not None}
    modules = [sys.modules[n] for n in names if n in sys.modules and n != "__main__" and not n.startswith("polhode")]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)
