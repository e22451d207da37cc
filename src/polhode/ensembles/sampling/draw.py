"""`draw`: what a build function is given to draw the uncertain inputs of a sweep from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from polhode.ensembles.sampling import distributions
from polhode.ensembles.sampling.designs import Design
from polhode.ensembles.sampling.distributions import Distribution
from polhode.ensembles.sampling.random_inertia import scattered_inertia
from polhode.ensembles.sampling.random_rotations import random_direction, random_rotation, small_rotation
from polhode.ensembles.sampling.random_words import Members
from polhode.ensembles.sampling.tables import table_rows
from polhode.errors import InputError, show
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array, check_text

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike


P = ParamSpec("P")


def _recorded(method: Callable[P, Array]) -> Callable[P, Array]:
    """Remember the arguments, so that the same can be drawn for other members without the build function."""
    checked = explain_unknown_arguments(InputError)(method)
    order = inspect.signature(method)

    @wraps(method)
    def draw(*args: P.args, **kwargs: P.kwargs) -> Array:
        found = checked(*args, **kwargs)
        arguments = order.bind(*args, **kwargs).arguments
        drawing, name = arguments.pop("self"), arguments.pop("name")
        drawing.calls[name] = method.__name__, dict(arguments)
        return found

    return draw


class Draw:
    """The uncertain inputs of some members of a sweep, drawn by name.

    A build function is called with it, and makes a scenario of what it draws.  Numbers are arrays (members,), vectors
    (members, 3), quaternions (members, 4).  What a member gets depends only on the seed, its number and the name of
    the input: not on the other inputs, on their order, or on the members it is computed with.  A distribution has the
    same parameters for all members; to make one input depend on another, compute with what was drawn, as in
    `speed * draw.normal("gust", 1.0, 0.1)`.

    Examples
    --------
    >>> import polhode as ph
    >>> def build(draw):
    ...     body = ph.Body(mass=draw.normal("mass", 10.0, 0.2), inertia=(0.8, 0.7, 0.2))
    ...     state = ph.State(velocity=draw.uniform("velocity", (4, -1, 5), (6, 1, 7)))
    ...     return ph.Scenario(body, state, [ph.forces.gravity()], duration=1.0)
    >>> source = ph.DrawnSource(build, members=1_000_000_000, seed=1)
    >>> {name: values.shape for name, values in source.inputs([0, 999_999_999]).items()}
    {'mass': (2,), 'velocity': (2, 3)}
    """

    def __init__(self, members: Members, total: int, design: Design) -> None:
        self.members = members
        """The numbers of the members that are drawn."""
        self.total = total
        """How many members the sweep has."""
        self.values: dict[str, Array] = {}
        """What was drawn, by name."""
        self.distributions: dict[str, Distribution] = {}
        """The distributions that it was drawn from."""
        self.calls: dict[str, tuple[str, dict[str, Any]]] = {}
        """The methods that drew it, and their arguments."""
        self.stream_sizes: dict[str, int] = {}
        """How many numbers between 0 and 1 each stream gives a member."""
        self._design = design

    # Numbers and vectors ----------------------------------------------------------------------------------------------
    @_recorded
    def normal(
        self,
        name: str,
        mean: ArrayLike,
        standard_deviation: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
    ) -> Array:
        """Normal (Gaussian) numbers.

        Parameters
        ----------
        name : str
            The name of the input.
        mean : array_like
            A number, or a vector.
        standard_deviation : array_like, optional
            One for all components, or one for each, which are then independent.
        covariance : array_like, optional
            Instead: the covariance matrix of a vector, positive semidefinite.
        """
        return self._draw(name, distributions.normal(_place(name), mean, standard_deviation, covariance))

    @_recorded
    def uniform(self, name: str, low: ArrayLike, high: ArrayLike) -> Array:
        """Numbers that are uniform from low to high; of vectors each component is, independently."""
        return self._draw(name, distributions.uniform(_place(name), low, high))

    @_recorded
    def lognormal(self, name: str, median: ArrayLike, log_standard_deviation: ArrayLike) -> Array:
        """Positive numbers: median * exp(log_standard_deviation * z), z standard normal.

        The standard deviation is that of the natural logarithm; while it is small, about the relative one.
        """
        return self._draw(name, distributions.lognormal(_place(name), median, log_standard_deviation))

    @_recorded
    def truncated_normal(
        self,
        name: str,
        mean: ArrayLike,
        standard_deviation: ArrayLike,
        low: ArrayLike = -np.inf,
        high: ArrayLike = np.inf,
    ) -> Array:
        """Normal numbers, given that they lie between low and high.

        Mean and standard deviation are those before the truncation.
        """
        found = distributions.truncated_normal(_place(name), mean, standard_deviation, low, high)
        return self._draw(name, found)

    @_recorded
    def choice(self, name: str, values: ArrayLike, weights: ArrayLike | None = None) -> Array:
        """One of several numbers or vectors, with equal probability or in proportion to weights."""
        return self._draw(name, distributions.choice(_place(name), values, weights))

    @_recorded
    def integers(self, name: str, low: ArrayLike, high: ArrayLike) -> Array:
        """Whole numbers from low to high, both included, as doubles."""
        return self._draw(name, distributions.integers(_place(name), low, high))

    # Attitudes, directions, inertia -----------------------------------------------------------------------------------
    @_recorded
    def random_rotation(self, name: str) -> Array:
        """Attitudes that are uniform on SO(3), as unit quaternions (members, 4)."""
        _place(name)
        return self._draw(name, random_rotation())

    @_recorded
    def small_rotation(self, name: str, standard_deviation: ArrayLike, mean: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> Array:
        """Attitudes that scatter about a mean one, as unit quaternions (members, 4).

        Parameters
        ----------
        name : str
            The name of the input.
        standard_deviation : array_like
            In rad: of each component of the rotation vector, along the body axes, by which the body is turned from
            its mean attitude; one for all three or one for each.  The components are normal and independent, so that
            with one s for all the angle is s sqrt(3) in the root mean square.
        mean : array_like, optional
            The mean attitude, a quaternion (w, x, y, z), body to world.
        """
        return self._draw(name, small_rotation(_place(name), standard_deviation, mean))

    @_recorded
    def random_direction(self, name: str, axis: ArrayLike = (0.0, 0.0, 1.0), half_angle: float = np.pi) -> Array:
        """Unit vectors (members, 3), uniform on the sphere, or on the part of it within half_angle (rad) of an axis."""
        return self._draw(name, random_direction(_place(name), axis, half_angle))

    @_recorded
    def scattered_inertia(
        self, name: str, inertia: ArrayLike, standard_deviation: ArrayLike, axes_standard_deviation: ArrayLike = 0.0
    ) -> Array:
        """Inertia tensors (members, 3, 3) that scatter about a given one, each that of a solid.

        Parameters
        ----------
        name : str
            The name of the input.
        inertia : array_like
            About the center of mass, in kg m2: three principal moments, or a symmetric 3 x 3 tensor.
        standard_deviation : array_like
            Relative, of the principal second moments S_x = (I_y + I_z - I_x)/2, ...: one for all three or one for
            each.  They are log-normal and independent, with the given ones as their mean.
        axes_standard_deviation : array_like, optional
            In rad: of each component of the rotation vector, along the principal axes, by which these are turned; one
            for all three or one for each.

        Notes
        -----
        The second moments S = integral of r r^T dm are those of some solid whenever they are positive, so that the
        moments I_x = S_y + S_z, ... always satisfy the triangle inequalities.  Along the turned axes the mean of I_x
        is exactly the given one, its standard deviation exactly sqrt((s_y S_y)^2 + (s_z S_z)^2): for a cube or a
        sphere s/sqrt(2) of I_x, for a thin rod s of both transverse moments.  Two moments are correlated, since they
        share a second moment.
        """
        found = scattered_inertia(_place(name), inertia, standard_deviation, axes_standard_deviation)
        return self._draw(name, found)

    # Tables -----------------------------------------------------------------------------------------------------------
    @_recorded
    def table(
        self,
        name: str,
        table: ArrayLike | str | PathLike[str],
        column: str | list[str] | None = None,
        rows: str = "member",
        row_name: str | None = None,
    ) -> Array:
        """Numbers from a table: an array, or a CSV file whose first line has the names of its columns.

        Parameters
        ----------
        name : str
            The name of the input.
        table : array_like or path
            One row for each member.
        column : str or list of str, optional
            Which columns of a file: one gives numbers, a list gives vectors.  All of them by default.
        rows : {"member", "random"}, optional
            Row i for member i (default), or a random row for each member, with replacement.
        row_name : str, optional
            The name of the choice of random rows: inputs with the same one take the same row.  That of the input by
            default.
        """
        found = table_rows(_place(name), table, column, rows, row_name, self.total)
        return self._draw(name, found, name if row_name is None else f"row of {row_name}")

    def _draw(self, name: str, distribution: Distribution, stream: str | None = None) -> Array:
        if name in self.values:
            raise InputError(
                f"the input {name!r} is drawn twice: keep what the first call returned, or give the second another name"
            )
        stream = name if stream is None else stream
        self.stream_sizes[stream] = distribution.dimensions
        numbers = self._design.uniforms(stream, distribution.dimensions, self.members)
        with np.errstate(over="ignore", invalid="ignore"):
            values = distribution.transform(numbers, self.members)
        if not np.isfinite(values).all():
            raise InputError(f"{_place(name)} overflows: its parameters are too large for doubles")
        self.values[name], self.distributions[name] = values, distribution
        return values


def _place(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise InputError(f"an input needs a name, as in draw.normal('mass', 1.0, 0.02), not {show(name)}")
    check_text(name, "the name of an input")
    return f"the input {name!r}"
