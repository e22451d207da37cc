"""Basilisk: the hub of a spacecraft with nothing attached, RK4 and RKF78.

Weight is a constant external force, drag its cannonball model in air of constant density, the thruster an external
force and torque in body axes that is switched at the edges of its window.  Steps are whole nanoseconds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from Basilisk.architecture import bskLogging, messaging
    from Basilisk.simulation import dragDynamicEffector, extForceTorque, spacecraft, svIntegrators
    from Basilisk.utilities import RigidBodyKinematics, SimulationBaseClass

from benchmarks.contestant import Contestant, ProblemData, TimedRun, UnsupportedProblemError
from polhode.scenario.scenario import Scenario

NANO = 1_000_000_000
LIMIT_S = 1.0
FAR_FUTURE_S = 1e9
"""A tolerance that no step exceeds: RKF78 makes its own steps only within the task's, so the task's are varied."""


class BasiliskSimulation:
    """The simulation of a task with steps given in nanoseconds."""

    def __init__(self, task: ProblemData, step: int, scheme: str) -> None:
        self.task = task
        self.simulation = SimulationBaseClass.SimBaseClass()
        process = self.simulation.CreateNewProcess("process")
        process.addTask(self.simulation.CreateNewTask("task", step))
        self.hub = spacecraft.Spacecraft()
        self.hub.ModelTag = "hub"
        self.integrator = getattr(svIntegrators, f"svIntegrator{scheme}")(self.hub)
        if scheme == "RKF78":
            self.integrator.setRelativeTolerance(FAR_FUTURE_S)
            self.integrator.setAbsoluteTolerance(FAR_FUTURE_S)
        self.hub.setIntegrator(self.integrator)
        self._load()
        self.simulation.AddModelToTask("task", self.hub)
        self.loads = self._forces()
        self._fire(False)
        self.simulation.InitializeSimulation()

    def _load(self) -> None:
        hub, task = self.hub.hub, self.task
        hub.mHub = task.mass
        hub.r_BcB_B = [[0.0], [0.0], [0.0]]
        hub.IHubPntBc_B = np.diag(task.central_moments).tolist()
        hub.r_CN_NInit = _column_vector(task.position)
        hub.v_CN_NInit = _column_vector(task.velocity)
        hub.sigma_BNInit = _column_vector(RigidBodyKinematics.EP2MRP(np.array(task.quaternion)))
        hub.omega_BN_BInit = _column_vector(task.spin_body)

    def _forces(self) -> list[Any]:
        """The effectors, which must stay alive; the last one is the thruster if there is one."""
        task, loads = self.task, []
        if any(task.gravity):
            weight = extForceTorque.ExtForceTorque()
            weight.extForce_N = _column_vector([task.mass * g for g in task.gravity])
            loads.append(weight)
        if task.drag:
            drag = dragDynamicEffector.DragDynamicEffector()
            drag.coreParams.projectedArea, drag.coreParams.dragCoeff = 1.0, 2 * task.drag
            drag.coreParams.comOffset = [0.0, 0.0, 0.0]
            self.air = messaging.AtmoPropsMsg().write(messaging.AtmoPropsMsgPayload(neutralDensity=1.0))
            drag.atmoDensInMsg.subscribeTo(self.air)
            loads.append(drag)
        if task.thruster:
            loads.append(extForceTorque.ExtForceTorque())
        for load in loads:
            self.hub.addDynamicEffector(load)
            self.simulation.AddModelToTask("task", load)
        return loads

    def go(self) -> None:
        """Run, and switch the thruster."""
        for _, to, fires in self.task.segments:
            self._fire(fires)
            self.simulation.ConfigureStopTime(round(to * NANO))
            self.simulation.ExecuteSimulation()

    def _fire(self, fires: bool) -> None:
        if self.task.thruster:
            on = float(fires)
            self.loads[-1].extForce_B = _column_vector([on * f for f in self.task.thruster.force_body])
            self.loads[-1].extTorquePntB_B = _column_vector([on * t for t in self.task.thruster.torque_body])

    def state(self) -> tuple[Any, Any]:
        """Attitude, and position if it is asked for."""
        found = self.hub.scStateOutMsg.read()
        return RigidBodyKinematics.MRP2EP(np.array(found.sigma_BN)), found.r_CN_N if self.task.moves else None


def _column_vector(vector: Any) -> list[list[float]]:
    return [[float(component)] for component in vector]


class BasiliskRun:
    """A model that is built anew for every run, since Basilisk's cannot be wound back without complaints."""

    def __init__(self, task: ProblemData, steps: int, scheme: str) -> None:
        self.arguments = task, round(task.duration * NANO) // steps, scheme

    def reset(self) -> None:
        """Build it."""
        self.model = BasiliskSimulation(*self.arguments)

    def go(self) -> None:
        """Run it."""
        self.model.go()

    def state(self) -> tuple[Any, Any]:
        """Look at it."""
        return self.model.state()


def _attempts(scheme: str, per_second: float) -> Callable[[ProblemData, Scenario], Iterator[TimedRun]]:
    def attempts(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
        if task.pivot_to_com is not None:
            raise UnsupportedProblemError("its hub has no pivot")
        if not task.is_physical:
            raise UnsupportedProblemError("refuses moments that no solid has")
        bskLogging.setDefaultLogLevel(bskLogging.BSK_ERROR)
        total = round(task.duration * NANO)
        for about in task.counts(per_second):
            steps = next(n for n in range(about, total, task.fewest_steps) if total % n == 0)
            model = BasiliskRun(task, steps, scheme)
            yield TimedRun(task.duration / steps, model.reset, model.go, model.state)

    return attempts


def contestants() -> list[Contestant]:
    """Fourth and eighth order, fixed steps."""
    return [
        Contestant("Basilisk RK4", "basilisk", _attempts("RK4", 4), limit_s=LIMIT_S),
        Contestant("Basilisk RKF78", "basilisk", _attempts("RKF78", 1), limit_s=LIMIT_S),
    ]
