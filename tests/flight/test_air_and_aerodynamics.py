"""Air against the published table; drag, coefficients and damping against closed forms and SciPy."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import RegularGridInterpolator
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.equations import aerodynamics as laws
from polhode.errors import InputError, RunError

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")

# Height (m), temperature (K), pressure (mbar), density (kg/m3), speed of sound (m/s).  [US76, tables I and III]
PUBLISHED = [
    (-5000, 320.676, "1.7776e3", "1.9311e0", 358.99),
    (-1000, 294.651, "1.1393e3", "1.3470e0", 344.11),
    (0, 288.150, "1.01325e3", "1.2250e0", 340.29),
    (1000, 281.651, "8.9876e2", "1.1117e0", 336.43),
    (2000, 275.154, "7.9501e2", "1.0066e0", 332.53),
    (5000, 255.676, "5.4048e2", "7.3643e-1", 320.55),
    (9000, 229.733, "3.0801e2", "4.6706e-1", 303.85),
    (10000, 223.252, "2.6500e2", "4.1351e-1", 299.53),
    (11000, 216.774, "2.2700e2", "3.6480e-1", 295.15),
    (15000, 216.650, "1.2112e2", "1.9476e-1", 295.07),
    (20000, 216.650, "5.5293e1", "8.8910e-2", 295.07),
    (25000, 221.552, "2.5492e1", "4.0084e-2", 298.39),
    (30000, 226.509, "1.1970e1", "1.8410e-2", 301.71),
    (40000, 250.350, "2.8714e0", "3.9957e-3", 317.19),
    (47000, 269.684, "1.1585e0", "1.4965e-3", 329.21),
    (50000, 270.650, "7.9779e-1", "1.0269e-3", 329.80),
    (60000, 247.021, "2.1958e-1", "3.0968e-4", 315.07),
    (70000, 219.585, "5.2209e-2", "8.2829e-5", 297.06),
    (80000, 198.639, "1.0524e-2", "1.8458e-5", 282.54),
    (86000, 186.870, "3.7338e-3", "6.958e-6", 274.10),
]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row[0]} m")
def test_us76_against_the_published_table(row):
    """To all digits printed: 5 of pressure and density (4 at 86 km), 6 of temperature, 5 of the speed of sound."""
    height, temperature, pressure, density, speed = row
    air = ph.air.US76.at(height)
    assert abs(air.temperature - temperature) < 3.1e-3  # M/M0 above 80 km has 6 digits
    assert abs(air.speed_of_sound - speed) < 5.1e-3
    for found, printed in ((air.pressure / 100, pressure), (air.density, density)):
        mantissa, exponent = printed.split("e")
        unit = 10.0 ** (int(exponent) - len(mantissa.partition(".")[2]))
        assert abs(found - float(printed)) < 1.01 * unit


def test_us76_is_in_hydrostatic_equilibrium_and_continuous():
    """dp/dH = -g0 density along the geopotential height, also across its layers."""
    for h in (500.0, 10990.0, 15000.0, 25000.0, 40000.0, 49000.0, 60000.0, 80000.0):
        low, high = (ph.air.US76.at(6356766.0 * x / (6356766.0 - x)).pressure for x in (h - 5, h + 5))
        middle = ph.air.US76.at(6356766.0 * h / (6356766.0 - h)).density
        assert abs((high - low) / 10 / (-9.80665 * middle) - 1) < 1e-6
    for base in (11000.0, 20000.0, 32000.0, 47000.0, 51000.0, 71000.0):
        z = 6356766.0 * base / (6356766.0 - base)
        below, above = ph.air.US76.at(z * (1 - 1e-12)), ph.air.US76.at(z * (1 + 1e-12))
        assert all(abs(a / b - 1) < 1e-9 for a, b in zip(below, above, strict=True))


def test_terminal_velocity_and_fall_with_drag_against_the_closed_form():
    """v = v_t tanh(g t/v_t) in constant air."""
    density, area, cd, mass = 1.2, 0.01, 0.5, 1.0
    drag = ph.forces.drag(area, cd, air=ph.air.constant(density))
    motion = ph.simulate(ph.particle(mass), ph.State(position=(0, 0, 500)), [ph.forces.gravity(), drag], duration=8.0)
    terminal = math.sqrt(2 * mass * 9.80665 / (density * area * cd))
    assert np.abs(motion.velocity[:, 2] + terminal * np.tanh(9.80665 * motion.times / terminal)).max() < 1e-7


def test_exponential_air_with_wind_of_ones_own_against_scipy():
    def gusts(t, height):
        return (2.0 * ph.sin(t), 5.0 + height / 100.0, 0.5)

    def rate(t, y):
        wind = np.array((5.0 + y[2] / 100.0, 2.0 * math.sin(t), -0.5))  # x is east, y is north
        u = y[3:] - wind
        drag = -0.5 * 1.1 * math.exp(-y[2] / 7000.0) * np.linalg.norm(u) * u * 0.02 * 0.4 / 3.0
        return np.r_[y[3:], drag - (0, 0, 9.80665)]

    drag = ph.forces.drag(0.02, 0.4, air=ph.air.exponential(1.1, 7000.0), wind=gusts)
    start = ph.State(position=(0, 0, 3000.0), velocity=(30.0, -20.0, 10.0))
    motion = ph.simulate(ph.particle(3.0), start, [ph.forces.gravity(), drag], duration=10.0, rtol=1e-11)
    expected = solve_ivp(rate, (0, 10), np.r_[start.position, start.velocity], "DOP853", rtol=1e-12, atol=1e-10).y[
        :, -1
    ]
    assert np.abs(np.r_[motion.final.position, motion.final.velocity] - expected).max() < 1e-6


def met(velocity_body, rate=(0.1, -0.2, 0.3), density=0.9, sound=300.0):
    speed = float(np.linalg.norm(velocity_body))
    return laws.Flow(1000.0, velocity_body, rate, speed, laws.AirProperties(density, 1e5, 280.0, sound))


def test_wind_axes_against_scipys_rotations():
    """Body axes turn by -angle of attack about y and by sideslip about z into wind axes.  [Stevens 2016, fig. 2.3-2]"""
    rng = np.random.default_rng(5)
    for velocity in rng.normal(size=(20, 3)) * 50:
        flow = met(tuple(velocity))
        to_body = Rotation.from_euler("YZ", (-flow.angle_of_attack, flow.sideslip))
        vector = rng.normal(size=3)
        assert np.abs(np.array(laws.wind_to_body(tuple(velocity), tuple(vector))) - to_body.apply(vector)).max() < 1e-14
        assert np.abs(to_body.apply((np.linalg.norm(velocity), 0, 0)) - velocity).max() < 1e-12
    assert laws.wind_to_body((0.0, 0.0, 0.0), (1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)


def wrench(force, state, body=None):
    """Force and torque at the start, in body axes."""
    body = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5)) if body is None else body
    scenario = ph.Scenario(body, state, [force], duration=1.0)
    rate = scenario.derivative(0.0, state.to_array(body))
    turn = state.orientation.inv()
    return turn.apply(rate[7:10]), turn.apply(rate[10:13])


STATE = ph.State(
    (0, 0, 2000.0),
    Rotation.from_euler("ZYX", (0.4, 0.1, 0.2)),
    (120.0, 30.0, -4.0),
    angular_velocity_body=(0.3, -0.2, 0.1),
)
COEFFICIENTS = {"CD": 0.03, "CY": -0.1, "CL": 0.7, "Cl": 0.01, "Cm": -0.05, "Cn": 0.02}
DAMPING = {"Clp": -0.4, "Clr": 0.1, "Cmq": -5.0, "Cnp": -0.03, "Cnr": -0.2}


def test_forces_and_moments_in_wind_axes_against_their_definitions():
    force = ph.forces.aerodynamics(
        1.5,
        COEFFICIENTS | DAMPING,
        span=4.0,
        chord=0.4,
        air=ph.air.constant(1.1),
        com_to_reference_body=(0.1, 0.0, -0.2),
    )
    push, turn = wrench(force, STATE)
    u, v, w = STATE.orientation.inv().apply(STATE.velocity)
    speed = math.hypot(u, v, w)
    pressure = 1.1 * speed**2 / 2
    alpha, beta = math.atan2(w, u), math.asin(v / speed)
    to_body = Rotation.from_euler("YZ", (-alpha, beta))
    expected = to_body.apply(1.5 * pressure * np.array((-0.03, -0.1, -0.7)))
    p, q, r = np.array((0.3, -0.2, 0.1)) * (4.0, 0.4, 4.0) / (2 * speed)
    moments = np.array((0.01 - 0.4 * p + 0.1 * r, -0.05 - 5.0 * q, 0.02 - 0.03 * p - 0.2 * r)) * (4.0, 0.4, 4.0)
    assert np.abs(push - expected).max() < 1e-10
    assert np.abs(turn - 1.5 * pressure * moments - np.cross((0.1, 0.0, -0.2), expected)).max() < 1e-9


def test_coefficients_along_body_axes_by_tables_and_functions():
    angles, machs = np.linspace(-0.5, 0.5, 6), np.array((0.0, 0.3, 0.8))
    values = np.random.default_rng(1).normal(size=(6, 3))
    table = ph.CoefficientTable(("angle_of_attack", "mach"), (angles, machs), values)
    force = ph.forces.aerodynamics(
        2.0, {"CX": table, "CZ": lambda flow: -4.0 * flow.angle_of_attack + flow.mach}, axes="body"
    )
    push, _ = wrench(force, STATE)
    air = ph.air.US76.at(2000.0)
    u, _, w = STATE.orientation.inv().apply(STATE.velocity)
    speed = np.linalg.norm(STATE.velocity)
    alpha, mach = math.atan2(w, u), speed / air.speed_of_sound
    pressure = air.density * speed**2 / 2
    cx = RegularGridInterpolator((angles, machs), values)((alpha, mach))
    expected = 2.0 * pressure * np.array((float(cx), 0.0, -4.0 * alpha + mach))
    assert np.abs(push - expected).max() < 1e-10


def test_drag_at_a_center_of_pressure_turns_the_body():
    push, turn = wrench(ph.forces.drag(0.3, 0.4, com_to_pressure_body=(-0.2, 0.1, 0.0)), STATE)
    assert np.abs(turn - np.cross((-0.2, 0.1, 0.0), push)).max() < 1e-12
    assert np.abs(np.cross(push, STATE.orientation.inv().apply(STATE.velocity))).max() < 1e-9


def test_members_of_an_ensemble_may_differ():
    wind = np.array([(0, 0, 0), (0, 5, 0), (0, 10, 0)], dtype=float)
    drag = ph.forces.drag([0.1, 0.2, 0.3], 0.5, air=ph.air.constant(1.0), wind=ph.air.steady_wind(wind))
    many = ph.ensemble(ph.particle(1.0), ph.State(), [drag], duration=2.0, output_step=1.0)
    for i in range(3):
        one = ph.forces.drag(0.1 * (i + 1), 0.5, air=ph.air.constant(1.0), wind=wind[i])
        alone = ph.simulate(ph.particle(1.0), ph.State(), [one], duration=2.0)
        assert np.abs(many.final.position[i] - alone.final.position).max() < 1e-7
    assert many.flight().airspeed.shape == (len(many.times), 3)
    assert np.abs(many.flight().airspeed[0] - (0, 5, 10)).max() == 0
    assert np.abs(many.member(2).flight().airspeed[0] - 10).max() == 0


def test_results_of_flight_and_their_table(tmp_path):
    start = ph.State.from_geodetic(0.3, 0.2, 5000.0, (80.0, 10.0, 2.0), (0.1, 0.05, 0.0))
    forces = [ph.forces.earth_gravity(), ph.forces.drag(0.1, 0.3, earth="WGS84", wind=(1.0, 2.0, -0.5))]
    motion = ph.simulate(ph.Body(mass=5.0, inertia=(1, 1, 1)), start, forces, duration=2.0, output_step=1.0)
    flight = motion.flight()
    relative = motion.in_frame("ned").velocity - (1.0, 2.0, -0.5)
    assert np.abs(flight.airspeed - np.linalg.norm(relative, axis=1)).max() < 1e-9
    assert np.abs(flight.height - motion.in_frame("ned").height).max() < 5e-9
    assert np.abs(flight.pressure - ph.air.US76.at(flight.height).pressure).max() < 1e-6
    motion.export_csv(tmp_path / "flight.csv")
    table = np.genfromtxt(tmp_path / "flight.csv", delimiter=",", names=True)
    assert (table["height_m"] == motion.in_frame("ned").height).all()
    assert (table["yaw_deg"] == np.degrees(motion.in_frame("ned").yaw_pitch_roll[:, 0])).all()
    assert (table["mach"] == flight.mach).all()
    assert len(motion.plot_flight().axes) == 4


CD = {"variables": "mach", "knots": (0.0, 1.0), "values": (0.3, 0.4)}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ph.CoefficientTable("mach", (0, 1), (1, math.nan)), "values of a table must be finite.*nan"),
        (lambda: ph.CoefficientTable("mach", (0, math.nan), (1, 2)), "knots of mach must be finite"),
        (
            lambda: ph.CoefficientTable("mach", (0, 2, 1), (1, 2, 3)),
            "knots of mach must increase, but 2 is followed by 1",
        ),
        (lambda: ph.CoefficientTable("mach", (0, 1, 1), (1, 2, 3)), "knots of mach must increase"),
        (lambda: ph.CoefficientTable("mach", (0, 1), (1, 2, 3)), r"must have the shape \(2,\) of its knots"),
        (lambda: ph.CoefficientTable("mach", (0,), (1,)), "at least two numbers"),
        (
            lambda: ph.CoefficientTable(("mach", "sideslip"), ((0, 1), (0, 1)), ((1, 2),)),
            r"must have the shape \(2, 2\)",
        ),
        (lambda: ph.CoefficientTable(("mach", "sideslip"), ((0, 1), (0, 1)), ((1, 2), (3,))), "rows of equal length"),
        (lambda: ph.CoefficientTable("alpha", (0, 1), (1, 2)), "table variable 'alpha' is unknown"),
        (lambda: ph.CoefficientTable("mach", (0, 1), (1, 2), beyond="extend"), "beyond 'extend' is unknown"),
        (lambda: ph.air.wind_table((0, 2000, 1000), ((0, 0, 0),) * 3), "heights of the wind must increase"),
        (lambda: ph.air.wind_table((0, 1000), ((0, 0, 0),) * 3), "for each of the 2 heights"),
        (lambda: ph.air.wind_table((0, 1000), ((0, 0, 0), (0, math.nan, 0))), "must be finite, but at height number 1"),
        (lambda: ph.air.wind_shear((0, 1000, 2000), ((0, 0, 0),) * 3), "two heights"),
        (lambda: ph.air.US76.at(86000.1), "known from -5000 to 86000 m, not at a height of 86000.1 m"),
        (lambda: ph.air.US76.at([0.0, -5001.0]), "not at a height of -5001 m"),
        (lambda: ph.air.exponential(density=-1.0), "density must be greater than 0"),
        (lambda: ph.forces.drag(0.1, 0.3, air="US67"), "air 'US67' is unknown"),
        (lambda: ph.forces.drag(0.1, 0.3, air={"kind": "constant", "rho": 1.2}), "takes density, temperature, not rho"),
        (lambda: ph.forces.drag(-0.1, 0.3), "area must not be negative"),
        (lambda: ph.forces.drag(0.1, {"variables": "mach"}), "knots is missing"),
        (lambda: ph.forces.aerodynamics(0.1, {}), "at least one of CD, CY, CL"),
        (lambda: ph.forces.aerodynamics(0.1, {"CX": 1.0}), "coefficient 'CX' is unknown with axes='wind'"),
        (lambda: ph.forces.aerodynamics(0.1, {"CD": 1.0}, axes="stability"), "axes 'stability' is unknown"),
        (lambda: ph.forces.aerodynamics(0.1, {"Cmq": 1.0}, rates_relative_to="x"), "rates_relative_to 'x' is unknown"),
    ],
)
def test_bad_tables_and_air_are_refused_with_a_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_a_start_where_nothing_is_known_is_refused():
    for height, force, sentence in (
        (
            86001.0,
            ph.forces.drag(0.1, 0.3),
            "the atmosphere US76 is unknown: height 86001 m, known from -5000 to 86000 m",
        ),
        (-6e3, ph.forces.drag(0.1, 0.3), "height -6000 m"),
        (
            100.0,
            ph.forces.drag(0.1, 0.3, wind=ph.air.wind_table((500, 900), ((0, 0, 0), (1, 0, 0)))),
            "the wind is unknown",
        ),
        (
            0.0,
            ph.forces.drag(0.1, CD | {"knots": (0.5, 1.0)}),
            "the table of coefficient is unknown: mach 0, known from 0.5",
        ),
    ):
        with pytest.raises(InputError, match=sentence):
            ph.simulate(ph.particle(1.0), ph.State(position=(0, 0, height)), [force], duration=1.0)


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "step": 0.01}, {"method": "dop853", "engine": "python"}])
def test_a_run_that_leaves_what_is_known_stops_with_time_and_height(options):
    forces = [ph.forces.earth_gravity(), ph.forces.drag(1e-4, 0.1, earth="WGS84")]
    up = ph.State.from_geodetic(0.4, 0.1, height=80000.0, velocity_ned=(0, 0, -500.0))
    with pytest.raises(
        RunError, match=r"height 8(6000|599\d)[.\d]* m reaches the end of the atmosphere US76"
    ) as caught:
        ph.simulate(ph.particle(10.0), up, forces, duration=60.0, **options)
    assert 13.8 < caught.value.time < 13.83
    assert caught.value.motion.times[-1] <= caught.value.time


def test_a_table_that_ends_stops_the_run_or_holds_its_value():
    start, fall = ph.State(position=(0, 0, 20000.0)), ph.forces.gravity()
    with pytest.raises(RunError, match="mach 1 reaches the end of the table of coefficient, 1"):
        ph.simulate(ph.particle(100.0), start, [fall, ph.forces.drag(1e-4, CD)], duration=60.0)
    held = ph.simulate(ph.particle(100.0), start, [fall, ph.forces.drag(1e-4, CD | {"beyond": "hold"})], duration=40.0)
    assert held.flight().mach.max() > 1.2


def test_members_that_leave_the_air_do_not_stop_the_others():
    forces = [ph.forces.gravity(), ph.forces.drag(1e-4, 0.1)]
    start = ph.State(position=(0, 0, 85000.0), velocity=[(0, 0, 500.0), (0, 0, -100.0)])
    with pytest.raises(RunError, match="member 0 leaves what is known") as caught:
        ph.ensemble(ph.particle(10.0), start, forces, duration=10.0)
    assert np.isfinite(caught.value.motion.final.position[1]).all()
