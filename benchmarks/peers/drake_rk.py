"""Drake: a MultibodyPlant in continuous time, RK3 with error control and RK5 with fixed steps.

The top stands on a BallRpyJoint, the thruster is a Propeller; quadratic drag, which Drake does not have, is a
SymbolicVectorSystem, evaluated in C++.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant, Propeller
from pydrake.multibody.tree import BallRpyJoint, SpatialInertia, UnitInertia
from pydrake.symbolic import Expression, MakeVectorVariable, sqrt
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import SymbolicVectorSystem

from benchmarks.contestant import Contestant, ProblemData, TimedRun, UnsupportedProblemError
from polhode.scenario.scenario import Scenario

ACCURACIES = tuple(10.0**-n for n in range(2, 15, 2))
LIMIT_S = 1.0


class DrakeSimulation:
    """The diagram of a task: plant, drag, propeller."""

    def __init__(self, task: ProblemData) -> None:
        self.task = task
        builder = DiagramBuilder()
        self.plant = builder.AddSystem(MultibodyPlant(time_step=0.0))
        center = np.array(task.pivot_to_com or (0.0, 0.0, 0.0))
        inertia = SpatialInertia(
            task.mass, center, UnitInertia(*(m / task.mass for m in task.moments)), skip_validity_check=False
        )
        self.body = self.plant.AddRigidBody("body", inertia)
        self.plant.mutable_gravity_field().set_gravity_vector(task.gravity)
        if task.pivot_to_com is not None:
            world, frame = self.plant.world_frame(), self.body.body_frame()
            self.joint = self.plant.AddJoint(BallRpyJoint("pivot", world, frame))
        self.plant.Finalize()
        self.propeller = _add_propeller(builder, self.plant, self.body, task) if task.thruster else None
        if task.drag:
            _add_drag(builder, self.plant, task)
        self.diagram = builder.Build()
        self.simulator = Simulator(self.diagram)

    @property
    def context(self) -> Any:
        """The plant's part of the simulator's state."""
        return self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())

    def reset(self) -> None:
        """Back to the start."""
        self.simulator.get_mutable_context().SetTime(0.0)
        q = np.array((*self.task.quaternion, *self.task.position))
        turning = RotationMatrix(_normalize(self.task.quaternion)).multiply(np.array(self.task.spin_body))
        if self.task.pivot_to_com is not None:
            angles = RollPitchYaw(RotationMatrix(_normalize(self.task.quaternion))).vector()
            self.plant.SetPositionsAndVelocities(self.context, np.concatenate((angles, turning)))
        else:
            self.plant.SetPositionsAndVelocities(self.context, np.concatenate((q, turning, self.task.velocity)))
        self._fire(False)
        self.simulator.Initialize()

    def go(self) -> None:
        """Run, and switch the propeller on and off."""
        for _, to, fires in self.task.segments:
            self._fire(fires)
            self.simulator.AdvanceTo(to)

    def _fire(self, fires: bool) -> None:
        if self.propeller is not None:
            port = self.propeller.get_command_input_port()
            port.FixValue(self.propeller.GetMyContextFromRoot(self.simulator.get_mutable_context()), [float(fires)])

    def state(self) -> tuple[Any, Any]:
        """Attitude, and position if it is asked for."""
        pose = self.plant.EvalBodyPoseInWorld(self.context, self.body)
        return pose.rotation().ToQuaternion().wxyz(), pose.translation() if self.task.moves else None


def _normalize(quaternion: tuple[float, ...]) -> Any:
    from pydrake.common.eigen_geometry import Quaternion

    wxyz = np.array(quaternion)
    return Quaternion(wxyz / np.linalg.norm(wxyz))


def _add_propeller(builder: Any, plant: Any, body: Any, task: ProblemData) -> Any:
    """Thrust along its own z axis at the nozzle."""
    assert task.thruster is not None
    thrust = float(np.linalg.norm(task.thruster.force_body))
    axis = np.array(task.thruster.force_body) / thrust
    pose = RigidTransform(RotationMatrix.MakeFromOneVector(axis, 2), np.array(task.thruster.nozzle))
    propeller = builder.AddSystem(Propeller(body.index(), pose, thrust, 0.0))
    builder.Connect(plant.get_body_poses_output_port(), propeller.get_body_poses_input_port())
    builder.Connect(propeller.get_spatial_forces_output_port(), plant.get_applied_spatial_force_input_port())
    return propeller


def _add_drag(builder: Any, plant: Any, task: ProblemData) -> None:
    """-c |v| v on the center of mass, from the plant's state (q, x, w, v) to its generalized forces."""
    y = MakeVectorVariable(13, "y")
    u, v, w = y[10:13]
    factor = -task.drag * sqrt(u * u + v * v + w * w)
    push = [Expression(0.0)] * 3 + [factor * component for component in (u, v, w)]
    idle = MakeVectorVariable(1, "idle")  # Drake 1.51 aborts if such a system has no state
    drag = builder.AddSystem(SymbolicVectorSystem(input=y, state=idle, dynamics=[Expression(0.0)], output=push))
    builder.Connect(plant.get_state_output_port(), drag.get_input_port())
    builder.Connect(drag.get_output_port(), plant.get_applied_generalized_force_input_port())


def error_controlled_runs(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
    """RK3 with error control, as Drake runs by default; steps of at most 0.1 s."""
    _check_supported(task)
    for accuracy in ACCURACIES:
        model = DrakeSimulation(task)
        ResetIntegratorFromFlags(model.simulator, "runge_kutta3", 0.1)
        model.simulator.get_mutable_integrator().set_target_accuracy(accuracy)
        yield TimedRun(accuracy, model.reset, model.go, model.state)


def fixed_step_runs(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
    """RK5 with ever more steps: its error control comes to a stand on the top."""
    _check_supported(task)
    for steps in task.counts(factor=4):
        model = DrakeSimulation(task)
        ResetIntegratorFromFlags(model.simulator, "runge_kutta5", task.duration / steps)
        model.simulator.get_mutable_integrator().set_fixed_step_mode(True)
        yield TimedRun(task.duration / steps, model.reset, model.go, model.state)


def _check_supported(task: ProblemData) -> None:
    if not task.is_physical:
        raise UnsupportedProblemError("refuses moments that no solid has")


def contestants() -> list[Contestant]:
    """Third order with error control, fifth with fixed steps."""
    return [
        Contestant("Drake RK3", "drake", error_controlled_runs, limit_s=LIMIT_S),
        Contestant("Drake RK5", "drake", fixed_step_runs, limit_s=LIMIT_S),
    ]
