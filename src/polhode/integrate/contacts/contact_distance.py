"""The distance of two convex bodies, by GJK and Newton's method.

Each body is the convex hull of its features (`contact_shapes`).  The distance is max over unit vectors n of
min n.a - max n.b, a in A and b in B, so that any n gives a lower bound.  GJK finds the features that decide it, and
Newton's method on those features the normal to rounding.  What is returned is such a lower bound: two bodies that it
calls apart are apart.

The normal points from B to A.  Bodies count as touching at a distance of SKIN times their size, where the normal still
has 8 digits in the worst case (a corner against a corner) and all of them where a face or a round part touches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from polhode.equations.contact_laws import (
    lowest_of_circle,
    lowest_of_ellipsoid,
    lowest_of_point,
    slide_of_circle,
    slide_of_ellipsoid,
    slide_of_point,
    tangents,
)
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.scalar_ops import if_less, sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled
from polhode.integrate.contacts.contact_shapes import (
    AXIS,
    CENTER,
    CIRCLE,
    ELLIPSOID,
    FLAT,
    KIND,
    OWN,
    RADIUS,
    REACH,
    RIM,
    ROUNDING,
    depth_of_lowest,
    quaternion,
    store,
    tilt_of,
    vector,
)
from polhode.ir.loops import loop

SKIN = 1e-8
"""Bodies touch at this fraction of their size."""
ON_A, ON_B, ROW_A, ROW_B, WEIGHT, HELD_A, HELD_B, VERTEX = 3, 6, 9, 10, 11, 12, 13, 14
"""Of a vertex of A - B: its place, the arms of its points on A and on B, the rows of their features, its weight;
1 if its point on A, or on B, is fixed in the body: on the rim of a circle that lies flat."""
SIZE, SHRINK_A, SHRINK_B, BEST, UPPER = 0, 1, 2, 3, 4
"""Numbers of a pair: its size, the radii by which the cores are smaller, the bounds of the distance of the cores."""
COUNT, BASE, ACTIVE = 0, 1, 2
"""Whole numbers of a pair: vertices of the simplex, of its base, of the active set."""
NORMAL, ARM_A, ARM_B, DISTANCE, NORMAL_RATE, GAP_RATE, PLACE_RATE, ANSWER = 0, 3, 6, 9, 10, 13, 14, 17
"""The answer: the normal, the closest points from both centers of mass, their distance; rates by `find_pair_rates`."""
MANIFOLD_A, MANIFOLD_B, MANIFOLD_GAP, MANIFOLD = 0, 3, 6, 7
"""Of a point of a manifold: its arms from both centers of mass, and the gap there."""
UNUSED, LIVE, A_ON_PLANE, B_ON_PLANE, LIVE_A, LIVE_B, CROSSING = -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
"""Kinds of anchors: the closest points of some features of A and of B; a feature of A on a plane fixed in B, of B on
one fixed in A; the closest points of one feature of A and all of B, and of one of B and all of A; the closest points of
two straight lines, an edge of A and an edge of B."""
ANCHOR_KIND, ANCHOR_ROW, ANCHOR_NORMAL, ANCHOR_OFFSET, ANCHOR_ROWS, ANCHOR = 0, 1, 2, 5, 6, 12
"""Of an anchor: its kind, its feature; the plane in the axes of the other body, with its normal toward this one; up to
three features of A and three of B, -1 where there are fewer."""
MOST_MANIFOLD, MOST_CORNERS = 8, 64
"""Points of a manifold; corners of a face (of more, the others are left out)."""
ATTEMPTS, GJK_STEPS, NEWTON_STEPS = 3, 128, 12
LONG_STEP = 0.5
"""The normal turns by at most this angle in a step of Newton's method."""
FAR_APART = 1e-3
"""Points of one feature that are farther apart, as a fraction of the size, lie on a circle that is flat."""
SHALLOW = 1e-6
"""Bodies that overlap by less of their size may be apart: GJK tries again from the best normal."""
CLOSE, PART = 1e-12, 1e-4
"""Bodies that overlap, or are closer than the first fraction of their size, are looked at a bit apart, by the other."""
CONVERGED = 1e-15
"""The bounds of the distance agree to this fraction of it and of the size."""


class PairSpace(NamedTuple):
    """The workspace for two bodies: arrays of numbers, the last of whole numbers."""

    simplex: Any
    """The vertices of A - B that GJK holds."""
    base: Any
    """Those that were nearest to the origin: where Newton's method starts."""
    merged: Any
    active: Any
    """Those that decide the answer."""
    trial: Any
    low: Any
    slide: Any
    nearest: Any
    matrix: Any
    normal: Any
    real: Any
    answer: Any
    corners: Any
    hull_a: Any
    hull_b: Any
    polygon: Any
    clipped: Any
    manifold: Any
    anchors: Any
    """What holds each point of the manifold, for `find_anchored_point`."""
    picked: Any
    """The features of an anchor: three of A, three of B."""
    whole: Any


# The lowest points of the cores ---------------------------------------------------------------------------------------
@loop
def find_core_point(feature: Any, normal: Any, shrink: float, out: Any) -> None:
    """The lowest point of a feature less a ball of radius `shrink`; in body axes."""
    if feature[KIND] == CIRCLE:
        axis, rho, rounding = vector(feature, AXIS), feature[RADIUS], feature[ROUNDING] - shrink
        store(out, 0, lowest_of_circle(normal, vector(feature, CENTER), axis, rho, rounding))
    else:
        if feature[KIND] == ELLIPSOID:
            semi, own = vector(feature, AXIS), quaternion(feature, OWN)
            store(out, 0, lowest_of_ellipsoid(normal, vector(feature, CENTER), semi, own))
        else:
            store(out, 0, lowest_of_point(normal, vector(feature, CENTER), feature[ROUNDING] - shrink))


@loop
def find_core_slide(feature: Any, normal: Any, w: Any, shrink: float, out: Any) -> None:
    """How fast that point moves over the body, which turns by w under a fixed normal; in body axes."""
    if feature[KIND] == CIRCLE:
        axis, rho, rounding = vector(feature, AXIS), feature[RADIUS], feature[ROUNDING] - shrink
        if tilt_of(normal, axis) > FLAT:
            store(out, 0, slide_of_circle(normal, w, axis, rho, rounding))
        else:
            store(out, 0, slide_of_point(normal, w, rounding))
    else:
        if feature[KIND] == ELLIPSOID:
            store(out, 0, slide_of_ellipsoid(normal, w, vector(feature, AXIS), quaternion(feature, OWN)))
        else:
            store(out, 0, slide_of_point(normal, w, feature[ROUNDING] - shrink))


def normal_in_body(y: Any, i: Any, normal: Any) -> Any:
    """A world vector in the axes of the body at y[i]."""
    return to_body(quaternion(y, i + 3), normal)


def turned_out(y: Any, i: Any, low: Any, out: Any, at: Any) -> None:
    """A vector of a body in world axes."""
    store(out, at, to_world(quaternion(y, i + 3), vector(low, 0)))


def opposite(a: Any) -> Any:
    """-a"""
    return (-a[0], -a[1], -a[2])


@loop
def find_lowest_row(features: Any, first: int, last: int, normal: Any) -> int:
    """The feature that is lowest; the normal in body axes."""
    best, found = 1e300, first
    for row in range(first, last):
        if features[row, KIND] != RIM:
            depth = depth_of_lowest(features[row], normal)
            if depth < best:
                best = depth
                found = row
    return found


def place_vertex(y: Any, i: Any, j: Any, out: Any) -> None:
    """a - b in world axes."""
    shift = minus(vector(y, i), vector(y, j))
    store(out, 0, plus(shift, minus(vector(out, ON_A), vector(out, ON_B))))


@loop
def find_vertex(features: Any, y: Any, at: Any, space: PairSpace, normal: Any, out: Any) -> None:
    """The vertex of A - B that the features in out[ROW_A] and out[ROW_B] give for a normal."""
    i, j = at
    body_a, body_b = normal_in_body(y, i, normal), normal_in_body(y, j, opposite(normal))
    if out[HELD_A] == 0.0:
        find_core_point(features[int(out[ROW_A])], body_a, space.real[SHRINK_A], space.low)
        turned_out(y, i, space.low, out, ON_A)
    if out[HELD_B] == 0.0:
        find_core_point(features[int(out[ROW_B])], body_b, space.real[SHRINK_B], space.low)
        turned_out(y, j, space.low, out, ON_B)
    place_vertex(y, i, j, out)


@loop
def find_support(features: Any, rows: Any, y: Any, at: Any, space: PairSpace, normal: Any, out: Any) -> float:
    """The vertex of A - B that is lowest along a normal, and how far: a lower bound of the distance of the cores."""
    first_a, last_a, first_b, last_b, _ = rows
    i, j = at
    body_a, body_b = normal_in_body(y, i, normal), normal_in_body(y, j, opposite(normal))
    out[HELD_A], out[HELD_B] = 0.0, 0.0
    out[ROW_A] = float(find_lowest_row(features, first_a, last_a, body_a))
    out[ROW_B] = float(find_lowest_row(features, first_b, last_b, body_b))
    find_vertex(features, y, at, space, normal, out)
    lower: float = dot(normal, vector(out, 0))
    return lower


# GJK ------------------------------------------------------------------------------------------------------------------
@loop
def offer(nearest: Any, v: Any, weights: Any, places: Any) -> None:
    """Keep a point of a simplex if it is the nearest so far: nearest = (square, v, weights, places, count)."""
    square = dot(v, v)
    # of equals a triangle: its normal has all digits
    if square * (1.0 if places[2] == 9 else 1.0 - 1e-12) < nearest[0]:
        nearest[0] = square
        store(nearest, 1, v)
        store(nearest, 4, weights)
        store(nearest, 7, (float(places[0]), float(places[1]), float(places[2])))


@loop
def try_edge(simplex: Any, i: int, j: int, nearest: Any) -> None:
    """The foot of the origin on an edge."""
    a, b = vector(simplex[i], 0), vector(simplex[j], 0)
    e = minus(b, a)
    ee = dot(e, e)
    if ee > 0.0:
        t = -dot(a, e) / ee
        if 0.0 < t < 1.0:
            offer(nearest, plus(a, scaled(t, e)), (1.0 - t, t, 0.0), (i, j, 9))


@loop
def try_triangle(simplex: Any, i: int, j: int, k: int, nearest: Any) -> None:
    """The foot of the origin on a triangle; its direction is that of the triangle's normal, to all digits."""
    a, b, c = vector(simplex[i], 0), vector(simplex[j], 0), vector(simplex[k], 0)
    e, f = minus(b, a), minus(c, a)
    n = cross(e, f)
    nn, ee, ff = dot(n, n), dot(e, e), dot(f, f)
    if nn > 1e-20 * ee * ff:
        foot = scaled(dot(n, a) / nn, n)
        pa, pb, pc = minus(a, foot), minus(b, foot), minus(c, foot)
        wa, wb, wc = dot(n, cross(pb, pc)) / nn, dot(n, cross(pc, pa)) / nn, dot(n, cross(pa, pb)) / nn
        if wa > -1e-12 and wb > -1e-12 and wc > -1e-12:
            inside = plus(plus(scaled(wa, a), scaled(wb, b)), scaled(wc, c))
            off = minus(inside, foot)
            noise = 1e-13 * (sqrt(ee) + sqrt(ff) + sqrt(dot(a, a)))
            if dot(off, off) <= noise * noise:
                offer(nearest, foot, (wa, wb, wc), (i, j, k))
            else:
                offer(nearest, inside, (wa, wb, wc), (i, j, k))


def volume(p: Any, q: Any, r: Any) -> Any:
    """p . q x r"""
    return dot(p, cross(q, r))


@loop
def holds_origin(simplex: Any) -> bool:
    """Whether a tetrahedron contains the origin."""
    a, b, c, d = vector(simplex[0], 0), vector(simplex[1], 0), vector(simplex[2], 0), vector(simplex[3], 0)
    whole = volume(minus(b, a), minus(c, a), minus(d, a))
    sign = 1.0 if whole > 0.0 else -1.0
    v0, v1 = sign * volume(b, c, d), -sign * volume(a, c, d)
    v2, v3 = sign * volume(a, b, d), -sign * volume(a, b, c)
    holds: bool = whole != 0.0 and v0 >= 0.0 and v1 >= 0.0 and v2 >= 0.0 and v3 >= 0.0
    return holds


@loop
def reduce_simplex(space: PairSpace) -> None:
    """Keep the part of the simplex that is nearest to the origin, which contains the newest vertex, the last."""
    simplex, nearest = space.simplex, space.nearest
    last = space.whole[COUNT] - 1
    nearest[0] = 1e300
    offer(nearest, vector(simplex[last], 0), (1.0, 0.0, 0.0), (last, 9, 9))
    for i in range(last):
        try_edge(simplex, i, last, nearest)
    for i in range(last):
        for j in range(i + 1, last):
            try_triangle(simplex, i, j, last, nearest)
    kept = 0
    for k in range(3):
        place = int(nearest[7 + k])
        if place < 9:
            for m in range(WEIGHT):
                simplex[kept, m] = simplex[place, m]
            simplex[kept, WEIGHT] = nearest[4 + k]
            kept += 1
    space.whole[COUNT] = kept


@loop
def keep_points(space: PairSpace, vertices: Any, count: int) -> None:
    """Keep the closest points that the weights of vertices give, and these vertices."""
    for m in range(6):
        total = 0.0
        for k in range(count):
            total = total + vertices[k, WEIGHT] * vertices[k, ON_A + m]
        space.answer[ARM_A + m] = total
    space.whole[ACTIVE] = count
    copy_vertices(vertices, count, space.active)


@loop
def copy_vertices(vertices: Any, count: int, out: Any) -> None:
    """Copy vertices."""
    for k in range(count):
        for m in range(VERTEX):
            out[k, m] = vertices[k, m]


@loop
def is_known(space: PairSpace) -> bool:
    """Whether the newest vertex is one of the others."""
    last = space.whole[COUNT] - 1
    for k in range(last):
        if (
            space.simplex[k, 0] == space.simplex[last, 0]
            and space.simplex[k, 1] == space.simplex[last, 1]
            and space.simplex[k, 2] == space.simplex[last, 2]
        ):
            return True
    return False


@loop
def is_decided(space: PairSpace) -> bool:
    """Whether the bounds of the distance agree."""
    agree: bool = space.real[UPPER] - space.real[BEST] <= CONVERGED * (space.real[UPPER] + space.real[SIZE])
    return agree


@loop
def find_distance(features: Any, rows: Any, y: Any, at: Any, space: PairSpace) -> None:
    """GJK on the cores from space.nearest, with Newton's method on the features of the simplex now and then."""
    space.whole[COUNT], space.whole[BASE] = 0, 0
    reached, due, stalled = 1e300, 6, 0
    for step in range(GJK_STEPS):
        v = vector(space.nearest, 1)
        length = sqrt(dot(v, v))
        if length <= 1e-13 * space.real[SIZE]:
            break
        normal = scaled(1.0 / length, v)
        last = space.whole[COUNT]
        lower = find_support(features, rows, y, at, space, normal, space.simplex[last])
        if lower > space.real[BEST]:
            space.real[BEST] = lower
            store(space.answer, NORMAL, normal)
        space.whole[COUNT] = last + 1
        if is_decided(space) or is_known(space):
            break
        if last == 3 and space.real[BEST] <= 0.0 and holds_origin(space.simplex):
            break
        reduce_simplex(space)
        stalled = 0 if sqrt(space.nearest[0]) < reached else stalled + 1
        if stalled > 4:
            break
        reached = min(reached, sqrt(space.nearest[0]))
        space.whole[BASE] = space.whole[COUNT]
        copy_vertices(space.simplex, space.whole[BASE], space.base)
        if reached < space.real[UPPER]:
            space.real[UPPER] = reached
            keep_points(space, space.base, space.whole[BASE])
        if step == due:
            due = 2 * due
            refine(features, rows, y, at, space)
            if is_decided(space):
                break


# Newton's method on the features that decide ------------------------------------------------------------------------
@loop
def is_held(space: PairSpace, k: int, row_at: int, point_at: int) -> float:
    """1 if a feature gives the base several points that are far from each other: a circle that lies flat."""
    for m in range(space.whole[BASE]):
        if space.base[m, row_at] == space.base[k, row_at]:
            gap = minus(vector(space.base[m], point_at), vector(space.base[k], point_at))
            if sqrt(dot(gap, gap)) > FAR_APART * space.real[SIZE]:
                return 1.0
    return 0.0


@loop
def merge_vertices(space: PairSpace, holds: bool) -> int:
    """Copy the base; of vertices that the same two features give only one, unless flat circles are held."""
    count = 0
    for k in range(space.whole[BASE]):
        found = count
        if not holds:
            for m in range(count):
                is_same = space.merged[m, ROW_A] == space.base[k, ROW_A]
                if is_same and space.merged[m, ROW_B] == space.base[k, ROW_B]:
                    found = m
        if found < count:
            space.merged[found, WEIGHT] += space.base[k, WEIGHT]
        else:
            for m in range(VERTEX):
                space.merged[count, m] = space.base[k, m]
            if holds:
                space.merged[count, HELD_A] = is_held(space, k, ROW_A, ON_A)
                space.merged[count, HELD_B] = is_held(space, k, ROW_B, ON_B)
            count += 1
    return count


@loop
def clear(array: Any, count: int) -> None:
    """Zeros."""
    for m in range(count):
        array[m] = 0.0


@loop
def find_slides(features: Any, y: Any, at: Any, space: PairSpace, normal: Any, spins: Any, row: Any) -> None:
    """How fast the points of a vertex move over A and over B that turn under a fixed normal; world axes."""
    i, j = at
    w_a, w_b = spins
    body_a, body_b = normal_in_body(y, i, normal), normal_in_body(y, j, opposite(normal))
    clear(space.slide, 6)
    if row[HELD_A] == 0.0:
        find_core_slide(features[int(row[ROW_A])], body_a, w_a, space.real[SHRINK_A], space.low)
        turned_out(y, i, space.low, space.slide, 0)
    if row[HELD_B] == 0.0:
        find_core_slide(features[int(row[ROW_B])], body_b, w_b, space.real[SHRINK_B], space.low)
        turned_out(y, j, space.low, space.slide, 3)


@loop
def find_bend(features: Any, y: Any, at: Any, space: PairSpace, normal: Any, change: Any, row: Any) -> None:
    """How the points of a vertex move when the normal changes; as if both bodies turned the other way."""
    i, j = at
    turn = cross(change, normal)
    spins = (normal_in_body(y, i, turn), normal_in_body(y, j, turn))
    find_slides(features, y, at, space, normal, spins, row)


@loop
def fill_matrix(features: Any, y: Any, at: Any, space: PairSpace, normal: Any, vertices: Any, count: int) -> None:
    """The matrix of Newton's method for the largest d with n.w_i >= d: changes of n, weights, d.

    [H G^T 0; G 0 -1; 0 1 0], H the second derivative of sum weight_i n.w_i(n) on the sphere.
    """
    first, second = tangents(normal)
    a, size = space.matrix, count + 3
    for r in range(size):
        for c in range(size + 1):
            a[r, c] = 0.0
    for k in range(count):
        row, weight = vertices[k], vertices[k, WEIGHT]
        w = vector(row, 0)
        g1, g2, g = dot(first, w), dot(second, w), dot(normal, w)
        a[0, 2 + k], a[1, 2 + k], a[2 + k, 0], a[2 + k, 1] = g1, g2, g1, g2
        a[2 + k, size - 1], a[size - 1, 2 + k] = -1.0, 1.0
        a[0, 0] -= weight * g
        a[1, 1] -= weight * g
        find_bend(features, y, at, space, normal, first, row)
        bend1 = minus(vector(space.slide, 0), vector(space.slide, 3))
        a[0, 0] += weight * dot(first, bend1)
        a[0, 1] += weight * dot(second, bend1)
        find_bend(features, y, at, space, normal, second, row)
        bend2 = minus(vector(space.slide, 0), vector(space.slide, 3))
        a[1, 0] += weight * dot(first, bend2)
        a[1, 1] += weight * dot(second, bend2)


@loop
def solve_matrix(a: Any, size: int) -> bool:
    """Gauss elimination with pivots; the solution replaces the last column."""
    for c in range(size):
        pivot = c
        for r in range(c + 1, size):
            if abs(a[r, c]) > abs(a[pivot, c]):
                pivot = r
        if not abs(a[pivot, c]) > 0.0:
            return False
        for m in range(size + 1):
            a[c, m], a[pivot, m] = a[pivot, m], a[c, m]
        for r in range(c + 1, size):
            factor = a[r, c] / a[c, c]
            for m in range(c, size + 1):
                a[r, m] -= factor * a[c, m]
    for back in range(size):
        r = size - 1 - back
        total = a[r, size]
        for m in range(r + 1, size):
            total = total - a[r, m] * a[m, size]
        a[r, size] = total / a[r, r]
    return True


@loop
def improve(features: Any, rows: Any, y: Any, at: Any, space: PairSpace, count: int) -> None:
    """Keep the normal and the closest points of a step of Newton's method if they are as good as any."""
    normal = vector(space.normal, 0)
    noise = 1e-15 * space.real[SIZE]
    lower = find_support(features, rows, y, at, space, normal, space.trial)
    least, x, yy, z = 1.0, 0.0, 0.0, 0.0
    for k in range(count):
        weight = space.merged[k, WEIGHT]
        least = min(least, weight)
        x = x + weight * space.merged[k, 0]
        yy = yy + weight * space.merged[k, 1]
        z = z + weight * space.merged[k, 2]
    upper = sqrt(x * x + yy * yy + z * z)
    if lower >= space.real[BEST] - noise:
        store(space.answer, NORMAL, normal)
        space.real[BEST] = lower
        if least > -1e-14 and upper <= space.real[UPPER] * (1.0 + 1e-12) + noise:
            space.real[UPPER] = upper
            keep_points(space, space.merged, count)


@loop
def follow_newton(features: Any, rows: Any, y: Any, at: Any, space: PairSpace, holds: bool) -> None:
    """Find the normal for which all vertices are equally low, or the sum of their weights is along it."""
    count = merge_vertices(space, holds)
    store(space.normal, 0, vector(space.answer, NORMAL))
    moved = 1.0
    for step in range(NEWTON_STEPS):
        normal = vector(space.normal, 0)
        for k in range(count):
            find_vertex(features, y, at, space, normal, space.merged[k])
        if step > 0:
            improve(features, rows, y, at, space, count)
        if moved <= 1e-15:
            break
        fill_matrix(features, y, at, space, normal, space.merged, count)
        size = count + 3
        for k in range(count):
            space.matrix[2 + k, size] = -dot(normal, vector(space.merged[k], 0))
        space.matrix[size - 1, size] = 1.0
        if not solve_matrix(space.matrix, size):
            break
        moved = sqrt(space.matrix[0, size] * space.matrix[0, size] + space.matrix[1, size] * space.matrix[1, size])
        part = 1.0 if moved < LONG_STEP else LONG_STEP / moved
        x1, x2 = part * space.matrix[0, size], part * space.matrix[1, size]
        first, second = tangents(normal)
        turned = plus(normal, plus(scaled(x1, first), scaled(x2, second)))
        store(space.normal, 0, scaled(1.0 / sqrt(dot(turned, turned)), turned))
        for k in range(count):
            space.merged[k, WEIGHT] = space.matrix[2 + k, size]


@loop
def refine(features: Any, rows: Any, y: Any, at: Any, space: PairSpace) -> None:
    """Newton's method with vertices that follow the normal, and with those of flat circles held."""
    if space.whole[BASE] > 0:
        follow_newton(features, rows, y, at, space, False)
        if not is_decided(space):
            follow_newton(features, rows, y, at, space, True)


# The distance -------------------------------------------------------------------------------------------------------
@loop
def least_rounding(features: Any, first: int, last: int) -> float:
    """The radius of the largest ball by which all features of a body are rounded."""
    least = 1e300
    for row in range(first, last):
        least = min(least, 0.0 if features[row, KIND] == ELLIPSOID else features[row, ROUNDING])
    return least


@loop
def largest_extent(features: Any, first: int, last: int) -> float:
    """The largest distance of a feature from the center of mass."""
    most = 0.0
    for row in range(first, last):
        most = max(most, features[row, REACH] + features[row, ROUNDING])
    return most


@loop
def seek_normal(features: Any, rows: Any, y: Any, at: Any, space: PairSpace) -> None:
    """GJK and Newton's method from the line of the centers; again from the best normal where they have not agreed."""
    i, j = at
    shift = minus(vector(y, i), vector(y, j))
    store(space.nearest, 1, shift)
    if sqrt(dot(shift, shift)) <= 1e-12 * space.real[SIZE]:
        space.nearest[1] = space.real[SIZE]
    space.real[BEST], space.real[UPPER] = -1e300, 1e300
    for _ in range(ATTEMPTS):
        find_distance(features, rows, y, at, space)
        refine(features, rows, y, at, space)
        if is_decided(space) or space.real[BEST] < -SHALLOW * space.real[SIZE]:
            break
        store(space.nearest, 1, scaled(space.real[SIZE], vector(space.answer, NORMAL)))


def shift_apart(y: Any, i: Any, j: Any, part: Any) -> Any:
    """A vector along the line of the centers, or along x if there is none."""
    shift = minus(vector(y, i), vector(y, j))
    length = sqrt(dot(shift, shift))
    x, yy, z = scaled(part / if_less(0, length, length, 1 + 0 * length), shift)
    return (if_less(0, length, x, part), yy, z)


@loop
def seek_apart(features: Any, rows: Any, y: Any, at: Any, space: PairSpace) -> None:
    """The normal of bodies that touch or overlap: that of the same bodies somewhat apart, which gives a bound too."""
    i, j = at
    before = vector(y, i)
    part = PART * space.real[SIZE]
    for _ in range(4):
        moved = shift_apart(y, i, j, part)
        store(y, i, plus(before, moved))
        seek_normal(features, rows, y, at, space)
        store(y, i, before)
        space.real[BEST] = space.real[BEST] - dot(vector(space.answer, NORMAL), moved)
        if space.real[UPPER] < 1e299 and space.real[BEST] > -part:
            break
        part = part * 10.0


@loop
def closest(features: Any, rows: Any, y: Any, at: Any, space: PairSpace) -> float:
    """The distance of two bodies, negative if they overlap; normal and closest points in space.answer.

    rows = (first and last + 1 row of A, the same of B, the row from which CIRCLE_ROW counts); at = (i, j): position
    and attitude of A begin at y[i], those of B at y[j].
    """
    first_a, last_a, first_b, last_b, _ = rows
    space.real[SHRINK_A] = least_rounding(features, first_a, last_a)
    space.real[SHRINK_B] = least_rounding(features, first_b, last_b)
    space.real[SIZE] = largest_extent(features, first_a, last_a) + largest_extent(features, first_b, last_b)
    seek_normal(features, rows, y, at, space)
    if space.real[BEST] <= CLOSE * space.real[SIZE]:
        seek_apart(features, rows, y, at, space)
    normal, a, b = vector(space.answer, NORMAL), vector(space.answer, ARM_A), vector(space.answer, ARM_B)
    core = space.real[BEST]
    store(space.answer, ARM_A, minus(a, scaled(space.real[SHRINK_A], normal)))
    store(space.answer, ARM_B, plus(b, scaled(space.real[SHRINK_B], normal)))
    distance: float = core - space.real[SHRINK_A] - space.real[SHRINK_B]
    space.answer[DISTANCE] = distance
    return distance
