"""Inertia tensors that scatter and stay those of solids.

A solid has the second moments S = integral of r r^T dm about its center of mass, a positive semidefinite matrix, and
the inertia I = tr(S) 1 - S.  Every positive semidefinite S belongs to some distribution of mass, so that moments of
inertia which are sums of scattered second moments, I_x = S_y + S_z, satisfy the triangle inequalities by themselves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polhode.ensembles.sampling.distributions import Distribution, plain
from polhode.ensembles.sampling.normal_quantile import normal_quantile
from polhode.ensembles.sampling.random_rotations import check_three, rotations_about
from polhode.equations.elementary import exp, log
from polhode.equations.quaternions import matrix
from polhode.errors import InertiaError, PolhodeError
from polhode.massprops.body import Body
from polhode.massprops.principal_axes import Diagonalized, TensorsWithAxes, order_principal_axes
from polhode.validation import Array

SWEEPS = 30
"""More sweeps of Jacobi's method than any 3 x 3 matrix needs: it converges quadratically, and stops by itself."""


def scattered_inertia(where: str, inertia: Any, standard_deviation: Any, axes: Any) -> Distribution:
    """Tensors of solids about a given one."""
    deviations = check_three(standard_deviation, "standard_deviation", where)
    turns = check_three(axes, "axes_standard_deviation", where)
    try:
        tensor = Body(mass=1.0, inertia=inertia).inertia_body
    except PolhodeError as error:
        raise InertiaError(f"{where}: {error}") from None
    if tensor.ndim > 2:
        raise InertiaError(f"inertia of {where} must be one tensor, the mean of all members, but has several")
    moments, quaternion = order_principal_axes(*principal_axes(tensor))
    parameters = {
        "inertia": plain(inertia),
        "standard_deviation": plain(standard_deviation),
        "axes_standard_deviation": plain(axes),
    }
    return Distribution(
        "scattered_inertia",
        parameters,
        6,
        lambda u, members: scattered_tensors(moments, quaternion, deviations, turns, u),
    )


def scattered_tensors(moments: Array, axes: Array, deviations: Array, turns: Array, u: Array) -> Array:
    """Tensors (n, 3, 3) from (n, 6) numbers, with their axes, which LAPACK would find with other bits elsewhere.

    The principal second moments have log-normal factors of mean 1 and these relative standard deviations; the
    principal axes turn by a rotation vector with these standard deviations.
    """
    half = float(moments.sum()) / 2
    nominal = [max(half - moment, 0.0) for moment in moments.tolist()]
    second = [nominal[i] * _factors(float(deviations[i]), u[:, i]) for i in range(3)]
    scattered = (second[1] + second[2], second[2] + second[0], second[0] + second[1])
    q = rotations_about(axes, turns, u[:, 3:])
    r = matrix(tuple(q.T))
    found = np.empty((len(u), 3, 3))
    for i in range(3):
        for j in range(i, 3):
            entry = (r[3 * i] * scattered[0] * r[3 * j] + r[3 * i + 1] * scattered[1] * r[3 * j + 1]) + (
                r[3 * i + 2] * scattered[2] * r[3 * j + 2]
            )
            found[:, i, j] = found[:, j, i] = entry
    return TensorsWithAxes.make(Diagonalized(found, np.stack(scattered, axis=-1), q))


def _factors(deviation: float, u: Array) -> Array:
    """Log-normal numbers of mean 1 and this standard deviation."""
    variance = log(1.0 + deviation * deviation)
    return np.asarray(exp(math.sqrt(variance) * normal_quantile(u) - variance / 2))


def principal_axes(tensor: Array) -> tuple[Array, Array]:
    """Principal moments and the axes, as columns, of one tensor, by Jacobi's method in plain arithmetic.

    LAPACK rounds differently on different processors; this does not.  [Golub and Van Loan 2013, section 8.5]
    """
    a = tensor.tolist()
    v = np.eye(3).tolist()
    for _ in range(SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            if a[p][q] == 0.0:
                continue
            tau = (a[q][q] - a[p][p]) / (2 * a[p][q])
            t = math.copysign(1.0, tau) / (abs(tau) + math.sqrt(1 + tau * tau)) if abs(tau) < 1e150 else 0.5 / tau
            c = 1 / math.sqrt(1 + t * t)
            s = t * c
            for row in range(3):
                a[row][p], a[row][q] = c * a[row][p] - s * a[row][q], s * a[row][p] + c * a[row][q]
                v[row][p], v[row][q] = c * v[row][p] - s * v[row][q], s * v[row][p] + c * v[row][q]
            for column in range(3):
                a[p][column], a[q][column] = (
                    c * a[p][column] - s * a[q][column],
                    s * a[p][column] + c * a[q][column],
                )
            a[p][q] = a[q][p] = 0.0
    return np.array([a[i][i] for i in range(3)]), np.array(v)
