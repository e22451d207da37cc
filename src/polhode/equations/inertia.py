"""The constants of one body, and the laws of its inertia tensor.

The equations use principal axes, where the tensor is three moments.  `axes` rotates principal components into
components along the user's body axes.
"""

from __future__ import annotations

from typing import NamedTuple

from polhode.equations.law import Groups, Matrix, Number, Quaternion, Vector, law
from polhode.equations.matrices import matmul, transpose
from polhode.equations.quaternions import matrix, to_body, to_world
from polhode.equations.vectors import cross, dot, minus, times


class BodyConstants(NamedTuple):
    """What a body's equations need, divided once: a particle has the reciprocal moments 0.

    Forces and events see `moments` and `axes` about the center of mass, also where a pivot holds the body.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5)).constants()
    >>> body.mass, body.moments
    (2.0, (1.0, 2.0, 2.5))
    """

    mass: Number
    inverse_mass: Number
    moments: Vector
    inverse_moments: Vector
    axes: Quaternion
    com_to_pivot: Vector
    about_com: Groups = ()
    """Of constants about a pivot: moments, inverse moments and axes about the center of mass."""
    rotors: Groups = ()
    """Of a body with rotors: axis, inertia and inverse inertia of each."""
    inverse_tensor: Groups = ()
    """Of a body with rotors: the inverse of its tensor, body axes, about the center of mass or the pivot, less the
    moments of the rotors about their axes."""
    added: Groups = ()
    """Of a body with added mass: the blocks of the inverse mass matrix, body axes, that give v from P and from L; the
    one that gives w from L is `inverse_tensor`."""
    course: Groups = ()
    """Of a body whose mass changes: a `MassPiece`."""


@law
def constants_for_forces(body: BodyConstants, current_mass: Groups = ()) -> BodyConstants:
    """The constants about the center of mass, which forces and events see, also with a pivot; the mass as it is now."""
    if len(current_mass) == 5:
        mass, inverse_mass, a, b, c = current_mass
        none = 0 * mass
        axes = (1 + none, none, none, none)
        return BodyConstants(mass, inverse_mass, (a, b, c), (1 / a, 1 / b, 1 / c), axes, body.com_to_pivot)
    if len(current_mass):
        return BodyConstants(current_mass[0], current_mass[1], *body[2:6])
    return _about_com(body, body.about_com)


@law
def _about_com(body: BodyConstants, about_com: Groups) -> BodyConstants:
    if len(about_com) == 0:
        return BodyConstants(*body[:6])
    return BodyConstants(body.mass, body.inverse_mass, about_com[0], about_com[1], about_com[2], body.com_to_pivot, ())


@law
def inertia_times(body: BodyConstants, vector_body: Vector) -> Vector:
    """I v, both along the user's body axes."""
    return to_world(body.axes, times(body.moments, to_body(body.axes, vector_body)))


@law
def world_tensor(moments: Vector, q: Quaternion) -> Matrix:
    """I(t) = R I_body R^T.  [Baraff 1997, eq. 2-39; Christian 2011, eq. 17.32]"""
    r = matrix(q)
    a, b, c = moments
    scaled_columns = (r[0] * a, r[1] * b, r[2] * c, r[3] * a, r[4] * b, r[5] * c, r[6] * a, r[7] * b, r[8] * c)
    return matmul(scaled_columns, transpose(r))


@law
def shift_inertia(tensor: Matrix, mass: Number, com_to_point: Vector) -> Matrix:
    """I + M (|r|^2 1 - r r^T): the tensor about another point.  [parallel axis theorem; Baraff 1997, eq. 2-38]"""
    x, y, z = com_to_point
    rr = dot(com_to_point, com_to_point)
    return (
        tensor[0] + mass * (rr - x * x),
        tensor[1] - mass * (x * y),
        tensor[2] - mass * (x * z),
        tensor[3] - mass * (y * x),
        tensor[4] + mass * (rr - y * y),
        tensor[5] - mass * (y * z),
        tensor[6] - mass * (z * x),
        tensor[7] - mass * (z * y),
        tensor[8] + mass * (rr - z * z),
    )


@law
def euler_rate(body: BodyConstants, w: Vector, torque: Vector) -> Vector:
    """I w' = torque - w x (I w), principal axes.  [Tops report, eq. 6 with torque; Christian 2011, eq. 17.35]"""
    return times(body.inverse_moments, minus(torque, cross(w, times(body.moments, w))))
