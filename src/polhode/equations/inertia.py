"""The constants of one body, and the laws of its inertia tensor.

The equations use principal axes, where the tensor is three moments.  `axes` rotates principal components into
components along the user's body axes.  A symmetric tensor is six numbers: xx, yy, zz, xy, xz, yz.
"""

from __future__ import annotations

from typing import NamedTuple

from polhode.equations.law import Groups, Matrix, Number, Quaternion, Vector, law
from polhode.equations.matrices import matmul, matvec, transpose
from polhode.equations.quaternions import matrix, product, to_body, to_world
from polhode.equations.scalar_ops import absolute, if_less, sqrt
from polhode.equations.vectors import cross, dot, minus, times
from polhode.synonyms import explain_unknown_attributes

SWEEPS = 6
"""Of Jacobi's method.  Once the products of inertia are small beside the differences of the moments, a sweep more than
squares their ratio.  A million tensors of every kind, far from the guess, were off by 0.3, 2e-3, 1e-10 and 3e-15 after
two to five sweeps (`tests/equations/test_principal_moments.py` tries fewer of them); one more is in reserve."""


@explain_unknown_attributes("the body that a function receives")
class BodyConstants(NamedTuple):
    """What a body's equations need, divided once: a particle has the reciprocal moments 0.

    The functions of a user see the body as it is at that time, about its center of mass, also where a pivot holds it:
    with rotors as a whole, with these locked; without the fluid of an added mass.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5)).constants()
    >>> body.mass, body.moments
    (2.0, (1.0, 2.0, 2.5))
    >>> body.inertia_body
    ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.5))
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
    tensor: Groups = ()
    """Of a body whose products of inertia change: the tensor at that time, about the center of mass, body axes."""

    @property
    def inertia_body(self) -> tuple[Vector, Vector, Vector]:
        """The inertia tensor along the body's axes, row by row, in kg m2."""
        if len(self.tensor):
            xx, yy, zz, xy, xz, yz = self.tensor
            return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        rows = world_tensor(self.moments, self.axes)
        return (rows[:3], rows[3:6], rows[6:])


@law
def constants_for_forces(body: BodyConstants, current_mass: Groups = ()) -> BodyConstants:
    """What the functions of a user see of a body: its constants about the center of mass, as they are now.

    `current_mass` is the mass, its reciprocal, and the tensor if that changes: three moments along the body axes, or
    six numbers.  The moments keep the order that they have at the start.
    """
    if len(current_mass) == 0:
        return _about_com(body, body.about_com)
    mass, inverse_mass, *tensor = current_mass
    if len(tensor) == 0:
        return BodyConstants(mass, inverse_mass, *body[2:6])
    if len(tensor) == 3:
        none = 0 * mass
        moments: Vector = (tensor[0], tensor[1], tensor[2])
        axes: Quaternion = (1 + none, none, none, none)
    else:
        moments, axes = principal_moments(tuple(tensor), body.axes, body.moments)
    a, b, c = moments
    inverse_moments = (1 / a, 1 / b, 1 / c)
    seen = BodyConstants(mass, inverse_mass, moments, inverse_moments, axes, body.com_to_pivot)
    return seen if len(tensor) == 3 else seen._replace(tensor=tuple(tensor))


@law
def _about_com(body: BodyConstants, about_com: Groups) -> BodyConstants:
    if len(about_com) == 0:
        return BodyConstants(*body[:6])
    return BodyConstants(body.mass, body.inverse_mass, about_com[0], about_com[1], about_com[2], body.com_to_pivot, ())


@law
def inertia_times(body: BodyConstants, vector_body: Vector) -> Vector:
    """I v, both along the user's body axes."""
    if len(body.tensor):
        return matvec(full_matrix(body.tensor), vector_body)
    return to_world(body.axes, times(body.moments, to_body(body.axes, vector_body)))


@law
def trace_of_inertia(body: BodyConstants) -> Number:
    """tr I, the same along all axes."""
    a, b, c = body.tensor[:3] if len(body.tensor) else body.moments
    return a + b + c


@law
def full_matrix(tensor: Groups) -> Matrix:
    """A symmetric tensor as a matrix."""
    xx, yy, zz, xy, xz, yz = tensor
    return (xx, xy, xz, xy, yy, yz, xz, yz, zz)


@law
def principal_moments(tensor: Groups, guess: Quaternion, known: Vector) -> tuple[Vector, Quaternion]:
    """The moments of a symmetric tensor, and the quaternion from their axes to those of the tensor.

    By Jacobi's rotations from the axes of a guess, each of which takes one product away.  The moments are in the order
    of some known ones, from the least to the largest, so that they change as smoothly as the tensor does.
    [Golub and Van Loan 2013, section 8.5]
    """
    r = matrix(guess)
    a = matmul(transpose(r), matmul(full_matrix(tensor), r))
    turned: Groups = (a[0], a[4], a[8], a[1], a[2], a[5])
    none = 0 * a[0]
    turn: Quaternion = (1 + none, none, none, none)
    ranks = _ranks(known)
    for _ in range(3 * SWEEPS):
        turned, turn = _without_product(turned, turn, ranks[1] - ranks[0])
        ranks = (ranks[1], ranks[2], ranks[0])
    return (turned[0], turned[1], turned[2]), product(guess, turn)


@law
def _ranks(v: Vector) -> Vector:
    """The place of each of three numbers in their order; of equal ones the first comes first."""
    x, y, z = v
    zero, one = 0 * x, 1 + 0 * x
    y_first, z_first, z_second = if_less(y, x, one, zero), if_less(z, x, one, zero), if_less(z, y, one, zero)
    return (y_first + z_first, 1 - y_first + z_second, 2 - z_first - z_second)


@law
def _without_product(tensor: Groups, turn: Quaternion, rise: Number) -> tuple[Groups, Quaternion]:
    """Turn the first two axes so that their product of inertia vanishes; then the second becomes the first.

    t = tan of the smaller root of t^2 + t (yy - xx)/xy = 1; c, s the cosine and sine.  A quarter turn more exchanges
    the two moments, if their difference has not the sign of `rise`.
    """
    xx, yy, zz, xy, xz, yz = tensor
    apart, twice = yy - xx, 2 * xy
    zero = 0 * xx
    size = absolute(apart) + sqrt(apart * apart + twice * twice)
    t = if_less(apart, zero, -twice, twice) / if_less(zero, size, size, 1 + zero)
    cos = 1 / sqrt(1 + t * t)
    sin = t * cos
    x, y = xx - t * xy, yy + t * xy
    wrong = rise * (y - x)
    x, y = if_less(wrong, zero, y, x), if_less(wrong, zero, x, y)
    c, s = if_less(wrong, zero, sin, cos), if_less(wrong, zero, -cos, sin)
    half = sqrt((1 + c) / 2)
    q = product(turn, (half, zero, zero, -s / (2 * half)))
    return (y, zz, x, s * xz + c * yz, zero, c * xz - s * yz), (q[0], q[2], q[3], q[1])


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
