"""The deliberate errors of `make mutants`: an exact text in a file, what replaces it, and the tests that may notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Planted:
    """One deliberate error."""

    what: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]


ROTATIONS = "equations/test_rotations_against_scipy.py"
INERTIA = "equations/test_inertia_against_particles.py"
FORCES = "equations/test_force_and_pair_laws.py"
CLOUDS = "equations/test_gravity_and_springs_against_particles.py"
TABLES = "methods/test_tableaus.py"
RENORMALIZATION = "equations/test_renormalization.py"
CONTROL = "methods/test_error_control_against_scipy.py"
AUDIT = "results/test_audit.py"
EVENTS = "engines/test_thrusters_and_impulses.py"
DENSE = "methods/test_dense_output.py"
LANES = "engines/test_adaptive_lanes.py"
CROSSINGS = "engines/test_event_detection.py"
BITS = "engines/test_bitwise_reproducibility.py"
INPUT = "model/test_invalid_input.py"
BAD_RUNS = "model/test_invalid_scenarios.py"
FILE = "model/test_scenario_file.py"
MOTION = "results/test_motion.py"
SURFACES = "massprops/test_surface_meshes.py"
DEFECTS = "massprops/test_mesh_defects.py"
EXACT = "engines/test_exact_method.py"
FMU = "solve/test_fmu.py"
SPLITTING = "methods/test_splitting.py"
EARTH = "flight/test_earth.py"
AIR = "flight/test_air_and_aerodynamics.py"
NESC = "flight/test_nesc_check_cases.py"
ACTUATORS = "flight/test_actuators.py"
ROTORS = "solve/test_rotors.py"
BURN = "solve/test_mass_course.py"
FLUID = "solve/test_added_mass.py"
STEPPER = "solve/test_stepper.py"
NODES = "results/test_nodes.py"
FILES = "io/test_mesh_files.py"
DAMAGE = "ensembles/test_store_damage.py"
STORE = "ensembles/test_ensemble_store.py"
RESULT = "ensembles/test_ensemble_result.py"
FULL = "ensembles/test_store_full_disk.py"
SKETCH = "ensembles/test_quantile_sketch_against_numpy.py"
MOMENTS = "ensembles/test_moments_against_fractions.py"
TREE = "ensembles/test_merge_tree.py"
BINS = "ensembles/test_histogram_counts.py"
REDUCTIONS = "ensembles/test_reductions.py"
WORDS = "ensembles/sampling/test_random_words_against_philox.py"
QUANTILE = "ensembles/sampling/test_normal_quantile_against_mpmath.py"
DESIGNS = "ensembles/sampling/test_designs_against_scipy.py"
DRAWS = "ensembles/sampling/test_distributions_against_scipy.py"
ATTITUDES = "ensembles/sampling/test_random_rotations_and_inertia.py"
SOURCES = "ensembles/sampling/test_drawn_source.py"
SWEEPS = "ensembles/sampling/test_sweep_file.py"

PLANTED = [
    # Draws ----------------------------------------------------------------------------------------------------------
    Planted(
        "random words: a member starts one word late",
        "ensembles/sampling/random_words.py",
        "start = first * count",
        "start = first * count + 1",
        (WORDS,),
    ),
    Planted(
        "random words: a carry is lost in scattered members",
        "ensembles/sampling/random_words.py",
        "(middle >> HALF) + (other >> HALF)",
        "(middle >> HALF)",
        (WORDS,),
    ),
    Planted(
        "random words: the name is not part of the key",
        "ensembles/sampling/random_words.py",
        "str(seed), name, purpose",
        "str(seed), purpose",
        (WORDS, DRAWS),
    ),
    Planted(
        "normal quantile: a digit of a coefficient of the tail",
        "ensembles/sampling/normal_quantile.py",
        "1.48103976427480074590e-1",
        "1.48103976427490074590e-1",
        (QUANTILE,),
    ),
    Planted(
        "Latin hypercube: no cycle walking",
        "ensembles/sampling/permutations.py",
        "outside = np.flatnonzero(found >= n)",
        "outside = np.flatnonzero(found > n)",
        (DESIGNS,),
    ),
    Planted(
        "Latin hypercube: all dimensions have one permutation",
        "ensembles/sampling/designs.py",
        'f"latin hypercube {i}"',
        '"latin hypercube"',
        (DESIGNS,),
    ),
    Planted(
        "Sobol' points: without the Gray code",
        "ensembles/sampling/sobol_points.py",
        "gray = gray ^ (gray >> np.uint64(1))",
        "gray = gray ^ (gray >> np.uint64(60))",
        (DESIGNS,),
    ),
    Planted(
        "Sobol' points: scrambling without the digit itself",
        "ensembles/sampling/sobol_points.py",
        " | (np.uint64(1) << place)",
        "",
        (DESIGNS,),
    ),
    Planted(
        "covariance: the factor transposed",
        "ensembles/sampling/distributions.py",
        "found[:, i] += row[j] * z[j]",
        "found[:, i] += factor[j][j] * z[j]",
        (DRAWS,),
    ),
    Planted(
        "truncated normal: the upper tail is not mirrored back",
        "ensembles/sampling/distributions.py",
        "sign = -1.0 if a > 0 else 1.0",
        "sign = 1.0",
        (DRAWS,),
    ),
    Planted(
        "random rotations: radii without their roots",
        "ensembles/sampling/random_rotations.py",
        "np.sqrt(1.0 - u[:, 0]), np.sqrt(u[:, 0])",
        "np.sqrt(1.0 - u[:, 0] ** 2), u[:, 0]",
        (ATTITUDES,),
    ),
    Planted(
        "small rotations: about world axes",
        "ensembles/sampling/random_rotations.py",
        "product(tuple(mean.tolist()), turn)",
        "product(turn, tuple(mean.tolist()))",
        (ATTITUDES,),
    ),
    Planted(
        "cones: uniform in the angle",
        "ensembles/sampling/random_rotations.py",
        "depth = 2.0 * sine * sine * u[:, 0]",
        "depth = 2.0 * sine * sine * u[:, 0] * u[:, 0]",
        (ATTITUDES,),
    ),
    Planted(
        "inertia: log-normal factors with a median of 1",
        "ensembles/sampling/random_inertia.py",
        "normal_quantile(u) - variance / 2",
        "normal_quantile(u)",
        (ATTITUDES,),
    ),
    Planted(
        "inertia: moments scatter by themselves",
        "ensembles/sampling/random_inertia.py",
        "scattered = (second[1] + second[2], second[2] + second[0], second[0] + second[1])",
        "scattered = (2 * second[0], 2 * second[1], 2 * second[2])",
        (ATTITUDES,),
    ),
    Planted(
        "draws: three members' moments taken for a tensor",
        "ensembles/sampling/drawn_source.py",
        "while padded in self._tuple_lengths:",
        "while padded < 0:",
        (SOURCES,),
    ),
    Planted(
        "sweep file: names are not shared",
        "ensembles/sampling/sweep_file.py",
        'name = table.get("name", place)',
        "name = place",
        (SWEEPS,),
    ),
    # Earth, air and flight ------------------------------------------------------------------------------------------
    Planted(
        "zonal harmonics: derivative of the wrong Legendre polynomial",
        "equations/earth.py",
        "((n + 1) * legendre + s * slope)",
        "(n * legendre + s * slope)",
        (EARTH, NESC),
    ),
    Planted(
        "zonal harmonics: force along the axis left out",
        "equations/earth.py",
        "pull[2] - gm / rr * axial",
        "pull[2] - 0 * gm / rr * axial",
        (EARTH,),
    ),
    Planted(
        "zonal potential: sign of the harmonics",
        "equations/earth.py",
        "return -gm / r * (1 - total)",
        "return -gm / r * (1 + total)",
        (EARTH,),
    ),
    Planted(
        "gravity gradient: half of the torque",
        "equations/earth.py",
        "torque_body = scaled(3 * gm / (rr * r), cross(n_body, turned))",
        "torque_body = scaled(3 * gm / (2 * rr * r), cross(n_body, turned))",
        (EARTH,),
    ),
    Planted(
        "gravity gradient: force of second order left out",
        "equations/earth.py",
        "return plus(force, more), to_world",
        "return force, to_world",
        (EARTH,),
    ),
    Planted(
        "height: one step of Newton's method too few",
        "equations/earth.py",
        "NEWTON_STEPS = 2",
        "NEWTON_STEPS = 1",
        (EARTH,),
    ),
    Planted(
        "local axes: east points west",
        "equations/earth.py",
        "east = (-up[1] * inverse",
        "east = (up[1] * inverse",
        (NESC, AIR),
    ),
    Planted(
        "local axes: down points up",
        "equations/earth.py",
        "scaled(-ned[2], up))",
        "scaled(ned[2], up))",
        (AIR,),
    ),
    Planted(
        "US76: geometric for geopotential height",
        "equations/atmosphere.py",
        "h = GEOPOTENTIAL_RADIUS * height / (GEOPOTENTIAL_RADIUS + height)",
        "h = height * (GEOPOTENTIAL_RADIUS / GEOPOTENTIAL_RADIUS)",
        (AIR, NESC),
    ),
    Planted(
        "US76: isothermal layers without weight",
        "equations/atmosphere.py",
        "graded, -weight * above / base_temperature)",
        "graded, 0 * above)",
        (AIR,),
    ),
    Planted(
        "US76: silent extrapolation",
        "equations/atmosphere.py",
        "inside = if_less(height, low, math.nan, if_less(high, height, math.nan, 1.0))",
        "inside = if_less(height, low, 1.0, if_less(high, height, 1.0, 1.0))",
        (AIR,),
    ),
    Planted(
        "tables: silent extrapolation",
        "equations/atmosphere.py",
        "return if_less(x, knots[0], math.nan, if_less(knots[last], x, math.nan, interp(x, knots, values)))",
        "return interp(x, knots, values)",
        (AIR,),
    ),
    Planted(
        "air that does not turn with the Earth",
        "equations/aerodynamics.py",
        "return height, up, cross(spin, position), spin",
        "return height, up, scaled(0, cross(spin, position)), spin",
        (NESC, AIR),
    ),
    Planted(
        "wind over flat ground: east and north exchanged",
        "equations/aerodynamics.py",
        "return (ned[1], ned[0], -ned[2])",
        "return (ned[0], ned[1], -ned[2])",
        (AIR,),
    ),
    Planted(
        "drag: factor one half left out",
        "equations/aerodynamics.py",
        "area * coefficient(met, cd) / 2",
        "area * coefficient(met, cd)",
        (AIR, NESC),
    ),
    Planted(
        "wind axes: sideslip with the wrong sign",
        "equations/aerodynamics.py",
        "level_x = x * cos_b - y * sin_b",
        "level_x = x * cos_b + y * sin_b",
        (AIR,),
    ),
    Planted("lift points down", "equations/aerodynamics.py", "(-1, 1, -1) if axes", "(-1, 1, 1) if axes", (AIR,)),
    Planted(
        "damping: V for 2 V",
        "equations/aerodynamics.py",
        "arm * derivative * rate / 4",
        "arm * derivative * rate / 2",
        (AIR, NESC),
    ),
    Planted(
        "magnetic torquer: the opposite torque",
        "equations/force_laws.py",
        "return zero_vector(t), cross(dipole, field)",
        "return zero_vector(t), cross(field, dipole)",
        (ACTUATORS,),
    ),
    Planted(
        "the Earth's field: dipole without its radial part",
        "equations/force_laws.py",
        "share = 3 * dot(moment, state.position) / rr",
        "share = 2 * dot(moment, state.position) / rr",
        (ACTUATORS,),
    ),
    Planted(
        "a start turned the wrong way with the Earth",
        "model/state.py",
        "from_ned = ned_quaternion(lat, lon + turned)",
        "from_ned = ned_quaternion(lat, lon - turned)",
        (EARTH,),
    ),
    # Vectors, rotations, inertia ------------------------------------------------------------------------------------
    Planted(
        "cross product: flipped sign",
        "equations/vectors.py",
        "a[2] * b[0] - a[0] * b[2]",
        "a[0] * b[2] - a[2] * b[0]",
        (INERTIA, AUDIT),
    ),
    Planted(
        "quaternion rate: dropped term", "equations/quaternions.py", "w * a + y * c - z * b", "w * a + y * c", (AUDIT,)
    ),
    Planted(
        "world to body: transposed rotation",
        "equations/quaternions.py",
        "return to_world(conjugate(q), v)",
        "return to_world(q, v)",
        (AUDIT,),
    ),
    Planted(
        "rotation: |q|^2 left out",
        "equations/quaternions.py",
        "    s = 2 / squared_norm(q)\n    ux, uy, uz",
        "    s = 2 + 0 * squared_norm(q)\n    ux, uy, uz",
        (ROTATIONS,),
    ),
    Planted(
        "matrix to quaternion: swapped branch",
        "equations/quaternions.py",
        "ij = if_less(xx, yy, 1 + yy - xx - zz, 1 + xx - yy - zz)",
        "ij = if_less(yy, xx, 1 + yy - xx - zz, 1 + xx - yy - zz)",
        (ROTATIONS,),
    ),
    Planted(
        "Euler's equations: dropped w x (I w)",
        "equations/inertia.py",
        "minus(torque, cross(w, times(body.moments, w)))",
        "torque",
        (INERTIA, AUDIT),
    ),
    Planted(
        "parallel axes: wrong sign of the shift",
        "equations/inertia.py",
        "tensor[1] - mass * (x * y)",
        "tensor[1] + mass * (x * y)",
        (INERTIA, AUDIT),
    ),
    Planted(
        "sine: a digit of pi lost",
        "equations/scalar_ops.py",
        'float.fromhex("0x1.184698p-44")',
        'float.fromhex("0x1.184690p-44")',
        ("equations/test_sin_cos.py",),
    ),
    Planted(
        "log: a digit of log 2 lost",
        "equations/elementary.py",
        "1.90821492927058770002e-10",
        "1.90831492927058770002e-10",
        ("equations/test_elementary_functions.py",),
    ),
    Planted(
        "power: logarithm to 53 bits only",
        "equations/elementary.py",
        "exponent_low + bounded * low)",
        "exponent_low)",
        ("equations/test_elementary_functions.py",),
    ),
    Planted(
        "atan2: reflected at the wrong axis",
        "equations/elementary.py",
        "(side * octant - 0.5 * _HALF_TURN[1])",
        "(octant - 0.5 * _HALF_TURN[1])",
        ("equations/test_elementary_functions.py",),
    ),
    Planted(
        "table: the line of the next interval",
        "equations/interpolation.py",
        "bisect_right(xp, inside) - 1",
        "min(bisect_right(xp, inside), len(xp) - 1)",
        ("equations/test_interpolation.py",),
    ),
    # Laws of motion -------------------------------------------------------------------------------------------------
    Planted(
        "momentum: zeroed velocity",
        "equations/rigid_body.py",
        "return (scaled(body.inverse_mass, linear_momentum), quaternions.times_vector(q, half_w), force, torque)",
        "return (scaled(0, linear_momentum), quaternions.times_vector(q, half_w), force, torque)",
        (AUDIT,),
    ),
    Planted(
        "momentum: torque forgotten",
        "equations/rigid_body.py",
        "quaternions.times_vector(q, half_w), force, torque)",
        "quaternions.times_vector(q, half_w), force, scaled(0, torque))",
        (AUDIT,),
    ),
    Planted(
        "matrix rate: flipped sign", "equations/matrices.py", "y * m[6] - z * m[3]", "y * m[6] + z * m[3]", (AUDIT,)
    ),
    Planted(
        "quaternion acceleration: dropped term",
        "equations/rigid_body.py",
        "s = squared_norm(q_rate) / squared_norm(q)",
        "s = 0 * squared_norm(q)",
        ("solve/test_arbitrary_body_axes.py::test_all_formulations_tell_the_same_motion",),
    ),
    Planted(
        "Euler angles: flipped sign",
        "equations/rigid_body.py",
        "w[2] - cos(theta) * phi_rate",
        "w[2] + cos(theta) * phi_rate",
        (AUDIT,),
    ),
    Planted(
        "spin from q': factor two",
        "equations/rigid_body.py",
        "return scaled(2 / squared_norm(q), (p[1], p[2], p[3]))",
        "return scaled(1 / squared_norm(q), (p[1], p[2], p[3]))",
        (ROTATIONS,),
    ),
    Planted(
        "q not rescaled after a step",
        "equations/formulations.py",
        "    s = 1 / n\n    return (y[0], (s * y[1][0]",
        "    s = 1 + 0 * n\n    return (y[0], (s * y[1][0]",
        (RENORMALIZATION, AUDIT),
    ),
    Planted(
        "principal axes taken for the body's",
        "equations/formulations.py",
        "        to_world(body.axes, w),\n",
        "        w,\n",
        (MOTION,),
    ),
    Planted(
        "rotational energy: lost half",
        "equations/invariants.py",
        "energy = dot(state.angular_velocity, state.angular_momentum) / 2",
        "energy = dot(state.angular_velocity, state.angular_momentum)",
        (AUDIT,),
    ),
    # Forces ---------------------------------------------------------------------------------------------------------
    Planted(
        "force at a point: lost torque arm",
        "equations/force_laws.py",
        "return force, cross(to_world(state.orientation, com_to_point_body), force)",
        "return force, zero_vector(t)",
        (FORCES, AUDIT),
    ),
    Planted(
        "point gravity: gradient torque a third",
        "equations/force_laws.py",
        "scaled(3 * gm / (rr * r)",
        "scaled(gm / (rr * r)",
        (CLOUDS,),
    ),
    Planted(
        "drag: wind from the wrong side",
        "equations/force_laws.py",
        "scaled(-c, minus(state.velocity, wind))",
        "scaled(-c, plus(state.velocity, wind))",
        (FORCES,),
    ),
    Planted("spring: damper that drives", "equations/force_laws.py", "+ damping * dot", "- damping * dot", (FORCES,)),
    Planted(
        "thruster: acts at its stop",
        "equations/scalar_ops.py",
        "if_less(t, stop, 1 + zero, zero)",
        "if_less(stop, t, zero, 1 + zero)",
        (FORCES,),
    ),
    Planted(
        "pair: torque on b reversed",
        "equations/pair_laws.py",
        "cross(arm_a, force), cross(force, arm_b)",
        "cross(arm_a, force), cross(arm_b, force)",
        (FORCES, AUDIT),
    ),
    Planted(
        "work: sign of the torque's share",
        "equations/right_hand_side.py",
        "dot(force, state.velocity) + dot(torque, state.angular_velocity)",
        "dot(force, state.velocity) - dot(torque, state.angular_velocity)",
        (AUDIT,),
    ),
    Planted(
        "pivot: moment of the force reversed",
        "equations/pivot.py",
        "return plus(about_com, cross(pivot_to_com, force))",
        "return minus(about_com, cross(pivot_to_com, force))",
        (AUDIT,),
    ),
    # Steps ----------------------------------------------------------------------------------------------------------
    Planted(
        "RK4: swapped weights",
        "methods/tableaus.py",
        "(_SIXTH, _THIRD, _THIRD, _SIXTH)",
        "(_THIRD, _SIXTH, _SIXTH, _THIRD)",
        (TABLES, AUDIT),
    ),
    Planted(
        "RK4: wrong stage time",
        "methods/tableaus.py",
        "    (_NONE, _HALF, _HALF, _ONE),\n    ((), (_HALF,), (_NONE, _HALF), (_NONE, _NONE, _ONE)),",
        "    (_NONE, _HALF, _ONE, _ONE),\n    ((), (_HALF,), (_NONE, _HALF), (_NONE, _NONE, _ONE)),",
        (TABLES,),
    ),
    Planted(
        "leap-frog: kicks only once",
        "methods/tableaus.py",
        "    (_HALF, _NONE, _NONE, _HALF),",
        "    (_ONE, _NONE, _NONE, _NONE),",
        (TABLES,),
    ),
    Planted("DOP853: a digit", "methods/dop853.py", "0.6433927460157636", "0.6433927460157646", (TABLES,)),
    Planted(
        "steps: momenta with the coordinates' weights",
        "methods/runge_kutta.py",
        "y = y[:2] + add_scaled(y[2:], h * b[0], k[0][2:])",
        "y = y[:2] + add_scaled(y[2:], h * a[0], k[0][2:])",
        (TABLES,),
    ),
    Planted("DOP853's interpolant: a digit", "methods/dop853.py", "165.20045171727028", "165.20045181727028", (DENSE,)),
    Planted(
        "a refused step is forgotten",
        "methods/runge_kutta.py",
        "rejected = (t, shorter, one, taken, wasted + 1)",
        "rejected = (t, shorter, zero, taken, wasted + 1)",
        (CONTROL,),
    ),
    Planted(
        "lanes: a body takes its neighbor's clock along",
        "backends/clocked.py",
        "for i in range(0, carried, lanes):\n                block[c + i]",
        "for i in range(0, carried - 5 * lanes, lanes):\n                block[c + i]",
        (LANES,),
    ),
    Planted(
        "event: rising taken for falling",
        "backends/clocked.py",
        "or run.rules[e, DIRECTION] * side > 0.0:",
        "or run.rules[e, DIRECTION] * side < 0.0:",
        (CROSSINGS,),
    ),
    Planted(
        "event: fires again where it was just handled",
        "backends/clocked.py",
        "run.memory[who, i, b, SIDE] = HANDLED * run.memory[who, i, b, SIDE]",
        "pass",
        (CROSSINGS,),
    ),
    Planted(
        "error control: an absolute scale",
        "methods/runge_kutta.py",
        "allowed = atol + rtol * size",
        "allowed = atol + rtol * (size + 1e-3)",
        (CONTROL,),
    ),
    Planted(
        "spring: a length too short to count",
        "equations/force_laws.py",
        "safe = if_less(0 * dd, dd, dd, 1 + 0 * dd)",
        "safe = if_less(1e-20 + 0 * dd, dd, dd, 1 + 0 * dd)",
        ("solve/test_scale_invariance.py",),
    ),
    Planted(
        "momentum: spin twice too fast",
        "equations/rigid_body.py",
        "half_w = times((a / 2, b / 2, c / 2), to_body(q, angular_momentum))",
        "half_w = times((a, b, c), to_body(q, angular_momentum))",
        ("solve/test_arbitrary_body_axes.py::test_all_formulations_tell_the_same_motion",),
    ),
    # Closed form, splittings ---------------------------------------------------------------------------------------
    Planted(
        "free rotation: flipped sign between the turns",
        "equations/free_rotation.py",
        "p[0] * (st0 * ct - ct0 * st)",
        "p[0] * (st0 * ct + ct0 * st)",
        (EXACT,),
    ),
    Planted(
        "free rotation: nu of the other axis",
        "equations/free_rotation.py",
        "nu = if_less(high, 0, solution.j3 * solution.d12 / jd, solution.j1 * a / jb)",
        "nu = if_less(0, high, solution.j3 * solution.d12 / jd, solution.j1 * a / jb)",
        (EXACT,),
    ),
    Planted(
        "free rotation: a rung of Gauss's ladder inverted",
        "equations/free_rotation.py",
        "return one_k * x / d, (1 + ratio * xx) / (1 + one_k * xx)",
        "return one_k * x / d, (1 + one_k * xx) / (1 + ratio * xx)",
        (EXACT,),
    ),
    Planted(
        "free rotation: duplications fall with 4, not 8",
        "equations/free_rotation.py",
        "_POWERS_OF_8 = tuple(8.0**n for n in range(15))",
        "_POWERS_OF_8 = tuple(4.0**n for n in range(15))",
        (EXACT,),
    ),
    Planted(
        "free rotation: winding against the spin",
        "equations/free_rotation.py",
        "if_less(solution.high, 0, -solution.sign * sin_of_quarters(n), 0 * t)",
        "if_less(solution.high, 0, solution.sign * sin_of_quarters(n), 0 * t)",
        (f"{EXACT}::test_pure_spins_stay_forever", f"{EXACT}::test_the_quaternion_never_jumps"),
    ),
    Planted(
        "compositions: a digit of Kahan and Li",
        "methods/splitting_tableaus.py",
        "0.33259913678935943860",
        "0.33259913678945943860",
        (f"{SPLITTING}::test_a_composition_meets_all_conditions_of_its_order",),
    ),
    Planted(
        "compositions: half a kick at the ends lost",
        "methods/splitting_tableaus.py",
        "ends = (0.0, *lengths, 0.0)",
        "ends = (lengths[0], *lengths, lengths[-1])",
        (f"{SPLITTING}::test_a_composition_is_a_palindrome_and_its_sums_are_1",),
    ),
    Planted(
        "drifts: a whole first turn in place of half",
        "methods/drifts.py",
        "half = rate_a * la / 4",
        "half = rate_a * la / 2",
        (f"{SPLITTING}::test_turns_about_axes_have_order_2_against_the_closed_form",),
    ),
    Planted(
        "drifts: the middle moment mistaken",
        "methods/drifts.py",
        "if_less((a - c) * (b - a), 0, 2 + zero, zero)",
        "if_less((a - c) * (b - a), 0, zero, 2 + zero)",
        (f"{SPLITTING}::test_the_moment_in_the_middle_is_found",),
    ),
    Planted(
        "splitting: kicks whose time runs on",
        "methods/splitting.py",
        "        nodes=zeros,\n",
        "",
        (f"{SPLITTING}::test_forces_that_depend_on_time_are_taken_at_the_time_of_their_kick",),
    ),
    Planted(
        "splitting: the time of a drift forgotten",
        "methods/splitting.py",
        "        t = t + length * h\n",
        "",
        (f"{SPLITTING}::test_forces_that_depend_on_time_are_taken_at_the_time_of_their_kick",),
    ),
    Planted(
        "drifts: axes not brought back",
        "methods/drifts.py",
        "        if_less(middle, 0.5, b, if_less(middle, 1.5, a, c)),\n",
        "        if_less(middle, 0.5, b, if_less(middle, 1.5, c, a)),\n",
        (f"{SPLITTING}::test_turns_about_axes_have_order_2_against_the_closed_form",),
    ),
    Planted(
        "splitting: kicks of drag of order 2",
        "methods/splitting.py",
        "{2: HEUN, 4: RK4, 6: RK6}",
        "{2: HEUN, 4: HEUN, 6: HEUN}",
        (f"{SPLITTING}::test_the_error_of_a_motion_falls_with_the_order",),
    ),
    # Engine ---------------------------------------------------------------------------------------------------------
    Planted(
        "lanes share one body's parameters",
        "backends/fixed_steps.py",
        "read(unit, at, params))\n",
        "read(unit, 0, params))\n",
        (BITS,),
    ),
    Planted(
        "threads: the last unit forgotten",
        "engines/threads.py",
        "np.linspace(0, units, threads + 1)",
        "np.linspace(0, max(1, units - 1), threads + 1)",
        (BITS,),
    ),
    Planted(
        "time stands still for the forces",
        "backends/fixed_steps.py",
        "                    step_all(unit, run.pairs, run.t_start + now * run.h, run.h)\n",
        "                    step_all(unit, run.pairs, run.t_start, run.h)\n",
        (MOTION,),
    ),
    Planted(
        "system: action without reaction",
        "backends/stages.py",
        "write(unit, at_b, wrench, (minus(force_b, push), plus(torque_b, turn_b)))",
        "write(unit, at_b, wrench, (force_b, plus(torque_b, turn_b)))",
        (AUDIT,),
    ),
    Planted(
        "impulse skipped",
        "engines/impulses.py",
        "float(np.ravel(f.instant)[0]) == t]",
        "float(np.ravel(f.instant)[0]) == t and t > scenario.start_time]",
        (EVENTS,),
    ),
    Planted(
        "steps reach across events", "engines/segments.py", "if start < t < end)", "if start < t < end - t)", (EVENTS,)
    ),
    Planted(
        "thruster: burns through its stop",
        "engines/integrator.py",
        "(middle < np.asarray(stop))",
        "(middle < 2 * np.asarray(stop))",
        (EVENTS,),
    ),
    # Matter ---------------------------------------------------------------------------------------------------------
    Planted(
        "surface: a term of the second moments left out",
        "equations/surface_integrals.py",
        "weight * (s[0] * s[1] + a[0] * a[1] + b[0] * b[1] + c[0] * c[1])",
        "weight * (s[0] * s[1] + a[0] * a[1] + b[0] * b[1])",
        (SURFACES,),
    ),
    Planted(
        "surface: products of inertia lose their sign",
        "massprops/surface/moment_integrals.py",
        "np.trace(self.second) * np.eye(3) - self.second",
        "np.trace(self.second) * np.eye(3) - self.second * (2 * np.eye(3) - 1)",
        (SURFACES,),
    ),
    Planted(
        "surface: not centered before integrating",
        "massprops/surface/moment_integrals.py",
        "origin = np.where(np.abs(middle) > 4 * size, np.round(middle / size) * size, 0.0)",
        "origin = middle + size / 3",
        (SURFACES,),
    ),
    Planted(
        "surface: never twice the digits",
        "massprops/surface/moment_integrals.py",
        "        whole <= MAX_CANCELLATION * extent\n        and math",
        "        True\n        or math",
        (SURFACES,),
    ),
    Planted(
        "diagnosis: blind to faces that look the other way",
        "massprops/surface/edges.py",
        "return not self.balance.any()",
        "return bool((self.uses % 2 == 0).all())",
        (DEFECTS,),
    ),
    Planted(
        "diagnosis: blind to a surface that runs through itself",
        "massprops/surface/enclosure_checks.py",
        "    yield from _find_winding_errors(facts)",
        "    yield from ()",
        (DEFECTS,),
    ),
    Planted(
        "diagnosis: a shell within another passes",
        "massprops/surface/enclosure_checks.py",
        "if volume > 0 and around == 0:",
        "if volume > 0:",
        (DEFECTS,),
    ),
    Planted(
        "file: what lies behind the last whole solid is lost",
        "massprops/surface/surface_reader.py",
        "    if stated > found:",
        "    if stated < found:",
        (SURFACES,),
    ),
    Planted(
        "sampling: a standard error of a single point",
        "massprops/surface/inertia_comparison.py",
        "inside_root = np.sqrt(len(inside))",
        "inside_root = np.sqrt(len(inside)) ** 0.9",
        ("massprops/test_inertia_comparison.py",),
    ),
    Planted(
        "shapes: a cone's moment",
        "massprops/shapes/solids.py",
        "3 * m * (4 * r * r + h * h) / 80",
        "3 * m * (r * r + h * h / 4) / 40",
        ("massprops/test_shapes.py",),
    ),
    Planted(
        "mirror: a product keeps its sign",
        "massprops/transforms.py",
        "np.eye(3) - twice[..., None, None] * n[..., :, None] * n[..., None, :]",
        "np.eye(3) - 0 * twice[..., None, None] * n[..., :, None] * n[..., None, :]",
        ("massprops/test_transforms.py", "massprops/test_assemblies.py"),
    ),
    # Records and results ----------------------------------------------------------------------------------------------
    Planted(
        "pivot: forces see the moments about it",
        "equations/inertia.py",
        "if len(about_com) == 0:",
        "if True:",
        ("solve/test_forces_against_particles.py::test_a_force_in_every_formulation_against_the_sum_over_particles",),
    ),
    Planted(
        "pivot: put on the wrong side",
        "model/problem.py",
        "x, p, spin = plus(x, com_to_pivot), scaled(0, com_to_pivot)",
        "x, p, spin = plus(x, scaled(-1, com_to_pivot)), scaled(0, com_to_pivot)",
        ("solve/test_pivot.py::test_the_pivot_stays_where_it_is",),
    ),
    Planted(
        "inertia: unphysical moments pass",
        "massprops/principal_axes.py",
        "largest > (smallest + middle) * (1 + ROUNDING)",
        "largest > 2 * (smallest + middle)",
        (INPUT,),
    ),
    Planted(
        "inertia: an absolute tolerance",
        "massprops/principal_axes.py",
        "asymmetry > ROUNDING * np.abs(tensor).max(axis=(-2, -1))",
        "asymmetry > ROUNDING",
        ("solve/test_scale_invariance.py::test_a_bodys_checks_have_no_scale",),
    ),
    Planted(
        "audit: blind to change",
        "results/audit.py",
        "change = values - values[0]",
        "change = values - values",
        (AUDIT,),
    ),
    Planted(
        "store: damage goes unnoticed",
        "results/store_manifest.py",
        '_digest_array(arrays[name]) == stored["sha256"]',
        "bool(stored)",
        ("results/test_store_accidents.py",),
    ),
    Planted(
        "file: a setting forgotten",
        "model/scenario_file.py",
        '    "renormalize",\n',
        "",
        (FILE,),
    ),
    # Contacts -------------------------------------------------------------------------------------------------------
    Planted(
        "contact: a slope that goes down toward -x",
        "model/contact.py",
        "np.stack((np.sin(a), 0 * a, np.cos(a)), axis=-1)",
        "np.stack((-np.sin(a), 0 * a, np.cos(a)), axis=-1)",
        ("model/test_contact.py",),
    ),
    Planted(
        "contact: the start is looked at from above",
        "model/contact_validation.py",
        "as_leaves(-surface.normal)",
        "as_leaves(surface.normal)",
        ("model/test_contact.py",),
    ),
    Planted(
        "contact: one member's surface is the first's",
        "model/contact.py",
        "    selected = array[members]\n",
        "    selected = array[0 * np.asarray(members)]\n",
        ("model/test_contact.py",),
    ),
    Planted(
        "outline: a torus without its tube",
        "model/outline.py",
        "[_circle(radius, 0.0, tube_radius)]",
        "[_circle(radius)]",
        ("model/test_outline.py",),
    ),
    Planted(
        "outline: a stretched ellipsoid keeps its axes",
        "model/outline.py",
        "    placed[..., QUATERNION] = _quaternion(turn)\n",
        "",
        ("model/test_outline.py",),
    ),
    Planted(
        "contact: friction pushes on",
        "backends/contact_forces.py",
        "            p[i + 1], p[i + 2] = cosine * t1 - sine * t2, sine * t1 + cosine * t2\n        else:",
        "            p[i + 1], p[i + 2] = sine * t2 - cosine * t1, -sine * t1 - cosine * t2\n        else:",
        ("contacts/test_bounces_against_closed_forms.py",),
    ),
    Planted(
        "contact: expansion gives back everything",
        "backends/contact_impacts.py",
        "scene.law[i, 4] = e * scene.p[3 * i]",
        "scene.law[i, 4] = scene.p[3 * i]",
        ("contacts/test_bounces_against_closed_forms.py",),
    ),
    Planted(
        "contact: a point that rolls stays where it is on the body",
        "equations/contact_laws.py",
        "    return scaled(radius, cross(w, normal))\n",
        "    return scaled(0 * radius, cross(w, normal))\n",
        ("contacts/test_sustained_contact.py",),
    ),
    Planted(
        "contact: a turn counts once",
        "equations/contact_laws.py",
        "    return scaled(2 / (w * w + dot(axis, axis)), plus(scaled(w, once), cross(axis, once)))\n",
        "    return scaled(1 / (w * w + dot(axis, axis)), plus(scaled(w, once), cross(axis, once)))\n",
        ("contacts/test_random_throws.py",),
    ),
    Planted(
        "contact: bodies are thought to turn more slowly than they can",
        "backends/contact_scene.py",
        "    out[0], out[1] = sqrt(total), sqrt(rates)\n",
        "    out[0], out[1] = sqrt(total) / 2, sqrt(rates) / 2\n",
        ("contacts/test_random_throws.py",),
    ),
    Planted(
        "contact: the other body is not pushed back",
        "backends/contact_scene.py",
        "scaled(-1.0, force_of(row, p, j)))",
        "scaled(0.0, force_of(row, p, j)))",
        ("contacts/test_bodies_that_touch_each_other.py",),
    ),
    # The gallery's tools --------------------------------------------------------------------------------------------
    Planted(
        "rodrigues: turned the other way",
        "rotations.py",
        "np.sin(a) * np.cross(r, v)",
        "np.sin(a) * np.cross(v, r)",
        ("test_rotations.py",),
    ),
    Planted(
        "affine: the other order",
        "gallery/affine.py",
        "whole = matrix @ whole",
        "whole = whole @ matrix",
        ("gallery/test_affine.py",),
    ),
    Planted(
        "turning frame: Coriolis with the wrong sign",
        "equations/rotating_frame.py",
        "minus(minus(a, coriolis),",
        "minus(minus(a, minus((0.0, 0.0, 0.0), coriolis)),",
        ("results/test_rotating_frame.py",),
    ),
    Planted(
        "heavy top: a period for half a nutation",
        "reference/heavy_top.py",
        "return 2 * self._quarter / self._phase_rate",
        "return self._quarter / self._phase_rate",
        ("reference/test_heavy_top.py",),
    ),
    Planted(
        "libration: the factor 3 forgotten",
        "gallery/closed_forms/libration.py",
        "np.sqrt(3 * (roll - yaw) / pitch)",
        "np.sqrt((roll - yaw) / pitch)",
        ("gallery/test_gallery_closed_forms.py",),
    ),
    Planted(
        "herpolhode: the wrong axis left out",
        "reference/poinsot.py",
        "other = small if beyond[middle] >= 0 else large",
        "other = large if beyond[middle] >= 0 else small",
        ("plot/test_free_rotation_figures.py",),
    ),
    # FMUs -------------------------------------------------------------------------------------------------------------
    Planted(
        "FMU: a step that fails does not restore the state",
        "solve/fmi/core.c",
        "  memcpy(m, &c->before, sizeof *m);\n",
        "",
        (f"{FMU}::test_a_motion_that_explodes_keeps_the_last_state",),
    ),
    Planted(
        "FMU: NaN is taken as an input",
        "solve/fmi/core.c",
        "if (!isfinite(value)) return polhode_fail",
        "if (false) return polhode_fail",
        (f"{FMU}::test_wrong_values_leave_the_state_as_it_was",),
    ),
    Planted(
        "FMU: a new input acts from the last step on, not from the communication point",
        "solve/fmi/core.c",
        "if (m->time > m->start_time && !polhode_break(m)) return lost;",
        "",
        (f"{FMU}::test_loads_that_change_against_a_stepper",),
    ),
    Planted(
        "FMU: parallel axes with the wrong sign",
        "solve/fmi/core.c",
        "tensor[1] - s[0] * (x * y)",
        "tensor[1] + s[0] * (x * y)",
        (f"{FMU}::test_a_full_tensor_against_a_scenario_with_it",),
    ),
    Planted(
        "FMU: Jacobi rotation with a flipped sign",
        "solve/fmi/core.c",
        "= s * arp + c * arq",
        "= s * arp - c * arq",
        (f"{FMU}::test_a_full_tensor_against_a_scenario_with_it",),
    ),
    Planted(
        "FMU: error floor without the mass",
        "solve/fmi/core.c",
        "POLHODE_RTOL_POSITION * p[places[0]] * size",
        "POLHODE_RTOL_POSITION * size",
        (f"{FMU}::test_communication_points_off_the_grid_against_simulate",),
    ),
    Planted(
        "FMU: impulses left out",
        "solve/fmi/core.c",
        "if (strikes) polhode_impulses",
        "if (!strikes) polhode_impulses",
        (f"{FMU}::test_impulses_windows_and_breaks_against_simulate",),
    ),
    Planted(
        "FMU: bytes of another FMU are taken as a state",
        "solve/fmi/core.c",
        "size != POLHODE_SAVED_SIZE || memcmp(bytes, mark, sizeof mark) != 0",
        "size != POLHODE_SAVED_SIZE",
        (f"{FMU}::test_a_serialized_state_goes_on_in_another_instance",),
    ),
    Planted(
        "FMU: the start about a pivot is that of the center of mass",
        "solve/fmi/native.py",
        "x, momentum = plus(x, com_to_pivot), scaled(0, com_to_pivot)",
        "x, momentum = x, scaled(0, com_to_pivot)",
        (f"{FMU}::test_every_formulation_against_simulate",),
    ),
    Planted(
        "FMU: loads in body axes and in world axes swapped",
        "solve/fmi/native.py",
        "found += [self._place(b, at) for vector in places for at in vector]",
        "found += [self._place(b, at) for vector in (*places[2:], *places[:2]) for at in vector]",
        (f"{FMU}::test_loads_that_change_against_a_stepper",),
    ),
    # The page -------------------------------------------------------------------------------------------------------
    Planted(
        "page: the torque about the pivot with the arm the wrong way round",
        "web/motion_record.py",
        "torque = apply_to_vectors(torque_about_pivot, torque, pivot_to_com, push)",
        "torque = apply_to_vectors(torque_about_pivot, torque, -pivot_to_com, push)",
        ("web/test_motion_record.py",),
    ),
    Planted(
        "page: the drift of omitted outputs is lost",
        "web/motion_record.py",
        "np.fmax.reduceat(history, rows)",
        "np.take(history, rows)",
        ("web/test_motion_record.py",),
    ),
    Planted(
        "page: the closed form of a top rotates the other way",
        "web/closed_form_overlay.py",
        "rates[1] / np.sin(theta)",
        "-rates[1] / np.sin(theta)",
        ("web/test_motion_record.py",),
    ),
    Planted(
        "page: numbers lose their scale",
        "web/record_encoding.py",
        "np.ascontiguousarray(array / scale",
        "np.ascontiguousarray(array",
        ("web/test_motion_record.py",),
    ),
    # Rotors ---------------------------------------------------------------------------------------------------------
    Planted(
        "rotors: momentum added instead of subtracted",
        "equations/extended_body.py",
        "spin = minus(spin, sum_along_axes(body.rotors, momenta))",
        "spin = plus(spin, sum_along_axes(body.rotors, momenta))",
        (ROTORS,),
    ),
    Planted(
        "rotors: speed relative to the world",
        "equations/gyrostat.py",
        "momentum * inverse_inertia - dot(axis, w)",
        "momentum * inverse_inertia",
        (ROTORS,),
    ),
    Planted(
        "rotors: their energy left out",
        "equations/invariants.py",
        "return energy + rotor_energy(state.rotor_speed, state.rotor_momentum)",
        "return energy",
        (ROTORS,),
    ),
    Planted(
        "rotors: the motors' work left out",
        "equations/right_hand_side.py",
        "external + rotor_power(rotor_torques, state.rotor_speed) if rotor_torques else external",
        "external",
        (ROTORS,),
    ),
    Planted(
        "rotors: braking is limited like driving",
        "equations/gyrostat.py",
        "if_less(zero, strong * speed, strong * if_less(left, one, left, one), strong)",
        "strong * if_less(left, one, left, one)",
        (ROTORS,),
    ),
    Planted(
        "rotors: inertia of the body without its rotors",
        "model/problem.py",
        "tensor = tensor - np.asarray(rotor.inertia)",
        "tensor = tensor - 0 * np.asarray(rotor.inertia)",
        (ROTORS,),
    ),
    # A mass that changes --------------------------------------------------------------------------------------------
    Planted(
        "changing mass: the momentum of what leaves is left out",
        "equations/variable_mass.py",
        "plus(plus(exhaust_velocity, v), scaled(2, cross(w, now.com_to_nozzle)))",
        "plus(exhaust_velocity, scaled(2, cross(w, now.com_to_nozzle)))",
        (BURN,),
    ),
    Planted(
        "changing mass: half of the Coriolis force",
        "equations/variable_mass.py",
        "scaled(2, cross(w, now.com_to_nozzle))",
        "cross(w, now.com_to_nozzle)",
        (BURN,),
    ),
    Planted(
        "changing mass: no jet damping",
        "equations/variable_mass.py",
        "cross(r, plus(exhaust_velocity, cross(w, r)))",
        "cross(r, exhaust_velocity)",
        (BURN,),
    ),
    Planted(
        "changing mass: a cofactor with the wrong sign",
        "equations/variable_mass.py",
        "xy * xz - xx * yz",
        "xx * yz - xy * xz",
        (BURN,),
    ),
    Planted(
        "changing mass: forces see the first mass",
        "equations/right_hand_side.py",
        "kernel(t, state, constants_for_forces(body, state.current_mass), params[i])",
        "kernel(t, state, constants_for_forces(body), params[i])",
        (BURN,),
    ),
    Planted(
        "changing mass: steps cross the knots of its table",
        "engines/segments.py",
        "scenario.mass_course.knots.tolist()",
        "scenario.mass_course.knots.tolist()[:1]",
        (BURN,),
    ),
    # Added mass -----------------------------------------------------------------------------------------------------
    Planted(
        "added mass: no Munk moment",
        "equations/extended_body.py",
        "torque = plus(torque, cross(y[2], state.velocity))",
        "torque = plus(torque, scaled(0, cross(y[2], state.velocity)))",
        (FLUID,),
    ),
    Planted(
        "added mass: a block that is not transposed",
        "equations/extended_body.py",
        "matvec(transpose(by_spin), p)",
        "matvec(by_spin, p)",
        (FLUID,),
    ),
    Planted(
        "added mass: the fluid has no momentum at the start",
        "model/problem.py",
        "p = plus(p, to_world(q, as_leaves(moved[..., :3])))",
        "p = plus(p, to_world(q, as_leaves(0 * moved[..., :3])))",
        (FLUID,),
    ),
    Planted(
        "added mass: acceleration without the turning axes",
        "equations/extended_body.py",
        "to_world(q, plus(v_rate, cross(w, to_body(q, state.velocity))))",
        "to_world(q, v_rate)",
        (FLUID,),
    ),
    Planted(
        "added mass: angular acceleration without the moment of Munk",
        "equations/extended_body.py",
        "spin_rate = plus(plus(cross(spin, w), cross(p, v)), to_body(q, torque))",
        "spin_rate = plus(plus(cross(spin, w), scaled(0, cross(p, v))), to_body(q, torque))",
        ("results/test_nodes.py::test_accelerations_with_rotors_and_added_mass_are_rates",),
    ),
    Planted(
        "rotors: a stepper forgets the torques that were set",
        "solve/applied_loads.py",
        "replace(rotor, command=torque)",
        "replace(rotor, command=0 * torque)",
        ("results/test_nodes.py::test_accelerations_of_a_stepper_count_the_torques_that_its_rotors_have_now",),
    ),
    Planted(
        "mass course: a mesh glued to the moving center of mass",
        "results/body_geometry.py",
        "position=minus(view.position, arm)",
        "position=view.position",
        ("io/test_mesh_files.py::test_a_mesh_does_not_follow_a_center_of_mass_that_moves_within_it",),
    ),
    # Coupling -------------------------------------------------------------------------------------------------------
    Planted(
        "nodal forces: a flipped sign in their torque",
        "equations/force_laws.py",
        "(z[1] - y[2], x[2] - z[0], y[0] - x[1])",
        "(z[1] - y[2], z[0] - x[2], y[0] - x[1])",
        (f"{STEPPER}::test_nodal_forces_against_forces_at_points",),
    ),
    Planted(
        "linear loads: counted from time 0",
        "equations/force_laws.py",
        "dt = t - since",
        "dt = t",
        (f"{STEPPER}::test_a_linear_load_against_its_integral",),
    ),
    Planted(
        "nodal sums: a moment of the wrong component",
        "backends/node_loops.py",
        "xy + py * gx",
        "xy + py * gy",
        (f"{STEPPER}::test_nodal_forces_against_forces_at_points",),
    ),
    Planted(
        "nodes: displacement without the product w e x r",
        "backends/node_loops.py",
        "2 * (w * across[0] + again[0])",
        "2 * again[0]",
        (NODES,),
    ),
    Planted(
        "nodes: no centripetal acceleration",
        "backends/node_loops.py",
        "plus(cross(c, arm), cross(b, cross(b, arm)))",
        "cross(c, arm)",
        (NODES,),
    ),
    Planted(
        "save: the loads are left out of it",
        "engines/taylor.py",
        "self.variables.scenario, self.failure = self.scenario, None",
        "self.failure = None",
        (f"{STEPPER}::test_the_load_comes_back_with_the_state",),
    ),
    Planted(
        "stepper: a failure leaves the state where it failed",
        "solve/stepper.py",
        "            self.restore(before)\n            raise",
        "            raise",
        (f"{STEPPER}::test_a_motion_that_fails_stays_where_it_was",),
    ),
    Planted(
        "Exodus: nodes in our own order",
        "io/exodus.py",
        "theirs[:, list(order)] = block.cells",
        "theirs[:] = block.cells",
        (FILES,),
    ),
    # Reductions -----------------------------------------------------------------------------------------------------
    Planted(
        "quantile sketch: a dropped pair is not counted in the bound",
        "ensembles/quantile_sketch.py",
        "np.where(changed & keeps_larger, weight, 0)",
        "0",
        (SKETCH,),
    ),
    Planted(
        "quantile sketch: always the smaller value, though the bound says otherwise",
        "ensembles/quantile_sketch.py",
        "np.where(keeps_larger[:, None], larger, smaller)",
        "smaller",
        (SKETCH,),
    ),
    Planted(
        "quantile sketch: values of different weight are mixed",
        "ensembles/quantile_sketch.py",
        "left, right = _raise_level(left, level), _raise_level(right, level)",
        "pass",
        (SKETCH,),
    ),
    Planted(
        "moments: the difference of the means forgets where they are counted from",
        "ensembles/moments.py",
        """(right["origin"] - left["origin"]) + (right["mean"] - left["mean"])""",
        """right["mean"] - left["mean"]""",
        (MOMENTS,),
    ),
    Planted(
        "moments: counted from zero, so that an offset costs digits",
        "ensembles/moments.py",
        "origin = np.where(count[:, None] > 0, origin, 0.0)",
        "origin = np.zeros_like(origin)",
        (MOMENTS,),
    ),
    Planted(
        "tree: what is left over is merged from the left",
        "ensembles/merge_tree.py",
        "key=lambda node: -(node[1] << node[0])",
        "key=lambda node: node[1] << node[0]",
        (TREE,),
    ),
    Planted(
        "histogram: bins are widened without looking where they start",
        "ensembles/histogram_counts.py",
        "(bins >> shift) - start[:, None]",
        '((bins - side["start"][:, None]) >> shift)',
        (BINS,),
    ),
    Planted(
        "extremes: members are numbered within their block",
        "ensembles/reduction_kinds.py",
        "at + first, -1",
        "at, -1",
        (REDUCTIONS,),
    ),
    Planted(
        "events: the last time instead of the first",
        "ensembles/quantities.py",
        "found.setdefault(_member_of(crossing), crossing)",
        "found[_member_of(crossing)] = crossing",
        (REDUCTIONS,),
    ),
    Planted(
        "stores: the numbers of a chunk are not compared with their digests",
        "ensembles/chunk_files.py",
        "if not is_whole or digest_numbers(values) != record.blocks[name][i]:",
        "if not is_whole:",
        (DAMAGE,),
    ),
    Planted(
        "stores: the record of another store is taken for one's own",
        "ensembles/chunk_files.py",
        "if record.manifest != self.digest:",
        "if record.manifest is None:",
        (DAMAGE,),
    ),
    Planted(
        "stores: a record counts for whichever chunk has its name",
        "ensembles/chunk_files.py",
        "if (record.chunk, record.first, record.last) != (k, first, last):",
        "if record.last - record.first > last - first:",
        (DAMAGE,),
    ),
    Planted(
        "stores: a run with another seed or scenario is resumed",
        "ensembles/store_manifest.py",
        'for part in ("format", "versions", "plan", "run", "arrays"):',
        'for part in ("format", "versions", "plan", "arrays"):',
        (STORE,),
    ),
    Planted(
        "stores: events are those of the member's place instead of its number",
        "ensembles/stored_run.py",
        "return rows, order[np.repeat(first, counts) + within]",
        "return rows, np.repeat(first, counts) + within",
        (RESULT,),
    ),
    Planted(
        "stores: a full disk is an error like any other",
        "ensembles/store_folder.py",
        "if error.errno in NO_ROOM:",
        "if error.errno is None:",
        (FULL,),
    ),
]
