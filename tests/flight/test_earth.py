"""The Earth against closed forms in 40 digits, derivatives, and orbits."""

import mpmath
import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

import polhode as ph
from law_samples import BODY, VIEW, C, T, vector
from polhode.equations import earth as laws
from polhode.errors import InputError

WGS84 = ph.earth.WGS84
RADII = (0.0, 1e-3, 1.0, 1e3, 3e4, 42.6e3, 42.9e3, 1e5, 1e6, 6.35e6, 6.4e6, 1e7, 1e8, 1e9)
SPECIAL = [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1, 0, 1e-12), (1e-12, 0, 1), (-1, 0, 0), (1, 1, 0)]


def fixed_in_forty_digits(latitude, longitude, height):
    with mpmath.workdps(40):
        lat, lon, h, f = map(mpmath.mpf, map(float, (latitude, longitude, height, WGS84.flattening)))
        e2 = f * (2 - f)
        n = WGS84.radius / mpmath.sqrt(1 - e2 * mpmath.sin(lat) ** 2)
        level = (n + h) * mpmath.cos(lat)
        return level * mpmath.cos(lon), level * mpmath.sin(lon), (n * (1 - e2) + h) * mpmath.sin(lat)


@pytest.mark.parametrize("radius", RADII)
def test_geodetic_coordinates_against_forty_digits(radius):
    """Beyond the Earth what remains is the rounding of angles: half a unit of rad at 180 deg is 1.4e-9 m there."""
    rng = np.random.default_rng(7)
    directions = np.array([*SPECIAL, *rng.normal(size=(60, 3))], dtype=float)
    places = radius * directions / np.linalg.norm(directions, axis=1)[:, None]
    found = WGS84.to_geodetic(places)
    for place, *geodetic in zip(places, *found, strict=True):
        exact = fixed_in_forty_digits(*geodetic)
        error = float(mpmath.sqrt(sum((a - mpmath.mpf(float(b))) ** 2 for a, b in zip(exact, place, strict=True))))
        assert error < max(1e-9, 3.4e-16 * radius)
    assert np.abs(WGS84.to_fixed(*found) - places).max() < max(1e-9, 3.4e-16 * radius)


def test_poles_equator_and_center():
    pole, equator, center = (WGS84.to_geodetic(x) for x in ((0, 0, -6356752.314245179), (0, 6378137.0, 0), (0, 0, 0)))
    assert (pole.latitude, abs(pole.height) < 1e-9) == (-np.pi / 2, True)
    assert (equator.latitude, equator.longitude, equator.height) == (0.0, np.pi / 2, 0.0)
    assert center.latitude == np.pi / 2
    assert abs(center.height + 6356752.314245179) < 1e-9


def test_the_height_in_a_law_is_that_of_the_conversion():
    for height in (-4e5, -5000.0, 0.0, 86e3, 1e6, 1e8):
        for latitude in np.linspace(-np.pi / 2, np.pi / 2, 37):
            exact = tuple(map(float, fixed_in_forty_digits(latitude, 0.7, height)))
            found, up = laws.height_and_up(exact, WGS84.radius, WGS84.squared_axis_ratio)
            assert abs(found - height) < max(3e-9, 4e-16 * height)
            normal = (np.cos(latitude) * np.cos(0.7), np.cos(latitude) * np.sin(0.7), np.sin(latitude))
            assert np.abs(np.array(up) - normal).max() < 1e-15


def test_a_sphere_has_no_flattening():
    place = ph.earth.SPHERE.to_geodetic((3e6, -4e6, 12e6))
    assert abs(place.latitude - np.arctan2(12, 5)) < 1e-15
    assert abs(place.height - (13e6 - ph.earth.SPHERE.radius)) < 2e-9
    assert ph.earth.SPHERE.to_geodetic((0, 0, 0)).height == -ph.earth.SPHERE.radius


def test_gravity_is_the_gradient_of_its_potential_to_degree_six():
    """By SymPy's derivatives of Legendre polynomials."""
    x, y, z = sympy.symbols("x y z", real=True)
    r = sympy.sqrt(x * x + y * y + z * z)
    gm, a, zonal = sympy.Integer(9), sympy.Rational(5, 2), sympy.symbols("J2:7")
    harmonics = (0.1, -0.2, 0.3, 0.05, -0.4)
    series = sum(j * (a / r) ** n * sympy.legendre(n, z / r) for n, j in enumerate(zonal, 2))
    potential = -gm / r * (1 - series)
    point = dict(zip((x, y, z, *zonal), (2.0, -3.0, 6.5, *harmonics), strict=True))
    expected = [float(-potential.diff(axis).subs(point)) for axis in (x, y, z)]
    assert np.abs(np.array(laws.zonal_acceleration((2.0, -3.0, 6.5), 9.0, 2.5, harmonics)) - expected).max() < 1e-15
    assert abs(laws.zonal_potential((2.0, -3.0, 6.5), 9.0, 2.5, harmonics) - float(potential.subs(point))) < 1e-15


def test_force_and_torque_of_an_extended_body_are_the_gradient_of_its_potential():
    """By mpmath's derivatives, along the position and along three turns."""
    params, body = (9.0, 5.0, (1 / 64, -2 / 64)), BODY._replace(moments=(1.0, 5.0, 5.5))
    body = type(body)(*(tuple(map(float, part)) if isinstance(part, tuple) else float(part) for part in body[:6]))
    place, q = tuple(map(float, C)), np.array((0.2, 0.4, 0.5, 0.6)) / 0.9

    def energy(position, turn):
        small = np.array((1.0, *(0.5 * np.array(turn))))
        view = VIEW._replace(position=position, orientation=tuple(ph.rotations.product(small, q)))
        return laws.earth_gravity_with_gradient_potential(0.0, view, body, params)

    view = VIEW._replace(position=place, orientation=tuple(q))
    force, torque = laws.earth_gravity_with_gradient(0.0, view, body, params)
    h = 1e-5
    for i, axis in enumerate(np.eye(3)):
        ahead, behind = (energy(tuple(np.array(place) + s * h * axis), (0, 0, 0)) for s in (1, -1))
        assert abs(-(ahead - behind) / (2 * h) - force[i]) < 1e-9
        ahead, behind = (energy(place, s * h * axis) for s in (1, -1))
        assert abs(-(ahead - behind) / (2 * h) - torque[i]) < 1e-9


def test_force_and_torque_of_the_harmonics_converge_to_a_sum_over_particles():
    """Six particles in the field to degree six, by SymPy: what is left out is of fourth order in the size."""
    x, y, z = sympy.symbols("x y z", real=True)
    r = sympy.sqrt(x * x + y * y + z * z)
    harmonics = (0.1, -0.2, 0.3, 0.05, -0.4)
    series = sum(j * (2.5 / r) ** n * sympy.legendre(n, z / r) for n, j in enumerate(harmonics, 2))
    slopes = [sympy.diff(9 / r * (1 - series), axis) for axis in (x, y, z)]
    field = sympy.lambdify((x, y, z), slopes, "mpmath")
    place, q = np.array((2.0, -3.0, 3.5)), np.array((0.2, 0.4, 0.5, 0.6)) / 0.9
    turn = Rotation.from_quat(q, scalar_first=True)
    axes = np.array((0.5, 1.0, 1.5))
    squares = 2 * axes**2
    moments = np.array((squares[1] + squares[2], squares[0] + squares[2], squares[0] + squares[1]))
    view, errors = VIEW._replace(position=tuple(place), orientation=tuple(q)), []
    for size in (1 / 4, 1 / 8, 1 / 16):
        arms = turn.apply(np.concatenate((np.diag(axes), -np.diag(axes)))) * size
        with mpmath.workdps(30):
            pulls = [field(*map(mpmath.mpf, map(float, place + arm))) for arm in arms]
            middle = field(*map(mpmath.mpf, place))
            total = np.array([[float(a - b) for a, b in zip(pull, middle, strict=True)] for pull in pulls])
        body = BODY._replace(mass=6.0, moments=tuple(moments * size**2), axes=(1.0, 0.0, 0.0, 0.0))
        force, torque = laws.earth_gravity_with_gradient(0.0, view, body, (9.0, 2.5, harmonics))
        plain, _ = laws.earth_gravity(0.0, view, body, (9.0, 2.5, harmonics))
        exact_force, exact_torque = total.sum(axis=0), np.cross(arms, total).sum(axis=0)
        errors.append(
            (
                np.linalg.norm(np.subtract(force, plain) - exact_force) / np.linalg.norm(exact_force),
                np.linalg.norm(np.array(torque) - exact_torque) / np.linalg.norm(exact_torque),
            )
        )
    falls = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.abs(falls[1] - 2).max() < 0.1
    _, without = laws.earth_gravity_with_gradient(0.0, view, body, (9.0, 2.5, ()))
    assert np.linalg.norm(np.subtract(without, torque)) > 10 * errors[-1][1] * np.linalg.norm(exact_torque)


def test_the_audit_watches_the_energy_of_an_orbit():
    orbit = ph.State(position=(7e6, 0, 0), velocity=(0, 5000.0, 5600.0), angular_velocity_body=(1e-3, 2e-3, 1e-3))
    body = ph.Body(mass=100.0, inertia=(20.0, 30.0, 45.0))
    gravity = ph.forces.earth_gravity(degree=6, gradient_torque=True)
    audit = ph.simulate(body, orbit, [gravity], duration=6000.0, method="dop853", rtol=1e-12).audit()
    assert audit["energy"].conserved
    assert audit["energy"].relative < 1e-11


def test_the_node_of_an_orbit_precesses_as_j2_says_at_first_order():
    """dOmega/dt = -3/2 n J2 (a/p)^2 cos i; what remains is of second order in J2.  [Vallado 2013, eq. 9-37]"""
    for inclination in (0.3, 0.9, 1.4):
        a = 7.2e6
        n = np.sqrt(WGS84.gm / a**3)
        speed = a * n
        start = ph.State(position=(a, 0, 0), velocity=(0, speed * np.cos(inclination), speed * np.sin(inclination)))
        turns = 20
        duration = turns * 2 * np.pi / n
        motion = ph.simulate(
            ph.particle(1.0),
            start,
            [ph.forces.earth_gravity(degree=2)],
            duration=duration,
            rtol=1e-10,
            output_step=duration / 4000,
        )
        momentum = np.cross(motion.position, motion.velocity)
        node = np.unwrap(np.arctan2(momentum[:, 0], -momentum[:, 1]))
        rate = np.polyfit(motion.times, node, 1)[0]
        expected = -1.5 * n * WGS84.zonal[0] * (WGS84.radius / a) ** 2 * np.cos(inclination)
        assert abs(rate / expected - 1) < 5e-3  # J2 = 1.1e-3: second order


@pytest.mark.parametrize(("axis", "factor"), [("pitch", 3.0), ("roll", 4.0)])
def test_gravity_gradient_libration_periods(axis, factor):
    """In plane w^2 = 3 n^2 (Ix - Iz)/Iy, out of plane w^2 = 4 n^2 (Iy - Iz)/Ix.  [Schaub 2018, section 4.4.3]

    A body whose axis of least inertia, z, points down; with Ix = Iy roll and yaw are not coupled at first order.
    """
    ix, iy, iz = 20.0, 20.0 + (4.0 if axis == "pitch" else 0.0), 0.02 if axis == "roll" else 5.0
    a = 7e6
    n = np.sqrt(WGS84.gm / a**3)
    axes = Rotation.from_matrix(
        np.array(((0.0, 0, -1), (1, 0, 0), (0, -1, 0)))
    )  # x forward, y against the orbit, z down
    tilt = 1e-4
    turned = axes * Rotation.from_rotvec((0, tilt, 0) if axis == "pitch" else (tilt, 0, 0))
    start = ph.State((a, 0, 0), turned, (0, a * n, 0), angular_velocity=(0, 0, n))
    body = ph.Body(mass=50.0, inertia=(ix, iy, iz))
    gravity = ph.forces.earth_gravity(degree=0, gradient_torque=True)
    omega = n * np.sqrt(factor * ((ix - iz) / iy if axis == "pitch" else (iy - iz) / ix))
    motion = ph.simulate(
        body, start, [gravity], duration=3 * 2 * np.pi / omega, output_step=np.pi / omega / 400, rtol=1e-12
    )
    angles = motion.in_frame("lvlh").yaw_pitch_roll
    angle = angles[:, 1] if axis == "pitch" else angles[:, 2]
    crossings = np.flatnonzero(np.diff(np.sign(angle)))
    times = motion.times[crossings] - angle[crossings] * np.diff(motion.times)[0] / np.diff(angle)[crossings]
    period = 2 * (times[-1] - times[0]) / (len(times) - 1)
    assert abs(period * omega / (2 * np.pi) - 1) < (2e-3 if axis == "roll" else 1e-6)


def test_local_axes_against_scipy():
    """NED, ENU and Earth-fixed axes by products of SciPy's rotations."""
    rng = np.random.default_rng(3)
    latitude, longitude, time = 0.7, -2.1, 1234.0
    angles, velocity, rate = rng.normal(size=3) / 2, rng.normal(size=3) * 100, rng.normal(size=3)
    state = ph.State.from_geodetic(latitude, longitude, 5e3, velocity, angles, rate, time=time)
    turned = Rotation.from_euler("z", WGS84.rotation_rate * time)
    ned = turned * Rotation.from_euler("ZY", (longitude, -latitude - np.pi / 2))
    assert (ned * Rotation.from_euler("ZYX", angles) * state.orientation.inv()).magnitude() < 1e-14
    spin = np.array((0, 0, WGS84.rotation_rate))
    assert np.abs(ned.apply(velocity) + np.cross(spin, state.position) - state.velocity).max() < 1e-11
    body = ph.Body(mass=1.0, inertia=(1, 1, 1))
    motion = ph.simulate(body, state, duration=1.0, output_times=[time])
    local, up, fixed = (motion.in_frame(frame, WGS84) for frame in ("ned", "enu", "earth"))
    assert abs(local.latitude[0] - latitude) < 1e-15
    assert abs(local.longitude[0] - longitude) < 1e-15
    assert abs(local.height[0] - 5e3) < 2e-9
    assert np.abs(local.velocity[0] - velocity).max() < 1e-11
    assert np.abs(local.yaw_pitch_roll[0] - angles).max() < 1e-14
    assert np.abs(up.velocity[0] - (velocity[1], velocity[0], -velocity[2])).max() < 1e-11
    assert np.abs(fixed.velocity[0] - (turned.inv() * ned).apply(velocity)).max() < 1e-11
    relative = rate - state.orientation.inv().apply(spin)
    assert np.abs(local.angular_velocity_body_relative_to_earth[0] - relative).max() < 1e-14
    origin = motion.in_frame("ned", WGS84, origin=(latitude, longitude, 0.0))
    assert np.abs(origin.position[0] - (0, 0, -5e3)).max() < 5e-9
    other = ph.State.from_geodetic(angular_velocity_body_relative_to_earth=(0, 0, 0))
    assert np.abs(other.angular_velocity - spin).max() < 1e-19


def test_orbital_axes():
    """Down, against the orbit's angular momentum, forward."""
    start = ph.State(position=(7e6, 0, 0), velocity=(0, 7546.0, 0))
    motion = ph.simulate(ph.particle(1.0), start, duration=1.0, output_times=[0.0])
    seen = motion.in_frame("lvlh", WGS84)
    assert np.abs(seen.velocity[0] - (7546.0, 0, 0)).max() < 1e-11


def test_bad_places_and_frames_are_refused_with_a_sentence():
    motion = ph.simulate(ph.particle(1.0), duration=1.0)
    for make, sentence in (
        (lambda: ph.State.from_geodetic(latitude=45.0), r"latitude must lie between the poles.*np.radians"),
        (lambda: WGS84.to_fixed(-1.6, 0.0), "latitude must lie between the poles"),
        (lambda: WGS84.to_fixed(np.nan, 0.0), "latitude must be finite"),
        (lambda: ph.forces.earth_gravity("WGS48"), "earth 'WGS48' is unknown"),
        (lambda: ph.forces.earth_gravity(degree=7), "degree must be a whole number from 0 .* to 6"),
        (lambda: ph.forces.earth_gravity(degree=1.5), "degree must be a whole number"),
        (lambda: WGS84.replace(flattening=1.2), "flattening of WGS84 must be at least 0 and less than 1"),
        (lambda: motion.in_frame("ned"), "know no Earth: say which"),
        (lambda: motion.in_frame("nde", WGS84), "frame 'nde' is unknown"),
        (lambda: motion.in_frame("ned", WGS84).position, "moves with the body"),
        (lambda: motion.in_frame("lvlh", WGS84, origin=(0, 0, 0)), "has no other origin"),
        (lambda: motion.flight(), "no force of this motion knows the air"),
    ):
        with pytest.raises(InputError, match=sentence):
            make()


def test_gravity_at_the_place_of_a_sample():
    """Of samples in exact ratios, as every law."""
    assert laws.earth_gravity(T, VIEW._replace(position=C), BODY, (9 + 0 * T, T, ()))[0] == vector(
        -2 * 9 * 3, -3 * 9 * 3, -6 * 9 * 3, over=2 * 343
    )
