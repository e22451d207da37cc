"""The table of quantities: what every motion has as an attribute, and what knows a quantity by its name.

To add a quantity, add a row here, with its law: the attribute, the dataset, tables, CSV, reductions, panels of plots
and of the page, and the reference page follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polhode import rotations
from polhode.equations import invariants
from polhode.equations.scalar_ops import sqrt
from polhode.equations.vectors import dot
from polhode.quantities import dynamics, laws
from polhode.quantities.quantity import Quantity

_AXIS, _BODY = ("axis",), ("body_axis",)

NEEDS: dict[str, Any] = {
    "": lambda motion: True,
    "known forces": lambda motion: not motion.unknown_forces,
    "known forces, no mass course": lambda motion: not motion.unknown_forces and motion.scenario.mass_course is None,
    "a force with a potential": lambda motion: (
        not motion.unknown_forces and any(f.potential is not None for f in motion.scenario.forces)
    ),
    "a pivot": lambda motion: not motion.unknown_forces and motion.scenario.pivot is not None,
    "contacts": lambda motion: bool(motion.scenario.contacts),
    "rotors": lambda motion: bool(motion.scenario.rotors),
    "rotors, known forces": lambda motion: not motion.unknown_forces and bool(motion.scenario.rotors),
    "a mass course": lambda motion: motion.scenario.mass_course is not None,
    "counted it, as single runs do": lambda motion: motion.run_result.columns.work is not None,
    "the formulation momentum_matrix": lambda motion: motion.scenario.form.keeps_matrix,
    "several bodies": lambda motion: motion.scenario.is_system,
}
"""What a motion must have, in words, so that datasets and tables have a quantity: (motion) -> whether it has."""


class MotionQuantities:
    """The quantities of a motion, which are its attributes.

    Arrays have the time first, then the member of an ensemble, the body of a system, then components.  World axes, SI
    units, except where the name says body.
    """

    position = Quantity(
        "m",
        "position of the center of mass, world axes",
        _AXIS,
        title="position",
        law=lambda t, s, b: s.position,
        stored=True,
        csv=True,
    )
    quaternion_wxyz = Quantity(
        "1",
        "orientation, body to world, scalar first",
        ("wxyz",),
        title="quaternion, body to world",
        law=lambda t, s, b: s.orientation,
        symbol="q",
        stored=True,
        csv=True,
        more="""As the run has computed it: its rotation is that of q/|q|.  Its length departs from 1 by
        `attitude_drift` with `renormalize=False`; of the formulation "momentum_matrix" it is made of the matrix, whose
        drift it shows.""",
    )
    velocity = Quantity(
        "m s-1",
        "velocity of the center of mass, world axes",
        _AXIS,
        title="velocity",
        law=lambda t, s, b: s.velocity,
        symbol="v",
        csv=True,
    )
    speed = Quantity(
        "m s-1",
        "speed of the center of mass",
        title="speed",
        law=lambda t, s, b: sqrt(dot(s.velocity, s.velocity)),
        symbol="|v|",
    )
    angular_velocity = Quantity(
        "rad s-1",
        "angular velocity, world axes",
        _AXIS,
        law=lambda t, s, b: s.angular_velocity,
        symbol="ω",
        csv=True,
    )
    angular_velocity_body = Quantity(
        "rad s-1",
        "angular velocity, body axes",
        _BODY,
        law=lambda t, s, b: s.angular_velocity_body,
        symbol="ω",
        csv=True,
    )
    angular_speed = Quantity(
        "rad s-1", "angular speed", law=lambda t, s, b: sqrt(dot(s.angular_velocity, s.angular_velocity)), symbol="|ω|"
    )
    linear_momentum = Quantity(
        "kg m s-1",
        "linear momentum, world axes",
        _AXIS,
        law=lambda t, s, b: s.linear_momentum,
        symbol="P",
        stored=True,
        csv=True,
    )
    angular_momentum = Quantity(
        "kg m2 s-1",
        "angular momentum about the center of mass, world axes",
        _AXIS,
        title="angular momentum, world axes",
        law=lambda t, s, b: s.angular_momentum,
        symbol="L",
        stored=True,
        csv=True,
    )
    euler_angles = Quantity(
        "rad",
        "Euler angles (phi, theta, psi): about z, then the new x, then the new z",
        ("euler_angle",),
        title="Euler angles (z, x, z)",
        of_motion=lambda motion: rotations.angles_within_a_turn(motion.quaternion_wxyz),
        at_events=True,
        is_angle=True,
        more="""-pi < phi <= pi, 0 <= theta <= pi, -pi < psi <= pi: `np.unwrap(motion.euler_angles[:, 0])` follows phi
        beyond.  Where theta is 0 or pi, to rounding, only phi + psi or phi - psi is known: there psi is 0.
        [Christian 2011, section 17.3.1]""",
    )
    yaw_pitch_roll = Quantity(
        "rad",
        "yaw, pitch and roll, of the body from the world's axes: about z, then the new y, then the new x",
        ("yaw_pitch_roll_angle",),
        title="yaw, pitch and roll (z, y, x)",
        of_motion=lambda motion: rotations.yaw_pitch_roll_of(motion.quaternion_wxyz),
        at_events=True,
        is_angle=True,
        more="""-pi < yaw <= pi, -pi/2 <= pitch <= pi/2, -pi < roll <= pi.  From north, east, down:
        `in_frame("ned")`.""",
    )
    rotation_matrix = Quantity(
        "1",
        "rotation matrix R, body to world, as the run has computed it",
        ("row", "column"),
        title="rotation matrix",
        of_motion=laws.rotation_matrix,
        at_events=True,
        symbol="R",
        more="""The formulation "momentum_matrix" integrates R itself and never repairs it: it departs from a rotation
        by `attitude_drift`.  All others turn by R(q/|q|), whatever the length of their quaternion.
        `orthonormal_rotation_matrix` is a rotation in every case.  [Baraff 1997, section 4]""",
    )
    orthonormal_rotation_matrix = Quantity(
        "1",
        "rotation matrix R(q/|q|), body to world, a rotation to rounding also where `rotation_matrix` has drifted",
        ("row", "column"),
        title="rotation matrix, orthonormal",
        of_motion=laws.orthonormal_rotation_matrix,
        at_events=True,
        needs="the formulation momentum_matrix",
    )
    inertia_world = Quantity(
        "kg m2",
        "inertia tensor R I_body R^T about the center of mass, world axes",
        ("row", "column"),
        title="inertia tensor, world axes",
        of_motion=laws.inertia_world,
        at_events=True,
        symbol="I",
        more="[Baraff 1997, eq. 2-39]",
    )
    translational_energy = Quantity(
        "J",
        "translational energy M v2/2 of each body",
        title="translational energy",
        law=lambda t, s, b: invariants.translational_energy(s),
    )
    rotational_energy = Quantity(
        "J",
        "rotational energy w . (I w)/2 of each body",
        title="rotational energy",
        law=lambda t, s, b: invariants.rotational_energy(s),
    )
    kinetic_energy = Quantity(
        "J",
        "kinetic energy of each body",
        title="kinetic energy",
        law=lambda t, s, b: invariants.kinetic_energy(s),
        csv=True,
        more="[Hydra 2017, eq. 4.27]",
    )
    total_kinetic_energy = Quantity(
        "J",
        "kinetic energy of all bodies of a system together",
        title="kinetic energy of the system",
        of_motion=laws.total_kinetic_energy,
        at_events=True,
        of_system=True,
        needs="several bodies",
        more="[Hydra 2017, eq. 4.27]",
    )
    potential_energy = Quantity(
        "J",
        "potential energy: the sum over all forces that have one, of a whole system",
        title="potential energy",
        of_motion=dynamics.potential_energy,
        needs="a force with a potential",
        of_system=True,
    )
    energy = Quantity(
        "J",
        "kinetic energy (summed over the bodies of a system) plus potential energy",
        title="energy",
        of_motion=dynamics.energy,
        symbol="E",
        needs="a force with a potential",
        of_system=True,
    )
    acceleration = Quantity(
        "m s-2",
        "acceleration of the center of mass, world axes",
        _AXIS,
        title="acceleration",
        of_motion=dynamics.acceleration,
        symbol="a",
        needs="known forces",
    )
    angular_acceleration = Quantity(
        "rad s-2",
        "angular acceleration: the rate of the angular velocity, world axes",
        _AXIS,
        title="angular acceleration",
        of_motion=dynamics.angular_acceleration,
        symbol="α",
        needs="known forces, no mass course",
    )
    reaction_force = Quantity(
        "N",
        "force of the pivot on the body, M a - F, world axes",
        _AXIS,
        title="force of the pivot",
        of_motion=dynamics.reaction_force,
        needs="a pivot",
    )
    mass = Quantity(
        "kg",
        "mass of each body",
        title="mass",
        of_motion=laws.mass,
        at_events=True,
        symbol="M",
        needs="a mass course",
        stored=True,
        on_page=True,
        more="It changes only with a `mass_course`.",
    )
    center_of_mass = Quantity(
        "m",
        "center of mass in each body, in the coordinates of `body.center_of_mass`",
        _AXIS,
        title="center of mass in the body",
        of_motion=laws.center_of_mass,
        at_events=True,
        needs="a mass course",
        more="It moves only with a `mass_course`.",
    )
    rotor_speed = Quantity(
        "rad s-1",
        "speed of each rotor relative to its body",
        ("rotor",),
        title="speed of the rotors",
        of_motion=laws.rotor_speed,
        at_events=True,
        needs="rotors",
        of_system=True,
        stored=True,
        on_page=True,
    )
    rotor_momentum = Quantity(
        "kg m2 s-1",
        "angular momentum of each rotor along its axis, J (a . w + speed)",
        ("rotor",),
        title="angular momentum of the rotors",
        of_motion=laws.rotor_momentum,
        at_events=True,
        needs="rotors",
        of_system=True,
        stored=True,
    )
    rotor_torque = Quantity(
        "N m",
        "torque of the motor on each rotor, within its limits",
        ("rotor",),
        title="torque of the motors",
        of_motion=laws.rotor_torque,
        needs="rotors, known forces",
        of_system=True,
    )
    work = Quantity(
        "J",
        "work done by the forces on each body since the start",
        title="work",
        of_motion=laws.work,
        symbol="W",
        needs="counted it, as single runs do",
        stored=True,
        more="None for an ensemble, which does not count it.",
    )
    attitude_drift = Quantity(
        "1",
        "largest deviation of the attitude from a rotation since the previous output, before any rescaling",
        title="drift of the attitude",
        of_motion=laws.attitude_drift,
        at_events=True,
        stored=True,
        more="||q| - 1| for quaternions, the largest entry of |R^T R - 1| for matrices, 0 for Euler angles.",
    )
    contact_forces = Quantity(
        "N",
        "force of all contacts on each body, world axes",
        _AXIS,
        title="contact force",
        of_motion=laws.contact_forces,
        needs="contacts",
        stored=True,
        more="Impacts are not forces: see `impacts`.",
    )
    contact_torques = Quantity(
        "N m",
        "torque of all contacts about the center of mass, world axes",
        _AXIS,
        title="torque of the contacts",
        of_motion=laws.contact_torques,
        needs="contacts",
        stored=True,
    )
    contact_points = Quantity(
        "1",
        "number of points in contact",
        of_motion=laws.contact_points,
        needs="contacts",
        stored=True,
    )


QUANTITIES: Mapping[str, Quantity] = {
    name: one for name, one in vars(MotionQuantities).items() if isinstance(one, Quantity)
}
"""The table: what Polhode itself knows, by name."""
TIME = Quantity("s", "time")
"""Which is no attribute, but what reductions take of an event."""
TIME.name = "time"
