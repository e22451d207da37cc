"""One sample of arguments for every law, in exact ratios, chosen so that most square roots are rational."""

import importlib
import pkgutil
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from polhode import equations, methods
from polhode.equations import (
    aerodynamics,
    atmosphere,
    contact_laws,
    earth,
    elementary,
    extended_body,
    force_laws,
    formulations,
    free_motion,
    free_rotation,
    gyrostat,
    inertia,
    interpolation,
    invariants,
    matrices,
    pair_laws,
    pivot,
    quaternions,
    right_hand_side,
    rigid_body,
    rotating_frame,
    scalar_ops,
    surface_integrals,
    variable_mass,
    vectors,
)
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import LAWS, law
from polhode.methods import dense_output, drifts, roots, runge_kutta
from polhode.methods.dop853 import DOP853
from polhode.methods.tableaus import RK4


def vector(*parts, over=1):
    return tuple(Fraction(part) / over for part in parts)


def module_level_laws():
    packages = (equations, methods)
    for package in packages:
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    ours = [f for f in LAWS if f.__module__.startswith(tuple(f"{package.__name__}." for package in packages))]
    return [f for f in ours if "<locals>" not in f.__qualname__]


class Sample(NamedTuple):
    law: object
    args: tuple
    runs: object
    """The law, or the law with its functions and table entries, which are no numbers, already filled in."""

    @property
    def name(self):
        return f"{self.law.__module__.rpartition('.')[2]}.{self.law.__name__}"


# The numbers: |Q| = 5, |AXES| = 1, MATRIX = R(Q), lengths of the differences in the forces 7 and 11 ----------------
T, H = Fraction(5, 4), Fraction(1, 8)
A, B, C = vector(1, -2, 3, over=4), vector(-5, 3, 2, over=8), vector(2, 3, 6)
Q, P = vector(1, 2, 2, 4), vector(2, -4, 5, 6, over=9)
ANGLES = vector(3, 5, -7, over=4)
MATRIX = quaternions.matrix(Q)
GENERAL = vector(3, -1, 4, 1, 5, -9, 2, 6, -5, over=8)
BODY = BodyConstants(
    Fraction(3, 2),
    Fraction(2, 3),
    vector(2, 3, 4),
    vector(6, 4, 3, over=12),
    vector(2, 4, 5, 6, over=9),
    vector(0, 1, -2),
)
PIVOTED = BODY._replace(about_com=(vector(1, 2, 2), vector(2, 1, 1, over=2), vector(2, -4, 5, 6, over=9)))
OTHER = BODY._replace(mass=Fraction(7, 2), inverse_mass=Fraction(2, 7))
MOMENTUM = (A, vector(2, 4, 5, 6, over=9), B, C)
RATES = (A, vector(2, 4, 5, 6, over=9), B, vector(7, -3, 2, over=4))
ANGULAR = (A, ANGLES, B, RATES[3])
DOUBLED = (A, RATES[1], B, quaternions.rate(RATES[1], RATES[3]))
NINE = (A, MATRIX, B, C)
VIEW = formulations._view_momentum(MOMENTUM, BODY)
SEEN = formulations._view_rates((vector(4, 1, 1), Q, C, A), OTHER)


# A body with two rotors
ROTORS = (
    (vector(2, 3, 6, over=7), Fraction(1, 4), Fraction(4)),
    (vector(3, 0, 4, over=5), Fraction(1, 2), Fraction(2)),
)
GYROSTAT = BODY._replace(rotors=ROTORS, inverse_tensor=vector(5, 1, -1, 1, 4, 2, -1, 2, 6, over=8))
SPINNING = (*MOMENTUM, vector(7, -5, over=4))
SPUN = extended_body.extended_view(SPINNING, GYROSTAT)
LINES = tuple(vector(a, b, over=8) for a, b in ((80, -3), (1, 1), (0, -2), (3, 1), (90, -4), (70, 2), (50, -1)))
PIECE = variable_mass.MassPiece(Fraction(1), Fraction(1, 2), LINES, vector(0, 1, -2), Fraction(1), vector(1, 0, -9))
SKEWED = PIECE._replace(coefficients=(*LINES, vector(1, 1, over=8), vector(-2, 1, over=8), vector(1, -1, over=8)))
BURNING = GYROSTAT._replace(course=SKEWED)
BURNED = (*SPINNING, (T,))
NOW = variable_mass.mass_now(SKEWED, T)
WET = GYROSTAT._replace(added=(vector(4, 1, 0, 1, 5, -1, 0, -1, 6, over=8), GENERAL))
SUNK = extended_body.extended_view(SPINNING, WET)


# A free rotation: moments in order, and a spin about the axis of the smallest moment
MOMENTS, SPIN = BODY.moments, vector(12, 2, -1, over=8)
COURSE = free_rotation.JacobiSolution(
    *(Fraction(x) for x in free_rotation.jacobi_solution((2.0, 3.0, 4.0), (1.5, 0.25, -0.125)))
)
GAUGE = free_rotation.PrecessionForm(
    *(Fraction(x) for x in free_rotation.precession_form(COURSE, (2.0, 3.0, 4.0), (1.5, 0.25, -0.125), 10.0))
)._replace(sign=Fraction(-1))
RUNGS = vector(15, 31, 63, over=64)
PHASES = (vector(3, 4, over=5), vector(5, 12, over=13), vector(-4, 3, over=5))
"""Cosine and sine of three angles."""


def _spring(view, away):
    point = vectors.plus(view.position, quaternions.to_world(view.orientation, A))
    return (Fraction(40), Fraction(3, 2), Fraction(5), A, vectors.minus(point, away))


def _pair_spring(away):
    """The state of body a moved so that its point stands `away` from that of body b."""
    point_a = vectors.plus(VIEW.position, quaternions.to_world(VIEW.orientation, A))
    point_b = vectors.plus(SEEN.position, quaternions.to_world(SEEN.orientation, B))
    shift = vectors.minus(away, vectors.minus(point_a, point_b))
    moved = VIEW._replace(position=vectors.plus(VIEW.position, shift))
    return (T, moved, BODY, SEEN, OTHER, (Fraction(40), Fraction(3, 2), Fraction(5), A, B))


STAGES, WEIGHTS = runge_kutta.tableau_stages(RK4), runge_kutta.convert_row(RK4.coordinate_weights, float)
FALLING = right_hand_side.build_right_hand_side(
    formulations.FORMULATIONS["body_rates"], force_laws.gravity, counts_work=True
)


@law
def combined_with_rk4(y, h, k):
    return runge_kutta.combine_stages(y, h, WEIGHTS, WEIGHTS, k)


@law
def slopes_of_rk4(t, y, h, data):
    return runge_kutta.evaluate_stages(FALLING, STAGES, t, y, h, data, (), y)


EXACT_STAGES, EXACT_WEIGHTS = runge_kutta.tableau_stages(RK4, Fraction), RK4.coordinate_weights


def combined_with_exact_rk4(y, h, k):
    return runge_kutta.combine_stages(y, h, EXACT_WEIGHTS, EXACT_WEIGHTS, k)


def slopes_of_exact_rk4(t, y, h, data):
    return runge_kutta.evaluate_stages(FALLING, EXACT_STAGES, t, y, h, data, (), y)


CURVE_ROWS = ((1.25, 0.125), (0.0, -0.75))
EXACT_CURVE_ROWS = tuple(tuple(Fraction(a) for a in row) for row in CURVE_ROWS)


@law
def coefficients_of_two_rows(y, new, h, k, at_end):
    return dense_output.interpolant_coefficients(y, new, h, k, at_end, CURVE_ROWS)


@law
def sums_of_two_rows(y, h, k):
    return dense_output._weighted_slopes(y, h, k, CURVE_ROWS)


def coefficients_of_two_exact_rows(y, new, h, k, at_end):
    return dense_output.interpolant_coefficients(y, new, h, k, at_end, EXACT_CURVE_ROWS)


def sums_of_two_exact_rows(y, h, k):
    return dense_output._weighted_slopes(y, h, k, EXACT_CURVE_ROWS)


IN_RATIOS = {
    combined_with_rk4: combined_with_exact_rk4,
    slopes_of_rk4: slopes_of_exact_rk4,
    coefficients_of_two_rows: coefficients_of_two_exact_rows,
    sums_of_two_rows: sums_of_two_exact_rows,
}

_LOADED = (C, B)
_ACTS = (T, VIEW, BODY)

NORMAL, UP, TILTED = vector(3, 0, 4, over=5), vector(0, 0, 1), vector(2, 0, 1, 0)
"""A normal at a rational angle from an axis, and a turn that keeps it so."""
SEMI, PLAIN = vector(5, 1, 5), vector(1, 0, 0, 0)

ZONAL, LONG = vector(1, -2, 3, over=64), BODY._replace(moments=vector(1, 20, 20))
FLOW = aerodynamics.Flow(T, C, A, Fraction(7), atmosphere.AirProperties(H, T, 2 * T, 3 * T))
KNOTS, VALUES = vector(1, 10, 100), vector(4, -5, 6)
WINDS = (vector(1, -2, 3), vector(4, 5, -6))

ARGUMENTS = {
    earth.zonal_acceleration: (C, Fraction(9), Fraction(5), ZONAL),
    earth.zonal_potential: (C, Fraction(9), Fraction(5), ZONAL),
    earth.zonal_slopes: (Fraction(3, 5), Fraction(5, 7), ZONAL),
    earth.earth_gravity: (T, VIEW._replace(position=C), BODY, (Fraction(9), Fraction(5), ZONAL)),
    earth.earth_gravity_potential: (T, VIEW._replace(position=C), BODY, (Fraction(9), Fraction(5), ZONAL)),
    earth.earth_gravity_with_gradient: (T, VIEW._replace(position=C), LONG, (Fraction(9), Fraction(5), ZONAL)),
    earth.earth_gravity_with_gradient_potential: (
        T,
        VIEW._replace(position=C),
        BODY,
        (Fraction(9), Fraction(5), ZONAL),
    ),
    earth.vertical_root: (T, H, Fraction(15, 16), T),
    earth.height_and_up: (C, Fraction(2), Fraction(15, 16)),
    earth.height_and_up_of_root: (vector(6, 7, 42, over=9), Fraction(6), Fraction(1), Fraction(7, 9)),
    earth.north_and_east: (vector(3, 4, 12, over=13),),
    earth.ned_to_world: (vector(3, 4, 12, over=13), A),
    atmosphere._exponent: (Fraction(1000), Fraction(-13, 2000), Fraction(288)),
    atmosphere.us76: (Fraction(7000), ()),
    atmosphere.exponential_air: (Fraction(7000), (T, Fraction(8000), Fraction(288))),
    atmosphere.uniform_air: (Fraction(7000), (T, Fraction(288))),
    atmosphere.steady_wind: (T, Fraction(7000), (A,)),
    atmosphere.sheared_wind: (T, Fraction(7000), (vector(0, 9000), WINDS)),
    atmosphere.wind_table: (T, Fraction(7), (KNOTS, VALUES, VALUES, VALUES)),
    atmosphere.look_up: (Fraction(7), KNOTS, VALUES),
    atmosphere.look_up_in_two: (Fraction(7), Fraction(20), KNOTS, KNOTS, (VALUES, VALUES, VALUES)),
    aerodynamics.over_ground: (C, ()),
    aerodynamics.over_earth: (C, (Fraction(2), Fraction(15, 16), H)),
    aerodynamics.flat_ned_to_world: (A, B),
    aerodynamics.constant_coefficient: (FLOW, (T,)),
    aerodynamics.wind_to_body: (vector(3, 12, 4), A),
    aerodynamics.damping_moment: (T, H, 2 * T, 3 * T, -T, H),
    contact_laws.relative_turn: (Q, vector(1, -2, 3, 4, over=8)),
    contact_laws.displaced: (TILTED, A),
    contact_laws.circle_rim: (NORMAL, UP),
    contact_laws.lowest_of_point: (NORMAL, A, H),
    contact_laws.slide_of_point: (NORMAL, B, H),
    contact_laws.lowest_of_circle: (NORMAL, A, UP, T, H),
    contact_laws.slide_of_circle: (NORMAL, B, UP, T, H),
    contact_laws.lowest_of_ellipsoid: (NORMAL, A, SEMI, PLAIN),
    contact_laws.slide_of_ellipsoid: (NORMAL, B, SEMI, PLAIN),
    contact_laws.sunk_point: (NORMAL, TILTED, A),
    contact_laws.sunk_circle: (NORMAL, TILTED, A, UP, T),
    contact_laws.sunk_ellipsoid: (NORMAL, TILTED, A, SEMI, PLAIN),
    contact_laws.line_crossing: (A, ((B, UP), (C, TILTED[1:])), (A, B), (C, A), UP),
    contact_laws.tangents: (NORMAL,),
    contact_laws.point_velocity: (A, B, C),
    contact_laws.inverse_tensor: (BODY.inverse_moments, Q),
    surface_integrals.area_vector: (A, B, C),
    surface_integrals.volume_beneath: (A, B, C),
    surface_integrals.area_of: (vector(0, 0, 0), vector(2, 0, 0), vector(1, 3, 4)),
    surface_integrals.first_moments: (T, A, B, C),
    surface_integrals.second_moments: (T, A, B, C),
    scalar_ops.larger: (T, H),
    scalar_ops.absolute: (-T,),
    scalar_ops.within: (T, H, 2 * T),
    scalar_ops._reduce_argument: (Fraction(1234567, 1024),),
    scalar_ops.sine_beyond: (Fraction(3, 8),),
    scalar_ops.cosine_parts: (Fraction(3, 8),),
    scalar_ops._small_sine: (Fraction(3, 8),),
    scalar_ops._small_cosine: (Fraction(3, 8),),
    scalar_ops._by_quadrant: (Fraction(1), H, T),
    scalar_ops.sine: (Fraction(1234567, 1024),),
    scalar_ops.cosine: (Fraction(1234567, 1024),),
    scalar_ops.remove_whole_turns: (Fraction(12345678901, 8),),
    scalar_ops.remove_half_turns: (Fraction(1234567, 1024),),
    scalar_ops.cos_of_quarters: (Fraction(40),),
    scalar_ops.sin_of_quarters: (Fraction(-40),),
    elementary._two_sum: (T, H / 3),
    elementary._fast_two_sum: (T, H / 3),
    elementary._halves: (T / 3,),
    elementary._two_product: (T / 3, H / 7),
    elementary._polynomial: (H, A),
    elementary._power_of_two: (Fraction(40),),
    elementary._times_power_of_two: (T, Fraction(40)),
    elementary._mantissa_and_exponent: (T,),
    elementary._exponential: (-T, H / 2**60),
    elementary.logarithm: (T,),
    elementary._logarithm_in_two_parts: (T,),
    elementary._whole: (T,),
    elementary.raised: (T, Fraction(-9, 4)),
    elementary._or_nan: (T, H),
    elementary.tangent: (Fraction(1234567, 1024),),
    elementary.angle: (-T, -H),
    interpolation.choose_line: (T, vector(1, 2, 3), vector(4, -5, 6)),
    vectors.plus: (A, B),
    vectors.minus: (A, B),
    vectors.scaled: (H, A),
    vectors.times: (A, B),
    vectors.dot: (A, B),
    vectors.cross: (A, B),
    vectors.zero_vector: (T,),
    matrices.matvec: (GENERAL, A),
    matrices.transpose: (GENERAL,),
    matrices.matmul: (GENERAL, MATRIX),
    matrices.rate: (GENERAL, A),
    matrices.orthogonality_drift: (GENERAL,),
    quaternions.squared_norm: (Q,),
    quaternions.product: (Q, P),
    quaternions.conjugate: (Q,),
    quaternions.normalize: (Q,),
    quaternions.to_world: (Q, A),
    quaternions.to_body: (Q, A),
    quaternions.matrix: (Q,),
    quaternions.from_matrix: (MATRIX,),
    quaternions._select: (H, T, Q, P),
    quaternions._select_diagonal: A,
    quaternions.rate: (Q, A),
    quaternions.times_vector: (Q, A),
    quaternions.from_angles: (ANGLES,),
    inertia.constants_for_forces: (PIVOTED,),
    inertia._about_com: (BODY, PIVOTED.about_com),
    inertia.inertia_times: (BODY, A),
    inertia.trace_of_inertia: (BODY,),
    inertia.full_matrix: (NOW.tensor,),
    inertia.principal_moments: (NOW.tensor, Q, A),
    inertia._ranks: (A,),
    inertia._without_product: (NOW.tensor, Q, H),
    inertia.world_tensor: (BODY.moments, Q),
    inertia.shift_inertia: (GENERAL, T, A),
    inertia.euler_rate: (BODY, A, B),
    rigid_body.momentum: (MOMENTUM, BODY, *_LOADED),
    rigid_body.momentum_matrix: (NINE, BODY, *_LOADED),
    rigid_body.body_rates: (RATES, BODY, *_LOADED),
    rigid_body.quaternion_acceleration: (DOUBLED, BODY, *_LOADED),
    rigid_body.euler_angles: (ANGULAR, BODY, *_LOADED),
    rigid_body.spin_of: (Q, P),
    rigid_body.angle_rates: (ANGLES, A),
    rigid_body.turn_per_step: (ANGLES, A, H),
    formulations._view: (A, Q, B, C, A, BODY),
    formulations._drift: (Q,),
    formulations._view_momentum: (MOMENTUM, BODY),
    formulations._renormalize_quaternion: ((A, Q, B, C), H),
    formulations._quaternion_with_drift: ((A, Q, B, C), H),
    formulations._start_momentum: (A, P, B, C, BODY),
    formulations._finish_momentum: (MOMENTUM, BODY),
    formulations._view_matrix: (NINE, BODY),
    formulations._matrix_with_drift: ((A, GENERAL, B, C), H),
    formulations._start_matrix: (A, P, B, C, BODY),
    formulations._finish_matrix: (NINE, BODY),
    formulations._view_rates: (RATES, BODY),
    formulations._start_rates: (A, P, B, C, BODY),
    formulations._finish_rates: (RATES, BODY),
    formulations._view_acceleration: (DOUBLED, BODY),
    formulations._renormalize_acceleration: ((A, Q, B, P), H),
    formulations._start_acceleration: (A, P, B, C, BODY),
    formulations._finish_acceleration: (DOUBLED, BODY),
    formulations._view_angles: (ANGULAR, BODY),
    formulations._angles_with_turn: (ANGULAR, H),
    formulations.angles_of: (P,),
    formulations._start_angles: (A, P, B, C, BODY),
    formulations._finish_angles: (ANGULAR, BODY),
    force_laws.gravity: (*_ACTS, (C,)),
    force_laws.gravity_potential: (*_ACTS, (C,)),
    force_laws.point_gravity: (*_ACTS, (Fraction(9), vectors.minus(VIEW.position, vector(2, 6, 9)))),
    force_laws.linear_drag: (*_ACTS, (T, A)),
    force_laws.quadratic_drag: (*_ACTS, (T, vectors.minus(VIEW.velocity, C))),
    force_laws.rotational_drag: (*_ACTS, (T,)),
    force_laws.world_force_at_body_point: (*_ACTS, (C, A)),
    force_laws.body_force_at_body_point: (*_ACTS, (C, A)),
    force_laws.world_force_at_world_point: (*_ACTS, (C, A)),
    force_laws.body_force_at_world_point: (*_ACTS, (C, A)),
    force_laws.world_torque: (*_ACTS, (C,)),
    force_laws.body_torque: (*_ACTS, (C,)),
    force_laws.thruster: (*_ACTS, (A, C, (H, 2 * T, 3 * T, 4 * T))),
    force_laws.magnetic_torquer: (*_ACTS, (A, C, (H, 2 * T))),
    force_laws.magnetic_torquer_over_earth: (T, VIEW._replace(position=C), BODY, (A, B, (H, 2 * T))),
    force_laws.within_any: (T, (H, 2 * T, 3 * T, 4 * T)),
    force_laws.applied_load: (*_ACTS, (A, B, C, A)),
    force_laws.coupled_load: (*_ACTS, ((A, B, C, A, B, C, A), (B, C, A, B, C, A, B), H)),
    force_laws.spring: (*_ACTS, _spring(VIEW, C)),
    force_laws.spring_potential: (*_ACTS, _spring(VIEW, C)),
    force_laws.spring_force: (C, A, Fraction(40), Fraction(3, 2), Fraction(5)),
    force_laws.spring_energy: (C, Fraction(40), Fraction(5)),
    force_laws.impulse: (*_ACTS, (C, A)),
    force_laws.body_impulse: (*_ACTS, (C, A)),
    rotating_frame.velocity_in_rotating_frame: (C, A, B),
    rotating_frame.acceleration_in_rotating_frame: (C, A, B, vector(7, -3, 2, over=4)),
    variable_mass.polynomial: (vector(3, -1, 2), H),
    variable_mass.polynomial_rate: (vector(3, -1, 2), H),
    variable_mass.mass_now: (PIECE, T),
    variable_mass.current_mass: (SKEWED, NOW),
    variable_mass.invert_symmetric: (NOW.tensor,),
    variable_mass.exhaust_force: (NOW, A, B, C),
    variable_mass.exhaust_torque: (NOW, A, C),
    extended_body.velocities_with_added_mass: (WET, A, B),
    extended_body.added_mass_acceleration: (SUNK, WET, vector(40, -90, 30), B, vector(1, -2, over=8)),
    extended_body.added_mass_angular_acceleration: (SUNK, WET, vector(40, -90, 30), B, vector(1, -2, over=8)),
    extended_body._added_mass_rates: (SUNK, WET, vector(40, -90, 30), B, vector(1, -2, over=8)),
    extended_body._mass_of: (BURNED, BURNING),
    extended_body._inverse_tensor: (NOW.tensor, ROTORS),
    extended_body.extended_view: (BURNED, BURNING),
    extended_body.variable_mass_acceleration: (BURNED, BURNING, C),
    extended_body.gyrostat_acceleration: (SPUN, GYROSTAT, vector(40, -90, 30), vector(1, -2, over=8)),
    extended_body.extended_momentum: (BURNED, BURNING, C, B, vector(1, -2, over=8)),
    gyrostat.sum_along_axes: (ROTORS, SPINNING[4]),
    gyrostat.rotor_speeds: (ROTORS, SPINNING[4], A),
    gyrostat.rotor_energy: (SPUN.rotor_speed, SPINNING[4]),
    gyrostat.rotor_power: (vector(1, -2, over=8), SPUN.rotor_speed),
    gyrostat.limit_rotor_torque: (Fraction(3), Fraction(9), Fraction(2), Fraction(1, 10), Fraction(1, 5)),
    invariants.translational_energy: (VIEW,),
    invariants.rotational_energy: (SPUN,),
    invariants.kinetic_energy: (VIEW,),
    invariants.angular_momentum_about: (VIEW, A),
    pivot.pivot_to_com_world: (Q, A),
    pivot.com_velocity: (A, B),
    pivot.com_acceleration: (A, B, C),
    pivot.angular_momentum_about_pivot: (A, B, C),
    pivot.angular_momentum_about_com: (A, B, C),
    pivot.torque_about_pivot: (A, B, C),
    right_hand_side.no_load: (*_ACTS, ()),
    right_hand_side._mask_vector: (Fraction(1), A),
    right_hand_side.power: (VIEW, C, B),
    right_hand_side._add_work: (((T,),), H),
    pair_laws.spring_between: _pair_spring(vector(2, 6, 9)),
    pair_laws.spring_between_potential: _pair_spring(vector(2, 6, 9)),
    pair_laws.mutual_gravity: (T, VIEW._replace(position=vectors.plus(SEEN.position, C)), BODY, SEEN, OTHER, (T,)),
    pair_laws.mutual_gravity_potential: (
        T,
        VIEW._replace(position=vectors.plus(SEEN.position, C)),
        BODY,
        SEEN,
        OTHER,
        (T,),
    ),
    free_rotation.rotate_freely: (Q, SPIN, MOMENTS, T),
    free_rotation._relative_rotation: (MOMENTS, SPIN, T),
    free_rotation.power_of_two_near_inverse: (T,),
    free_rotation.sort_axes: ((T, 2 * T, H), A),
    free_rotation.unsort_axes: ((T, 2 * T, H), A),
    free_rotation._swap: ((T, 2 * T, H),),
    free_rotation.jacobi_solution: (MOMENTS, SPIN),
    free_rotation.precession_form: (COURSE, MOMENTS, SPIN, Fraction(10)),
    free_rotation._unwind: (GAUGE, Fraction(3), *PHASES[0]),
    free_rotation._signed: (COURSE, Fraction(-1), H, T),
    free_rotation._spin: (COURSE, SPIN, *PHASES[0], H),
    free_rotation._landen_ladder: (*vector(8, 5, 6, 7, 1, over=8), (Fraction(0),) * 3),
    free_rotation.jacobi_from_ladder: (RUNGS, T),
    free_rotation._climb_ladder: (RUNGS, T),
    free_rotation.half_third_kind: (*PHASES[0], Fraction(7, 8), H, T),
    free_rotation._duplicate: (*vector(2, 3, 4, 5, over=4), T, (Fraction(1), Fraction(8), Fraction(64))),
    free_rotation._carlson_series: vector(3, 4, 5, 4),
    free_rotation._one_minus_product: (*PHASES[0], *PHASES[1], *PHASES[0][::-1]),
    free_rotation._direction: (COURSE, MOMENTS, SPIN, *PHASES[1], H),
    free_rotation._rotation_between: (PHASES[:2], PHASES[1:], PHASES[2], PHASES[0]),
    free_rotation._complex_product: PHASES[:2],
    free_rotation._unit: vector(-3, 4, over=8),
    free_rotation._half: (vector(-7, 24, over=25),),
    free_rotation._square: (T,),
    free_rotation._or_one: (T,),
    free_motion._with_work: (((T,),), H),
    drifts.rotate_exactly: (Q, C, BODY, H),
    drifts.rotate_about_axes: (Q, C, BODY, H),
    drifts._rotation_about: (C, H),
    drifts._rotate_back: (T, H, *PHASES[0]),
    drifts._middle_axis: (MOMENTS,),
    drifts._cycle_axes: (Fraction(2), A),
    drifts._uncycle_axes: (Fraction(2), A),
    runge_kutta.add_scaled_group: (Q, H, P),
    runge_kutta.add_scaled: (MOMENTUM, H, RATES),
    runge_kutta.combine_stages: (MOMENTUM, H, (RATES, MOMENTUM, RATES, MOMENTUM)),
    runge_kutta.evaluate_stages: (T, RATES + ((H,),), H, (BODY, (C,))),
    runge_kutta.group_squared_norm: (Q,),
    runge_kutta.step_to_try: (T, H, 2 * T),
    runge_kutta.step_end: (T, H, 2 * T),
    runge_kutta.comparable_error: (Fraction(3, 2), H),
    runge_kutta.next_clock: ((T, H, Fraction(1), Fraction(3), Fraction(2)), 2 * T, H, Fraction(1, 256)),
    runge_kutta.select_group: (T, H, Q, P),
    runge_kutta.select_groups: (H, T, MOMENTUM, RATES),
    dense_output.interpolant_coefficients: (MOMENTUM, RATES, H, (RATES, MOMENTUM), RATES),
    dense_output._weighted_slopes: (MOMENTUM, H, (RATES, MOMENTUM)),
    dense_output.evaluate_interpolant: (MOMENTUM, H, (RATES, MOMENTUM, RATES)),
    dense_output._nested_sum: ((RATES, MOMENTUM, RATES), H, 1 - H),
    runge_kutta.group_error: (C, Q[1:], A, H, vector(1, 2, 2, over=1000), H / 64, H / 32),
    runge_kutta.state_error: (
        (C, C, (T,)),
        (Q[1:], A, (H,)),
        (A, B, (T,)),
        H,
        (vector(1, 2, 2, over=1000), vector(2, 3, 6, over=900), (T,)),
        (H / 64, H / 128),
        (H / 32, H / 64),
    ),
    runge_kutta.controlled_parts: ((C, Q, A, B, (T, H)), (H,) * 6),
    runge_kutta._sum_errors: (
        (C, (T,)),
        (Q[1:], (H,)),
        (A, (T,)),
        H,
        (vector(1, 2, 2, over=1000), (T,)),
        (H / 64, H / 128),
        (H / 32, H / 64),
    ),
    roots.secant_point: (T, H, 2 * T, -H),
    roots.narrow_bracket: ((T, H, 2 * T, -H), Fraction(-1), 3 * T / 2, -H / 8, -H / 8),
    runge_kutta.mixed_error: (Fraction(16), Fraction(900)),
    runge_kutta.step_error: ((Fraction(16), Fraction(900)),),
    runge_kutta.root_of_error: (Fraction(1, 256),),
    runge_kutta.limit_factor: (Fraction(3, 2),),
    runge_kutta.step_factor: (Fraction(1, 256),),
    runge_kutta.growth_factor: (Fraction(1, 256), Fraction(1, 16)),
}
POSITIVE = {
    free_rotation.precession_form,
    free_rotation.rotate_freely,
    free_rotation._relative_rotation,
    free_rotation.jacobi_solution,
    free_rotation._spin,
    free_rotation._landen_ladder,
    free_rotation.jacobi_from_ladder,
    free_rotation.half_third_kind,
    free_rotation._duplicate,
    free_rotation._carlson_series,
    free_rotation._direction,
    drifts.rotate_exactly,
    atmosphere._exponent,
    atmosphere.us76,
    atmosphere.exponential_air,
    atmosphere.uniform_air,
    atmosphere.sheared_wind,
    atmosphere.wind_table,
    atmosphere.look_up,
    atmosphere.look_up_in_two,
    earth.height_and_up,
    earth.height_and_up_of_root,
    earth.vertical_root,
    aerodynamics.over_earth,
}
"""Laws that take roots of moments or of products of them, or tables: their lanes keep the signs of the sample.  All
regimes of them, and all signs, are in test_free_rotation_on_scalar_types.py."""

RUNS = {
    runge_kutta.root_of_error: lambda error: runge_kutta.root_of_error(error, 8, 0.0),
    **{
        function: partial(function, control=DOP853.control)
        for function in (runge_kutta.limit_factor, runge_kutta.step_factor, runge_kutta.growth_factor)
    },
    runge_kutta.next_clock: partial(runge_kutta.next_clock, control=DOP853.control),
    runge_kutta.combine_stages: combined_with_rk4,
    runge_kutta.evaluate_stages: slopes_of_rk4,
    dense_output.interpolant_coefficients: coefficients_of_two_rows,
    dense_output._weighted_slopes: sums_of_two_rows,
}

SAMPLES = [Sample(a_law, args, RUNS.get(a_law, a_law)) for a_law, args in ARGUMENTS.items()]
FOR_DOUBLES = {scalar_ops._reduce_argument, scalar_ops.sine, scalar_ops.cosine} | {
    a_law for a_law in ARGUMENTS if a_law.__module__ == elementary.__name__
}
"""Laws that write functions of doubles out in arithmetic: no other scalar type reaches them."""
