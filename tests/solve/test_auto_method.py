"""method="auto": which method it takes, why, and whether the error that it claims is the error that there is."""

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import quad

import polhode as ph
from polhode.methods.registry import METHODS
from polhode.reference import PROBLEMS

BODY = ph.Body(mass=2.0, inertia=(0.6, 0.8, 1.0))
START = ph.State(position=(1, 2, 3), velocity=(0.5, -1, 4), angular_velocity_body=(3.0, 0.5, -0.9))
AIR = [ph.forces.gravity(), ph.forces.quadratic_drag(0.1)]


@ph.force
def nearly_nothing(t, state, body, params):
    return (0.0, 0.0, 0.0), (params[0], 0.0, 0.0)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_it_delivers_what_was_asked_for(name, rtol):
    """Reference: answers to 40 digits.  At rtol 1e-10 the error is below 1e-9 on all five problems, and below 3e-10."""
    given = PROBLEMS[name]
    motion = ph.simulate(given.scenario(rtol=rtol))
    final = motion.final
    error = given.error_of(
        quaternion_wxyz=final.quaternion_wxyz,
        angular_velocity_body=final.angular_velocity_body,
        position=final.position,
    )
    assert max(error.attitude, error.rates) < 3 * rtol
    assert error.position <= 3 * rtol * np.abs(motion.position).max()
    chosen = motion.run_result.auto_report
    if motion.audit().method == "exact":
        assert chosen.error is None
    else:
        assert error.attitude < 10 * max(chosen.error_found, 1e-14)
        assert f"({rtol:g} asked)" in motion.audit().chosen


@pytest.mark.parametrize(
    ("forces", "settings", "method", "why"),
    [
        ([], {}, "exact", "no force acts: the closed form holds"),
        ([ph.forces.gravity()], {}, "exact", "nothing but uniform gravity acts: the closed form holds"),
        ([ph.forces.gravity()], {"step": 0.1}, "exact", "step is not used"),
        ([ph.forces.gravity(), ph.forces.impulse((0, 0, 1), 0.5)], {}, "exact", "closed form"),
        (AIR, {}, "dop853", "quadratic_drag acts: the cheapest for rtol 1e-09"),
        (AIR, {"step": 0.1}, "dop853", "step is only its first try"),
        (AIR, {"rtol": 1e-13}, "taylor", "the only one that reaches rtol 1e-13"),
        ([], {"formulation": "euler_angles", "engine": "python"}, "dop853", "formulation 'euler_angles' was asked for"),
    ],
)
def test_the_audit_says_which_and_why(forces, settings, method, why):
    tilted = START.replace(quaternion_wxyz=(0.8, 0.6, 0.0, 0.0))
    audit = ph.simulate(BODY, tilted, forces, duration=1.0, **settings).audit()
    assert audit.method == method
    assert why in audit.chosen
    assert f"chosen by auto: {audit.chosen}" in str(audit)


def test_without_heyoka_it_says_what_would_be_better(monkeypatch):
    monkeypatch.setattr("polhode.scenario.method_choice.find_spec", lambda name: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        audit = ph.simulate(BODY, START, AIR, duration=1.0, rtol=1e-13).audit()
    assert audit.method == "dop853"
    assert "heyoka is not installed: pip install '" in audit.chosen
    assert "[taylor]'" in audit.chosen


def test_what_cannot_be_reached_is_said(monkeypatch):
    """A spin about the middle axis, tumbling for a minute: rounding grows a millionfold, and nothing can be done."""
    monkeypatch.setattr("polhode.scenario.method_choice.find_spec", lambda name: None)
    box = ph.Body(mass=10.0, inertia=(0.8083, 0.6833, 0.1417))
    spin = ph.State(angular_velocity_body=(1e-4, 5.0, 1e-4))
    with pytest.warns(UserWarning, match=r"the error of the motion is about .* more than rtol = 1e-12"):
        motion = ph.simulate(box, spin, [nearly_nothing(1e-9)], duration=60.0, rtol=1e-12)
    assert motion.run_result.auto_report.missed
    assert np.isfinite(motion.final.quaternion_wxyz).all()


def test_taylor_series_take_over_where_dop853_gives_up(monkeypatch):
    """Reference: the answer to 40 digits.  dop853 is kept from steps as fine as it would need."""
    monkeypatch.setitem(METHODS, "dop853", METHODS["dop853"]._replace(finest_rtol=1e-10))
    given = PROBLEMS["simo_wong_heavy_top"]
    motion = ph.simulate(given.scenario(rtol=1e-10))
    assert motion.audit().method == "taylor"
    assert "dop853 came no nearer than" in motion.audit().chosen
    assert given.error_of(quaternion_wxyz=motion.final.quaternion_wxyz).attitude < 1e-10


def test_an_ensemble_is_judged_by_all_of_its_members():
    """Reference: every member at a hundredth of the tolerance."""
    start = ph.State(velocity=np.linspace((1, 0, 1), (20, 0, 20), 200), angular_velocity_body=(3.0, 0.5, -0.9))
    motion = ph.ensemble(BODY, start, AIR, duration=2.0, rtol=1e-8)
    assert "of all 200 members" in motion.audit().chosen
    finer = ph.ensemble(BODY, start, AIR, duration=2.0, rtol=1e-12, method="dop853", formulation="body_rates")
    off = np.linalg.norm(motion.final.position - finer.final.position, axis=-1)
    assert (off <= 1e-8 * np.linalg.norm(finer.final.position, axis=-1)).all()


def test_between_outputs_the_same_tolerance_holds():
    motion = ph.simulate(BODY, START, AIR, duration=2.0, rtol=1e-10, output_step=1.0)
    other = ph.simulate(BODY, START, AIR, duration=2.0, rtol=1e-10, output_times=[0.37, 2.0])
    np.testing.assert_allclose(motion.at(0.37).position, other.position[0], rtol=1e-10)


def test_rounding_about_a_balance_is_no_error():
    """Equal springs on both sides leave a chain's middle at rest but for rounding: that must not make steps short."""
    count = 21
    states = [ph.State(position=(i - 10.0, 0, 0)) for i in range(count)]
    springs = [ph.forces.spring_between(i, i + 1, 50.0, length=0.3) for i in range(count - 1)]
    audit = ph.simulate([ph.particle(1.0)] * count, states, springs, duration=0.5, engine="python").audit()
    assert audit.steps < 100
    assert audit["energy"].relative < 1e-8


def test_a_stored_motion_still_says_what_was_chosen(tmp_path):
    motion = ph.simulate(BODY, START, AIR, duration=1.0)
    motion.save(tmp_path / "m.zarr")
    again = ph.load(tmp_path / "m.zarr")
    assert again.audit().chosen == motion.audit().chosen
    np.testing.assert_allclose(again.at(0.33).position, motion.at(0.33).position, rtol=1e-12)


@ph.force
def narrow(t, state, body, params):
    x = (state.position[0] - params[0]) / params[1]
    return (params[2] / (1 + x * x * x * x * x * x * x * x), 0.0, 0.0), (0.0, 0.0, 0.0)


def test_the_second_run_takes_other_steps():
    """Reference: the energy that a narrow bump gives, by quadrature; both runs must not step over it alike."""
    motion = ph.simulate(
        ph.particle(1.0), ph.State(velocity=(1, 0, 0)), [narrow(5.0, 0.01, 1.0)], duration=10.0, engine="python"
    )
    gained, _ = quad(
        lambda z: 0.01 / (1 + z**8), -500, (motion.final.position[0] - 5) / 0.01, points=[-1, 0, 1], limit=200
    )
    assert motion.final.velocity[0] == pytest.approx(np.sqrt(1 + 2 * gained), abs=1e-9)
    mild = ph.simulate(BODY, START, [ph.forces.linear_drag(0.1)], duration=2.0, rtol=1e-3, engine="python")
    assert mild.run_result.auto_report.error > 0


def test_no_more_digits_than_there_are():
    with pytest.raises(ph.PolhodeError, match="finer than numbers of 16 digits can hold"):
        ph.simulate(BODY, START, AIR, duration=1.0, rtol=1e-20)


def test_a_force_without_a_series_is_left_to_dop853():
    @ph.force
    def stairs(t, state, body, params):
        return (math.floor(state.position[0]), 0.0, 0.0), (0.0, 0.0, 0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = ph.simulate(ph.particle(1.0), START, [stairs], duration=0.2, rtol=5e-13, engine="python")
    assert motion.audit().method == "dop853"
    assert "stairs has no Taylor series" in motion.audit().chosen


def test_no_step_reaches_across_a_break():
    """A fast event in a smooth fall: with breaks every eighth of its period, each of its crossings is seen."""

    @ph.event
    def ticking(t, state, body, params):
        return ph.sin(params[0] * t)

    tick = ticking(40 * np.pi, action="record")
    settings = {"duration": 1.0, "method": "dop853", "events": [tick], "engine": "python"}
    times = np.linspace(0, 1, 161)[1:-1]
    motion = ph.simulate(ph.particle(1.0), forces=[ph.forces.gravity()], breaks=times + 1e-3, **settings)
    np.testing.assert_allclose(motion.crossing_times("ticking"), np.arange(1, 41) / 40, atol=1e-14)  # also at the end
    assert motion.steps >= len(times)


# Whether the estimate is honest --------------------------------------------------------------------------------------
@ph.force
def shaking(t, state, body, params):
    return (params[0] * ph.cos(params[1] * t), 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.force
def oscillator(t, state, body, params):
    return (-params[0] * state.position[0], 0.0, 0.0), (0.0, 0.0, 0.0)


def cosine(t, amplitude, frequency):
    """The closed form in extended precision: at thousands of cycles the phase has lost four digits of a double."""
    return np.longdouble(amplitude) * np.cos(np.longdouble(frequency) * np.asarray(t, dtype=np.longdouble))


def compare_with_cosine(motion, amplitude, frequency, start=0.0):
    """The true error of the positions as a fraction of the amplitude, and the estimate."""
    exact = start + cosine(motion.times, amplitude, frequency) - amplitude
    return float(np.abs(motion.position[:, 0] - exact).max()) / amplitude, motion.run_result.auto_report.error_found


def shaken(amplitude, frequency, start, **settings):
    force, state = shaking(-amplitude * frequency**2, frequency), ph.State(position=(start, 0, 0))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the error of the motion")
        return ph.simulate(ph.particle(1.0), state, [force], **settings)


@pytest.mark.parametrize(
    ("amplitude", "frequency", "start", "settings"),
    [
        (1e-3, 314.0, 1e-3, {"duration": 60.0}),
        (1.0, 1000.0, 1.0, {"duration": 100.0, "rtol": 1e-13}),
        (1e-3, 50.0, 1000.0, {"duration": 10.0}),
        (0.024, 160.0, 0.0, {"duration": 39.3, "output_times": [39.3]}),
    ],
)
def test_the_error_of_a_position_is_measured_by_how_far_it_moves(amplitude, frequency, start, settings):
    """Reference: the closed form.  Velocity times duration is up to 1e5 times the amplitude here."""
    motion = shaken(amplitude, frequency, start, **settings)
    error, estimate = compare_with_cosine(motion, amplitude, frequency, start)
    rounding = 8 * np.finfo(float).eps * start / amplitude  # of the position itself, which no method can avoid
    assert error < 10 * estimate + rounding


def test_the_estimate_is_at_most_a_few_times_too_small():
    """Reference: closed forms of random oscillations, bound and forced."""
    rng, ratios = np.random.default_rng(14), []
    for _ in range(12):
        amplitude, frequency, duration = 10.0 ** rng.uniform((-4, 0, -1), (1, 2.5, 1.5))
        settings = {"duration": duration, "rtol": float(rng.choice([1e-6, 1e-9, 1e-12]))}
        motion = shaken(amplitude, frequency, amplitude, **settings)
        error, estimate = compare_with_cosine(motion, amplitude, frequency, amplitude)
        ratios.append(error / estimate)
        state = ph.State(position=(amplitude, 0, 0))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the error of the motion")
            motion = ph.simulate(ph.particle(1.0), state, [oscillator(frequency**2)], **settings)
        error, estimate = compare_with_cosine(motion, amplitude, frequency, amplitude)
        ratios.append(error / estimate)
    assert max(ratios) < 10


def test_a_motion_that_ends_where_it_began_has_an_extent():
    """One output, after a whole period: what lies between shows how far the body moved."""
    state = ph.State(position=(1.0, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = ph.simulate(ph.particle(1.0), state, [oscillator(4.0)], duration=np.pi, output_times=[np.pi])
    assert motion.times.tolist() == [np.pi]
    assert abs(motion.position[0, 0] - 1.0) < 1e-9
    assert motion.run_result.auto_report.error_found < 1e-9


def test_rounding_of_a_body_far_away_is_no_error():
    """A pendulum-like bob at rest, 1000 km from the origin: it moves by rounding only."""
    hanging = ph.State(position=(1e6, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = ph.simulate(ph.particle(1.0), hanging, [oscillator(0.0), ph.forces.linear_drag(1.0)], duration=5.0)
    assert not motion.run_result.auto_report.missed


@ph.force
def pulse(t, state, body, params):
    start, stop, push = params
    return (ph.if_less(t, start, 0.0, ph.if_less(t, stop, push, 0.0)), 0.0, 0.0), (0.0, 0.0, 0.0)


def test_the_report_says_what_an_estimate_cannot_know():
    """A push of 1000 N for 0.2 ms: both runs step over it, unless its times are breaks.  Judge: impulse over mass."""
    push = {"duration": 10.0, "engine": "python"}
    force = pulse(5.0, 5.0002, 1000.0)
    motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1.0, 0.0, 0.0)), [force], **push)
    assert motion.run_result.auto_report.mean_step > 0.1
    assert "both runs may have missed what is shorter than a step (0.7 s on average)" in motion.audit().chosen
    assert "as breaks" in motion.audit().chosen
    seen = ph.simulate(ph.particle(1.0), ph.State(velocity=(1.0, 0.0, 0.0)), [force], breaks=[5.0, 5.0002], **push)
    assert seen.final.velocity[0] == pytest.approx(1.2, abs=1e-9)
    assert "breaks" not in ph.simulate(BODY, START, AIR, duration=1.0).audit().chosen


@ph.event
def ground(t, state, body, params):
    return state.position[2]


def test_the_time_of_a_stop_is_within_the_estimate():
    """Reference: a fall with quadratic drag, z = h - log(cosh(sqrt(g c) t)) / c."""
    drag, height, g = 0.1, 20.0, 9.80665
    landing = np.arccosh(np.exp(drag * height)) / np.sqrt(g * drag)
    forces = [ph.forces.gravity(g), ph.forces.quadratic_drag(drag)]
    for rtol in (1e-4, 1e-7):
        motion = ph.simulate(
            ph.particle(1.0), ph.State(position=(0, 0, height)), forces, duration=10.0, events=[ground], rtol=rtol
        )
        error = abs(motion.times[-1] - landing) / motion.scenario.duration
        assert error < 10 * motion.run_result.auto_report.error_found


def test_drag_at_rest_is_left_to_dop853():
    """Quadratic drag has no Taylor series at rest, which are the first choice at this tolerance."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the error of the motion")
        motion = ph.simulate(ph.particle(1.0), ph.State(), AIR, duration=1.0, rtol=5e-13)
    assert motion.audit().method == "dop853"
    assert "quadratic_drag has no Taylor series at t = 0 s" in motion.audit().chosen


@ph.force
def hard_walls(t, state, body, params):
    x = state.position[0]
    return (ph.if_less(x, -1.0, params[0], ph.if_less(1.0, x, -params[0], 0.0)), 0.0, 0.0), (0.0, 0.0, 0.0)


def between_walls(times, push):
    """The position of a particle of speed 1 between walls at -1 and 1 that push with a constant force."""
    half = 2 + 2 / push
    t = np.asarray(times, dtype=np.longdouble) % (2 * half)
    side, t = np.where(t < half, 1, -1), t % half
    return side * np.where(t < 1, t, np.where(t < half - 1, 1 + (t - 1) - push * (t - 1) ** 2 / 2, half - t))


@pytest.mark.parametrize("push", [30.0, 1000.0, 3000.0, 1e4])
def test_walls_against_the_closed_form(push):
    """dop853 meets the jumps of the force with ever shorter steps, and fails at hard walls; Taylor series end there."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the error of the motion")
        motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), [hard_walls(push)], duration=50.0)
    error = float(np.abs(motion.position[:, 0] - between_walls(motion.times, push)).max())
    assert error < 10 * motion.run_result.auto_report.error_found
    if push >= 1000:
        assert motion.audit().method == "taylor"
        assert error < 1e-9
