"""The right-hand side y' = rate(t, y, data): the sum of the forces on a body, and the state derivative they drive.

A kernel is a law (t, state, body, params) -> (force, torque).  Functions are closed over when a run is built; numbers
are passed as data = (body constants, params of every force).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from polhode.equations.formulations import Formulation, StateView
from polhode.equations.gyrostat import limit_rotor_torque, rotor_power
from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.invariants import kinetic_energy
from polhode.equations.law import Groups, Number, Vector, law
from polhode.equations.pivot import (
    angular_momentum_about_com,
    com_velocity,
    pivot_to_com_world,
    torque_about_pivot,
)
from polhode.equations.quaternions import to_world
from polhode.equations.scalar_ops import if_less
from polhode.equations.vectors import dot, minus, plus, scaled, zero_vector

Kernel = Callable[..., tuple[Vector, Vector]]


@law
def no_load(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
    """F = 0, torque = 0"""
    return zero_vector(t), zero_vector(t)


def sum_forces(kernels: Sequence[Kernel]) -> Kernel:
    """The sum of the forces and torques of all kernels, the i-th with params[i].

    A balanced tree, so that a hundred forces are only seven nested calls for a compiler.
    """
    if not kernels:
        return no_load
    parts = [_with_params(kernel, i) for i, kernel in enumerate(kernels)]
    while len(parts) > 1:
        joined = [_add_kernels(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = joined + parts[2 * len(joined) :]
    return parts[0]


def _with_params(kernel: Kernel, i: int) -> Kernel:
    @law
    def part(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        return kernel(t, state, constants_for_forces(body, state.current_mass), params[i])

    return part


def _add_kernels(first: Kernel, second: Kernel) -> Kernel:
    @law
    def total(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        force, torque = first(t, state, body, params)
        more_force, more_torque = second(t, state, body, params)
        return plus(force, more_force), plus(torque, more_torque)

    return total


def convert_body_torque(kernel: Kernel) -> Kernel:
    """Convert the torque of a kernel from body to world axes.  [Tops report, section 7]"""

    @law
    def turned(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        force, torque_body = kernel(t, state, body, params)
        return force, to_world(state.orientation, torque_body)

    return turned


def restrict_to_bodies(kernel: Kernel) -> Kernel:
    """Restrict a kernel to some of the bodies: params = (1 or 0, the kernel's own)."""

    @law
    def chosen(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        force, torque = kernel(t, state, body, params[1])
        return _mask_vector(params[0], force), _mask_vector(params[0], torque)

    return chosen


@law
def _mask_vector(acts: Number, v: Vector) -> Vector:
    zero = 0 * acts
    return (if_less(zero, acts, v[0], zero), if_less(zero, acts, v[1], zero), if_less(zero, acts, v[2], zero))


@law
def power(state: StateView, force: Vector, torque: Vector, rotor_torques: Groups = ()) -> Number:
    """F . v + torque . w: the rate of work of a force and a torque; with rotors also that of their motors."""
    external = dot(force, state.velocity) + dot(torque, state.angular_velocity)
    return external + rotor_power(rotor_torques, state.rotor_speed) if rotor_torques else external


def sum_loads(kernels: Sequence[Kernel], rotor_kernels: Sequence[Callable[..., Number] | None]) -> Kernel:
    """All that acts: (t, state, body, params) -> (force, torque), and with rotors also the torques of their motors.

    The last of the params are those of the rotors: for each its command, limits, and the params of its kernel.
    """
    forces, motors = sum_forces(kernels), build_rotor_torques(rotor_kernels)
    if not rotor_kernels:
        return forces

    @law
    def loads(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Groups:
        return *forces(t, state, body, params), motors(t, state, body, params[-1])

    return loads


def build_rotor_torques(rotor_kernels: Sequence[Callable[..., Number] | None]) -> Callable[..., Groups]:
    """(t, state, body, params of all rotors) -> the torques of their motors."""

    @law
    def motors(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Groups:
        seen = constants_for_forces(body, state.current_mass)
        each = zip(rotor_kernels, body.rotors, params, strict=True)
        return tuple(
            _rotor_torque(kernel, i, t, state, seen, rotor[2], own) for i, (kernel, rotor, own) in enumerate(each)
        )

    return motors


def _rotor_torque(
    kernel: Callable[..., Number] | None,
    i: int,
    t: Number,
    state: StateView,
    body: BodyConstants,
    inverse_inertia: Number,
    params: Groups,
) -> Number:
    """The torque of a motor on its rotor, within its limits; 0 on a body that does not carry the rotor."""
    command, max_torque, inverse_max_speed, taper, own = params
    torque = command if kernel is None else command + kernel(t, state, body, own)
    limited = limit_rotor_torque(torque, state.rotor_speed[i], max_torque, inverse_max_speed, taper)
    return if_less(0 * inverse_inertia, inverse_inertia, limited, 0 * limited)


def build_view(formulation: Formulation) -> Callable[..., StateView]:
    """(y, body) -> the StateView that forces get: free, or turning about its pivot."""
    view = formulation.view
    if not formulation.is_held:
        return view

    @law
    def about_pivot(y: Groups, body: BodyConstants) -> StateView:
        """y holds the position of the pivot, zero linear momentum, and the angular momentum about the pivot."""
        state = view(y, body)
        pivot_to_com = pivot_to_com_world(state.orientation, body.com_to_pivot)
        velocity = com_velocity(state.angular_velocity, pivot_to_com)
        linear_momentum = scaled(body.mass, velocity)
        return StateView(
            plus(state.position, pivot_to_com),
            state.orientation,
            linear_momentum,
            angular_momentum_about_com(state.angular_momentum, pivot_to_com, linear_momentum),
            velocity,
            state.angular_velocity,
            state.angular_velocity_body,
            state.rotor_speed,
            state.rotor_momentum,
        )

    return about_pivot


def drop_spin_rate(rate: Callable[..., Groups]) -> Callable[..., Groups]:
    """A rate without its last group, the torque: without torques the angular momentum is constant."""

    @law
    def rate_without_torque(t: Number, y: Groups, data: Groups) -> Groups:
        return rate(t, y, data)[:3]

    return rate_without_torque


def build_motion_law(formulation: Formulation, counts_work: bool, rescaled: bool) -> Callable[..., Groups]:
    """(y, state, body, force, torque) -> y', about the pivot if there is one, with the work done if counted.

    With rotors the torques of their motors are one more argument.  q' is evaluated at the q of a stage, or, if
    `rescaled`, at q/|q|.
    """
    motion_law = _at_unit_attitude(formulation) if rescaled else formulation.rate
    count = len(formulation.sizes)

    @law
    def free(y: Groups, state: StateView, body: BodyConstants, force: Vector, torque: Vector, *more: Groups) -> Groups:
        return motion_law(y[:count], body, force, torque, *more)

    @law
    def held(y: Groups, state: StateView, body: BodyConstants, force: Vector, torque: Vector, *more: Groups) -> Groups:
        """The reaction of the pivot cancels the force; the torque about the pivot remains."""
        pivot_to_com = minus(state.position, y[0])
        about_pivot = torque_about_pivot(torque, pivot_to_com, force)
        return motion_law(y[:count], body, scaled(0, force), about_pivot, *more)

    moved = held if formulation.is_held else free

    @law
    def moved_with_work(
        y: Groups, state: StateView, body: BodyConstants, force: Vector, torque: Vector, *more: Groups
    ) -> Groups:
        rate: Groups = moved(y, state, body, force, torque, *more) + ((power(state, force, torque, *more),),)
        return rate

    return moved_with_work if counts_work else moved


def _at_unit_attitude(formulation: Formulation) -> Callable[..., Groups]:
    motion_law, renormalize = formulation.rate, formulation.renormalize

    @law
    def at_unit_attitude(y: Groups, body: BodyConstants, force: Vector, torque: Vector, *more: Groups) -> Groups:
        return motion_law(renormalize(y[:4], 0 * force[0])[0] + y[4:], body, force, torque, *more)

    return at_unit_attitude


def build_right_hand_side(
    formulation: Formulation, load: Kernel, counts_work: bool = False, rescaled: bool = False
) -> Callable[..., Groups]:
    """rate(t, y, data) of a formulation under a load."""
    view, moved = build_view(formulation), build_motion_law(formulation, counts_work, rescaled)

    @law
    def rate(t: Number, y: Groups, data: Groups) -> Groups:
        body, params = data
        state = view(y, body)
        return moved(y, state, body, *load(t, state, body, params))

    return rate


# Events ------------------------------------------------------------------------------------------------------------
def build_event_values(functions: Sequence[Callable[..., Number]], i: int = 0) -> Callable[..., Groups]:
    """(t, state, body, params) -> the values of all event functions from the i-th on, each with its own params."""
    function = functions[i]

    @law
    def last(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Groups:
        return (function(t, state, constants_for_forces(body, state.current_mass), params[i]) + 0 * t,)

    if i == len(functions) - 1:
        return last
    rest = build_event_values(functions, i + 1)

    @law
    def values(t: Number, state: StateView, body: BodyConstants, params: Groups) -> Groups:
        return last(t, state, body, params) + rest(t, state, body, params)

    return values


@cache
def build_impulse_law(formulation: Formulation) -> Callable[..., Groups]:
    """(y, body, jump, turn) -> y after P jumps by `jump` and L by `turn`; the work is the jump of kinetic energy."""
    view, start, finish = build_view(formulation), formulation.start, formulation.finish
    count = len(formulation.sizes)

    @law
    def free(y: Groups, body: BodyConstants, jump: Vector, turn: Vector) -> Groups:
        x, q, p, angular_momentum = finish(y[:4], body)
        return start(x, q, plus(p, jump), plus(angular_momentum, turn), body)

    @law
    def held(y: Groups, body: BodyConstants, jump: Vector, turn: Vector) -> Groups:
        """The pivot absorbs the impulse; its moment about the pivot remains."""
        x, q, p, angular_momentum = finish(y[:4], body)
        pivot_to_com = minus(view(y[:count], body).position, x)
        return start(x, q, p, plus(angular_momentum, torque_about_pivot(turn, pivot_to_com, jump)), body)

    jump_momenta = held if formulation.is_held else free

    @law
    def apply_impulse(y: Groups, body: BodyConstants, jump: Vector, turn: Vector) -> Groups:
        after = jump_momenta(y, body, jump, turn) + y[4:count]
        gained = kinetic_energy(view(after, body)) - kinetic_energy(view(y[:count], body))
        return after + _add_work(y[count:], gained)

    return apply_impulse


@law
def _add_work(work: Groups, gained: Number) -> Groups:
    """The work so far plus the gain, if work is counted."""
    if len(work) == 0:
        return ()
    return ((work[0][0] + gained,),)
