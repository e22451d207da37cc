"""What can be done with a motion besides asking for numbers: audit it, draw it, watch it, store it, hand it on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.results.audit import Audit


class Doors:
    """The ways out of a motion.  Each loads what it needs when it is used."""

    def audit(self: Any) -> Audit:
        """What should have been conserved, given the forces, and by how much it was not."""
        from polhode.results.audit import audit_motion

        return audit_motion(self)

    def plot(self: Any) -> Figure:
        """A picture of the motion: angular velocity, where it went, energies, and what was conserved how well."""
        from polhode.plot import overview

        return overview(self)

    def show(self: Any) -> Path:
        """Open the motion in the browser, as the page that `export_html` writes; gives back where that page lies."""
        from polhode.web.html_page import open_motion_page

        return open_motion_page(self)

    def export_html(self: Any, path: str | Path) -> None:
        """Write the motion as one page that opens by a double click, with no network.

        Two views, plots and playback; its numbers are rounded to 32 bits and thinned out to what the eye can use.  The
        original ones are for `save`.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.export_html(pathlib.Path(folder) / "spin.html")
        """
        from polhode.web.html_page import write_html

        write_html(self, Path(path))

    def export_gltf(self: Any, path: str | Path) -> None:
        """Write the motion as an animated glTF 2.0 scene: one binary file (.glb), or a text (.gltf) with all inside.

        One node for each body or member, with a pattern that shows its spin.  Numbers are rounded to 32 bits.  Viewers
        take the shorter way from key to key: where a body turns by more than half a turn between two outputs, an exact
        motion gets more keys, and any other a warning.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.export_gltf(pathlib.Path(folder) / "spin.glb")
        ...     (pathlib.Path(folder) / "spin.glb").read_bytes()[:4]
        b'glTF'
        """
        from polhode.io.gltf import write_gltf

        write_gltf(self, Path(path))

    def export_paraview(self: Any, path: str | Path) -> None:
        """Write the motion for ParaView: a .pvd that lists one .vtu for each output, in a folder beside it.

        Each holds the surfaces of all bodies, with the velocity of every point (m/s), its displacement since the start
        (m), and the number of the body or member.  Needs meshio: `pip install 'polhode[mesh]'`.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> spin = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
        >>> motion = ph.simulate(box, spin, duration=3.0, output_step=1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.export_paraview(pathlib.Path(folder) / "spin.pvd")
        ...     sorted(file.name for file in (pathlib.Path(folder) / "spin").iterdir())
        ['spin_0000.vtu', 'spin_0001.vtu', 'spin_0002.vtu', 'spin_0003.vtu']
        """
        from polhode.io.paraview import write_paraview

        write_paraview(self, Path(path))

    def save(self: Any, path: str | Path) -> None:
        """Store the motion as a Zarr directory, which `ph.load` and xarray read.  A half-written one never appears."""
        from polhode.results import store

        store.save(self, Path(path))

    def _repr_html_(self: Any) -> str | None:
        """What a notebook shows: the page, in a frame that can reach nothing outside itself."""
        from polhode.web.html_page import build_iframe

        return build_iframe(self) if len(self.times) else None
