"""Impossible assemblies are refused, each with a message."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import assert_refused, checked
from polhode.errors import InertiaError, InputError

TURN = Rotation.from_euler("xyz", (0.4, -1.0, 2.0))

BOX = ph.shapes.box((2, 2, 2), density=1.0)
TOP = ph.Body(1.0, (2, 2, 8), allow_unphysical=True)
HEAVY = ph.shapes.sphere(0.1, mass=3.5)
ROD = ph.Body.from_particles((1, 1), ((0, 0, 0), (0, 0, 1)))
MANY = ph.shapes.box(np.ones((2, 3)), mass=1.0)
REFUSALS = {
    "shape of positions": (lambda: ph.Body.from_particles((1, 2), (1, 2, 3)), "shape (n, 3)", "shape (3,)"),
    "ragged positions": (lambda: ph.Body.from_particles((1, 2), ((1, 2, 3), (1, 2))), "shape (n, 3)"),
    "no particles": (lambda: ph.Body.from_particles((), np.zeros((0, 3))), "one row per particle"),
    "number of masses": (
        lambda: ph.Body.from_particles((1, 2, 3), np.eye(3)[:2]),
        "one value for each of the",
        "2",
        "(3,)",
    ),
    "one mass": (lambda: ph.Body.from_particles(1.0, ((1, 2, 3),)), "one value for each of the", "1.0"),
    "mass zero": (lambda: ph.Body.from_particles((1, 0), np.eye(3)[:2]), "greater than 0 kg", "smallest is 0 kg"),
    "not finite": (lambda: ph.Body.from_particles((1, 1), ((0, 0, 0), (0, 0, np.nan))), "positions must be finite"),
    "some in a row": (
        lambda: ph.Body.from_particles(
            (1, 1, 1), [[(0, 0, 0), (0, 0, 1), (0, 0, 3)], [(0, 0, 0), (0, 0, 1), (0, 1, 0)]]
        ),
        "in member 0 of the ensemble all mass lies on one line, in member 1 it does not",
    ),
    "no body": (lambda: BOX.join([BOX, BOX]), "join takes bodies, one by one, as in join(a, b), not a list of 2"),
    "different ensembles": (
        lambda: MANY.join(ph.shapes.box(np.ones((4, 3)), mass=1.0)),
        "ensembles of [2, 4] members",
    ),
    "all of it": (lambda: BOX.subtract(BOX), "subtracting 8 kg from 8 kg leaves no mass"),
    "more than all": (lambda: BOX.subtract(BOX, BOX), "subtracting 16 kg", "larger or denser"),
    "too large": (
        lambda: BOX.subtract(ph.shapes.box((3, 2, 2), mass=1.0)),
        "subtracting 12 m3 from 8 m3",
        "larger than the body",
    ),
    "all of the volume": (
        lambda: BOX.subtract(BOX.scale(1, keep="mass").scale(1), ph.particle(1.0)),
        "leaves no mass",
    ),
    "outside": (
        lambda: BOX.subtract(ph.shapes.sphere(0.5, density=1.0).move((9, 0, 0))),
        "does not lie inside the body, or is denser",
        "of 8 kg 7.4764 kg would be left",
        "no solid",
    ),
    "too dense": (
        lambda: BOX.subtract(HEAVY.move((0.9, 0, 0)), HEAVY.move((-0.9, 0, 0))),
        "or is denser than the body there",
    ),
    "hole in a particle": (lambda: ph.particle(2.0).subtract(ph.shapes.sphere(1.0, mass=1.0)), "not lie inside"),
    "particle from elsewhere": (lambda: ph.particle(2.0).subtract(ph.particle(1.0).move((1, 0, 0))), "not lie inside"),
    "nothing to take": (lambda: BOX.subtract(3.0), "subtract takes bodies"),
    "move": (lambda: BOX.move((1, 2)), "the displacement must be 3 numbers"),
    "matrix": (lambda: BOX.turn(np.eye(3)), "must be a SciPy Rotation"),
    "two rotations": (lambda: BOX.turn(Rotation.from_quat(np.eye(4)[:2])), "one rotation, but 2 were given"),
    "normal zero": (lambda: BOX.mirror((0, 0, 0)), "normal must not be (0, 0, 0)"),
    "factor zero": (lambda: BOX.scale(0.0), "greater than 0, but the smallest is 0", "mirror(normal)"),
    "factor negative": (lambda: BOX.scale((1, 1, -2)), "the smallest is -2"),
    "two factors": (lambda: BOX.scale((1, 2)), "factor must be 3 numbers"),
    "keep": (lambda: BOX.scale(2.0, keep="densty"), "did you mean 'density'"),
    "density of a particle": (lambda: ph.particle(1.0).scale(2.0), "a particle has no volume", "keep='mass'"),
    "density of a line": (lambda: ROD.scale(2.0), "a line has no volume"),
    "density of a sheet": (
        lambda: ph.Body(1.0, (1, 1, 2), volume=0.0).scale(2.0),
        "a body without thickness has no volume",
    ),
    "density of numbers": (
        lambda: ph.Body(1.0, (1, 1, 1)).scale(2.0),
        "the volume is unknown, so there is no density",
        "keep='mass'",
    ),
    "density of particles": (
        lambda: ph.Body.from_particles((1, 1, 1, 1), ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))).scale(2.0),
        "the volume is unknown",
    ),
    "stretched top": (
        lambda: TOP.scale((1, 1, 2), keep="mass"),
        "moments 2, 2, 8 kg m2 belong to no solid",
        "cannot be stretched",
    ),
    "ellipsoid of a top": (lambda: TOP.ellipsoid_semi_axes, "2, 2, 8", "inertia ellipsoid", "1/sqrt(I)"),
    "box of a top": (lambda: TOP.box_sides, "2, 2, 8", "inertia ellipsoid"),
    "point": (lambda: BOX.inertia_about((1, 2)), "point must be 3 numbers"),
}


@checked({name: (case[0], InertiaError, *case[1:]) for name, case in REFUSALS.items()})
def test_impossible_assemblies_are_refused_with_a_message(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


OTHERS = np.ones((4, 3))
OTHER_ENSEMBLES = {
    "move": (lambda: MANY.move(OTHERS),),
    "mirror": (lambda: MANY.mirror(OTHERS),),
    "mirror about": (lambda: BOX.mirror(OTHERS, OTHERS[:2]),),
    "turn": (lambda: MANY.turn(TURN, OTHERS),),
    "turn by": (lambda: MANY.turn(Rotation.from_quat(np.eye(4))),),
    "scale": (lambda: MANY.scale(OTHERS),),
    "about": (lambda: MANY.inertia_about(OTHERS),),
}


@checked({name: (*case, InputError, "[2, 4]") for name, case in OTHER_ENSEMBLES.items()})
def test_another_number_of_members_is_refused_with_a_message(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)
