"""The cell types: each is a polynomial map of the unit cube, of which faces or edges may be collapsed.

A wedge is a cube with one face collapsed to an edge, a pyramid one with a face collapsed to a point, a tetrahedron one
with both.  In the cube's coordinates the shape functions of all types are polynomials, even those of the pyramid, which
are rational elsewhere: of degree 1 in each direction for linear cells, 2 for quadratic ones.  So a cell is determined
by 8 or 27 points: the images of the cube's lattice, each a fixed combination of the nodes.  All integration is done on
these bricks of 8 or 27 points.

Nodes are in meshio's order, which is VTK's except for the wedge: its corners 0, 1, 2 are counterclockwise seen from
3, 4, 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from polhode.massprops.geometry import Indices
from polhode.validation import Array


@dataclass(frozen=True, eq=False)
class CellType:
    """A cell type."""

    name: str
    family: str
    order: int
    """1 or 2: the degree of the map in each direction of the cube."""
    jacobian_degrees: tuple[int, int, int]
    """The degree of the Jacobian determinant in each direction of the cube."""
    reference: Array
    """Node positions of the reference cell, (n, 3)."""
    corners: int
    shape: Callable[[Array], Array]
    """Shape functions (m, n) at points (m, 3) in the family's own coordinates."""
    brick: Array
    """The brick's 8 or 27 points as combinations of the nodes, (8 or 27, n)."""
    faces: tuple[tuple[int, ...], ...]
    """Each face's nodes, oriented outward: corners, then edge midpoints, then its center."""
    mirrored: tuple[int, ...]
    """The node order that inverts the cell."""


# Shape functions ------------------------------------------------------------------------------------------------------
def _barycentric(r: Array, s: Array, t: Array | float = 0.0) -> list[Array]:
    return [1 - r - s - t, r, s] + ([t] if isinstance(t, np.ndarray) else [])


def _tetra_shape_functions(order: int) -> Callable[[Array], Array]:
    """L_i; or L_i (2 L_i - 1) at the corners and 4 L_i L_j between them."""

    def shape(points: Array) -> Array:
        L = _barycentric(*points.T)
        if order == 1:
            return np.stack(L, axis=-1)
        return np.stack([l * (2 * l - 1) for l in L] + [4 * L[i] * L[j] for i, j in CELL_EDGES["tetra"]], axis=-1)  # noqa: E741

    return shape


def _wedge_shape_functions(nodes: int) -> Callable[[Array], Array]:
    """Triangle times line shape functions; with 15 nodes the serendipity ones, without the products of bubbles."""

    def shape(points: Array) -> Array:
        r, s, z = points.T
        L = _barycentric(r, s)
        if nodes == 6:
            return np.stack([l * line for line in (1 - z, z) for l in L], axis=-1)  # noqa: E741
        low, high, middle = (1 - z) * (1 - 2 * z), z * (2 * z - 1), 4 * z * (1 - z)
        between = [(0, 1), (1, 2), (2, 0)]
        if nodes == 18:
            T = [l * (2 * l - 1) for l in L] + [4 * L[i] * L[j] for i, j in between]  # noqa: E741
            ends = [t * line for part in (T[:3], T[3:]) for line in (low, high) for t in part]
            return np.stack(ends + [t * middle for t in T], axis=-1)
        corners = [
            l * ((2 * l - 1) * line - middle / 2)
            for line in (1 - z, z)
            for l in L  # noqa: E741
        ]
        edges = [4 * L[i] * L[j] * line for line in (1 - z, z) for i, j in between]
        return np.stack(corners + edges + [l * middle for l in L], axis=-1)  # noqa: E741

    return shape


def _pyramid_shape_functions(nodes: int) -> Callable[[Array], Array]:
    """The usual shape functions of the pyramid, with a, b in -1..1 on the square, height w, and h = 1 - w

    corners       h (1 -+ a) (1 -+ b) (-+ a h -+ b h - 1) / 4
    base edges    h^2 (1 - a^2) (1 -+ b) / 2
    side edges    w h (1 -+ a) (1 -+ b),     apex  w (2 w - 1),     base center  h^2 (1 - a^2) (1 - b^2).
    """
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))

    def shape(points: Array) -> Array:
        a, b, w = 2 * points[:, 0] - 1, 2 * points[:, 1] - 1, points[:, 2]
        h = 1 - w
        hats = [(1 + i * a) * (1 + j * b) for i, j in signs]
        if nodes == 5:
            return np.stack([h * hat / 4 for hat in hats] + [w], axis=-1)
        corners = [h * hat * (h * (i * a + j * b) - 1) / 4 for hat, (i, j) in zip(hats, signs, strict=True)]
        base = [h * h * (1 - a * a) * (1 - b) / 2, h * h * (1 - b * b) * (1 + a) / 2]
        base += [h * h * (1 - a * a) * (1 + b) / 2, h * h * (1 - b * b) * (1 - a) / 2]
        functions = [*corners, w * (2 * w - 1), *base, *(w * h * hat for hat in hats)]
        if nodes == 14:
            center = h * h * (1 - a * a) * (1 - b * b)
            functions[:4] = [f + center / 4 for f in functions[:4]]
            functions[5:9] = [f - center / 2 for f in functions[5:9]]
            functions.append(center)
        return np.stack(functions, axis=-1)

    return shape


def _hexahedron_shape_functions(nodes: int, reference: Array) -> Callable[[Array], Array]:
    """Products of line shape functions; with 20 nodes the serendipity ones."""

    def shape(points: Array) -> Array:
        if nodes != 20:
            lines = line_shape_functions(1 if nodes == 8 else 2, points)[0]
            steps = np.rint(reference * (1 if nodes == 8 else 2)).astype(int)
            return np.stack([lines[:, 0, i] * lines[:, 1, j] * lines[:, 2, k] for i, j, k in steps], axis=-1)
        x, place = 2 * points[:, None, :] - 1, 2 * reference - 1
        factors = np.where(place == 0, 1 - x * x, 1 + x * place)
        bent = (x * place).sum(axis=-1) - 2
        is_corner = np.all(place != 0, axis=-1)
        return np.asarray(factors.prod(axis=-1) * np.where(is_corner, bent / 8, 1 / 4))

    return shape


# The cube -------------------------------------------------------------------------------------------------------------
def line_shape_functions(order: int, x: Array) -> tuple[Array, Array]:
    """Shape functions of a line with 2 or 3 nodes, at 0, 1/2 and 1, and their derivatives; nodes last."""
    if order == 1:
        return np.stack((1 - x, x), axis=-1), np.stack((np.full_like(x, -1.0), np.ones_like(x)), axis=-1)
    values = ((1 - x) * (1 - 2 * x), 4 * x * (1 - x), x * (2 * x - 1))
    return np.stack(values, axis=-1), np.stack((4 * x - 3, 4 - 8 * x, 4 * x - 1), axis=-1)


def cube_lattice(steps: int) -> Array:
    """Lattice points of the unit cube with this number of steps per direction, the last varying fastest."""
    return np.array(list(product(np.arange(steps + 1) / steps, repeat=3)))


def cube_to_reference(family: str, cube: Array) -> Array:
    """From the cube's coordinates to those of the family's shape functions.

    A tetrahedron is (u, v (1 - u), w (1 - u) (1 - v)), a wedge is (u, v (1 - u), w).
    """
    u, v, w = cube.T
    if family == "tetra":
        return np.stack((u, v * (1 - u), w * (1 - u) * (1 - v)), axis=-1)
    if family == "wedge":
        return np.stack((u, v * (1 - u), w), axis=-1)
    return cube


# Cell types -----------------------------------------------------------------------------------------------------------
REFERENCE_CORNERS: dict[str, list[tuple[float, float, float]]] = {
    "tetra": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "pyramid": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 1)],
    "wedge": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)],
    "hexahedron": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
}
CELL_EDGES: dict[str, list[tuple[int, int]]] = {
    "tetra": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
    "pyramid": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)],
    "wedge": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    "hexahedron": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
}
CELL_FACES: dict[str, list[tuple[int, ...]]] = {
    "tetra": [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)],
    "pyramid": [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
    "wedge": [(0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5), (0, 2, 1), (3, 4, 5)],
    "hexahedron": [(0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7)],
}
"""The faces, oriented outward, in the order in which VTK numbers their centers."""

_CELL_TYPE_ROWS = (
    ("tetra", "tetra", 4, (2, 1, 0)),
    ("tetra10", "tetra", 10, (5, 4, 3)),
    ("pyramid", "pyramid", 5, (1, 1, 2)),
    ("pyramid13", "pyramid", 13, (5, 5, 5)),
    ("pyramid14", "pyramid", 14, (5, 5, 5)),
    ("wedge", "wedge", 6, (2, 1, 2)),
    ("wedge15", "wedge", 15, (5, 4, 5)),
    ("wedge18", "wedge", 18, (5, 4, 5)),
    ("hexahedron", "hexahedron", 8, (2, 2, 2)),
    ("hexahedron20", "hexahedron", 20, (5, 5, 5)),
    ("hexahedron27", "hexahedron", 27, (5, 5, 5)),
)
"""Name, family, nodes, and the degrees of the Jacobian determinant.

A column of the Jacobian loses one degree in its own direction, so a map of degree k in each direction has a determinant
of degree 3 k - 1 in each: 2 or 5.  In the own coordinates of a tetrahedron, with total degrees, it is 3 (k - 1); the
cube adds (1 - u)^2 (1 - v).  For a wedge it is 3 k - 2 in the triangle's two, and the cube adds 1 - u.
A linear pyramid is a cone over a surface A(u, v) = c + e u + f v + g u v: u^2 would come with (e x g) . e, which is 0.
"""


def _build_cell_type(name: str, family: str, nodes: int, jacobian_degrees: tuple[int, int, int]) -> CellType:
    corners = np.array(REFERENCE_CORNERS[family], dtype=float)
    order = 1 if nodes == len(corners) else 2
    middles = [corners[list(edge)].mean(axis=0) for edge in CELL_EDGES[family]]
    centers = [corners[list(face)].mean(axis=0) for face in CELL_FACES[family] if len(face) == 4]
    listed: list[Array] = [*corners, *middles, *centers, np.full(3, 0.5)]
    reference = np.array(listed[:nodes])
    shapes = {
        "tetra": _tetra_shape_functions(order),
        "wedge": _wedge_shape_functions(nodes),
        "pyramid": _pyramid_shape_functions(nodes),
    }
    shape = shapes.get(family) or _hexahedron_shape_functions(nodes, reference)
    number = {tuple(place): i for i, place in enumerate(reference.tolist())}

    def face_nodes(face: tuple[int, ...]) -> tuple[int, ...]:
        edges = [corners[[i, j]].mean(axis=0) for i, j in zip(face, face[1:] + face[:1], strict=True)]
        wanted = [tuple(place.tolist()) for place in (*edges, corners[list(face)].mean(axis=0))]
        return face + tuple(number[place] for place in wanted if order == 2 and place in number)

    return CellType(
        name,
        family,
        order,
        jacobian_degrees,
        reference,
        len(corners),
        shape,
        brick=shape(cube_to_reference(family, cube_lattice(order))),
        faces=tuple(face_nodes(face) for face in CELL_FACES[family]),
        mirrored=tuple(number[y, x, z] for x, y, z in reference.tolist()),
    )


CELL_TYPES = {row[0]: _build_cell_type(*row) for row in _CELL_TYPE_ROWS}

FOREIGN_NODE_ORDERS = {
    "hexahedron20": {"Exodus": (*range(12), *range(16, 20), *range(12, 16))},
    "hexahedron27": {"Exodus": (*range(12), *range(16, 20), *range(12, 16), 23, 24, 25, 26, 21, 22, 20)},
    "wedge15": {"Exodus": (*range(9), 12, 13, 14, 9, 10, 11)},
    "wedge18": {
        "Exodus": (*range(9), 12, 13, 14, 9, 10, 11, 15, 16, 17),
        "Gmsh": (*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16),
    },
    "pyramid14": {"Gmsh": (*range(5), 5, 8, 10, 6, 7, 9, 11, 12, 13)},
}
"""Node orders of other programs: our node i is theirs at order[i].

meshio (5.3.5) does not reorder these, so the same type name has several orders.
"""


def reorder_nodes(kind: str, cells: Indices, nodes: Array) -> tuple[Indices, str | None]:
    """The cells with their nodes in our order, and the program whose order they had, if another.

    The right order is the one with midpoints nearest to the middles of their edges.
    """
    found = CELL_TYPES[kind]
    straight = found.reference[found.corners :]
    first = CELL_TYPES[found.family]
    own = straight
    if found.family == "pyramid":  # from position to square and height
        height = straight[:, 2:]
        own = np.hstack((0.5 + (straight[:, :2] - 0.5) / (1 - height), height))
    middles = np.einsum("mn,cnk->cmk", first.shape(own), nodes[cells[:, : found.corners]])

    def misfit(order: tuple[int, ...]) -> float:
        return float(np.square(nodes[cells[:, list(order[found.corners :])]] - middles).sum())

    orders: dict[str | None, tuple[int, ...]] = {None: tuple(range(len(found.reference)))}
    orders.update(FOREIGN_NODE_ORDERS.get(kind, {}))
    best = min(orders, key=lambda name: misfit(orders[name]))
    return cells[:, list(orders[best])], best
