"""The scenario of a model as text: a Python script, or a scenario file."""

from __future__ import annotations

from collections.abc import Mapping

from polhode.errors import InputError, PolhodeError
from polhode.gallery import MODELS, Model
from polhode.scenario.scenario import Scenario
from polhode.scenario.scenario_python import format_arguments, scenario_as_python

TEXT_KINDS = ("python", "toml")


def model_as_text(kind: str, model: Model, values: Mapping[str, float], run: str = "") -> str:
    """The text of one run of a model with these values.

    Where a scenario has functions of its own, the Python of a model of the gallery runs the model instead.

    Examples
    --------
    >>> from polhode.gallery import MODELS
    >>> model = MODELS["thin-rod"]
    >>> "ph.Scenario(" in model_as_text("python", model, model.values())
    True
    """
    if kind == "toml" and model.toml is not None:
        return model.toml(values)
    scenario = _choose_run(model, values, run)
    if kind == "toml":
        return scenario.as_toml()
    title = f"{model.title}" + (f" ({run})" if run else "")
    try:
        return scenario_as_python(scenario, title)
    except PolhodeError:
        if MODELS.get(model.name) is not model:
            raise
    call = f'MODELS["{model.name}"]({format_arguments(values)})' + (f'["{run}"]' if run else "")
    return (
        f'"""{title}."""\n\nfrom polhode.gallery import MODELS\n\n'
        f"motion = {call}  # its forces or events are functions: see the source of the model\nprint(motion.audit())\n"
    )


def _choose_run(model: Model, values: Mapping[str, float], run: str) -> Scenario:
    scenarios = model.scenario(**values)
    if isinstance(scenarios, Scenario):
        return scenarios
    if not run:
        return next(iter(scenarios.values()))
    if run not in scenarios:
        raise InputError(f"{model.name} has no run {run[:80]!r}; it has {', '.join(scenarios)}")
    return scenarios[run]
