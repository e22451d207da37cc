"""The laws of contact: where a convex body touches a plane, how that point moves, and what an impulse there does."""

from __future__ import annotations

from polhode.equations.law import Groups, Number, Quaternion, Vector, law
from polhode.equations.quaternions import conjugate, product, times_vector, to_body, to_world
from polhode.equations.scalar_ops import absolute, if_less, sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled, times


@law
def relative_turn(q: Quaternion, change: Quaternion) -> Quaternion:
    """q* (q + change): the rotation from one attitude to another, without cancellation where it is small."""
    w, x, y, z = product(conjugate(q), change)
    return (1 + w, x, y, z)


@law
def displaced(turn: Quaternion, point: Vector) -> Vector:
    """R(turn) p - p = 2 (w e x p + e x (e x p))/|turn|^2, without cancellation where the turn is small."""
    w, x, y, z = turn
    axis = (x, y, z)
    once = cross(axis, point)
    return scaled(2 / (w * w + dot(axis, axis)), plus(scaled(w, once), cross(axis, once)))


@law
def circle_rim(normal: Vector, axis: Vector) -> tuple[Vector, Number]:
    """The direction, in the plane of a circle, that goes down most steeply, and the sine of the circle's tilt."""
    along = dot(normal, axis)
    flat = minus(normal, scaled(along, axis))
    tilt = sqrt(dot(flat, flat))
    return scaled(if_less(0 * tilt, tilt, -1 / if_less(0 * tilt, tilt, tilt, 1 + 0 * tilt), 0 * tilt), flat), tilt


@law
def lowest_of_point(normal: Vector, center: Vector, radius: Number) -> Vector:
    """Of a ball about a point of the body: c - r n."""
    return minus(center, scaled(radius, normal))


@law
def slide_of_point(normal: Vector, w: Vector, radius: Number) -> Vector:
    """How fast that point moves over the body: r w x n."""
    return scaled(radius, cross(w, normal))


@law
def lowest_of_circle(normal: Vector, center: Vector, axis: Vector, rho: Number, radius: Number) -> Vector:
    """Of a circle swept by a ball: c + rho e - r n, e the steepest direction down in its plane."""
    down, _ = circle_rim(normal, axis)
    return minus(plus(center, scaled(rho, down)), scaled(radius, normal))


@law
def slide_of_circle(normal: Vector, w: Vector, axis: Vector, rho: Number, radius: Number) -> Vector:
    """How fast that point moves over the body; the tilt must not be 0."""
    down, tilt = circle_rim(normal, axis)
    across = cross(axis, down)
    normal_rate = cross(normal, w)
    moved = scaled(-rho * dot(across, normal_rate) / tilt, across)
    return minus(moved, scaled(radius, normal_rate))


@law
def lowest_of_ellipsoid(normal: Vector, center: Vector, semi: Vector, own: Quaternion) -> Vector:
    """Of an ellipsoid with semi-axes along its own axes: c - A^2 n/|A n|."""
    n = to_body(own, normal)
    stretched = times(semi, n)
    return minus(center, to_world(own, scaled(1 / sqrt(dot(stretched, stretched)), times(semi, stretched))))


@law
def slide_of_ellipsoid(normal: Vector, w: Vector, semi: Vector, own: Quaternion) -> Vector:
    """How fast that point moves over the body."""
    n, rate = to_body(own, normal), to_body(own, cross(normal, w))
    stretched, moved = times(semi, n), times(semi, rate)
    size = sqrt(dot(stretched, stretched))
    change = minus(moved, scaled(dot(stretched, moved) / (size * size), stretched))
    return to_world(own, scaled(-1 / size, times(semi, change)))


SERIES = 7
"""Terms of the power series of a short free rotation."""


def rotate_briefly(w: Vector, moments: Vector, inverse_moments: Vector, t: Number) -> tuple[Quaternion, Vector]:
    """A free rotation by a small angle, by its power series in t: its quaternion less 1, and the later w.

    [w1' = (I2 - I3)/I1 w2 w3, ...; q' = 1/2 q (0, w)]  The change keeps all its digits, however small it is.
    """
    a, b, c = moments
    factors = times(inverse_moments, (b - c, c - a, a - b))
    one, zero = 1 + 0 * t, 0 * t
    spins, turns = [w], [(one, zero, zero, zero)]
    for n in range(SERIES):
        product_sum, turn_sum = (zero, zero, zero), (zero, zero, zero, zero)
        for j in range(n + 1):
            u, v, q = spins[j], spins[n - j], turns[j]
            product_sum = plus(product_sum, (u[1] * v[2], u[2] * v[0], u[0] * v[1]))
            moved = times_vector(q, v)
            turn_sum = tuple(x + y for x, y in zip(turn_sum, moved, strict=True))
        spins.append(scaled(t / (n + 1), times(factors, product_sum)))
        turns.append(tuple(t / (2 * (n + 1)) * x for x in turn_sum))
    change, later = turns[-1], spins[-1]
    for n in range(SERIES - 1, 0, -1):  # the smallest first
        change = tuple(x + y for x, y in zip(change, turns[n], strict=True))
        later = plus(later, spins[n])
    return change, plus(later, w)


# How far the lowest point sinks when the body turns, without cancellation ---------------------------------------------
@law
def sunk_point(normal: Vector, turn: Quaternion, center: Vector) -> Number:
    """n . (R c - c), the normal in the axes of the body before it turned."""
    return dot(normal, displaced(turn, center))


@law
def sunk_circle(normal: Vector, turn: Quaternion, center: Vector, axis: Vector, rho: Number) -> Number:
    """The center sinks, and the sine of the tilt, |n x axis|, changes: s1 - s0 = (s1^2 - s0^2)/(s1 + s0)."""
    before, change = cross(normal, axis), cross(normal, displaced(turn, axis))
    after = plus(before, change)
    both = sqrt(dot(before, before)) + sqrt(dot(after, after))
    grown = dot(change, plus(before, after)) / if_less(0 * both, both, both, 1 + 0 * both)
    return sunk_point(normal, turn, center) - rho * grown


@law
def sunk_ellipsoid(normal: Vector, turn: Quaternion, center: Vector, semi: Vector, own: Quaternion) -> Number:
    """The center sinks, and |A n| changes."""
    change = displaced(conjugate(turn), normal)
    n, moved = to_body(own, normal), to_body(own, change)
    before, grown = times(semi, n), times(semi, moved)
    after = plus(before, grown)
    sizes = sqrt(dot(before, before)) + sqrt(dot(after, after))
    return sunk_point(normal, turn, center) - dot(grown, plus(before, after)) / sizes


# Impulses -------------------------------------------------------------------------------------------------------------
@law
def tangents(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that complete a normal to a right-handed set.  [Duff et al. 2017]"""
    x, y, z = normal
    sign = if_less(z, 0, -1 + 0 * z, 1 + 0 * z)
    a = -1 / (sign + z)
    b = x * y * a
    return (1 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)


@law
def point_velocity(velocity: Vector, w: Vector, arm: Vector) -> Vector:
    """v + w x r.  [Baraff 1997, eq. 2-23]"""
    return plus(velocity, cross(w, arm))


@law
def line_crossing(
    shift: Vector,
    lines: tuple[tuple[Vector, Vector], tuple[Vector, Vector]],
    velocities: tuple[Vector, Vector],
    spins: tuple[Vector, Vector],
    toward: Vector,
) -> tuple[Vector, Vector, tuple[Vector, Vector], Number, Vector]:
    """The closest points of two straight lines (a + s e, b + t f), one in each of two bodies.

    c + s e - t f = d n, n = e x f/|e x f|, c = shift + a - b; the sign of n is that of a direction, `toward`.  Returns
    n, n', both points from the centers of mass, d, and how fast the place between them moves.
    """
    ((a, e), (b, f)), (v_a, v_b), (w_a, w_b) = lines, velocities, spins
    c = plus(shift, minus(a, b))
    raw = cross(e, f)
    length = sqrt(dot(raw, raw))
    per = if_less(dot(raw, toward), 0, -1 / length, 1 / length)
    n = scaled(per, raw)
    e_rate, f_rate = cross(w_a, e), cross(w_b, f)
    raw_rate = scaled(per, plus(cross(e_rate, f), cross(e, f_rate)))
    n_rate = minus(raw_rate, scaled(dot(n, raw_rate), n))
    m, k = cross(f, n), cross(e, n)
    s, t = -dot(c, m) / dot(e, m), dot(c, k) / dot(f, k)
    on_a, on_b = plus(a, scaled(s, e)), plus(b, scaled(t, f))
    c_rate = plus(minus(v_a, v_b), minus(cross(w_a, a), cross(w_b, b)))
    m_rate, k_rate = plus(cross(f_rate, n), cross(f, n_rate)), plus(cross(e_rate, n), cross(e, n_rate))
    s_rate = -(dot(c_rate, m) + dot(c, m_rate) + s * (dot(e_rate, m) + dot(e, m_rate))) / dot(e, m)
    t_rate = (dot(c_rate, k) + dot(c, k_rate) - t * (dot(f_rate, k) + dot(f, k_rate))) / dot(f, k)
    moved_a = plus(plus(v_a, cross(w_a, on_a)), scaled(s_rate, e))
    moved_b = plus(plus(v_b, cross(w_b, on_b)), scaled(t_rate, f))
    return n, n_rate, (on_a, on_b), dot(n, c), scaled((1 + 0 * s) / 2, plus(moved_a, moved_b))


@law
def inverse_tensor(inverse_moments: Vector, q: Quaternion) -> Groups:
    """The rows of R I^-1 R^T in world axes."""
    columns = tuple(to_world(q, axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    return tuple(
        tuple(
            inverse_moments[0] * columns[0][i] * columns[0][j]
            + inverse_moments[1] * columns[1][i] * columns[1][j]
            + inverse_moments[2] * columns[2][i] * columns[2][j]
            for j in range(3)
        )
        for i in range(3)
    )


def symmetric_axes(a: Number, b: Number, c: Number) -> tuple[Number, Number, Number, Number]:
    """Of the matrix (a, b; b, c): its eigenvalues, and the cosine and sine of the first eigenvector."""
    half, off = (a - c) / 2, b
    size = sqrt(half * half + off * off)
    middle = (a + c) / 2
    # cos of twice the angle is half/size; the larger of cosine and sine comes from the sum without cancellation
    safe = if_less(0, size, size, 1 + 0 * size)
    double = if_less(0, size, half / safe, 1 + 0 * size)
    large = sqrt((1 + absolute(double)) / 2)
    small = off / (2 * safe * large)
    cosine = if_less(double, 0, absolute(small), large)
    sine = if_less(double, 0, if_less(off, 0, -large, large), small)
    return middle + size, middle - size, cosine, sine
