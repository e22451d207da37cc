"""Contact of two convex bodies, after `closest`: the points at which they touch, how these move, how long none can."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.equations.contact_laws import line_crossing, tangents
from polhode.equations.quaternions import to_body, to_world
from polhode.equations.scalar_ops import if_less, sqrt
from polhode.equations.vectors import cross, dot, minus, plus, scaled
from polhode.integrate.contacts.contact_distance import (
    A_ON_PLANE,
    ACTIVE,
    ANCHOR_KIND,
    ANCHOR_NORMAL,
    ANCHOR_OFFSET,
    ANCHOR_ROW,
    ANCHOR_ROWS,
    ANSWER,
    ARM_A,
    ARM_B,
    B_ON_PLANE,
    CROSSING,
    DISTANCE,
    GAP_RATE,
    LIVE,
    LIVE_A,
    LIVE_B,
    MANIFOLD_A,
    MANIFOLD_B,
    MANIFOLD_GAP,
    MOST_CORNERS,
    MOST_MANIFOLD,
    NORMAL,
    NORMAL_RATE,
    ON_A,
    ON_B,
    PLACE_RATE,
    ROW_A,
    ROW_B,
    SHRINK_A,
    SHRINK_B,
    SIZE,
    WEIGHT,
    PairSpace,
    closest,
    fill_matrix,
    find_bend,
    find_core_point,
    find_core_slide,
    find_lowest_row,
    find_slides,
    normal_in_body,
    opposite,
    solve_matrix,
    turned_out,
)
from polhode.integrate.contacts.contact_shapes import (
    AXIS,
    CENTER,
    CIRCLE,
    ELLIPSOID,
    FEATURE,
    FLAT,
    KIND,
    POINT,
    RADIUS,
    REACH,
    RIM,
    ROUNDING,
    counts,
    depth_of_lowest,
    falling_rate,
    quaternion,
    safe_step,
    store,
    tilt_of,
    time_without_contact,
    vector,
)
from polhode.ir.loops import loop

DIRECTIONS = np.array([(np.cos(a), np.sin(a)) for a in np.arange(MOST_MANIFOLD) * (2 * np.pi / MOST_MANIFOLD) + 0.1])
"""In which the points of a manifold are farthest."""


# The manifold ---------------------------------------------------------------------------------------------------------
@loop
def find_corners(features: Any, body: Any, y: Any, axes: Any, tolerance: float, low: Any, corners: Any) -> int:
    """The lowest points of a body, within a tolerance: along two tangents from an origin; heights, features.

    body = (first and last + 1 row, the row from which CIRCLE_ROW counts, the place of the body in y); axes = (normal,
    tangents, origin from the center of mass).  Circles that lie flat have the points of their rims.
    """
    first, last, base, i = body
    normal, one, two, origin = axes
    n = normal_in_body(y, i, normal)
    least = depth_of_lowest(features[find_lowest_row(features, first, last, n)], n)
    count = 0
    for row in range(first, last):
        if count < MOST_CORNERS and counts(features, row, base, n):
            height = depth_of_lowest(features[row], n) - least
            if height <= tolerance:
                find_core_point(features[row], n, 0.0, low)
                turned_out(y, i, low, low, 0)
                arm = minus(vector(low, 0), origin)
                corners[count, 0], corners[count, 1], corners[count, 2] = dot(one, arm), dot(two, arm), height
                corners[count, 3] = float(row)
                count += 1
    return count


@loop
def side_of(p: Any, q: Any, r: Any) -> float:
    """Twice the area of a triangle in the plane: positive if r lies to the left of the line from p to q."""
    area: float = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    return area


@loop
def apart(p: Any, q: Any) -> float:
    """The distance of two points in the plane."""
    length: float = sqrt((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]))
    return length


@loop
def order_hull(corners: Any, count: int, hull: Any, tiny: float) -> int:
    """The convex hull of points in the plane, counterclockwise (gift wrapping); two of a segment, one of a point."""
    start = 0
    for k in range(1, count):
        is_left = corners[k, 0] < corners[start, 0] - tiny
        is_same = abs(corners[k, 0] - corners[start, 0]) <= tiny
        if is_left or (is_same and corners[k, 1] < corners[start, 1]):
            start = k
    found, current = 0, start
    for _ in range(count):
        for m in range(4):
            hull[found, m] = corners[current, m]
        found += 1
        following = -1
        for k in range(count):
            far = apart(corners[current], corners[k])
            if far > tiny:
                if following < 0:
                    following = k
                else:
                    ahead = apart(corners[current], corners[following])
                    side = side_of(corners[current], corners[following], corners[k])
                    if side < -tiny * ahead or (side <= tiny * ahead and far > ahead):
                        following = k
        if following < 0 or apart(corners[following], corners[start]) <= tiny:
            break
        current = following
    return found


@loop
def clip_polygon(space: PairSpace, count: int, p: Any, q: Any, tiny: float) -> int:
    """The part of space.polygon to the left of the line from p to q."""
    polygon, clipped = space.polygon, space.clipped
    edge, kept = apart(p, q) * tiny, 0
    for k in range(count):
        a, b = polygon[k], polygon[(k + 1) % count]
        here, there = side_of(p, q, a), side_of(p, q, b)
        if here >= -edge and kept < clipped.shape[0]:
            clipped[kept, 0], clipped[kept, 1] = a[0], a[1]
            kept += 1
        crosses = (here > edge and there < -edge) or (here < -edge and there > edge)
        if crosses and kept < clipped.shape[0]:
            t = here / (here - there)
            clipped[kept, 0], clipped[kept, 1] = a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])
            kept += 1
    for k in range(kept):
        polygon[k, 0], polygon[k, 1] = clipped[k, 0], clipped[k, 1]
    return kept


@loop
def overlap_segments(space: PairSpace, tiny: float) -> int:
    """The ends of what two parallel segments share; nothing if they cross."""
    a, b = space.hull_a, space.hull_b
    long_a, long_b = apart(a[0], a[1]), apart(b[0], b[1])
    x, y = (a[1, 0] - a[0, 0]) / long_a, (a[1, 1] - a[0, 1]) / long_a
    if abs(x * (b[1, 1] - b[0, 1]) - y * (b[1, 0] - b[0, 0])) > tiny:
        return 0
    s = x * (b[0, 0] - a[0, 0]) + y * (b[0, 1] - a[0, 1])
    t = x * (b[1, 0] - a[0, 0]) + y * (b[1, 1] - a[0, 1])
    low, high = max(0.0, min(s, t)), min(long_a, max(s, t))
    if high - low <= tiny * (long_a + long_b):
        return 0
    space.polygon[0, 0], space.polygon[0, 1] = a[0, 0] + low * x, a[0, 1] + low * y
    space.polygon[1, 0], space.polygon[1, 1] = a[0, 0] + high * x, a[0, 1] + high * y
    return 2


@loop
def intersect_hulls(space: PairSpace, in_a: int, in_b: int, tiny: float) -> int:
    """The corners of what the hulls of both faces share, in space.polygon."""
    if in_a == 1 or in_b == 1:
        return 0
    if in_a == 2 and in_b == 2:
        shared: int = overlap_segments(space, tiny)
        return shared
    count = in_a if in_b > 2 else in_b
    for k in range(count):
        for m in range(2):
            space.polygon[k, m] = space.hull_a[k, m] if in_b > 2 else space.hull_b[k, m]
    edges = in_b if in_b > 2 else in_a
    for k in range(edges):
        if count > 0:
            following = (k + 1) % edges
            if in_b > 2:
                count = clip_polygon(space, count, space.hull_b[k], space.hull_b[following], tiny)
            else:
                count = clip_polygon(space, count, space.hull_a[k], space.hull_a[following], tiny)
    return count


@loop
def fit_height(hull: Any, count: int, out: Any) -> None:
    """h = out[0] + out[1] s + out[2] t through corners of a face."""
    out[0], out[1], out[2] = hull[0, 2], 0.0, 0.0
    if count == 2:
        x, y = hull[1, 0] - hull[0, 0], hull[1, 1] - hull[0, 1]
        slope = (hull[1, 2] - hull[0, 2]) / (x * x + y * y)
        out[1], out[2] = slope * x, slope * y
    if count > 2:
        p, q, r = hull[0], hull[count // 3], hull[2 * count // 3]
        area = side_of(p, q, r)
        up, over = q[2] - p[2], r[2] - p[2]
        out[1] = (up * (r[1] - p[1]) - over * (q[1] - p[1])) / area
        out[2] = (over * (q[0] - p[0]) - up * (r[0] - p[0])) / area
    out[0] = hull[0, 2] - out[1] * hull[0, 0] - out[2] * hull[0, 1]


@loop
def spread_points(space: PairSpace, count: int, same: float) -> int:
    """Of the points of space.polygon those farthest in eight directions, none twice, in space.clipped."""
    found = 0
    for direction in range(MOST_MANIFOLD):
        best, chosen = -1e300, 0
        for k in range(count):
            far = DIRECTIONS[direction, 0] * space.polygon[k, 0] + DIRECTIONS[direction, 1] * space.polygon[k, 1]
            if far > best + same:
                best = far
                chosen = k
        is_new = True
        for k in range(found):
            if apart(space.clipped[k], space.polygon[chosen]) <= same:
                is_new = False
        if is_new:
            space.clipped[found, 0], space.clipped[found, 1] = space.polygon[chosen, 0], space.polygon[chosen, 1]
            found += 1
    return found


def place_point(row: Any, answer: Any, s: Any, t: Any) -> None:
    """The arms of a point of the manifold, in the middle between the bodies."""
    normal = vector(answer, NORMAL)
    one, two = tangents(normal)
    half = answer[DISTANCE] / 2
    moved = plus(scaled(s, one), scaled(t, two))
    store(row, MANIFOLD_A, plus(minus(vector(answer, ARM_A), scaled(half, normal)), moved))
    store(row, MANIFOLD_B, plus(plus(vector(answer, ARM_B), scaled(half, normal)), moved))


@loop
def corner_at(hull: Any, count: int, point: Any, same: float) -> int:
    """The feature whose corner of a hull is at a point; -1 if none is."""
    for k in range(count):
        if apart(hull[k], point) <= same:
            return int(hull[k, 3])
    return -1


@loop
def edge_through(hull: Any, count: int, point: Any, same: float) -> int:
    """The edge of a hull, by its first corner, that passes through a point; -1 if none does."""
    edges = 1 if count == 2 else count
    for k in range(edges):
        p, q = hull[k], hull[(k + 1) % count]
        length = apart(p, q)
        along = ((q[0] - p[0]) * (point[0] - p[0]) + (q[1] - p[1]) * (point[1] - p[1])) / length
        if abs(side_of(p, q, point)) <= same * length and -same <= along and along <= length + same:
            return k
    return -1


def face_normal(p: Any, q: Any, r: Any, toward: Any) -> Any:
    """The unit normal of three points, to the side of a direction; in the axes in which these are given."""
    normal = cross(minus(q, p), minus(r, p))
    length = sqrt(dot(normal, normal))
    return scaled(if_less(dot(normal, toward), 0, -1 / length, 1 / length), normal)


@loop
def is_straight(features: Any, row: int, other: int) -> bool:
    """Whether two features are ends of a straight edge: points rounded by the same radius."""
    a, b = features[row], features[other]
    points: bool = (a[KIND] == POINT or a[KIND] == RIM) and (b[KIND] == POINT or b[KIND] == RIM)
    return points and a[ROUNDING] == b[ROUNDING]


@loop
def is_flat(features: Any, hull: Any, count: int) -> bool:
    """Whether the corners of a hull are those of a plane face."""
    if count < 3:
        return False
    straight = True
    for k in range(1, count):
        straight = straight and is_straight(features, int(hull[0, 3]), int(hull[k, 3]))
    return straight


@loop
def lay_plane(features: Any, y: Any, j: int, normal: Any, hull: Any, count: int, anchor: Any) -> None:
    """The plane of the face of a body that a hull describes, in its axes: from its corners, to all digits."""
    k, m, n = int(hull[0, 3]), int(hull[count // 3, 3]), int(hull[2 * count // 3, 3])
    toward = normal_in_body(y, j, normal)
    p, q, r = vector(features[k], CENTER), vector(features[m], CENTER), vector(features[n], CENTER)
    store(anchor, ANCHOR_NORMAL, toward)
    if features[k, KIND] == RIM:  # the plane of a flat circle
        axis = vector(features[k], AXIS)
        store(anchor, ANCHOR_NORMAL, scaled(1.0 if dot(axis, toward) > 0.0 else -1.0, axis))
    elif is_flat(features, hull, count):
        store(anchor, ANCHOR_NORMAL, face_normal(p, q, r, toward))
    anchor[ANCHOR_OFFSET] = dot(vector(anchor, ANCHOR_NORMAL), p) + features[k, ROUNDING]


@loop
def set_crossing(features: Any, y: Any, j: int, normal: Any, anchor: Any, rows: Any) -> None:
    """Where an edge of A crosses an edge of B: rows = (both ends of one, both of the other)."""
    store(anchor, ANCHOR_NORMAL, normal_in_body(y, j, normal))
    anchor[ANCHOR_KIND], anchor[ANCHOR_ROW] = LIVE, -1.0
    if is_straight(features, rows[0], rows[1]) and is_straight(features, rows[2], rows[3]):
        anchor[ANCHOR_KIND] = CROSSING
    anchor[ANCHOR_ROWS], anchor[ANCHOR_ROWS + 1], anchor[ANCHOR_ROWS + 2] = float(rows[0]), float(rows[1]), -1.0
    anchor[ANCHOR_ROWS + 3], anchor[ANCHOR_ROWS + 4], anchor[ANCHOR_ROWS + 5] = float(rows[2]), float(rows[3]), -1.0


@loop
def set_anchor(features: Any, y: Any, at: Any, space: PairSpace, k: int, corners: Any, same: float) -> None:
    """What holds a point of the manifold: its corner over the face of the other body, the crossing of two edges; of
    lines their ends.
    """
    i, j = at
    in_a, in_b = corners
    anchor, normal = space.anchors[k], vector(space.answer, NORMAL)
    row_a = corner_at(space.hull_a, in_a, space.clipped[k], same)
    row_b = corner_at(space.hull_b, in_b, space.clipped[k], same)
    if row_a >= 0 and in_b > 2:
        anchor[ANCHOR_KIND], anchor[ANCHOR_ROW] = A_ON_PLANE, float(row_a)
        lay_plane(features, y, j, normal, space.hull_b, in_b, anchor)
    elif row_b >= 0 and in_a > 2:
        anchor[ANCHOR_KIND], anchor[ANCHOR_ROW] = B_ON_PLANE, float(row_b)
        lay_plane(features, y, i, opposite(normal), space.hull_a, in_a, anchor)
    elif in_a > 2 or in_b > 2:
        a = max(edge_through(space.hull_a, in_a, space.clipped[k], same), 0)
        b = max(edge_through(space.hull_b, in_b, space.clipped[k], same), 0)
        row_a, next_a = int(space.hull_a[a, 3]), int(space.hull_a[(a + 1) % in_a, 3])
        row_b, next_b = int(space.hull_b[b, 3]), int(space.hull_b[(b + 1) % in_b, 3])
        set_crossing(features, y, j, normal, anchor, (row_a, next_a, row_b, next_b))
    else:
        anchor[ANCHOR_KIND] = LIVE_A if row_a >= 0 else LIVE_B
        anchor[ANCHOR_ROW] = float(row_a) if row_a >= 0 else float(row_b)


@loop
def collect_rows(space: PairSpace, row_at: int, out: Any, at: int) -> int:
    """The features of one body that decide the answer, each once, and their number."""
    count = 0
    for k in range(3):
        out[at + k] = -1.0
    for k in range(space.whole[ACTIVE]):
        is_new = True
        for m in range(count):
            if out[at + m] == space.active[k, row_at]:
                is_new = False
        if is_new:
            out[at + count] = space.active[k, row_at]
            count += 1
    return count


@loop
def set_single_anchor(features: Any, y: Any, at: Any, space: PairSpace, corners: Any) -> None:
    """What holds a single point: a feature over a face, the crossing of two edges, or the features that decide."""
    i, j = at
    in_a, in_b = corners
    anchor, normal = space.anchors[0], vector(space.answer, NORMAL)
    if in_a == 1 and is_flat(features, space.hull_b, in_b):
        anchor[ANCHOR_KIND], anchor[ANCHOR_ROW] = A_ON_PLANE, space.hull_a[0, 3]
        lay_plane(features, y, j, normal, space.hull_b, in_b, anchor)
    elif in_b == 1 and is_flat(features, space.hull_a, in_a):
        anchor[ANCHOR_KIND], anchor[ANCHOR_ROW] = B_ON_PLANE, space.hull_b[0, 3]
        lay_plane(features, y, i, opposite(normal), space.hull_a, in_a, anchor)
    elif in_a == 2 and in_b == 2:
        rows_a = (int(space.hull_a[0, 3]), int(space.hull_a[1, 3]))
        rows_b = (int(space.hull_b[0, 3]), int(space.hull_b[1, 3]))
        set_crossing(features, y, j, normal, anchor, (rows_a[0], rows_a[1], rows_b[0], rows_b[1]))
    else:
        anchor[ANCHOR_KIND], anchor[ANCHOR_ROW] = LIVE, -1.0
        collect_rows(space, ROW_A, anchor, ANCHOR_ROWS)
        collect_rows(space, ROW_B, anchor, ANCHOR_ROWS + 3)


@loop
def find_manifold(features: Any, rows: Any, y: Any, at: Any, space: PairSpace, tolerance: float) -> int:
    """The points at which two bodies touch, after `closest`: their number; arms and gaps in space.manifold, and what
    holds each in space.anchors.

    Where faces or edges of both are within a tolerance of the plane between them: the corners of what they share, at
    most 8.  Otherwise the middle of the closest points.
    """
    first_a, last_a, first_b, last_b, base = rows
    i, j = at
    answer = space.answer
    normal = vector(answer, NORMAL)
    one, two = tangents(normal)
    tiny, same = 1e-10 * space.real[SIZE], 1e-6 * space.real[SIZE]
    axes_a = (normal, one, two, vector(answer, ARM_A))
    count = find_corners(features, (first_a, last_a, base, i), y, axes_a, tolerance, space.low, space.corners)
    in_a = order_hull(space.corners, count, space.hull_a, tiny)
    axes_b = (opposite(normal), one, two, vector(answer, ARM_B))
    count = find_corners(features, (first_b, last_b, base, j), y, axes_b, tolerance, space.low, space.corners)
    in_b = order_hull(space.corners, count, space.hull_b, tiny)
    found: int = spread_points(space, intersect_hulls(space, in_a, in_b, tiny), same)
    if found < 2:
        place_point(space.manifold[0], answer, 0.0, 0.0)
        space.manifold[0, MANIFOLD_GAP] = answer[DISTANCE]
        set_single_anchor(features, y, at, space, (in_a, in_b))
        return 1
    fit_height(space.hull_a, in_a, space.low)
    fit_height(space.hull_b, in_b, space.normal)
    for k in range(found):
        s, t = space.clipped[k, 0], space.clipped[k, 1]
        place_point(space.manifold[k], answer, s, t)
        rise = space.low[0] + space.low[1] * s + space.low[2] * t
        rise = rise + space.normal[0] + space.normal[1] * s + space.normal[2] * t
        space.manifold[k, MANIFOLD_GAP] = answer[DISTANCE] + rise
        set_anchor(features, y, at, space, k, (in_a, in_b), same)
    return found


# The motion -----------------------------------------------------------------------------------------------------------
def rate_along(y: Any, i: Any, normal: Any, velocity: Any, arm: Any) -> Any:
    """How fast a point of a body moves along a normal."""
    w = to_world(quaternion(y, i + 3), vector(y, i + 10))
    return dot(normal, plus(velocity, cross(w, arm)))


@loop
def time_until_near(y: Any, at: Any, velocities: Any, reach: float, acceleration: float) -> float:
    """A time in which balls about two centers of mass, whose radii add up to `reach`, cannot meet; 0 if they do.

    The distance of two points in straight motion is convex: only their relative acceleration, at most so large, can
    bring them closer than their speed does.
    """
    i, j = at
    shift = minus(vector(y, i), vector(y, j))
    far = sqrt(dot(shift, shift))
    if far <= reach:
        return 0.0
    rate = dot(shift, minus(velocities[0], velocities[1])) / far
    span: float = safe_step(far - reach, rate, acceleration)
    return span


def vertex_rate(y: Any, i: Any, j: Any, velocities: Any, row: Any, slide: Any, out: Any) -> None:
    """out = the velocities of the points of a vertex on A and on B under a fixed normal, from the centers of mass."""
    w_a, w_b = to_world(quaternion(y, i + 3), vector(y, i + 10)), to_world(quaternion(y, j + 3), vector(y, j + 10))
    store(out, ON_A, plus(cross(w_a, vector(row, ON_A)), vector(slide, 0)))
    store(out, ON_B, plus(cross(w_b, vector(row, ON_B)), vector(slide, 3)))
    store(out, 0, plus(minus(velocities[0], velocities[1]), minus(vector(out, ON_A), vector(out, ON_B))))


@loop
def find_pair_rates(features: Any, y: Any, at: Any, velocities: Any, space: PairSpace) -> bool:
    """The rates of the normal, of the distance and of the place of contact, after `closest`, to all digits.

    The conditions that decide the answer, sum weight_i w_i = d n and n.w_i = d, differentiated in time.  False if they
    are degenerate (a corner on a corner), and the rates are 0.
    """
    i, j = at
    answer, count = space.answer, space.whole[ACTIVE]
    normal = vector(answer, NORMAL)
    one, two = tangents(normal)
    fill_matrix(features, y, at, space, normal, space.active, count)
    size = count + 3
    for k in range(count):
        row = space.active[k]
        find_slides(features, y, at, space, normal, (vector(y, i + 10), vector(y, j + 10)), row)
        vertex_rate(y, i, j, velocities, row, space.slide, space.merged[k])
        w = vector(space.merged[k], 0)
        space.matrix[0, size] -= row[WEIGHT] * dot(one, w)
        space.matrix[1, size] -= row[WEIGHT] * dot(two, w)
        space.matrix[2 + k, size] = -dot(normal, w)
    for m in range(NORMAL_RATE, ANSWER):
        answer[m] = 0.0
    if not solve_matrix(space.matrix, size):
        return False
    turned = plus(scaled(space.matrix[0, size], one), scaled(space.matrix[1, size], two))
    store(answer, NORMAL_RATE, turned)
    answer[GAP_RATE] = space.matrix[size - 1, size]
    rounding = (space.real[SHRINK_B] - space.real[SHRINK_A]) / 2.0
    store(answer, PLACE_RATE, plus(scaled(0.5, plus(velocities[0], velocities[1])), scaled(rounding, turned)))
    for k in range(count):
        row, moved = space.active[k], space.merged[k]
        find_bend(features, y, at, space, normal, turned, row)
        for m in range(3):
            rate = row[WEIGHT] * (moved[ON_A + m] + moved[ON_B + m] + space.slide[m] + space.slide[3 + m])
            rate = rate + space.matrix[2 + k, size] * (row[ON_A + m] + row[ON_B + m])
            answer[PLACE_RATE + m] += rate / 2.0
    return True


def slowest_on_rim(feature: Any, normal: Any, n: Any, velocity: Any, w: Any) -> Any:
    """How fast a flat circle rises where it rises least: at its center, less the radius times its rate of tilting."""
    axis = vector(feature, AXIS)
    tilting = minus(w, scaled(dot(w, axis), axis))
    return falling_rate(velocity, normal, n, w, vector(feature, CENTER)) - feature[RADIUS] * sqrt(dot(tilting, tilting))


@loop
def time_above(features: Any, body: Any, y: Any, normal: Any, gap: float, motion: Any, low: Any) -> float:
    """A time in which a body stays on its side of a plane that is `gap` below it.

    motion = (velocity, angular velocity in body axes, limits), all relative to the plane.
    """
    first, last, _, i = body
    velocity, w, limits = motion
    a, spin, spin_rate = limits
    n = normal_in_body(y, i, normal)
    least = depth_of_lowest(features[find_lowest_row(features, first, last, n)], n)
    best = 1e300
    for row in range(first, last):
        feature = features[row]
        if feature[KIND] != RIM:
            room = gap + depth_of_lowest(feature, n) - least
            find_core_point(feature, n, 0.0, low)
            rate = falling_rate(velocity, normal, n, w, vector(low, 0))
            if feature[KIND] == CIRCLE and tilt_of(n, vector(feature, AXIS)) <= FLAT:
                bound = a + (spin_rate + spin * spin) * feature[REACH]
                best = min(best, safe_step(room, slowest_on_rim(feature, normal, n, velocity, w), bound))
            else:
                best = min(best, time_without_contact(feature, n, room, rate, limits))
    return best


def seen_from_plane(y: Any, i: Any, velocity: Any, turn: Any, arm: Any, limits: Any, span: Any) -> Any:
    """Velocity, angular velocity (body axes) and limits of a body as a plane sees it that turns.

    `velocity` is relative to a point of the plane, from which the center of mass is at -arm; the plane turns by `turn`
    for the time `span` at most.  Its frame adds 2 W v + W^2 r to the acceleration, and W w to the rate of the spin.
    """
    a, spin, spin_rate = limits
    rate, far, fast = sqrt(dot(turn, turn)), sqrt(dot(arm, arm)), sqrt(dot(velocity, velocity)) + a * span
    reach = far + fast * span
    pulled = a + 2 * rate * (fast + rate * reach) + rate * rate * reach
    moved = plus(velocity, cross(turn, arm))
    w = minus(vector(y, i + 10), to_body(quaternion(y, i + 3), turn))
    return moved, w, (pulled, spin + rate, spin_rate + rate * spin)


@loop
def time_beside_plane(features: Any, rows: Any, y: Any, at: Any, motion: Any, turn: Any, space: PairSpace) -> float:
    """A time in which a plane that turns stays between two bodies; motion as for `time_apart`."""
    first_a, last_a, first_b, last_b, base = rows
    i, j = at
    v_a, v_b, limits_a, limits_b, skin = motion
    normal = vector(space.answer, NORMAL)
    arm_a, arm_b = vector(space.answer, ARM_A), vector(space.answer, ARM_B)
    rate_a, rate_b = rate_along(y, i, normal, v_a, arm_a), rate_along(y, j, normal, v_b, arm_b)
    carried = plus(scaled(0.5, plus(v_a, v_b)), scaled((rate_a + rate_b) / 2.0, normal))
    carried = minus(carried, scaled(dot(normal, plus(v_a, v_b)) / 2.0, normal))
    half = (space.answer[DISTANCE] - skin) / 2.0
    speed = sqrt(dot(turn, turn))
    span = 0.1 / speed if speed > 0.0 else 1e300
    known = span if speed > 0.0 else 0.0
    moved_a = seen_from_plane(y, i, minus(v_a, carried), turn, arm_a, limits_a, known)
    moved_b = seen_from_plane(y, j, minus(v_b, carried), turn, arm_b, limits_b, known)
    span_a: float = time_above(features, (first_a, last_a, base, i), y, normal, half, moved_a, space.low)
    span_b: float = time_above(features, (first_b, last_b, base, j), y, opposite(normal), half, moved_b, space.low)
    return min(span, span_a, span_b)


@loop
def time_apart(features: Any, rows: Any, y: Any, at: Any, motion: Any, space: PairSpace) -> float:
    """A time in which two bodies cannot come closer than a skin, after `closest`: a plane stays between them.

    motion = (velocity of A, of B, limits of A, of B, skin); limits = (acceleration, spin, its rate), the acceleration
    relative to any that both have in common.  The angular velocities, along the axes of the bodies, begin at y[i + 10].
    The plane keeps its direction, or turns with the normal: whichever lasts longer.
    """
    still: float = time_beside_plane(features, rows, y, at, motion, (0.0, 0.0, 0.0), space)
    if not find_pair_rates(features, y, at, (motion[0], motion[1]), space):
        return still
    turn = cross(vector(space.answer, NORMAL), vector(space.answer, NORMAL_RATE))
    turning: float = time_beside_plane(features, rows, y, at, motion, turn, space)
    return max(still, turning)


def place_on_plane(y: Any, i: Any, j: Any, velocities: Any, low: Any, slide: Any, anchor: Any, out: Any) -> None:
    """A point of one body over a plane of the other: out as `answer`, with this body as A; low, slide in its axes."""
    q, q_other = quaternion(y, i + 3), quaternion(y, j + 3)
    w, w_other = to_world(q, vector(y, i + 10)), to_world(q_other, vector(y, j + 10))
    normal, arm = to_world(q_other, vector(anchor, ANCHOR_NORMAL)), to_world(q, vector(low, 0))
    other = plus(minus(vector(y, i), vector(y, j)), arm)
    moved = plus(velocities[0], cross(w, arm))
    store(out, NORMAL, normal)
    store(out, ARM_A, arm)
    store(out, ARM_B, other)
    out[DISTANCE] = dot(normal, other) - anchor[ANCHOR_OFFSET]
    store(out, NORMAL_RATE, cross(w_other, normal))
    out[GAP_RATE] = dot(normal, minus(moved, plus(velocities[1], cross(w_other, other))))
    store(out, PLACE_RATE, plus(moved, to_world(q, vector(slide, 0))))


def relative_spin(y: Any, i: Any, j: Any) -> Any:
    """The angular velocity of one body relative to another, in the axes of the first."""
    w_other = to_world(quaternion(y, j + 3), vector(y, j + 10))
    return minus(vector(y, i + 10), to_body(quaternion(y, i + 3), w_other))


def plane_in_body(y: Any, i: Any, j: Any, anchor: Any) -> Any:
    """The normal of a plane fixed in body j in the axes of body i."""
    return to_body(quaternion(y, i + 3), to_world(quaternion(y, j + 3), vector(anchor, ANCHOR_NORMAL)))


def exchange_bodies(answer: Any) -> None:
    """An answer with A and B exchanged."""
    store(answer, NORMAL, opposite(vector(answer, NORMAL)))
    store(answer, NORMAL_RATE, opposite(vector(answer, NORMAL_RATE)))
    arm = vector(answer, ARM_A)
    store(answer, ARM_A, vector(answer, ARM_B))
    store(answer, ARM_B, arm)


@loop
def find_on_plane(features: Any, y: Any, at: Any, velocities: Any, space: PairSpace, anchor: Any) -> None:
    """The lowest point of a feature of a body over a plane of the other, in space.answer."""
    i, j = at
    feature, normal = features[int(anchor[ANCHOR_ROW])], plane_in_body(y, i, j, anchor)
    find_core_point(feature, normal, 0.0, space.low)
    find_core_slide(feature, normal, relative_spin(y, i, j), 0.0, space.slide)
    place_on_plane(y, i, j, velocities, space.low, space.slide, anchor, space.answer)


def cross_lines(y: Any, at: Any, velocities: Any, ends: Any, last: Any, out: Any) -> None:
    """The crossing of a line of A and one of B: ends = (two points of each, in its axes); last = a normal near it."""
    (i, j), (p_a, r_a, p_b, r_b) = at, ends
    q_a, q_b = quaternion(y, i + 3), quaternion(y, j + 3)
    spins = (to_world(q_a, vector(y, i + 10)), to_world(q_b, vector(y, j + 10)))
    line_a = (to_world(q_a, p_a), to_world(q_a, minus(r_a, p_a)))
    line_b = (to_world(q_b, p_b), to_world(q_b, minus(r_b, p_b)))
    shift = minus(vector(y, i), vector(y, j))
    normal, normal_rate, arms, distance, place_rate = line_crossing(shift, (line_a, line_b), velocities, spins, last)
    store(out, NORMAL, normal)
    store(out, ARM_A, arms[0])
    store(out, ARM_B, arms[1])
    out[DISTANCE] = distance
    store(out, NORMAL_RATE, normal_rate)
    u = minus(plus(velocities[0], cross(spins[0], arms[0])), plus(velocities[1], cross(spins[1], arms[1])))
    out[GAP_RATE] = dot(normal, u)
    store(out, PLACE_RATE, place_rate)


def round_off(answer: Any, radius_a: Any, radius_b: Any) -> None:
    """Closest points of lines as those of the cylinders about them."""
    normal = vector(answer, NORMAL)
    store(answer, ARM_A, minus(vector(answer, ARM_A), scaled(radius_a, normal)))
    store(answer, ARM_B, plus(vector(answer, ARM_B), scaled(radius_b, normal)))
    answer[DISTANCE] = answer[DISTANCE] - radius_a - radius_b
    half = scaled((radius_b - radius_a) / 2, vector(answer, NORMAL_RATE))
    store(answer, PLACE_RATE, plus(vector(answer, PLACE_RATE), half))


@loop
def find_crossing(features: Any, y: Any, at: Any, velocities: Any, space: PairSpace, anchor: Any) -> None:
    """The closest points of the straight lines through an edge of A and an edge of B, in space.answer."""
    a, b = features[int(anchor[ANCHOR_ROWS])], features[int(anchor[ANCHOR_ROWS + 1])]
    c, d = features[int(anchor[ANCHOR_ROWS + 3])], features[int(anchor[ANCHOR_ROWS + 4])]
    ends = (vector(a, CENTER), vector(b, CENTER), vector(c, CENTER), vector(d, CENTER))
    toward = to_world(quaternion(y, at[1] + 3), vector(anchor, ANCHOR_NORMAL))
    cross_lines(y, at, velocities, ends, toward, space.answer)
    round_off(space.answer, a[ROUNDING], c[ROUNDING])


@loop
def pick_features(features: Any, space: PairSpace, anchor: Any, first: int, extends: bool) -> int:
    """Copy the features of an anchor of A (first = 0) or of B (first = 3) to space.picked; how many they are.

    The ends of a straight edge may be moved apart, so that nothing changes where it ends.
    """
    count = 0
    for k in range(first, first + 3):
        row = int(anchor[ANCHOR_ROWS + k])
        if row >= 0:
            for m in range(FEATURE):
                space.picked[k, m] = features[row, m]
            if space.picked[k, KIND] == RIM:
                space.picked[k, KIND] = POINT
            count += 1
    if extends and count == 2:  # noqa: SIM102
        if is_straight(space.picked, first, first + 1):
            for m in range(CENTER, CENTER + 3):
                p, q = space.picked[first, m], space.picked[first + 1, m]
                space.picked[first, m], space.picked[first + 1, m] = 2.0 * p - q, 2.0 * q - p
    return count


@loop
def distance_of_picked(features: Any, y: Any, at: Any, space: PairSpace, anchor: Any, extends: bool) -> float:
    """The distance of the features of an anchor, by `closest`."""
    in_a = pick_features(features, space, anchor, 0, extends)
    in_b = pick_features(features, space, anchor, 3, extends)
    found: float = closest(space.picked, (0, in_a, 3, 3 + in_b, 0), y, at, space)
    return found


@loop
def find_anchored_point(
    features: Any, rows: Any, y: Any, at: Any, velocities: Any, space: PairSpace, anchor: Any
) -> float:
    """The gap at a point of contact that an anchor holds, as the bodies move; all about it in space.answer.

    Points keep their anchors while they are in contact: no step of an integrator sees another number of points.  Faces
    and edges are planes and straight lines here, however far beyond their ends; `is_astray` tells that.
    """
    first_a, last_a, first_b, last_b, base = rows
    i, j = at
    row = int(anchor[ANCHOR_ROW])
    if anchor[ANCHOR_KIND] == A_ON_PLANE:
        find_on_plane(features, y, (i, j), velocities, space, anchor)
    elif anchor[ANCHOR_KIND] == B_ON_PLANE:
        find_on_plane(features, y, (j, i), (velocities[1], velocities[0]), space, anchor)
        exchange_bodies(space.answer)
    elif anchor[ANCHOR_KIND] == CROSSING:
        find_crossing(features, y, at, velocities, space, anchor)
    else:
        if anchor[ANCHOR_KIND] == LIVE_A:
            closest(features, (row, row + 1, first_b, last_b, base), y, at, space)
            find_pair_rates(features, y, at, velocities, space)
        elif anchor[ANCHOR_KIND] == LIVE_B:
            closest(features, (first_a, last_a, row, row + 1, base), y, at, space)
            find_pair_rates(features, y, at, velocities, space)
        else:
            distance_of_picked(features, y, at, space, anchor, True)
            find_pair_rates(space.picked, y, at, velocities, space)
    gap: float = space.answer[DISTANCE]
    return gap


@loop
def is_corner(feature: Any) -> bool:
    """Whether a feature is a sharp corner."""
    corner: bool = (feature[KIND] == POINT or feature[KIND] == RIM) and feature[ROUNDING] <= 0.0
    return corner


@loop
def is_sharp(features: Any, anchor: Any) -> bool:
    """Whether an anchor holds a corner over a plane, or edges that are sharp."""
    if anchor[ANCHOR_KIND] == A_ON_PLANE or anchor[ANCHOR_KIND] == B_ON_PLANE:
        corner: bool = is_corner(features[int(anchor[ANCHOR_ROW])])
        return corner
    sharp = True
    for k in range(6):
        row = int(anchor[ANCHOR_ROWS + k])
        if row >= 0:
            feature = features[row]
            sharp = sharp and feature[KIND] != ELLIPSOID and feature[ROUNDING] <= 0.0
    return sharp


@loop
def room_left(features: Any, rows: Any, y: Any, at: Any, space: PairSpace, anchor: Any, limits: Any) -> Any:
    """How far an anchor is from leaving its face or edge, negative beyond it.

    There the features are farther apart than the plane or the lines say: by at most limits[0] for a round one, whose
    distance grows slowly; a corner, whose distance grows at once, may go limits[1] beyond the end.
    """
    first_a, last_a, first_b, last_b, base = rows
    still = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    kind, row = anchor[ANCHOR_KIND], int(anchor[ANCHOR_ROW])
    if kind == LIVE_A or kind == LIVE_B:  # noqa: SIM109
        return 1.0
    gap: float = find_anchored_point(features, rows, y, at, still, space, anchor)
    real = gap
    if kind == A_ON_PLANE:
        real = closest(features, (row, row + 1, first_b, last_b, base), y, at, space)
    elif kind == B_ON_PLANE:
        real = closest(features, (first_a, last_a, row, row + 1, base), y, at, space)
    else:
        real = distance_of_picked(features, y, at, space, anchor, False)
    most = limits[1] if is_sharp(features, anchor) else limits[0]
    return most - (real - gap)


def pair_terms(velocities: Any, spins: Any, arms: Any, normal_rate: Any, place_rate: Any) -> Any:
    """Of a point of contact of two bodies, each argument but the last two for A and for B, in world axes.

    Its relative velocity u, the relative acceleration at constant momenta w_a x r_a' - w_b x r_b', and n'.u.
    """
    (v_a, v_b), (w_a, w_b), (r_a, r_b) = velocities, spins, arms
    u = minus(plus(v_a, cross(w_a, r_a)), plus(v_b, cross(w_b, r_b)))
    turning = minus(cross(w_a, minus(place_rate, v_a)), cross(w_b, minus(place_rate, v_b)))
    return u, turning, dot(normal_rate, u)
