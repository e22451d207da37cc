"""Draws the counterparts of the texts' figures of concepts, from bodies and motions: python docs/pictures/figures.py

docs/reference/figures.md says which picture stands for which figure.
"""
# ruff: noqa: RUF001  (the letters of formulas)

from pathlib import Path

import meshio
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.gallery.drawing import GalleryScene as Scene
from polhode.plot.scene import world_camera
from polhode.plot.style import AXIS_COLORS, COLORS, styled_figure

HERE = Path(__file__).parent / "figures"
ANGLE = np.array([(0, 0), (1.2, 0), (1.2, 0.3), (0.3, 0.3), (0.3, 0.9), (0, 0.9)])
BODY = ph.shapes.prism(ANGLE, 0.4, density=1000.0)
POINT = np.array((1.2, 0.15, 0.4)) - BODY.center_of_mass
CORNER = np.array((0.0, 0.9, 0.4)) - BODY.center_of_mass
"""Points of the body, from its centre of mass."""
START = ph.State(
    position=(1.3, 0.9, 0.75),
    orientation=Rotation.from_euler("ZXZ", (25, 35, 20), degrees=True),
    velocity=(0.9, 0.2, 0.45),
    angular_velocity=(0.2, -0.5, 1.3),
)
INK, MUTED, OMEGA, SPIN = COLORS["ink"], COLORS["muted"], COLORS["omega"], COLORS["L"]
GREEN, TORQUE, WAY = COLORS["translational"], COLORS["torque"], COLORS["path"]
NEAR = 20.0
"""So many m towards the eye lies what nothing shall hide."""


def motion():
    """The body flies and tumbles freely for a second."""
    return ph.simulate(BODY, START, duration=1.0, output_step=0.01, method="exact")


def panels(figure, count):
    """Axes side by side, as large as the sheet allows: names may reach over their edges."""
    width = 1 / count
    return [figure.add_axes((k * width + 0.012, 0.03, width - 0.03, 0.82)) for k in range(count)]


def drawn(scene, axes, title, below=0.0):
    """The scene, as large as its panel allows, with a share of the height left free below it."""
    shape = axes.get_window_extent()
    scene.draw(axes, title, margin=0.1)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    low -= below * (high - low)
    width = max(right - left, (high - low) * shape.width / shape.height)
    height = width * shape.height / shape.width
    axes.set_xlim((left + right - width) / 2, (left + right + width) / 2)
    axes.set_ylim((low + high - height) / 2, (low + high + height) / 2)


def arrow(scene, start, vector, color, name, width=2.0):
    """An arrow that nothing hides."""
    scene.arrow(scene.toward(start, NEAR), vector, color, name, width)


def dot(scene, point, name="", color=INK):
    """A dot that nothing hides."""
    scene.dot(scene.toward(point, NEAR), color, label=name)


def dashed(scene, points, color=MUTED):
    """A dashed line that nothing hides."""
    scene.line(scene.toward(points, NEAR), color, width=1.1, style=(0, (4, 3)))


def frames():
    """Body space, world space, and the columns of R.  [000 figures 1, 2; 001 figure 2.1]"""
    run = motion()
    place, turn = run.position[0], run.rotation_matrix[0]
    with styled_figure(12.0, 4.8, "Body space and world space", constrained=False) as figure:
        left, middle, right = panels(figure, 3)
        own = Scene(world_camera(0.5, 0.45))
        own.body(BODY)
        for i, name in enumerate("xyz"):
            arrow(own, (0, 0, 0), 0.85 * np.eye(3)[i], AXIS_COLORS[i], name)
        dot(own, (0, 0, 0))
        arrow(own, (0, 0, 0), CORNER, INK, "p₀")
        drawn(own, left, "body space, from the centre of mass")
        world = Scene(world_camera(0.5, 0.35))
        world.body(BODY, place, turn)
        world.world_axes(0.9)
        arrow(world, (0, 0, 0), place, WAY, "")
        world.text(world.toward(0.55 * place, NEAR), "x(t)", WAY, (6, -8))
        for i, name in enumerate(("x′", "y′", "z′")):
            arrow(world, place, 0.85 * turn[:, i], AXIS_COLORS[i], name)
        arrow(world, (0, 0, 0), run.points(CORNER)[0], INK, "p(t)")
        dashed(world, (place, run.points(CORNER)[0]), INK)
        world.text(world.toward((place + run.points(CORNER)[0]) / 2, NEAR), "R(t) p₀", INK, (-12, -14))
        drawn(world, middle, "world space: p(t) = x(t) + R(t) p₀")
        _columns(right, turn)
    return figure


def _columns(axes, turn):
    """The body's axes in the world, and the matrix of which they are the columns."""
    scene = Scene(world_camera(0.5, 0.35))
    scene.world_axes(1.15)
    for i, name in enumerate(("x′", "y′", "z′")):
        scene.arrow((0, 0, 0), turn[:, i], AXIS_COLORS[i], name, 2.6)
    drawn(scene, axes, "the columns of R(t) are the body's axes", below=0.4)
    axes.text(0.12, 0.1, "R(t) =", transform=axes.transAxes, ha="right", va="center", fontsize=11)
    for i in range(3):
        column = "\n".join(f"{entry:+.3f}" for entry in turn[:, i])
        place = {"transform": axes.transAxes, "ha": "center", "va": "center", "fontsize": 11, "linespacing": 1.5}
        axes.text(0.27 + 0.24 * i, 0.1, column, color=AXIS_COLORS[i], **place)


def velocities():
    """v and omega, a rotating vector, and the velocity of a point.  [000 figures 3, 4, 5; 001 figure 2.2]"""
    run = motion()
    place, turn = run.position[0], run.rotation_matrix[0]
    v, w = run.velocity[0], run.angular_velocity[0]
    with styled_figure(
        12.0, 4.8, "Velocity, angular velocity, and the velocity of a point", constrained=False
    ) as figure:
        left, middle, right = panels(figure, 3)
        scene = Scene(world_camera(0.3, 0.35))
        scene.body(BODY, place, turn)
        dashed(scene, (place - 0.6 * w, place + 0.7 * w), OMEGA)
        arrow(scene, place, 0.7 * w, OMEGA, "ω(t)")
        arrow(scene, place, v, GREEN, "v(t)")
        dot(scene, place)
        scene.text(scene.toward(place, NEAR), "x(t)", INK, (-8, -3))
        drawn(scene, left, "it moves with v and turns about ω")
        _rotating_vector(middle, w)
        _point_velocity(right, run)
    return figure


def _rotating_vector(axes, w):
    """r = a + b: the tip goes round on a circle of radius |b|, at |omega||b|, as a simulated body shows."""
    spun = ph.simulate(
        ph.shapes.sphere(1.0, mass=1.0),
        ph.State(angular_velocity=w),
        duration=2 * np.pi / np.linalg.norm(w),
        output_step=2 * np.pi / np.linalg.norm(w) / 72,
        method="exact",
    )
    r = np.array((0.9, 0.3, 0.75))
    tips, speeds = spun.points(r), spun.point_velocities(r)
    axis = w / np.linalg.norm(w)
    a = (r @ axis) * axis
    scene = Scene(world_camera(0.3, 0.35))
    scene.line(tips, MUTED, width=1.6)
    scene.arrow((0, 0, 0), 1.15 * w, OMEGA, "ω")
    k = 66
    along = (tips[k] @ axis) * axis
    scene.arrow((0, 0, 0), tips[k], INK, "")
    scene.text(tips[k] / 2, "r", INK, (8, -4))
    scene.arrow((0, 0, 0), along, AXIS_COLORS[2], "", 3.0)
    scene.text(along / 2, "a", AXIS_COLORS[2], (-9, 0))
    scene.arrow(along, tips[k] - along, AXIS_COLORS[0], "")
    scene.text((along + tips[k]) / 2, "b", AXIS_COLORS[0], (2, 8))
    scene.arrow(tips[k], 0.5 * speeds[k], GREEN, "r′ = ω × r")
    scene.dot((0, 0, 0), INK)
    drawn(scene, axes, "a rotating vector: a circle of radius |b|")
    b, speed = np.linalg.norm(r - a), np.linalg.norm(speeds[k])
    words = f"|b| = {b:.3f} m, |r′| = {speed:.3f} m/s = |ω||b|"
    axes.text(0.5, 0.05, words, transform=axes.transAxes, ha="center", va="top")


def _point_velocity(axes, run):
    """v + omega x (r - x) as two arrows, and their sum."""
    place, turn, at = run.position[0], run.rotation_matrix[0], run.points(CORNER)[0]
    v, w, total = (0.8 * a[0] for a in (run.velocity, run.angular_velocity, run.point_velocities(CORNER)))
    scene = Scene(world_camera(0.3, 0.35))
    scene.body(BODY, place, turn)
    dashed(scene, (place, at))
    arrow(scene, place, v, GREEN, "v")
    arrow(scene, at, v, GREEN, "")
    arrow(scene, at + v, np.cross(w, at - place), OMEGA, "")
    scene.text(scene.toward(at + v + np.cross(w, at - place) / 2, NEAR), "ω × (r - x)", OMEGA, (8, 0))
    arrow(scene, at, total, INK, "r′", 2.6)
    dot(scene, place)
    dot(scene, at)
    scene.text(scene.toward(place, NEAR), "x", INK, (-8, 0))
    scene.text(scene.toward(at, NEAR), "r", INK, (2, -9))
    drawn(scene, axes, "velocity of a point: r′ = v + ω × (r - x)")


def loads():
    """Torque of a force, forces and moments, and a general body.  [000 figure 6; 001 figures 2.3, 2.4]"""
    run = motion()
    place, turn = run.position[0], run.rotation_matrix[0]
    at = run.points(POINT)[0]
    force = np.array((0.2, 0.75, 0.35))
    with styled_figure(12.0, 4.8, "Force, torque and momenta", constrained=False) as figure:
        left, middle, right = panels(figure, 3)
        scene = Scene(world_camera(0.3, 0.35))
        scene.body(BODY, place, turn)
        arrow(scene, place, at - place, WAY, "")
        scene.text(scene.toward((place + at) / 2, NEAR), "r - x", WAY, (-4, -10))
        arrow(scene, at, force, INK, "F")
        arrow(scene, place, 1.6 * np.cross(at - place, force), TORQUE, "τ = (r - x) × F", 2.6)
        dot(scene, place)
        drawn(scene, left, "the torque of a force at a point")
        _several_forces(middle)
        _momenta(right)
    return figure


def _momenta(axes):
    """A body with its mass, its velocity, and both momenta."""
    tumbling = START.replace(angular_velocity_body=(1.0, 0.35, 0.5))
    run = ph.simulate(BODY, tumbling, duration=1.0, output_step=0.5, method="exact")
    place, spin = run.position[0], run.angular_momentum[0]
    scene = Scene(world_camera(0.3, 0.35))
    scene.body(BODY, place, run.rotation_matrix[0])
    arrow(scene, place, 1.25 * run.velocity[0], INK, "P = m v")
    arrow(scene, scene.toward(place, NEAR), 0.75 * run.velocity[0], GREEN, "", 3.0)
    scene.text(scene.toward(place + 0.5 * run.velocity[0], NEAR), "v", GREEN, (4, -8))
    arrow(scene, place, 0.8 * run.angular_velocity[0], OMEGA, "ω")
    arrow(scene, place, 0.95 * spin / np.linalg.norm(spin), SPIN, "L = I ω")
    dot(scene, place)
    drawn(scene, axes, f"m = {BODY.mass:.0f} kg, v, P and L; L is not along ω")


def _several_forces(axes):
    """Three forces on the body at rest, their sum and the sum of their torques as the equations of motion see them."""
    points = (POINT, np.array((0.0, 0.9, 0.2)) - BODY.center_of_mass, np.array((0.6, 0.0, 0.2)) - BODY.center_of_mass)
    forces = ((-0.1, -0.1, -0.6), (0.5, -0.1, 0.2), (0.1, 0.45, 0.4))
    state = START.replace(velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    acting = [ph.forces.force_at(f, p) for f, p in zip(forces, points, strict=True)]
    rate = ph.Scenario(BODY, state, acting, duration=1.0).derivative(0.0, state.to_array(BODY))
    scene = Scene(world_camera(0.3, 0.35))
    place, turn = state.position, state.orientation.as_matrix()
    scene.body(BODY, place, turn)
    for n, (force, point) in enumerate(zip(forces, points, strict=True)):
        scene.force(scene.toward(place + turn @ point, NEAR), force, f"F{'₁₂₃'[n]}")
    arrow(scene, place, rate[7:10], GREEN, "P′ = ΣF", 2.6)
    arrow(scene, place, rate[10:13], TORQUE, "L′ = Στ", 2.6)
    dot(scene, place)
    drawn(scene, axes, "several forces, and what they change")


def turning():
    """A rotation by theta about an axis.  [001 figure 3.1]"""
    axis, angle = np.array((0.3, -0.25, 0.92)), np.radians(70)
    axis /= np.linalg.norm(axis)
    round_body, spin = ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0)), ph.State(angular_velocity=angle * axis)
    run = ph.simulate(round_body, spin, duration=1.0, output_step=1 / 40, method="exact")
    path = run.points(POINT)
    with styled_figure(12.0, 5.6, "A rotation, and an element of mass", constrained=False) as figure:
        left, right = panels(figure, 2)
        scene = Scene(world_camera(0.35, 0.4))
        scene.body(BODY, alpha=0.35)
        scene.body(BODY, scene.toward((0, 0, 0), 3.0), run.rotation_matrix[-1])
        dashed(scene, (-0.7 * axis, 1.3 * axis), INK)
        arrow(scene, 0.85 * axis, 0.5 * axis, INK, "λ", 2.6)
        scene.line(scene.toward(path, NEAR), OMEGA, width=2.0)
        foot = (POINT @ axis) * axis
        dashed(scene, (path[0], foot, path[-1]))
        dot(scene, path[0], color=MUTED)
        dot(scene, path[-1], color=OMEGA)
        scene.text(scene.toward(path[20], NEAR), "θ", OMEGA, (8, -2))
        drawn(scene, left, "turned by θ = 70° about λ: q = (cos θ/2, λ sin θ/2)")
        _element(right)
    return figure


def _bent_bar():
    """A bar of 12 x 3 x 3 hexahedra, bent into a quarter of a ring."""
    counts = (12, 3, 3)
    i, j, k = (np.arange(n + 1) for n in counts)
    grid = np.stack(np.meshgrid(i, j, k, indexing="ij"), axis=-1).reshape(-1, 3)
    turn, radius, height = grid[:, 0] / 12 * 2.0, 0.7 + grid[:, 1] / 3 * 0.5, grid[:, 2] / 3 * (0.35 + grid[:, 0] / 40)
    points = np.stack((radius * np.cos(turn), radius * np.sin(turn), height), axis=1)
    number = np.arange(len(grid)).reshape(13, 4, 4)
    corner = number[:-1, :-1, :-1].ravel()
    steps = [number[a, b, c] for c in (0, 1) for a, b in ((0, 0), (0, 1), (1, 1), (1, 0))]
    return meshio.Mesh(points, [("hexahedron", corner[:, None] + np.array(steps))])


def _element(axes):
    """One cell of a volume mesh: r to its middle, dm = rho dV, and the centre of mass of all cells."""
    mesh = _bent_bar()
    body = ph.Body.from_volume_mesh(mesh, density=lambda x, y, z: 1000.0 + 500.0 * z)
    scene = Scene(world_camera(0.5, 0.65))
    solid = body.mesh()
    scene.body(solid)
    cell = mesh.points[mesh.cells[0].data[3 * 3 * 4 + 3 + 2]]
    faces = np.array([(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)])
    triangles = np.concatenate((faces[:, :3], faces[:, [0, 2, 3]]))
    scene.surface(scene.toward(cell, 3.0), triangles, AXIS_COLORS[0])
    for face in faces:
        scene.line(scene.toward(cell[[*face, face[0]]], 4.0), INK, width=0.7)
    middle = cell.mean(axis=0)
    scene.world_axes(0.55)
    arrow(scene, (0, 0, 0), middle, INK, "")
    scene.text(scene.toward(0.55 * middle, NEAR), "r", INK, (4, -9))
    rightmost = cell[np.argmax(cell @ scene.camera.right)]
    scene.text(scene.toward(rightmost, NEAR), "dm = ρ dV", AXIS_COLORS[0], (34, 6))
    arrow(scene, (0, 0, 0), body.center_of_mass, GREEN, "")
    dot(scene, body.center_of_mass, color=GREEN)
    scene.text(scene.toward(body.center_of_mass, NEAR), "centre of mass ∫ r dm / m", GREEN, (-8, 12))
    drawn(scene, axes, f"108 cells of a volume mesh: m = ∫ ρ dV = {body.mass:.1f} kg")


FIGURES = (frames, velocities, loads, turning)

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for draw in FIGURES:
        draw().savefig(HERE / f"{draw.__name__}.png", dpi=100)
