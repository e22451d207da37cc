"""Quantities of a user's own: `@ph.quantity`."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from polhode.errors import InputError, show
from polhode.quantities.quantity import Quantity, StateLaw, own_quantity
from polhode.quantities.table import QUANTITIES, MotionQuantities
from polhode.scenario.force import check_arguments, name_of_function
from polhode.validation import check_text, check_word

SIGNATURE = "(t, state, body)"
OWN_QUANTITIES: dict[str, Quantity] = {}
"""Those that were declared in this process, by name."""
COMPONENTS = {"": (), "world": ("axis",), "body": ("body_axis",)}
"""What `axes` of a user's own quantity may be, and what that means."""


def known_quantities() -> dict[str, Quantity]:
    """All quantities by name: those of the table, then those of the user."""
    return {**QUANTITIES, **OWN_QUANTITIES}


def quantity(
    unit: str, text: str = "", *, axes: str = "", symbol: str = "", name: str = ""
) -> Callable[[StateLaw], Quantity]:
    """Make a quantity of a plain function (t, state, body) -> number, or three numbers.

    Every motion has it as an attribute then, in its dataset, table and CSV, in plots and on its page; reductions and
    sweeps take it by its name, also at events.  The function is given what a force is given, and may be written with
    what a force may be written with.

    Parameters
    ----------
    unit : str
        Its unit, with exponents as in "kg m2 s-1"; "1" if it has none.
    text : str, optional
        What it is, for labels and documentation; by default the first line of the function's documentation, or its
        name.
    axes : {"", "world", "body"}, optional
        Of three numbers: the axes along which they are components.
    symbol : str, optional
        In plots, such as "E".
    name : str, optional
        By default the name of the function.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.quantity("J", "energy of the spin about axis 3")
    ... def spin_energy(t, state, body):
    ...     return body.moments[2] * state.angular_velocity_body[2] ** 2 / 2
    >>> top = ph.Body(mass=1.0, inertia=(0.02, 0.02, 0.03))
    >>> motion = ph.simulate(top, ph.State(angular_velocity_body=(0.1, 0.0, 20.0)), duration=1.0)
    >>> round(float(motion.spin_energy[-1]), 9)
    6.0
    """
    if callable(unit):  # @ph.quantity without its arguments
        raise InputError('a quantity needs its unit: @ph.quantity("m s-1")')
    check_text(unit, "the unit of a quantity")
    check_text(text, "the text of a quantity")
    check_text(symbol, "the symbol of a quantity")
    check_text(name, "the name of a quantity")
    check_word(axes, "axes", COMPONENTS)
    if not unit.strip():
        raise InputError('a quantity needs its unit, such as "m s-1"; "1" is that of a pure number')

    def declare(law: StateLaw) -> Quantity:
        called = name or name_of_function(law)
        _check_name(called)
        try:
            arguments = inspect.signature(law).parameters.values()
        except (TypeError, ValueError):
            raise InputError(
                f"@ph.quantity(...) goes before a Python function {SIGNATURE}, not before {show(law)}"
            ) from None
        rule = f"the function of a quantity takes 3: {SIGNATURE}"
        check_arguments(law, arguments, 3, rule, InputError)
        described = (inspect.getdoc(law) or "").strip().partition("\n")[0].strip().rstrip(".")
        words = text or described or called.replace("_", " ")
        made = own_quantity(called, unit, words, COMPONENTS[axes], symbol, law)
        OWN_QUANTITIES[called] = made
        return made

    return declare


def _check_name(name: str) -> None:
    if not name.isidentifier() or name.startswith("_"):
        raise InputError(f"a quantity is called as an attribute can be called, not {show(name)}: give it a name=...")
    if name == "time" or any(hasattr(motions, name) for motions in _classes(MotionQuantities)):
        raise InputError(f"motions have {name!r} already: choose another name")


def _classes(base: type) -> list[type]:
    """A class and all that inherit from it."""
    children: list[type] = base.__subclasses__()
    return [base, *(found for child in children for found in _classes(child))]
