"""What each force of the library does to the particles of a body, in NumPy alone."""

import numpy as np

import independent_flight
import polhode as ph
from particle_bodies import OTHER_POINT, POINT, Case, at_point, cross, spread

INSTANT = 0.13
G, CENTER, GM = np.array((1.0, -2.0, -9.0)), np.array((3.0, -4.0, 2.5)), 60.0
WIND, PUSH, TURN = np.array((0.5, -1.0, 2.0)), np.array((7.0, -4.0, 9.0)), np.array((3.0, 5.0, -2.0))
WORLD_POINT, DRAG, THRUST = np.array((1.0, 2.0, -0.5)), 4.0, 11.0
STIFFNESS, DAMPING, LENGTH = 30.0, 2.0, 0.7


def linear_field(body, center=CENTER, gm=GM):
    """The field of the attracting point, to first order about the center of mass: what the gradient torque is made of.

    g(x + d) = g + (3 n n - 1) d gm/r^3
    """
    away = body.center - center
    r = np.linalg.norm(away)
    n = away / r
    field = -gm / r**2 * n + gm / r**3 * (3 * np.outer(body.arms @ n, n) - body.arms)
    return body.masses[:, None] * field


def pull(place, velocity, anchor, damping):
    """The force of a spring-damper on the particle at its end."""
    away = place - anchor
    length = np.linalg.norm(away)
    n = away / length
    return -(STIFFNESS * (length - LENGTH) + damping * velocity @ n) * n


def wind_force(body, law):
    return spread(body, law(body.center_velocity - WIND))


def moment(body, force):
    """The couple of a force at a point of the world, about the center of mass."""
    return cross(WORLD_POINT - body.center, force)


def pair_spring(t, a, b):
    force = pull(a.places[-2] - b.places[-1], a.velocities[-2] - b.velocities[-1], np.zeros(3), DAMPING)
    return at_point(a, force, -2), at_point(b, -force, -1)


def newton(t, a, b):
    away = a.center - b.center
    force = -5.0 * a.mass * b.mass * away / np.linalg.norm(away) ** 3
    return spread(a, force), spread(b, -force)


F = ph.forces
SINGLE = {
    "gravity": Case(F.gravity(G), lambda t, b: b.masses[:, None] * G),
    "point_gravity": Case(F.point_gravity(GM, CENTER), lambda t, b: linear_field(b)),
    "linear_drag": Case(F.linear_drag(DRAG, WIND), lambda t, b: wind_force(b, lambda u: -DRAG * u)),
    "quadratic_drag": Case(
        F.quadratic_drag(DRAG, WIND), lambda t, b: wind_force(b, lambda u: -DRAG * np.linalg.norm(u) * u)
    ),
    "rotational_drag": Case(F.rotational_drag(DRAG), lambda t, b: spread(b, np.zeros(3), -DRAG * b.w)),
    "force_at": Case(F.force_at(PUSH, POINT), lambda t, b: at_point(b, PUSH)),
    "force_at_center": Case(F.force_at(PUSH), lambda t, b: spread(b, PUSH)),
    "force_at body axes": Case(F.force_at(PUSH, POINT, axes="body"), lambda t, b: at_point(b, b.attitude @ PUSH)),
    "force_at world point": Case(F.force_at(PUSH, point=WORLD_POINT), lambda t, b: spread(b, PUSH, moment(b, PUSH))),
    "force_at world point body axes": Case(
        F.force_at(PUSH, point=WORLD_POINT, axes="body"),
        lambda t, b: spread(b, b.attitude @ PUSH, moment(b, b.attitude @ PUSH)),
    ),
    "torque": Case(F.torque(TURN), lambda t, b: spread(b, np.zeros(3), TURN)),
    "torque body axes": Case(F.torque(TURN, axes="body"), lambda t, b: spread(b, np.zeros(3), b.attitude @ TURN)),
    "thruster": Case(
        F.thruster(POINT, PUSH, THRUST, stop=INSTANT),
        lambda t, b: at_point(b, b.attitude @ PUSH / np.linalg.norm(PUSH) * THRUST * (t < INSTANT)),
    ),
    "spring": Case(
        F.spring(STIFFNESS, WORLD_POINT, POINT, length=LENGTH),
        lambda t, b: at_point(b, pull(b.places[-2], b.velocities[-2], WORLD_POINT, 0.0)),
    ),
    "spring damped": Case(
        F.spring(STIFFNESS, WORLD_POINT, POINT, DAMPING, LENGTH),
        lambda t, b: at_point(b, pull(b.places[-2], b.velocities[-2], WORLD_POINT, DAMPING)),
    ),
    "impulse": Case(F.impulse(PUSH, INSTANT, POINT), lambda t, b: at_point(b, PUSH)),
    "impulse body axes": Case(
        F.impulse(PUSH, INSTANT, POINT, axes="body"), lambda t, b: at_point(b, b.attitude @ PUSH)
    ),
}
PAIRS = {
    "spring_between": Case(F.spring_between(0, 2, STIFFNESS, POINT, OTHER_POINT, DAMPING, LENGTH), pair_spring),
    "mutual_gravity": Case(F.mutual_gravity(G=5.0), newton),
}


# Forces of flight -----------------------------------------------------------------------------------------------------
PLANET = ph.earth.Earth("pebble", gm=0.05, radius=0.25, zonal=(0.05,), rotation_rate=0.4)
AREA, SPAN, CHORD = 30.0, 2.0, 0.7
GAS = 8314.32 / 28.9644


def zonal_field(x):
    """Of a planet with J2, at the origin.  [Vallado 2013, section 8.6]"""
    r = np.linalg.norm(x)
    s, k = (x[2] / r) ** 2, 1.5 * PLANET.zonal[0] * (PLANET.radius / r) ** 2
    return -PLANET.gm / r**3 * x * (1 + k * (np.array((1.0, 1.0, 3.0)) - 5 * s))


def field_with_gradient(body):
    """The field at the center, its first order on each particle, and the sum of the second orders."""
    r = np.linalg.norm(body.center)
    n, d = body.center / r, body.arms
    along = d @ n
    second = PLANET.gm / r**4 * ((1.5 * (d * d).sum(axis=1) - 7.5 * along**2)[:, None] * n + 3 * along[:, None] * d)
    first_of_j2, second_of_j2 = j2_along(body.center, d)
    mean = zonal_field(body.center) + PLANET.gm / r**2 * n
    whole = body.mass * mean + body.masses @ (second + second_of_j2)
    return linear_field(body, np.zeros(3), PLANET.gm) + body.masses[:, None] * first_of_j2 + spread(body, whole)


def j2_along(x, d):
    """First and second order of J2's field k ((5 z^2/r^7 - 1/r^5) x - 2 z/r^5 z_axis) along each arm."""
    k, axis, r = 1.5 * PLANET.gm * PLANET.zonal[0] * PLANET.radius**2, np.array((0.0, 0.0, 1.0)), np.linalg.norm(x)
    u, v, w = (d @ x)[:, None], (d * d).sum(axis=1)[:, None], d[:, 2:]
    powers = {p: (r**-p, -p * u * r ** -(p + 2), (p * (p + 2) * u**2 / r**2 - p * v) / r ** (p + 2)) for p in (5, 7)}
    linear = (-(x + 2 * x[2] * axis), -(d + 2 * w * axis), 0.0)
    cubic = (5 * x[2] ** 2 * x, 5 * (2 * x[2] * w * x + x[2] ** 2 * d), 5 * (2 * w**2 * x + 4 * x[2] * w * d))
    first = sum(a[0] * p[1] + a[1] * p[0] for a, p in ((linear, powers[5]), (cubic, powers[7])))
    second = sum(a[0] * p[2] + 2 * a[1] * p[1] + a[2] * p[0] for a, p in ((linear, powers[5]), (cubic, powers[7])))
    return k * first, k * second / 2


def flat_wind(t, height):
    """North, east, down."""
    return (2.0 * ph.sin(3.0 * t), 1.5 + 0.3 * height, 0.5)


def over_flat_ground(t, body):
    """Velocity relative to the air, body axes, density and speed of sound over flat ground: x is east, y is north."""
    h = body.center[2]
    wind = np.array((1.5 + 0.3 * h, 2.0 * np.sin(3.0 * t), -0.5))
    temperature = 288.15 - 0.0065 * 6356766.0 * h / (6356766.0 + h)
    density, sound = independent_flight.density(h), np.sqrt(1.4 * GAS * temperature)
    return body.attitude.T @ (body.center_velocity - wind), density, sound


def drag_with_functions(t, body):
    relative, density, sound = over_flat_ground(t, body)
    speed = np.linalg.norm(relative)
    cd = 0.4 + 3.0 * speed / sound + 0.1 * np.arctan2(relative[2], relative[0])
    return at_point(body, body.attitude @ (-density * speed * AREA * cd / 2 * relative))


def wings(t, body):
    """Coefficients in wind axes, moments and damping, at a point of the body.  [Stevens 2016, section 2.3]"""
    (u, v, w), density, _ = over_flat_ground(t, body)
    speed = np.sqrt(u * u + v * v + w * w)
    alpha, beta = np.arctan2(w, u), np.arcsin(v / speed)
    pressure = density * speed**2 / 2 * AREA
    (a, b), (c, d) = ((np.sin(angle), np.cos(angle)) for angle in (alpha, beta))
    to_body = np.array(((b * d, -b * c, -a), (c, d, 0.0), (a * d, -a * c, b)))
    force = to_body @ (pressure * np.array((-0.3, 0.2 * beta, -np.interp(alpha, (-4.0, 0.0, 4.0), (-1.0, 0.2, 1.5)))))
    rates = body.attitude.T @ body.w
    about = pressure * np.array((0.05 * SPAN, -0.1 * alpha * CHORD, 0.02 * SPAN))
    about += density * speed * AREA / 4 * np.array((-0.4 * SPAN**2, -2.0 * CHORD**2, -0.3 * SPAN**2)) * rates
    return at_point(body, body.attitude @ force) + spread(body, np.zeros(3), body.attitude @ about)


def exponential_drag(t, body):
    """In air that turns with the planet."""
    relative = body.center_velocity - cross((0.0, 0.0, PLANET.rotation_rate), body.center)
    density = 1.1 * np.exp(-(np.linalg.norm(body.center) - PLANET.radius) / 3.0)
    return spread(body, -density * np.linalg.norm(relative) * AREA * 0.1 * relative)


def dipole_field(x):
    moment, r = np.array((0.0, 0.0, -29.4041e-6 * 6371.2e3**3)), np.linalg.norm(x)
    n = x / r
    return (3 * (moment @ n) * n - moment) / r**3


DIPOLE, WEAK = np.array((2.0, -1.0, 3.0)), np.array((2.0, -1.0, 3.0)) * 1e-16
FLIGHT = {
    "earth_gravity": Case(
        F.earth_gravity(PLANET, 2), lambda t, b: b.masses[:, None] * zonal_field(b.center)
    ),
    "earth_gravity gradient": Case(F.earth_gravity(PLANET, 2, True), lambda t, b: field_with_gradient(b)),
    "drag own functions": Case(
        F.drag(
            AREA, lambda flow: 0.4 + 3.0 * flow.mach + 0.1 * flow.angle_of_attack, wind=flat_wind,
            com_to_pressure_body=POINT,
        ),
        drag_with_functions,
    ),
    "drag over a planet": Case(
        F.drag(AREA, 0.2, air=ph.air.exponential(1.1, 3.0), earth=PLANET), exponential_drag
    ),
    "aerodynamics": Case(
        F.aerodynamics(
            AREA,
            {
                "CD": 0.3, "CY": lambda flow: 0.2 * flow.sideslip,
                "CL": ph.CoefficientTable("angle_of_attack", (-4.0, 0.0, 4.0), (-1.0, 0.2, 1.5)), "Cl": 0.05,
                "Cm": lambda flow: -0.1 * flow.angle_of_attack, "Cn": 0.02, "Clp": -0.4, "Cmq": -2.0, "Cnr": -0.3,
            },
            SPAN, CHORD, wind=flat_wind, com_to_reference_body=POINT,
        ),
        wings,
    ),
    "magnetic_torquer": Case(
        F.magnetic_torquer(DIPOLE, G, stop=INSTANT),
        lambda t, b: spread(b, np.zeros(3), cross(b.attitude @ DIPOLE, G) * (t < INSTANT)),
    ),
    "magnetic_torquer over the Earth": Case(
        F.magnetic_torquer(WEAK),
        lambda t, b: spread(b, np.zeros(3), cross(b.attitude @ WEAK, dipole_field(b.center))),
    ),
}  # fmt: skip
SINGLE |= FLIGHT
CASES = SINGLE | PAIRS
OVER_PLANET = ("earth_gravity gradient", "drag over a planet", "magnetic_torquer over the Earth")
TOGETHER = {
    "over the ground": [name for name in CASES if name not in ("earth_gravity", *OVER_PLANET)],
    "over a planet": [*OVER_PLANET, "thruster", "spring damped", "impulse"],
}
"""Forces that go together."""
