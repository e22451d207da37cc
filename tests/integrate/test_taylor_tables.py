"""Taylor series over knots of tables and layers of air, against SciPy on held branches with located knots."""

import subprocess
import sys

import numpy as np
import pytest
from tests.helpers.piecewise_reference import integrate_piecewise

import polhode as ph

GAS = 8314.32 / 28.9644
LAYERS = ((0.0, -0.0065), (11000.0, 0.0), (20000.0, 0.001), (32000.0, 0.0028))
"""Geopotential height of the base in m, gradient in K/m."""


def bases():
    """(height, gradient, temperature, pressure) at the base of each layer.  [US76, eq. 33a, 33b]"""
    temperature, pressure, found = 288.15, 101325.0, []
    for k, (base, gradient) in enumerate(LAYERS):
        found.append((base, gradient, temperature, pressure))
        thickness = (LAYERS[k + 1][0] if k + 1 < len(LAYERS) else base) - base
        top = temperature + gradient * thickness
        power = 9.80665 / GAS / gradient if gradient else 0.0
        ratio = (temperature / top) ** power if gradient else np.exp(-9.80665 * thickness / GAS / temperature)
        temperature, pressure = top, pressure * ratio
    return found


BASES = bases()


def standard_air(height, layer):
    """(density, speed of sound) on the formula of one layer."""
    base, gradient, start, pressure = BASES[layer]
    above = 6356766.0 * height / (6356766.0 + height) - base
    temperature = start + gradient * above
    if gradient:
        pressure = pressure * (start / temperature) ** (9.80665 / GAS / gradient)
    else:
        pressure = pressure * np.exp(-9.80665 * above / GAS / start)
    return pressure / (GAS * temperature), np.sqrt(1.4 * GAS * temperature)


class Flight:
    """A random body that spins about its y axis and flies through wind and air; and the same for SciPy."""

    duration, mass, area = 2.0, 2.0, 0.05

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.spin = rng.uniform(0.5, 6)
        self.functions = []
        self.start = np.array([0, 0, rng.uniform(10900, 11300), *rng.uniform(-400, 400, 3)])
        self.layered, self.windy = rng.random() < 0.6, rng.random() < 0.5
        if self.layered:
            at = [self.add(lambda t, y, b=b: 6356766.0 * y[2] / (6356766.0 + y[2]) - b) for b, _ in LAYERS[1:]]
            self.air = lambda y, held: standard_air(y[2], sum(not held[i] for i in at))
        else:
            self.air = lambda y, held: (1.225 * np.exp(-y[2] / 8500.0), np.sqrt(1.4 * GAS * 288.15))
        self.wind = self.wind_table() if self.windy else lambda t, y, held: np.zeros(3)
        kinds = ["mach", "height", "airspeed", "dynamic_pressure", "sideslip", "angle_of_attack", "two"]
        self.variables = str(rng.choice(kinds))
        table = self.table_of_two if self.variables == "two" else self.table_of_one
        self.law, self.coefficient = table()

    def add(self, function):
        self.functions.append(function)
        return len(self.functions) - 1

    def wind_table(self):
        heights, rows = np.array([8000.0, 10800, 11000, 11100, 14000]), self.rng.uniform(-30, 30, (5, 3))
        self.wind_of_polhode = ph.air.wind_table(heights, rows)
        at = [self.add(lambda t, y, h=h: y[2] - h) for h in heights[1:-1]]

        def wind(t, y, held):
            k = sum(not held[i] for i in at)
            north, east, down = rows[k] + (rows[k + 1] - rows[k]) * (y[2] - heights[k]) / (heights[k + 1] - heights[k])
            return np.array([east, north, -down])

        return wind

    def flow(self, t, y, held):
        """Velocity relative to the air, its components along the body's x and z axes, density, speed of sound."""
        v = y[3:] - self.wind(t, y, held)
        c, s = np.cos(self.spin * t), np.sin(self.spin * t)
        return v, v[0] * c - v[2] * s, v[0] * s + v[2] * c, *self.air(y, held)

    def value(self, variable, t, y, held):
        v, u, w, density, sound = self.flow(t, y, held)
        speed = np.linalg.norm(v)
        if variable == "sideslip":
            return np.arctan2(v[1], np.hypot(u, w))
        plain = {"mach": speed / sound, "height": y[2], "airspeed": speed, "dynamic_pressure": density * speed**2 / 2}
        return plain[variable]

    def near(self, t, y):
        """The branches at which a state lies, for functions that depend on air and wind, which are continuous."""
        held = [True] * len(self.functions)
        for i in range(self.smooth):
            held[i] = self.functions[i](t, y) < 0
        return held

    def interval(self, variable, knots):
        """(t, y, held) -> the index of the line, and the value of the variable; adds the switches at the knots."""
        self.smooth = len(self.functions) if not hasattr(self, "smooth") else self.smooth
        if variable != "angle_of_attack":
            at = [self.add(lambda t, y, k=k: self.value(variable, t, y, self.near(t, y)) - k) for k in knots[1:-1]]
            return lambda t, y, held: (sum(not held[i] for i in at), self.value(variable, t, y, held))
        part = lambda t, y, k: self.flow(t, y, self.near(t, y))[k]  # noqa: E731
        below = self.add(lambda t, y: part(t, y, 2))
        sides = [self.add(lambda t, y, k=k: part(t, y, 2) * np.cos(k) - part(t, y, 1) * np.sin(k)) for k in knots[1:-1]]

        def find(t, y, held):
            _, u, w, *_ = self.flow(t, y, held)
            angle, is_below = np.arctan2(w, u), held[below]
            turns = int(angle < -np.pi / 2 and not is_below) - int(angle > np.pi / 2 and is_below)
            passed = [k < 0 if (k < 0) != is_below else not held[i] for k, i in zip(knots[1:-1], sides, strict=True)]
            return sum(passed), angle + 2 * np.pi * turns

        return find

    def knots(self, variable):
        speed = np.linalg.norm(self.start[3:])
        middle = {
            "mach": speed / 300,
            "height": self.start[2],
            "airspeed": speed,
            "dynamic_pressure": 0.2 * speed**2,
        }
        if variable in middle:
            return middle[variable] * np.array([0.0, 0.9, 0.97, 1.0, 1.01, 1.05, 5.0])
        return np.array([-3.2, -1.4, -0.3, 0.2, 1.0, 2.5, 3.2])

    def table_of_one(self):
        knots, values = self.knots(self.variables), self.rng.uniform(0.1, 2, 7)
        find = self.interval(self.variables, knots)

        def law(t, y, held):
            k, x = find(t, y, held)
            return values[k] + (values[k + 1] - values[k]) * (x - knots[k]) / (knots[k + 1] - knots[k])

        return law, ph.CoefficientTable(self.variables, knots, values)

    def table_of_two(self):
        names = ("mach", "angle_of_attack")
        rows, columns = map(self.knots, names)
        values = self.rng.uniform(0.1, 2, (7, 7))
        first, second = self.interval(names[0], rows), self.interval(names[1], columns)

        def law(t, y, held):
            (i, x), (j, z) = first(t, y, held), second(t, y, held)
            a, b = (x - rows[i]) / (rows[i + 1] - rows[i]), (z - columns[j]) / (columns[j + 1] - columns[j])
            low, high = (values[k, j] + b * (values[k, j + 1] - values[k, j]) for k in (i, i + 1))
            return low + a * (high - low)

        return law, ph.CoefficientTable(names, (rows, columns), values)

    def exact(self, times):
        def rate(t, y, held):
            v, _, _, density, _ = self.flow(t, y, held)
            push = -density * np.linalg.norm(v) * self.area * self.law(t, y, held) / 2 * v
            return np.array([*y[3:], *(push / self.mass + (0, 0, -9.80665))])

        return integrate_piecewise(rate, self.functions, self.start, times, longest=0.02)

    def scenario(self, **settings):
        air = ph.air.US76 if self.layered else ph.air.exponential(1.225, 8500.0, 288.15)
        drag = ph.forces.drag(self.area, self.coefficient, air=air, wind=self.wind_of_polhode if self.windy else None)
        start = ph.State(position=self.start[:3], velocity=self.start[3:], angular_velocity_body=(0, self.spin, 0))
        body = ph.Body(self.mass, (1.0, 1.5, 1.0))
        return ph.Scenario(body, start, [ph.forces.gravity(), drag], duration=self.duration, **settings)


TIMES = np.linspace(0, Flight.duration, 5)[1:]


@pytest.mark.parametrize("seed", [*range(16), 72, 80, 90])  # the last land where the function is not yet zero
def test_knots_and_layers_are_landed_on(seed):
    flight = Flight(seed)
    motion = ph.simulate(flight.scenario(method="taylor", rtol=1e-13, output_times=TIMES))
    assert np.abs(motion.position - flight.exact(TIMES)[:, :3]).max() < 1e-9


BESIDE_EACH_OTHER = """
import numpy as np, polhode as ph
knots = ((0, 0.5, 0.9, 1.1, 2), (-3.2, -1, -0.2, 0, 0.2, 1, 3.2))
cd = ph.CoefficientTable(("mach", "angle_of_attack"), knots, np.linspace(0.2, 0.9, 35).reshape(5, 7), "hold")
shear = ph.air.wind_shear((0.0, 1000.0), ((1, 2, 0), (5, 3, 0)))
forces = [
    ph.forces.drag(0.01, cd, air=ph.air.exponential(), wind=shear, earth="WGS84"),
    ph.forces.thruster((0, 0, 0), (1, 0, 0), 5.0, 0.5, 1.0),
    ph.forces.magnetic_torquer((0.1, 0.2, 0.3)),
    ph.forces.earth_gravity(),
]
above = ph.State.from_geodetic(0.2, 0.4, 3000.0)
start = ph.State(position=above.position, velocity=(50, 20, 30), angular_velocity_body=(0.1, 2, 0.3))
body, settings = ph.Body(2.0, (0.1, 0.2, 0.25)), {"duration": 2.0, "output_times": [2.0]}
ours = ph.simulate(body, start, forces, method="taylor", rtol=1e-12, **settings)
other = ph.simulate(body, start, forces, method="rk4", step=1e-4, **settings)
print(np.abs(ours.final.position - other.final.position).max())
"""


def test_tables_beside_each_other_are_compared_at_once():
    """After the window come the expressions that were before it: heyoka would compare them as trees, for hours."""
    ran = subprocess.run(
        [sys.executable, "-c", BESIDE_EACH_OTHER], capture_output=True, text=True, timeout=200, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout.split()[-1]) < 1e-4


ORIGIN = (0.0, 0.0, 0.0)
SYMMETRIC = ph.forces.aerodynamics(
    0.1,
    {
        "CL": ph.CoefficientTable("angle_of_attack", (-0.5, -0.1, 0, 0.1, 0.5), (-2, -0.6, 0, 0.5, 1)),
        "CY": ph.CoefficientTable("sideslip", (-0.5, 0, 0.5), (0.1, 0, -0.2)),
        "CD": 0.4,
    },
    air=ph.air.constant(1.2),
)


def test_a_flight_that_stays_on_a_knot():
    """Angle of attack and sideslip stay 0, where both tables bend: x = log(1 + k v t)/k, k = density S CD/(2 m)."""
    start, body = ph.State(position=(0, 0, 100.0), velocity=(80.0, 0, 0)), ph.Body(2.0, (0.1, 0.2, 0.25))
    motion = ph.simulate(body, start, [SYMMETRIC], duration=3.0, method="taylor", rtol=1e-13)
    k = 1.2 * 0.1 * 0.4 / (2 * 2.0)
    assert np.abs(motion.position[:, 0] - np.log1p(k * 80.0 * motion.times) / k).max() < 1e-10
    assert np.abs(motion.position[:, 1:] - (0, 100)).max() == 0


WINDY = ph.air.wind_table((0, 1000, 2000), ((0, 0, 0), (0, 8, 0), (2, 9, 0)))


def falling(height, climb):
    forces = [ph.forces.gravity(), ph.forces.drag(0.1, 0.5, air=ph.air.constant(1.2), wind=WINDY)]
    start = ph.State(position=(0, 0, height), velocity=(5, 0, climb))
    return ph.Scenario(ph.particle(2.0), start, forces, duration=10.0, method="taylor", rtol=1e-13)


def test_the_ends_of_a_table():
    """Inward from the very end a run goes on; where it leaves the table it stops, at the end itself."""
    assert ph.simulate(falling(2000.0, 0.0)).final.time == 10.0
    with pytest.raises(ph.PolhodeError, match=r"leaves what is known: height 2000 m reaches the end of the wind") as up:
        ph.simulate(falling(1990.0, 30.0))
    assert up.value.last_good.position[2] == pytest.approx(2000.0, rel=1e-15)
    with pytest.raises(ph.PolhodeError, match=r"leaves what is known: height 2000 m reaches the end of the wind"):
        ph.simulate(falling(2000.0, 1.0))


def test_a_table_of_many_knots():
    """A spring in 600 lines, against the same spring: the lines through its points lie within their sagitta."""
    knots = tuple(np.linspace(-1, 1, 601).tolist())

    @ph.force
    def in_lines(t, state, body, params):
        return (ph.interp(state.position[0], knots, [-4 * k for k in knots]), 0.0, 0.0), ORIGIN

    start = ph.State(position=(0.9, 0, 0))
    motion = ph.simulate(ph.particle(1.0), start, [in_lines], duration=3.0, method="taylor", rtol=1e-13)
    assert np.abs(motion.position[:, 0] - 0.9 * np.cos(2 * motion.times)).max() < 1e-11


def test_method_auto_takes_taylor_series_through_layers():
    """What was found for rtol = 1e-13 is that near the motion, and the report says by how much."""
    flight = Flight(3)
    motion = ph.simulate(flight.scenario(rtol=1e-13, output_times=TIMES))
    assert motion.audit().method == "taylor"
    assert np.abs(motion.position - flight.exact(TIMES)[:, :3]).max() < 1e-9
