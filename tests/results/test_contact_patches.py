"""The drawn part of a surface lies on it, and outside of all others.  Judged by the equations of the planes."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.results.contact_patches import contact_patches, varies_between_members

WALLS = [ph.wall((-1, 0, 0), (2, 0, 0)), ph.wall((1, 0.2, 0), (-1, 0, 0)), ph.wall((0, -1, 0.3), (0, 1.5, 0))]
ROOM = [ph.floor(height=-0.3), *WALLS, ph.slope(0.4, point=(0, 0, -0.6))]


@pytest.mark.parametrize("radius", [1e-9, 0.7, 3.0, 4e5])
def test_patches_lie_on_their_planes_and_outside_the_others(radius):
    scaled = [ph.floor(), ph.slope(0.3), ph.wall((0, 1, 0))]
    for patch, own in zip(contact_patches(scaled, np.zeros(3), radius), scaled, strict=True):
        for points in (patch.corners, patch.lines.reshape(-1, 3)):
            assert np.abs(points @ own.normal - own.offset).max() < 1e-15 * radius * 10
            assert all((points @ other.normal - other.offset).min() > -1e-14 * radius for other in scaled)


def test_a_room_is_cut_to_its_walls():
    for patch, own in zip(contact_patches(ROOM, np.zeros(3), 5.0), ROOM, strict=True):
        assert len(patch.corners) >= 3
        assert np.abs(patch.corners @ own.normal - own.offset).max() < 1e-14
        for other in ROOM:
            assert (patch.corners @ other.normal - other.offset).min() > -1e-13


def test_the_grid_is_fixed_in_the_world():
    near, moved = (contact_patches([ph.floor()], np.array((x, 0.0, 1.0)), 1.0)[0] for x in (0.0, 0.13))
    assert near.cell == moved.cell == 0.2
    across = [np.unique(patch.lines[:, 0, 0].round(9)) for patch in (near, moved)]
    for ticks in across:
        assert np.abs(ticks / 0.2 - (ticks / 0.2).round()).max() < 1e-9


def test_members_with_different_floors_are_told_apart():
    assert varies_between_members([ph.floor(height=np.array([0.0, 1.0]))])
    assert not varies_between_members([ph.floor(restitution=np.array([0.0, 1.0]))])
