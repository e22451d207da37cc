"""Models from Python functions: `@ph.model`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from polhode.errors import InputError
from polhode.gallery.gallery_model import Model, ReferenceCheck
from polhode.gallery.knob import Knob
from polhode.own_models.model_file import OWN_THEME, RESERVED_NAMES, read_model
from polhode.web.stage import Stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.gallery.lesson import Lesson
    from polhode.scenario.scenario import Scenario

ScenarioFunction: TypeAlias = "Callable[..., Scenario | Mapping[str, Scenario]]"


@overload
def model(function: ScenarioFunction | str | Path) -> Model: ...
@overload
def model(
    *,
    title: str = "",
    source: str = "",
    numbers: Callable[..., Sequence[ReferenceCheck]] | None = None,
    picture: Callable[..., Figure] | None = None,
    stage: Stage | Callable[..., Stage] | None = None,
    lesson: Lesson | None = None,
) -> Callable[[ScenarioFunction], Model]: ...
def model(
    function: ScenarioFunction | str | Path | None = None,
    *,
    title: str = "",
    source: str = "",
    numbers: Callable[..., Sequence[ReferenceCheck]] | None = None,
    picture: Callable[..., Figure] | None = None,
    stage: Stage | Callable[..., Stage] | None = None,
    lesson: Lesson | None = None,
) -> Any:
    """Make a model of a function of knobs that returns a scenario, or read one from a scenario file with knobs.

    Call the model with values of its knobs to simulate it, or open it in the browser with `ph.lab`.

    Parameters
    ----------
    function : callable or path
        Every argument has a `ph.Knob` as its default; the function gets numbers, and returns a `ph.Scenario`, or a
        dictionary of scenarios by name.  Its docstring is the explanation.  Or the path of a scenario file.
    title : str, optional
        By default the name of the function.
    source : str, optional
        Where it comes from: a book, a lecture.
    numbers : callable, optional
        Takes the motion (or the motions by name) and every knob by name; returns a list of `ReferenceCheck`, numbers of
        the motion with those of a closed form, which the page shows.
    picture : callable, optional
        Takes the same, returns a Matplotlib figure; or a function decorated with `polhode.gallery.pictures.panels`.
    stage : Stage or callable, optional
        How the page shows it at first; or a function of every knob by name.
    lesson : Lesson, optional
        Formulas and steps to try.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.model(title="A thrown stone")
    ... def stone(speed=ph.Knob(5.0, 0.0, 20.0, "m/s", "upward")):
    ...     "It rises, and falls."
    ...     return ph.Scenario(ph.particle(1.0), ph.State(velocity=(0, 0, speed)), [ph.forces.gravity()], duration=1.0)
    >>> motion = stone(speed=8.0)
    >>> motion.final.position.round(6).tolist()
    [0.0, 0.0, 3.096675]
    >>> motion.model_run.values
    {'speed': 8.0}
    """
    if isinstance(function, str | Path):
        return read_model(function)

    def decorate(function: ScenarioFunction) -> Model:
        if not callable(function):
            raise InputError(f"ph.model makes a model of a function, or of a scenario file, not of {function!r}")
        called = getattr(function, "__name__", "model")
        return Model(
            name=called.strip("_").lower().replace("_", "-") or "model",
            title=title or called.strip("_").replace("_", " "),
            theme=OWN_THEME,
            source=source,
            explanation=inspect.cleandoc(function.__doc__ or ""),
            parameters=_knobs_of(function, called),
            scenario=_checked(function, called),
            numbers=numbers,
            picture=picture,
            stage=Stage() if stage is None else stage,
            lesson=lesson,
        )

    return decorate if function is None else decorate(function)


def _knobs_of(function: ScenarioFunction, called: str) -> tuple[Knob, ...]:
    knobs = []
    for name, argument in inspect.signature(function).parameters.items():
        if not isinstance(argument.default, Knob):
            found = "no default" if argument.default is argument.empty else f"the default {argument.default!r}"
            raise InputError(
                f"{called}: the argument {name} has {found}: give it a knob, {name}=ph.Knob(1.0, 0.0, 10.0, 'm', 'what "
                "it is'), or make it a constant outside the function"
            )
        if name in RESERVED_NAMES:
            raise InputError(f"{called}: the page or a command already uses the name {name!r}: choose another")
        knobs.append(replace(argument.default, name=name))
    return tuple(knobs)


def _checked(function: ScenarioFunction, called: str) -> ScenarioFunction:
    """The function, whose result is checked: a scenario, or scenarios by name."""

    def scenario(**values: float) -> Scenario | Mapping[str, Scenario]:
        from polhode.scenario.scenario import Scenario

        made = function(**values)
        several = isinstance(made, Mapping) and bool(made) and all(isinstance(name, str) for name in made)
        scenarios = list(made.values()) if isinstance(made, Mapping) else [made]
        if not (several or not isinstance(made, Mapping)) or not all(isinstance(one, Scenario) for one in scenarios):
            shown = "None: does it return what it makes?" if made is None else f"{type(made).__name__}."
            raise InputError(f"{called} must return a ph.Scenario, or scenarios by name, but returned {shown}")
        return made

    return scenario
