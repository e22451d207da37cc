"""Added mass: the momentum that the fluid around a body has when the body moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.inertia import BodyConstants
from polhode.equations.quaternions import to_body
from polhode.errors import InertiaError, ScenarioError
from polhode.scenario.members import select_members
from polhode.scenario.own_functions import Finder
from polhode.scenario.part import Extension, Plain, ScenarioPart, Start
from polhode.scenario.setting import Setting
from polhode.scenario.state import State
from polhode.scenario.tensors import invert, matrix_entries
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario


class AddedMassPart(ScenarioPart):
    """A symmetric 6 x 6 matrix for each body; zeros for a body of a system without."""

    setting = Setting(
        "added_mass",
        "ArrayLike | Sequence[ArrayLike | None] | None",
        "tuple[Array, ...] | None",
        "None",
        "array_like, optional",
        "6 x 6, symmetric: the momentum that the fluid around a body has when it moves, about the center of mass, body "
        "axes, velocity before rotation, in kg, kg m and kg m2.  Of a system: a list, with None for bodies without.",
        in_file=False,
    )
    words = "added mass"
    extends = True

    def check(self, given: Any, bodies: Any) -> tuple[Array, ...] | None:
        if given is None:
            return None
        if not isinstance(bodies, (list, tuple)):
            is_wrapped = isinstance(given, (list, tuple)) and len(given) == 1
            return (_check_matrix(given[0] if is_wrapped else given),)
        each = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given]
        if len(each) != len(bodies):
            raise ScenarioError(
                f"added_mass of {len(bodies)} bodies must be a list of as many 6 x 6 matrices, with None for a body "
                f"without, but {len(each)} were given"
            )
        return tuple(np.zeros((6, 6)) if one is None else _check_matrix(one) for one in each)

    def validate(self, scenario: Scenario) -> None:
        if scenario.form.is_held:
            raise ScenarioError("a body with added mass cannot have a pivot yet: leave out the pivot, or added_mass")
        if any(part.moves_clock for part in scenario.parts):
            raise ScenarioError("a body with added mass cannot have a mass that changes yet: leave out one of the two")
        if any(body.is_particle for body in scenario.bodies):
            raise ScenarioError("added mass acts on bodies that turn, not on particles: give moments of inertia")

    def lengths(self, held: Any) -> set[int]:
        return {len(matrix) for matrix in held or () if matrix.ndim > 2}

    def select(self, held: Any, members: Any) -> Any:
        return None if held is None else tuple(select_members(matrix, 2, members) for matrix in held)

    def obstacle(self, scenario: Scenario) -> str | None:
        return "a fluid adds mass"

    def extend(self, scenario: Scenario, i: int, extension: Extension) -> Extension:
        constants, tensor = extension
        inverse = invert(_mass_matrix(scenario.bodies[i].mass, tensor, self._matrix(scenario, i)))
        added = (matrix_entries(inverse[..., :3, :3]), matrix_entries(inverse[..., :3, 3:]))
        return Extension(constants._replace(inverse_tensor=matrix_entries(inverse[..., 3:, 3:]), added=added), tensor)

    def start(self, scenario: Scenario, i: int, constants: BodyConstants) -> Start:
        moved = np.einsum("...ij,...j->...i", self._matrix(scenario, i), _motion_of(scenario.states[i]))
        return Start(as_leaves(moved[..., :3]), as_leaves(moved[..., 3:]))

    def _matrix(self, scenario: Scenario, i: int) -> Array:
        assert scenario.added_mass is not None
        return scenario.added_mass[i]

    def table(self, held: Any, plain: Plain, is_system: bool) -> Any:
        matrices = [plain(matrix) for matrix in held]
        return matrices if is_system else matrices[0]

    def read(self, given: Any, is_system: bool, find: Finder) -> Any:
        """One matrix, or a list of them for a system, in which zeros stand for none."""
        if not is_system or not isinstance(given, list):
            return given
        return [np.asarray(matrix, dtype=np.float64) for matrix in given]


def _check_matrix(given: Any) -> Array:
    matrix = validation.check_numbers(given, "added_mass", (6, 6), ScenarioError)
    size = np.sqrt(np.abs(np.diagonal(matrix, axis1=-2, axis2=-1)))
    scale = size[..., :, None] * size[..., None, :] + np.abs(matrix).max() * np.finfo(float).eps
    off = np.abs(matrix - matrix.swapaxes(-1, -2))
    if (off > 1e-9 * scale).any():
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(off.reshape(-1, 6, 6).max(axis=0))), (6, 6)))
        a, b = (float(np.ravel(matrix[..., r, c])[0]) for r, c in ((i, j), (j, i)))
        raise ScenarioError(
            f"added_mass must be symmetric, but entry ({i}, {j}) is {a:g} and entry ({j}, {i}) is {b:g}: average the "
            "two if a solver found them, (A + A.T)/2, and ask why they differ"
        )
    return np.asarray((matrix + matrix.swapaxes(-1, -2)) / 2)


def _mass_matrix(mass: Any, tensor: Array, added: Array) -> Array:
    """The 6 x 6 matrix of a body and the fluid around it; its total must resist every motion."""
    members = np.broadcast_shapes(np.shape(mass), tensor.shape[:-2], added.shape[:-2])
    total = np.zeros((*members, 6, 6))
    total[..., :3, :3], total[..., 3:, 3:] = np.asarray(mass)[..., None, None] * np.eye(3), tensor
    total = total + added
    size = np.sqrt(np.abs(np.diagonal(total, axis1=-2, axis2=-1)))
    scaled_total = total / np.where(size > 0, size, 1)[..., :, None] / np.where(size > 0, size, 1)[..., None, :]
    if not np.linalg.eigvalsh(scaled_total).min() > 0:
        raise InertiaError(
            "the mass matrix of the body and its added mass is not positive definite: some motion would have no "
            "inertia, or a negative one. Are the entries in SI units, about the center of mass, in body axes, velocity "
            "before rotation?"
        )
    return total


def _motion_of(state: State) -> Array:
    """(v, w) in body axes."""
    velocity = to_body(as_leaves(state.quaternion_wxyz), as_leaves(state.velocity))
    return np.stack(np.broadcast_arrays(*velocity, *as_leaves(state.angular_velocity_body)), axis=-1)
