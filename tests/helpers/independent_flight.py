"""A point mass over the Earth in SciPy, along Earth-fixed axes with Coriolis terms and Bowring's latitude.

It shares no code with the package: NASA's cases 4 to 10 have no published trajectory here.
"""

import numpy as np
from scipy.integrate import solve_ivp

FOOT, SLUG = 0.3048, 4.4482216152605 / 0.3048
GM, RADIUS, FLATTENING, J2, RATE = 3.986004418e14, 6378137.0, 1 / 298.257223563, 1.08262982e-3, 7.292115e-5
ROUND_RADIUS = 20902255.199 * FOOT
AREA, CD = 0.1963495 * FOOT**2, 0.1


def density(height):
    """Of the lowest two layers of the US Standard Atmosphere 1976."""
    geopotential, gas = 6356766.0 * height / (6356766.0 + height), 8314.32 / 28.9644
    exponent = 9.80665 / gas / 0.0065
    if geopotential < 11000.0:
        temperature = 288.15 - 0.0065 * geopotential
        return 101325.0 * (temperature / 288.15) ** exponent / (gas * temperature)
    pressure = 101325.0 * (216.65 / 288.15) ** exponent
    return pressure * np.exp(-9.80665 / gas * (geopotential - 11000.0) / 216.65) / (gas * 216.65)


def geodetic(position, radius, flattening):
    """Latitude, longitude, height by fixed-point iteration."""
    x, y, z = position
    e2, p = flattening * (2 - flattening), np.hypot(x, y)
    latitude = np.arctan2(z, p * (1 - e2))
    for _ in range(12):
        root = np.sqrt(1 - e2 * np.sin(latitude) ** 2)
        height = p * np.cos(latitude) + z * np.sin(latitude) - radius * root
        latitude = np.arctan2(z, p * (1 - e2 * (radius / root) / (radius / root + height)))
    return latitude, np.arctan2(y, x), height


def run_case(case):
    """Rows of (height, latitude, longitude, north, east, down velocity) every 0.1 s."""
    is_round = case in (4, 5)
    radius, flattening, j2 = (ROUND_RADIUS, 0.0, 0.0) if is_round else (RADIUS, FLATTENING, J2)
    spin = np.array((0.0, 0.0, 0.0 if case == 4 else RATE))
    start = np.array((radius + (0.0 if case > 8 else 30000 * FOOT), 0.0, 0.0))
    velocity = {9: (304.8, 304.8, 0.0), 10: (304.8, 0.0, 304.8)}.get(case, (0.0, 0.0, 0.0))  # up, east, north

    def rate(t, y):
        r, v = y[:3], y[3:]
        distance = np.linalg.norm(r)
        s, k = (r[2] / distance) ** 2, 1.5 * j2 * (radius / distance) ** 2
        gravity = -GM / distance**3 * r * (1 + k * (np.array((1.0, 1.0, 3.0)) - 5 * s))
        _, longitude, height = geodetic(r, radius, flattening)
        east = {7: 20 * FOOT, 8: (-20 + 90 * height / 9144.0) * FOOT}.get(case, 0.0)
        relative = v - east * np.array((-np.sin(longitude), np.cos(longitude), 0.0))
        drag = 0.0 if case < 4 else -0.5 * density(height) * np.linalg.norm(relative) * relative * AREA * CD / SLUG
        return np.r_[v, gravity + drag - 2 * np.cross(spin, v) - np.cross(spin, np.cross(spin, r))]

    times = np.arange(301) / 10
    times[-1] = 30.0
    found = solve_ivp(rate, (0.0, 30.0), np.r_[start, velocity], "DOP853", times, rtol=1e-13, atol=1e-9).y.T
    rows = []
    for y in found:
        latitude, longitude, height = geodetic(y[:3], radius, flattening)
        (a, b), (c, d) = ((np.sin(angle), np.cos(angle)) for angle in (latitude, longitude))
        axes = np.array(((-a * d, -a * c, b), (-c, d, 0.0), (-b * d, -b * c, -a)))
        rows.append((height, latitude, longitude, *(axes @ y[3:])))
    return np.array(rows)
