"""What can be done with bodies: join, subtract, move, turn, scale, mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

    from polhode.massprops.body import Body


class BodyOperations:
    """The ways to a `Body` from other bodies.  Each gives a new one; none is changed."""

    def join(self, *others: Body) -> Body:
        """This body and others as one, where they are.  They must not overlap: what lies in two is counted twice.

        Examples
        --------
        >>> import polhode as ph
        >>> ball = ph.shapes.sphere(0.1, mass=1.0)
        >>> ball.move((0, 0, -1)).join(ball.move((0, 0, 1))).principal_moments.round(3).tolist()
        [2.008, 2.008, 0.008]
        """
        from polhode.massprops.assembly import join_bodies

        return join_bodies((_as_body(self), *others))

    def subtract(self, *others: Body) -> Body:
        """This body without others, where they are: holes.  They must lie within it, and have its density there.

        Where the shapes tell that a hole stands out of the body, or has another density, a `MassWarning` says so.

        Examples
        --------
        >>> import polhode as ph
        >>> hollow = ph.shapes.box((2, 2, 2), density=1.0).subtract(ph.shapes.box((1, 1, 1), density=1.0))
        >>> hollow.mass, hollow.volume
        (7.0, 7.0)
        """
        from polhode.massprops.assembly import subtract_bodies

        return subtract_bodies(_as_body(self), others)

    def move(self, by: ArrayLike) -> Body:
        """The body elsewhere in the coordinates that it is described in, by (x, y, z) in m.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.sphere(1.0, mass=1.0).move((0, 0, 2)).center_of_mass.tolist()
        [0.0, 0.0, 2.0]
        """
        from polhode.massprops.assembly import translate_body

        return translate_body(_as_body(self), offset=by)

    def turn(self, rotation: Rotation, about: ArrayLike = (0.0, 0.0, 0.0)) -> Body:
        """The body turned about a point of the coordinates that it is described in.

        The members of an ensemble turn by one rotation, or each by its own.

        Examples
        --------
        >>> import polhode as ph
        >>> from scipy.spatial.transform import Rotation
        >>> quarter = Rotation.from_euler("x", 90, degrees=True)
        >>> ph.shapes.box((1, 2, 3), mass=12.0).turn(quarter).inertia_body.round(9).diagonal().tolist()
        [13.0, 5.0, 10.0]
        """
        from polhode.massprops.assembly import rotate_body

        return rotate_body(_as_body(self), rotation, about)

    def scale(self, factor: ArrayLike, *, keep: str = "density") -> Body:
        """The body made larger about the origin, by one factor or by one for each axis.

        `keep` says what stays: "density" (the mass grows with the volume, which must be known) or "mass".  The members
        of an ensemble may have their own factors, one or three for each; three numbers are always those of the axes.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.sphere(1.0, mass=1.0).scale(2.0).mass
        8.0
        """
        from polhode.massprops.assembly import scale_body

        return scale_body(_as_body(self), factor, keep)

    def mirror(self, normal: ArrayLike, about: ArrayLike = (0.0, 0.0, 0.0)) -> Body:
        """The body's mirror image in the plane through a point, across that normal.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.sphere(1.0, mass=1.0).move((3, 0, 0)).mirror((1, 0, 0)).center_of_mass.tolist()
        [-3.0, 0.0, 0.0]
        """
        from polhode.massprops.assembly import mirror_body

        return mirror_body(_as_body(self), normal, about)


def _as_body(operations: Any) -> Body:
    """The body that an operation is called on."""
    return cast("Body", operations)
