"""A motion seen from a frame that rotates at a constant rate W about a point; r is measured from that point.

All vectors are along the same axes; apply `to_body` for components along the axes of the rotating frame.
"""

from __future__ import annotations

from polhode.equations.law import Vector, law
from polhode.equations.vectors import cross, minus, scaled


@law
def velocity_in_rotating_frame(frame_rate: Vector, r: Vector, v: Vector) -> Vector:
    """v' = v - W x r  [Christian 2011, eq. 17.33, A = r]"""
    return minus(v, cross(frame_rate, r))


@law
def acceleration_in_rotating_frame(frame_rate: Vector, r: Vector, v: Vector, a: Vector) -> Vector:
    """a' = a - 2 W x v' - W x (W x r): Coriolis and centrifugal acceleration.  [Christian 2011, eq. 17.33, A = v']"""
    coriolis = cross(scaled(2, frame_rate), velocity_in_rotating_frame(frame_rate, r, v))
    return minus(minus(a, coriolis), cross(frame_rate, cross(frame_rate, r)))
