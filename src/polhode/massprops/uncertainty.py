"""Propagation of tolerances on mass and dimensions to the mass properties."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.errors import InertiaError, MassWarning, PolhodeError, show
from polhode.massprops.body import Body
from polhode.massprops.principal_axes import ROUNDING
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array, as_leaf

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

RELATIVE_STEP = 1 / 64
"""Initial finite-difference step, relative to the number that is varied."""
NONLINEARITY_LIMIT = 1 / 10
"""Error of the linear estimate, relative to the uncertainty, above which a warning is raised."""


@dataclass(frozen=True, eq=False)
class Tolerance:
    """One or more numbers, each plus or minus a tolerance."""

    value: Array
    plus_minus: Array


@explain_unknown_arguments(InertiaError)
def tolerance(value: ArrayLike, plus_minus: ArrayLike) -> Tolerance:
    """One or more numbers with a tolerance, for `ph.uncertainty`.

    Parameters
    ----------
    value : array_like
        Nominal value: a scalar, or an array for a size with several components.
    plus_minus : array_like
        The tolerance, in the same unit: one for all, or one per number; 0 where a number is exact.

    Returns
    -------
    Tolerance
        A record of `value` and `plus_minus`.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.tolerance((0.1, 0.2, 0.3), 1e-4).plus_minus.tolist()
    [0.0001, 0.0001, 0.0001]
    """
    shape, given = validation.shape_of(value), validation.shape_of(plus_minus)
    values = validation.check_numbers(value, "the value", shape, InertiaError)
    if given not in ((), shape):
        raise InertiaError(
            f"plus_minus must be one number for all, or one for each of the {shape} values, not {show(plus_minus)}"
        )
    amounts = np.broadcast_to(validation.check_numbers(plus_minus, "its tolerance", given, InertiaError), shape)
    if (amounts < 0).any():
        raise InertiaError(f"a tolerance must not be negative, but is {amounts.min():g}: give its size, as in 1e-4")
    return Tolerance(values, amounts)


@dataclass(frozen=True, eq=False)
class MassPropertyValues:
    """A value for each mass property, in SI units; the volume is None if unknown."""

    mass: float
    volume: float | None
    center_of_mass: Array
    principal_moments: Array
    """Along the nominal principal axes."""
    inertia_body: Array


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """A body with the uncertainty of its mass properties.  Printed, two tables: the amounts, and their sources."""

    body: Body
    """The nominal body."""
    tolerances: Mapping[str, float]
    """The tolerance of each number that has one, by name, such as "radius" or "sides[2]"."""
    derivatives: Mapping[str, MassPropertyValues]
    """Derivatives of the mass properties with respect to each of these numbers."""
    standard: MassPropertyValues
    """Root sum of squares, for independent tolerances.  Standard deviations, if the tolerances are."""
    worst: MassPropertyValues
    """Sum of absolute contributions.  Limits, if the tolerances are."""

    def __str__(self) -> str:
        return _format_uncertainty(self)


def uncertainty(build: Callable[..., Body], /, **sizes: Any) -> Uncertainty:
    """First-order uncertainty of the mass properties of a body whose mass and dimensions have tolerances.

    Parameters
    ----------
    build : callable
        A function of `ph.shapes`, or your own that returns a `Body`.
    **sizes
        Its arguments: plain values, or `ph.tolerance(value, plus_minus)`.

    Returns
    -------
    Uncertainty
        The nominal body; the `standard` and `worst` deviations of its mass, volume, center of mass, principal moments
        (along the nominal principal axes) and tensor; and the `derivatives` with respect to each number.

    Notes
    -----
    Derivatives are central differences with two Richardson extrapolations, accurate to a relative 1e-9 for smooth
    functions.  Numbers are varied one at a time.  A `MassWarning` names each whose tolerance is so large that the
    linear estimate of its effect is off by more than a tenth of the standard deviation.

    Examples
    --------
    >>> import polhode as ph
    >>> known = ph.uncertainty(ph.shapes.sphere, radius=ph.tolerance(0.1, 1e-4), mass=ph.tolerance(2.0, 1e-3))
    >>> (known.standard.principal_moments / known.body.principal_moments).round(7).tolist()
    [0.0020616, 0.0020616, 0.0020616]
    """
    toleranced = _find_toleranced_numbers(build, sizes)
    plain = {name: as_leaf(size.value) if isinstance(size, Tolerance) else size for name, size in sizes.items()}
    body = _check_built_body(build(**plain))
    axes = body.principal_axes.as_matrix()
    nominal = _flatten_properties(body, axes)

    def at(number: _TolerancedNumber, value: float) -> Array:
        changed = np.array(plain[number.argument])
        changed[number.place] = value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MassWarning)
            return _flatten_properties(_check_built_body(build(**{**plain, number.argument: as_leaf(changed)})), axes)

    ends = [_evaluate_at_limits(at, number) for number in toleranced]
    slopes = np.array([_differentiate(at, number) for number in toleranced])
    sizes_of = np.array([number.plus_minus for number in toleranced])
    changes = slopes * sizes_of[:, None]
    standard, worst = np.sqrt((changes**2).sum(axis=0)), np.abs(changes).sum(axis=0)
    for number, change, (below, above) in zip(toleranced, changes, ends, strict=True):
        missed = np.maximum(np.abs(above - nominal - change), np.abs(nominal - below - change))
        _warn_if_nonlinear(number, missed, standard, nominal)
    labels = [number.label for number in toleranced]
    return Uncertainty(
        body=body,
        tolerances=dict(zip(labels, sizes_of.tolist(), strict=True)),
        derivatives={label: _unflatten_properties(slope) for label, slope in zip(labels, slopes, strict=True)},
        standard=_unflatten_properties(standard),
        worst=_unflatten_properties(worst),
    )


class _TolerancedNumber(NamedTuple):
    argument: str
    place: tuple[int, ...]
    value: float
    plus_minus: float

    @property
    def label(self) -> str:
        return self.argument + "".join(f"[{i}]" for i in self.place)


def _find_toleranced_numbers(build: Any, sizes: Mapping[str, Any]) -> list[_TolerancedNumber]:
    if not callable(build):
        raise InertiaError(
            f"{show(build)} is not callable: give a function, as in ph.uncertainty(ph.shapes.sphere, ...)"
        )
    found = [
        _TolerancedNumber(name, i, float(size.value[i]), float(size.plus_minus[i]))
        for name, size in sizes.items()
        if isinstance(size, Tolerance)
        for i in np.ndindex(size.value.shape)
        if size.plus_minus[i]
    ]
    if not found:
        raise InertiaError("no argument has a tolerance: give at least one as ph.tolerance(value, plus_minus)")
    return found


def _evaluate_at_limits(
    at: Callable[[_TolerancedNumber, float], Array], number: _TolerancedNumber
) -> tuple[Array, Array]:
    """The mass properties at both ends of a tolerance."""
    found = []
    for value in (number.value - number.plus_minus, number.value + number.plus_minus):
        try:
            found.append(at(number, value))
        except PolhodeError as error:
            raise InertiaError(
                f"{number.label} = {number.value:g} +- {number.plus_minus:g} reaches {value:g}, which is not a body: "
                f"{error}"
            ) from None
    return found[0], found[1]


def _differentiate(at: Callable[[_TolerancedNumber, float], Array], number: _TolerancedNumber) -> Array:
    """The derivative, by central differences with steps h, h/2 and h/4; errors of order h^2 and h^4 cancel.

    The step is a fraction of the number, or of the tolerance where the number is near zero.  If there is no valid body
    that far away (a tube's inner radius near its outer one), it is the tolerance, which was tried before.
    """
    step = max(RELATIVE_STEP * abs(number.value), number.plus_minus / 4)
    try:
        return _richardson_derivative(at, number, step)
    except PolhodeError:
        return _richardson_derivative(at, number, min(step, number.plus_minus))


def _richardson_derivative(
    at: Callable[[_TolerancedNumber, float], Array], number: _TolerancedNumber, step: float
) -> Array:
    def slope(h: float) -> Array:
        above, below = number.value + h, number.value - h
        return (at(number, above) - at(number, below)) / (above - below)

    coarse, middle, fine = slope(step), slope(step / 2), slope(step / 4)
    first, second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    return (16 * second - first) / 15


PROPERTY_NAMES = (
    *("mass", "volume", "center of mass, x", "center of mass, y", "center of mass, z"),
    *("principal moment 1", "principal moment 2", "principal moment 3"),
)
PROPERTY_UNITS = ("kg", "m3", "m", "m", "m", "kg m2", "kg m2", "kg m2")


def _check_built_body(body: Any) -> Body:
    if not isinstance(body, Body):
        raise InertiaError(f"build must return a ph.Body, but returned {show(body)}")
    if body.members is not None:
        raise InertiaError("build returned the body of an ensemble: its members show the spread without an estimate")
    return body


def _flatten_properties(body: Body, axes: Array) -> Array:
    """The values of `PROPERTY_NAMES`, then the tensor's entries.  dI_i = a_i^T dI a_i along fixed axes a_i."""
    moments = np.einsum("ji,jk,ki->i", axes, body.inertia_body, axes)
    volume = np.nan if body.volume is None else body.volume
    return np.array((body.mass, volume, *body.center_of_mass, *moments, *body.inertia_body.flat))


def _unflatten_properties(numbers: Array) -> MassPropertyValues:
    volume = None if np.isnan(numbers[1]) else float(numbers[1])
    return MassPropertyValues(float(numbers[0]), volume, numbers[2:5], numbers[5:8], numbers[8:].reshape(3, 3))


def _warn_if_nonlinear(number: _TolerancedNumber, missed: Array, standard: Array, nominal: Array) -> None:
    size = np.sqrt(nominal[5:8].max() / nominal[0]) + np.abs(nominal[2:5]).max()
    scale = np.array((nominal[0], nominal[1], size, size, size, *(nominal[5:8].max(),) * 3))
    missed, standard = missed[: len(PROPERTY_NAMES)], standard[: len(PROPERTY_NAMES)]
    bent = np.flatnonzero((missed > NONLINEARITY_LIMIT * standard) & (missed > ROUNDING * scale))
    if bent.size:
        i = bent[np.argmax(missed[bent] / scale[bent])]
        warnings.warn(
            f"{number.label} = {number.value:g} +- {number.plus_minus:g}: the {PROPERTY_NAMES[i]} is not linear in it "
            f"over this range; the linear estimate is off by {missed[i]:.2g} {PROPERTY_UNITS[i]}, more than a tenth of "
            f"the standard deviation {standard[i]:.2g}. Treat the estimate as rough, or sample many sizes at random: "
            "shapes take them as members of an ensemble",
            MassWarning,
            stacklevel=3,
        )


def _format_uncertainty(known: Uncertainty) -> str:
    names = list(known.tolerances)
    slopes = np.array([_property_row(known.derivatives[name]) for name in names])
    changes = slopes * np.array(list(known.tolerances.values()))[:, None]
    standard, worst = _property_row(known.standard), _property_row(known.worst)
    nominal = _property_row(known.body)
    rows: list[tuple[str, ...]] = [("", "nominal", "unit", "standard", "worst", "mostly from")]
    for i, row in enumerate(PROPERTY_NAMES):
        if np.isnan(nominal[i]):
            continue
        most = int(np.abs(changes[:, i]).argmax())
        share = f"{names[most]} ({(changes[most, i] / standard[i]) ** 2:.0%})" if standard[i] else ""
        rows.append((row, f"{nominal[i]:.7g}", PROPERTY_UNITS[i], f"{standard[i]:.2g}", f"{worst[i]:.2g}", share))
    each: list[tuple[str, ...]] = [("", "+-", "mass", "moment 1", "moment 2", "moment 3")]
    relative = changes / np.where(nominal, nominal, 1.0)
    for name, size, parts in zip(names, known.tolerances.values(), relative, strict=True):
        each.append((name, f"{size:g}", *(f"{100 * parts[i]:+.2g} %" for i in (0, 5, 6, 7))))
    return "\n".join((*_align_table(rows), "", "change due to each tolerance alone", *_align_table(each)))


def _property_row(of: MassPropertyValues | Body) -> Array:
    volume = np.nan if of.volume is None else of.volume
    return np.array((of.mass, volume, *of.center_of_mass, *of.principal_moments))


def _align_table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
