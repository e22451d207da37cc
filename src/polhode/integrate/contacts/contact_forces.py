"""Impulses and forces of all points in contact together: small complementarity problems with Coulomb friction.

Each point has three numbers in its own axes: normal, and two tangents.  u = A p + b is the velocity (or acceleration)
of every point under the impulses (or forces) p.  A point parts (p = 0, u_n >= 0), sticks (u = 0, |p_t| <= mu p_n), or
slips (u_n = 0, p_t = -mu p_n u_t/|u_t|).
"""

from __future__ import annotations

from typing import Any

from polhode.equations.contact_laws import symmetric_axes
from polhode.equations.scalar_ops import sqrt
from polhode.ir.loops import loop
from polhode.methods.roots import narrow_bracket, secant_point

FEW_SWEEPS, MANY_SWEEPS = 8, 500
"""Sweeps over all points, one after the other: to find out what each does, and where that is not enough."""
NO_FORCE, SOLVED, UNSOLVED = 0, 1, 2
CONVERGED, UNCHANGED = 4e-16, 2e-15
"""Relative changes of a root, and of the impulses in a sweep, that count as none."""
ROOT_STEPS = 200


@loop
def friction_excess(kappa: float, c1: float, c2: float, s1: float, s2: float, limit: Any) -> Any:
    """1 - mu p_n/|p_t| for tangential velocities u_t = -kappa p_t: nearly a straight line in kappa.

    limit = (mu times p_n without friction, slopes of mu p_n with p_t).
    """
    p1, p2 = -c1 / (s1 + kappa), -c2 / (s2 + kappa)
    room, slope1, slope2 = limit
    size = sqrt(p1 * p1 + p2 * p2)
    return 1.0 - (room + slope1 * p1 + slope2 * p2) / size if size > 0.0 else -1.0


@loop
def solve_friction(c1: float, c2: float, s1: float, s2: float, limit: Any) -> Any:
    """kappa >= 0 at which friction is at its limit; 0 if the point sticks.  It always exists: both ends are known.

    At kappa = 0 the point would stick with too much friction, and with kappa to infinity friction vanishes.
    """
    low, f_low = 0.0, friction_excess(0.0, c1, c2, s1, s2, limit)
    if f_low <= 0.0:
        return 0.0
    high = s1
    f_high = friction_excess(high, c1, c2, s1, s2, limit)
    for _ in range(2000):
        if f_high <= 0.0:
            break
        low, f_low = high, f_high
        high = high * 4.0
        f_high = friction_excess(high, c1, c2, s1, s2, limit)
    moved = 0.0
    for _ in range(ROOT_STEPS):
        middle = secant_point(low, f_low, high, f_high)
        f = friction_excess(middle, c1, c2, s1, s2, limit)
        bracket, moved = narrow_bracket((low, f_low, high, f_high), moved, middle, f, f)
        low, f_low, high, f_high = bracket
        if f == 0.0 or high - low <= CONVERGED * high:
            break
    return high


@loop
def solve_point(a: Any, i: int, b: Any, mu: float, floor: float, p: Any) -> None:
    """The impulse of one point, in place: p_n >= floor, whose effect is in b; b without this point's own rest."""
    ann, an1, an2 = a[i, i], a[i, i + 1], a[i, i + 2]
    a11, a12, a22 = a[i + 1, i + 1], a[i + 1, i + 2], a[i + 2, i + 2]
    b0, b1, b2 = b[i], b[i + 1], b[i + 2]
    p[i], p[i + 1], p[i + 2] = floor, 0.0, 0.0
    is_free = False
    if floor <= 0.0:
        is_free = b0 >= 0.0
    else:
        if mu > 0.0:  # friction under the least normal impulse alone
            s1, s2, cosine, sine = symmetric_axes(a11, a12, a22)
            c1, c2 = cosine * b1 + sine * b2, cosine * b2 - sine * b1
            kappa = solve_friction(c1, c2, s1, s2, (mu * floor, 0.0, 0.0))
            t1, t2 = -c1 / (s1 + kappa), -c2 / (s2 + kappa)
            p[i + 1], p[i + 2] = cosine * t1 - sine * t2, sine * t1 + cosine * t2
        is_free = b0 + an1 * p[i + 1] + an2 * p[i + 2] >= 0.0
    if not is_free:
        if mu > 0.0:
            d11, d12, d22 = a11 - an1 * an1 / ann, a12 - an1 * an2 / ann, a22 - an2 * an2 / ann
            e1, e2 = b1 - an1 * b0 / ann, b2 - an2 * b0 / ann
            s1, s2, cosine, sine = symmetric_axes(d11, d12, d22)
            c1, c2 = cosine * e1 + sine * e2, cosine * e2 - sine * e1
            n1, n2 = (cosine * an1 + sine * an2) / ann, (cosine * an2 - sine * an1) / ann
            kappa = solve_friction(c1, c2, s1, s2, (mu * (floor - b0 / ann), -mu * n1, -mu * n2))
            t1, t2 = -c1 / (s1 + kappa), -c2 / (s2 + kappa)
            p[i] = max(floor - b0 / ann - n1 * t1 - n2 * t2, 0.0)
            p[i + 1], p[i + 2] = cosine * t1 - sine * t2, sine * t1 + cosine * t2
        else:
            p[i] = floor - b0 / ann
            p[i + 1], p[i + 2] = 0.0, 0.0


@loop
def solve_sliding(a: Any, i: int, b: Any, mu: float, direction: Any, p: Any) -> Any:
    """The force of one point that slides in a direction; False if no force holds it (Painleve)."""
    d1, d2 = direction
    lift = a[i, i] - mu * (a[i, i + 1] * d1 + a[i, i + 2] * d2)
    p[i], p[i + 1], p[i + 2] = 0.0, 0.0, 0.0
    if b[i] < 0.0:
        if lift <= 0.0:
            return False
        p[i] = -b[i] / lift
        p[i + 1], p[i + 2] = -mu * p[i] * d1, -mu * p[i] * d2
    return True


@loop
def sweep_points(count: int, a: Any, bias: Any, law: Any, p: Any, b: Any) -> Any:
    """Solve every point once, with the others as they are; False if one that slides has no solution."""
    for i in range(count):
        at = 3 * i
        for r in range(3):
            total = bias[at + r] + a[at + r, at] * law[i, 4]
            for j in range(count):
                if j != i:
                    for c in range(3):
                        total = total + a[at + r, 3 * j + c] * p[3 * j + c]
            b[at + r] = total
        if law[i, 1] == 1.0:
            if not solve_sliding(a, at, b, law[i, 0], (law[i, 2], law[i, 3]), p):
                return False
        else:
            solve_point(a, at, b, law[i, 0], law[i, 4], p)
    return True


@loop
def solve_points(count: int, a: Any, bias: Any, law: Any, p: Any, work: Any, sweeps: int) -> Any:
    """All points together, one after the other until nothing changes (nonlinear Gauss-Seidel).

    law[i]: friction, 1 if it slides already, the direction in which it slides (2), the least normal impulse.
    Returns NO_FORCE if a sliding point has no solution, SOLVED, or UNSOLVED.  Where the changes shrink by a steady
    factor, their sum is taken at once (Aitken); the next sweeps remove what that has left.
    """
    b, old = work[0], work[1]
    last, steady = 0.0, 0.0
    for i in range(3 * count):
        p[i] = 0.0
    for i in range(count):
        p[3 * i] = law[i, 4]
    for n in range(sweeps):
        for i in range(3 * count):
            old[i] = p[i]
        if not sweep_points(count, a, bias, law, p, b):
            return NO_FORCE
        change, size = 0.0, 0.0
        for i in range(3 * count):
            change = max(change, abs(p[i] - old[i]))
            size = max(size, abs(p[i]))
        if count == 1 or change <= UNCHANGED * size:
            return SOLVED
        ratio = change / last if last > 0.0 else 0.0
        if n % 4 == 3 and ratio < 0.99 and abs(ratio - steady) < 0.1 * ratio:
            for i in range(3 * count):
                p[i] = p[i] + (p[i] - old[i]) * ratio / (1.0 - ratio)
            last = 0.0
        else:
            last = change
        steady = ratio
    return UNSOLVED


@loop
def apply_matrix(size: int, a: Any, p: Any, bias: Any, u: Any) -> None:
    """u = A p + bias"""
    for i in range(size):
        total = bias[i]
        for j in range(size):
            total = total + a[i, j] * p[j]
        u[i] = total


@loop
def factor(size: int, g: Any) -> None:
    """Cholesky, in place, of a positive definite matrix."""
    for j in range(size):
        total = g[j, j]
        for k in range(j):
            total = total - g[j, k] * g[j, k]
        g[j, j] = sqrt(max(total, 1e-300))
        for i in range(j + 1, size):
            total = g[i, j]
            for k in range(j):
                total = total - g[i, k] * g[j, k]
            g[i, j] = total / g[j, j]


@loop
def substitute(size: int, g: Any, x: Any) -> None:
    """Solve with a Cholesky factor, in place."""
    for i in range(size):
        total = x[i]
        for k in range(i):
            total = total - g[i, k] * x[k]
        x[i] = total / g[i, i]
    for m in range(size):
        i = size - 1 - m
        total = x[i]
        for k in range(i + 1, size):
            total = total - g[k, i] * x[k]
        x[i] = total / g[i, i]


@loop
def solve_least(size: int, k: Any, target: Any, g: Any, x: Any, r: Any) -> None:
    """The x with K x = target that is nearest to the given x, for a consistent system of any rank.

    x += K^T y with (K K^T + eps) y = target - K x, repeated: what eps leaves, the next round removes.
    """
    trace = 0.0
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for m in range(size):
                total = total + k[i, m] * k[j, m]
            g[i, j] = total
        trace = trace + g[i, i]
    for i in range(size):
        g[i, i] = g[i, i] + 1e-13 * trace
    factor(size, g)
    for _ in range(4):
        for i in range(size):
            total = target[i]
            for m in range(size):
                total = total - k[i, m] * x[m]
            r[i] = total
        substitute(size, g, r)
        for m in range(size):
            total = 0.0
            for i in range(size):
                total = total + k[i, m] * r[i]
            x[m] = x[m] + total


# All points at once ---------------------------------------------------------------------------------------------------
AT_LEAST, PRESSED = 0, 1
"""The normal impulse of a point: the least one, or what stops its approach."""
FREE, HELD, SLIPPING = 0, 2, 4
"""Added to it: no friction, a point that sticks, one that slips."""
ROUNDS, BOLD_ROUNDS = 60, 12
"""Rounds of corrections; in the first all are made at once."""
SAME = 1e-12
"""Changes of velocities that count as none, as a fraction of the largest."""


@loop
def guess_statuses(scene: Any, n: int) -> None:
    """What every point does, from impulses that are nearly right."""
    for i in range(n):
        at, mu, least = 3 * i, scene.law[i, 0], scene.law[i, 4]
        p, t1, t2 = scene.p[at], scene.p[at + 1], scene.p[at + 2]
        pull = sqrt(t1 * t1 + t2 * t2)
        normal, friction = PRESSED if p > least else AT_LEAST, FREE
        if mu > 0.0 and p > 0.0:
            friction = HELD
            if pull > mu * p * (1.0 - 1e-6):
                friction = SLIPPING
                scene.slip[i, 0], scene.slip[i, 1] = -t1 / pull, -t2 / pull
            if scene.law[i, 1] == 1.0:
                friction = SLIPPING
                scene.slip[i, 0], scene.slip[i, 1] = scene.law[i, 2], scene.law[i, 3]
        scene.status[i] = normal + friction


@loop
def solve_with_statuses(scene: Any, n: int) -> None:
    """The smallest impulses that do what the statuses say; u = A p + bias."""
    count = 0
    for i in range(n):
        at, status, mu = 3 * i, scene.status[i], scene.law[i, 0]
        scene.p[at], scene.p[at + 1], scene.p[at + 2] = 0.0, 0.0, 0.0
        if status % 2 == AT_LEAST:
            scene.p[at] = scene.law[i, 4]
            if status >= SLIPPING:
                scene.p[at + 1], scene.p[at + 2] = (
                    -mu * scene.law[i, 4] * scene.slip[i, 0],
                    -mu * scene.law[i, 4] * scene.slip[i, 1],
                )
        else:
            scene.whose[count] = at
            count += 1
        if status >= HELD and status < SLIPPING:
            scene.whose[count] = at + 1
            scene.whose[count + 1] = at + 2
            count += 2
    apply_matrix(3 * n, scene.a, scene.p, scene.bias, scene.u)
    for r in range(count):
        row = scene.whose[r]
        scene.target[r] = -scene.u[row]
        for c in range(count):
            column = scene.whose[c]
            total, i = scene.a[row, column], column // 3
            if column % 3 == 0 and scene.status[i] >= SLIPPING:
                pull = scene.slip[i, 0] * scene.a[row, column + 1] + scene.slip[i, 1] * scene.a[row, column + 2]
                total = total - scene.law[i, 0] * pull
            scene.k[r, c] = total
    for c in range(count):
        scene.x[c] = 0.0
    if count > 0:
        solve_least(count, scene.k, scene.target, scene.g, scene.x, scene.rest)
    for c in range(count):
        column = scene.whose[c]
        i = column // 3
        scene.p[column] = scene.p[column] + scene.x[c]
        if column % 3 == 0 and scene.status[i] >= SLIPPING:
            mu = scene.law[i, 0]
            scene.p[column + 1], scene.p[column + 2] = (
                -mu * scene.slip[i, 0] * scene.x[c],
                -mu * scene.slip[i, 1] * scene.x[c],
            )
    apply_matrix(3 * n, scene.a, scene.p, scene.bias, scene.u)


@loop
def revise_statuses(scene: Any, n: int, size: float, speed: float, is_late: bool) -> Any:
    """Correct every status that the solution contradicts, later only the first; whether none was."""
    is_right = True
    for i in range(n):
        if is_late and not is_right:
            break
        at, status, mu = 3 * i, scene.status[i], scene.law[i, 0]
        normal, friction = status % 2, status // 2 * 2
        p, t1, t2 = scene.p[at], scene.p[at + 1], scene.p[at + 2]
        if normal == PRESSED and p < scene.law[i, 4] - 1e-14 * size:
            normal = AT_LEAST
            is_right = False
            if scene.law[i, 4] <= 0.0:
                friction = FREE
        else:
            if normal == AT_LEAST and scene.u[at] < -1e-14 * speed:
                normal = PRESSED
                is_right = False
                if mu > 0.0 and friction == FREE:
                    friction = HELD
                    if scene.law[i, 1] == 1.0:
                        friction = SLIPPING
            else:
                if friction == HELD:
                    pull, room = sqrt(t1 * t1 + t2 * t2), mu * p
                    if pull > room + 1e-14 * size:
                        friction = SLIPPING
                        scene.slip[i, 0], scene.slip[i, 1] = -t1 / pull, -t2 / pull
                        is_right = False
                else:
                    if friction == SLIPPING and scene.law[i, 1] != 1.0:
                        u1, u2 = scene.u[at + 1], scene.u[at + 2]
                        slip = sqrt(u1 * u1 + u2 * u2)
                        if u1 * scene.slip[i, 0] + u2 * scene.slip[i, 1] <= 0.0:
                            if slip > 1e-14 * speed:
                                friction = HELD
                                is_right = False
                        else:
                            d1, d2 = u1 / slip, u2 / slip
                            turned = abs(d1 - scene.slip[i, 0]) + abs(d2 - scene.slip[i, 1])
                            if turned * slip > SAME * speed:
                                is_right = False
                            if is_late:  # the mean with the last direction, where they take turns
                                d1, d2 = d1 + scene.slip[i, 0], d2 + scene.slip[i, 1]
                                length = sqrt(d1 * d1 + d2 * d2)
                                d1, d2 = d1 / length, d2 / length
                            if slip > 1e-11 * speed:  # else its direction is noise
                                scene.slip[i, 0], scene.slip[i, 1] = d1, d2
        scene.status[i] = normal + friction
    return is_right


@loop
def hold_all(scene: Any, n: int) -> None:
    """Every point is pressed; it slips if it slides already, else it sticks."""
    for i in range(n):
        scene.status[i] = PRESSED + HELD if scene.law[i, 0] > 0.0 else PRESSED
        if scene.law[i, 1] == 1.0:
            scene.status[i] = PRESSED + SLIPPING
            scene.slip[i, 0], scene.slip[i, 1] = scene.law[i, 2], scene.law[i, 3]


@loop
def correct_statuses(scene: Any, n: int, speed: float) -> Any:
    """Solve, and correct what the solution contradicts, until nothing does; whether that has an end."""
    for turn in range(ROUNDS):
        solve_with_statuses(scene, n)
        size = 0.0
        for i in range(n):
            size = max(size, abs(scene.p[3 * i]))
        if revise_statuses(scene, n, size, speed, turn > BOLD_ROUNDS):
            return True
    return False


@loop
def solve_together(scene: Any, n: int) -> Any:
    """The impulses (or forces) of n points: law, a and bias are given, p and u = A p + bias come back.

    A few sweeps over the points tell what each of them does; then all are solved at once, and what the solution
    contradicts is corrected; where that finds no end, more sweeps follow.
    """
    speed = 0.0
    for i in range(n):
        speed = max(speed, abs(scene.bias[3 * i]), abs(scene.bias[3 * i + 1]), abs(scene.bias[3 * i + 2]))
    found = solve_points(n, scene.a, scene.bias, scene.law, scene.p, scene.work, FEW_SWEEPS)
    if found != SOLVED and n > 1:
        guess_statuses(scene, n)
        if correct_statuses(scene, n, speed):
            return True
        hold_all(scene, n)
        if correct_statuses(scene, n, speed):
            return True
        found = solve_points(n, scene.a, scene.bias, scene.law, scene.p, scene.work, MANY_SWEEPS)
    apply_matrix(3 * n, scene.a, scene.p, scene.bias, scene.u)
    return found != NO_FORCE
