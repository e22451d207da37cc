"""A motion: a trajectory with what needs its forces, and with ways to audit, draw, view, store and export it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polhode.errors import InputError
from polhode.quantities import dynamics
from polhode.results.audit import Audit, audit_motion
from polhode.results.flight import FlightQuantities, FrameMotion, find_flight, transform_to_frame
from polhode.results.motion_archive import read_motion, write_motion
from polhode.results.nodes import Nodes, nodes_of_motion
from polhode.results.rotating_frame import RotatingFrameMotion, transform_to_rotating_frame
from polhode.results.trajectory import Trajectory, require_one_system
from polhode.validation import check_path

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import ArrayLike

    from polhode.plot.film_plan import Film
    from polhode.scenario.air import Air
    from polhode.scenario.earth import Earth


class Motion(Trajectory):
    """The motion of a body, of a system's bodies, or of an ensemble's members: what `ph.simulate` returns.

    Arrays have the time first, then the body of a system or the member of an ensemble, then components.  World axes,
    SI units, except where the name says body.

    Examples
    --------
    >>> import polhode as ph
    >>> stone, thrown = ph.particle(2.0), ph.State(velocity=(1.0, 0.0, 4.0))
    >>> motion = ph.simulate(stone, thrown, [ph.forces.gravity()], duration=1.0, method="exact")
    >>> motion
    <Motion of one body, 0 to 1 s, 201 output times, exact>
    >>> motion.velocity[-1].round(6).tolist()
    [1.0, 0.0, -5.80665]
    """

    def nodes(self, points: ArrayLike | None = None, *, body: int = 0) -> Nodes:
        """The nodes of the mesh of a body, at any time of the run: positions, displacements, velocities, accelerations.

        Each takes about as long as NumPy takes to copy the result.  [Hydra 2017, eq. 4.24 to 4.26, corrected]

        Parameters
        ----------
        points : array_like, optional
            (nodes, 3), in m, in the coordinates of the body; by default the nodes of the mesh that it was made from.
        body : int, optional
            Which body of a system.

        Examples
        --------
        >>> import polhode as ph, trimesh
        >>> cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=6.0)
        >>> motion = ph.simulate(cube, ph.State(angular_velocity=(0, 0, 2.0)), duration=3.0)
        >>> nodes = motion.nodes()
        >>> nodes.positions(0.0).tolist() == cube.nodes.tolist(), nodes.velocities(0.0)[0].tolist()
        (True, [1.0, -1.0, 0.0])
        """
        return nodes_of_motion(self, points, body)

    @property
    def potential_depends_on_time(self) -> bool:
        """Whether a potential depends explicitly on time, so that energy is not conserved."""
        return dynamics.potential_depends_on_time(self)

    def audit(self) -> Audit:
        """Which quantities should be conserved, given the forces, and how far they drifted.  Printed, it is a table.

        Examples
        --------
        >>> import polhode as ph
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0, method="exact")
        >>> audit = motion.audit()
        >>> audit["angular momentum"].conserved, audit["angular momentum"].relative < 1e-14
        (True, True)
        """
        return audit_motion(self)

    def seen_from(self, angular_velocity: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> RotatingFrameMotion:
        """The motion in a frame that rotates uniformly about a fixed point.  [Christian 2011, project 17.1]

        All bodies or members are seen from the same frame.

        Parameters
        ----------
        angular_velocity : array_like
            Of the frame, three numbers in rad/s.
        origin : array_like, optional
            The point of the world about which it rotates, in m: the origin of its coordinates.  Its axes are along the
            world's at t = 0.

        Examples
        --------
        >>> import polhode as ph
        >>> resting = ph.simulate(ph.particle(1.0), ph.State(position=(2, 0, 0)), duration=1.0, method="exact")
        >>> resting.seen_from((0, 0, 1)).velocity[0].tolist()
        [0.0, -2.0, 0.0]
        """
        require_one_system(self)
        return transform_to_rotating_frame(self, angular_velocity, origin)

    def in_frame(
        self,
        frame: str,
        earth: Earth | str | Mapping[str, Any] | None = None,
        origin: ArrayLike | None = None,
    ) -> FrameMotion:
        """The motion over the Earth in other axes: "earth", "ned", "enu" or "lvlh".

        Latitude, longitude, height, velocity relative to the Earth, and yaw, pitch and roll.

        Parameters
        ----------
        frame : {"earth", "ned", "enu", "lvlh"}
            Earth-fixed axes; north, east, down, or east, north, up, at the body; or local vertical, local horizontal
            (z down, y against the orbit's angular momentum, x forward).
        earth : Earth or str, optional
            By default the one whose gravity or air acts.
        origin : array_like, optional
            Of "ned" and "enu": (latitude, longitude, height) in rad and m of a place fixed to the Earth, instead of the
            body's own.

        Examples
        --------
        >>> import polhode as ph
        >>> start = ph.State.from_geodetic(height=1000.0, velocity_ned=(0, 0, -20))
        >>> motion = ph.simulate(ph.particle(1.0), start, [ph.forces.earth_gravity()], duration=4.0, output_step=2.0)
        >>> motion.in_frame("ned").height.round(3).tolist()
        [1000.0, 1020.446, 1001.783]
        """
        return transform_to_frame(self, frame, earth, origin)

    def flight(
        self,
        air: Air | str | Mapping[str, Any] | None = None,
        wind: Any = None,
        earth: Earth | str | Mapping[str, Any] | None = None,
    ) -> FlightQuantities:
        """What the body meets in the air: height, airspeed, Mach number, dynamic pressure, angle of attack, ...

        By default in the air, wind and Earth of the forces that act.  In other air (and `wind`; none is calm), over the
        Earth of the forces, or else over flat ground, unless `earth` says which.

        Examples
        --------
        >>> import polhode as ph
        >>> dart = [ph.forces.gravity(), ph.forces.drag(0.001, 0.3)]
        >>> thrown = ph.State(velocity=(340.2941, 0, 0))
        >>> motion = ph.simulate(ph.particle(1.0), thrown, dart, duration=1.0)
        >>> motion.flight().mach[0].round(6)
        np.float64(1.0)
        """
        return find_flight(self, air, wind, earth)

    # Pictures, pages and files --------------------------------------------------------------------------------------
    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything, as an xarray dataset under the names of the attributes, with units and long names.

        `velocity`, `angular_velocity_body`, `euler_angles`, the energies, ... beside what was computed, events, impacts
        and rotors.  What a motion does not have (a reaction force without a pivot) is left out.

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=3.0, method="exact")
        >>> motion.dataset["velocity"].sel(axis="x", time=3.0).item(), motion.dataset["velocity"].attrs["units"]
        (1.0, 'm s-1')
        """
        from polhode.results.dataset import build_dataset

        return build_dataset(self)

    def to_dataframe(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """A pandas table: a row for each output time (and member, and body), a column for each component.

        Columns are `position_x`, `quaternion_w`, `angular_velocity_body_1`, `theta`, `kinetic_energy`, ...; their units
        are in `table.attrs["units"]`.  What belongs to a whole system is repeated for each of its bodies.

        Parameters
        ----------
        names : list of str, optional
            Which quantities, by the names of the attributes; by default all that the motion has.

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=1.0, output_step=0.5)
        >>> motion.to_dataframe(["position", "kinetic_energy"])
              position_x  position_y  position_z  kinetic_energy
        time
        0.0          0.0         0.0         0.0             1.0
        0.5          0.5         0.0         0.0             1.0
        1.0          1.0         0.0         0.0             1.0
        """
        from polhode.results.dataset import build_dataframe

        return build_dataframe(self, names)

    def plot(
        self,
        panels: Sequence[str] | None = None,
        *,
        figure: Figure | SubFigure | None = None,
        axes: Axes | Sequence[Axes] | None = None,
    ) -> Figure | SubFigure:
        """A figure of the motion: angular velocity, path, energies, and the drift of conserved quantities; or panels.

        Of many members the median is drawn, with bands that hold 50 % and 90 % of them.

        Parameters
        ----------
        panels : list of str, optional
            What to draw, in order: "angular_velocity", "angular_velocity_world", "angular_momentum", "polhode",
            "euler_angles", "tilt", "precession", "spin_angle", "yaw_pitch_roll", "quaternion", "position", "velocity",
            "speed", "linear_momentum", "acceleration", "angular_acceleration", "energy", "forces", "torque",
            "reaction_force", "contact_force", "impulses", "drift"; or "phase:X:Y", one column of `to_dataframe` over
            another, such as "phase:position_x:position_z".
        figure : matplotlib.figure.Figure or SubFigure, optional
            Where to draw; by default a new figure.
        axes : matplotlib.axes.Axes or list, optional
            Existing axes, one for each panel, instead.

        Examples
        --------
        >>> import polhode as ph
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0, method="exact")
        >>> len(motion.plot().axes), len(motion.plot(["tilt", "phase:theta:angular_velocity_body_2"]).axes)
        (4, 2)
        """
        require_one_system(self)
        from polhode.plot import overview

        return overview(self, panels, figure=figure, axes=axes)

    def plot_flight(self) -> Figure:
        """A figure of height, Mach number, dynamic pressure, and angles of attack and sideslip.

        Examples
        --------
        >>> import polhode as ph
        >>> fall = [ph.forces.gravity(), ph.forces.drag(0.01, 0.5)]
        >>> motion = ph.simulate(ph.particle(1.0), ph.State(position=(0, 0, 1000.0)), fall, duration=5.0)
        >>> len(motion.plot_flight().axes)
        4
        """
        require_one_system(self)
        from polhode.plot.flight import draw_flight

        return draw_flight(self.flight())

    def picture(
        self,
        path: str | Path,
        time: float | None = None,
        *,
        size: tuple[int, int] | None = None,
        views: str = "both",
        dark: bool = False,
        body: int = 0,
        caption: str = "",
        drawn_by: str = "auto",
    ) -> None:
        """Write the motion at one time as a picture, as the interactive page draws it.

        The page is drawn by a browser without a window, if Chromium, Chrome or Edge is there (or named in the
        environment variable `CHROMIUM`); otherwise, and for .svg and .pdf, by Matplotlib.

        Parameters
        ----------
        path : str or Path
            A .png; or .svg, .pdf.
        time : float, optional
            In s; by default the start.
        size : tuple of int, optional
            Width and height in pixels, by default (1280, 720).
        views : {"both", "space", "body"}, optional
            The view in the inertial frame, that in the frame of the body, or both.  (Matplotlib draws both.)
        dark : bool, optional
            On a dark background.  (Matplotlib draws on white.)
        body : int, optional
            Which body of a system, or member of an ensemble, the views follow.
        caption : str, optional
            Words to draw into the picture; by default none.
        drawn_by : {"auto", "page", "matplotlib"}, optional
            Which of the two.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.picture(pathlib.Path(folder) / "flip.svg", time=1.2)
        """
        require_one_system(self)
        from polhode.web.filming import write_picture

        place = check_path(path, "the picture")
        look: Any = {"views": views, "dark": dark, "body": body, "caption": caption, "drawn_by": drawn_by}
        write_picture(self, place, time, size, **look)

    def film(
        self,
        path: str | Path,
        *,
        pace: float | None = None,
        frames_per_second: float | None = None,
        size: tuple[int, int] | None = None,
        start: float | None = None,
        end: float | None = None,
        views: str = "both",
        dark: bool = False,
        body: int = 0,
        caption: str = "",
        drawn_by: str = "auto",
    ) -> Film:
        """Write the motion as a film, as the interactive page draws it; see `picture` for who draws.

        Parameters
        ----------
        path : str or Path
            A .mp4 (needs `pip install '.[film]'` in a clone) or .gif.
        pace : float, optional
            Seconds of motion in a second of film: 0.1 is slow motion.  By default 1 if the part shown lasts 2 to 20 s,
            otherwise what plays it in about 8 s.
        frames_per_second : float, optional
            By default 30, for a .gif 20.
        size : tuple of int, optional
            Width and height in pixels, by default (1280, 720), for a .gif (800, 450).
        start, end : float, optional
            The part to show, in s; by default all.
        views, dark, body, caption, drawn_by
            As for `picture`.

        Returns
        -------
        Film
            Path, number of frames, playing time, pace; and a warning if a body turns by more than half a turn between
            two frames, which looks like another spin.  No sentence is drawn into the film but the caption.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     part = {"end": 0.2, "pace": 1, "size": (320, 180)}
        ...     made = motion.film(pathlib.Path(folder) / "flip.gif", drawn_by="matplotlib", **part)
        >>> made.frames
        5
        """
        require_one_system(self)
        from polhode.web.filming import write_film

        return write_film(
            self,
            check_path(path, "the film"),
            pace=pace,
            frames_per_second=frames_per_second,
            size=size,
            start=start,
            end=end,
            views=views,
            dark=dark,
            body=body,
            caption=caption,
            drawn_by=drawn_by,
        )

    def show(self) -> Path:
        """Open the motion in the browser, as the page that `export_html` writes; returns the path of that page.

        Examples
        --------
        >>> import polhode as ph
        >>> motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), duration=2.0, method="exact")
        >>> path = motion.show()  # doctest: +SKIP
        """
        require_one_system(self)
        from polhode.web.html_page import open_motion_page

        return open_motion_page(self)

    def export_html(self, path: str | Path, *, knobs: bool | Sequence[str] = False) -> None:
        """Write the motion as one page that opens by a double click, with no network.

        Two views, plots and playback; its numbers are rounded to 32 bits and thinned out to what the eye can use.  The
        original ones are for `save`.

        Parameters
        ----------
        path : str or Path
            An .html file.
        knobs : bool or sequence of str, optional
            Of a motion of a model, made by `@ph.model` or of the gallery: the knobs that stay live, by their names, or
            True for all that can be.  The page then computes the motion itself, in double precision, with the bits of
            Python.  A knob that cannot be live is refused with the reason; with True the page tells it.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.export_html(pathlib.Path(folder) / "spin.html")
        """
        require_one_system(self)
        from polhode.web.html_page import write_html, write_page

        if knobs is False:
            write_html(self, check_path(path, "the page"))
            return
        if self.model_run is None:
            raise InputError(
                "this motion has no knobs: it was not made by a model. Decorate the function that makes its scenario "
                "with @ph.model, give its arguments knobs, and call it"
            )
        write_page(self.model_run.live_page(None if knobs is True else knobs), check_path(path, "the page"))

    def export_gltf(self, path: str | Path) -> None:
        """Write the motion as an animated glTF 2.0 scene: one binary file (.glb), or one text file (.gltf).

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
        require_one_system(self)
        from polhode.io.gltf import write_gltf

        write_gltf(self, check_path(path, "the animation"))

    def export_paraview(self, path: str | Path) -> None:
        """Write the motion for ParaView: a .pvd that lists one .vtu for each output, in a folder beside it.

        Each holds the surfaces of all bodies, or the cells of those made from volume meshes, with the velocity of every
        point (m/s), its displacement since the start (m), the number of the body or member, and the fields of the
        cells.

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
        require_one_system(self)
        from polhode.io.paraview import write_paraview

        write_paraview(self, check_path(path, "the series"))

    def export_xdmf(self, path: str | Path) -> None:
        """Write the motion as XDMF: a text (.xdmf), and beside it an HDF5 file (.h5) with the numbers.

        What `export_paraview` writes, with the cells once for all outputs.  A member that an event has stopped stays
        where it stopped.  Needs h5py: `pip install '.[mesh]'` in a clone.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0, output_step=1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.export_xdmf(pathlib.Path(folder) / "spin.xdmf")
        ...     sorted(file.name for file in pathlib.Path(folder).iterdir())
        ['spin.h5', 'spin.xdmf']
        """
        require_one_system(self)
        from polhode.io.xdmf import write_xdmf

        write_xdmf(self, check_path(path, "the series"))

    def export_exodus(self, path: str | Path) -> None:
        """Write the motion as an Exodus II file (.e, .exo): nodes at the start, and their displacements and velocities.

        Element blocks are the bodies, or the regions of those made from volume meshes; elements carry the number of the
        body and the fields of their file; the kinetic energy of all bodies is a global variable.  Needs netCDF4:
        `pip install '.[mesh]'` in a clone.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        >>> motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=3.0, output_step=1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.export_exodus(pathlib.Path(folder) / "spin.e")
        """
        require_one_system(self)
        from polhode.io.exodus import write_exodus

        write_exodus(self, check_path(path, "the series"))

    def export_csv(self, path: str | Path, names: Sequence[str] | None = None) -> None:
        """Write the motion as a table (.csv): one row for each output and body or member, a header with units.

        Numbers have all their digits: what is read again is the same double.  Of one body with an Earth there are also
        latitude, longitude, height, velocity north, east and down, yaw, pitch and roll; with air what it meets there.

        Parameters
        ----------
        path : str or Path
            A .csv file.
        names : sequence of str, optional
            The quantities to write, as in `to_dataframe`; by default place, attitude, velocities, momenta, kinetic
            energy, and quantities of your own.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> motion = ph.simulate(ph.particle(2.0), ph.State(velocity=(1, 0, 0)), duration=2.0, output_step=1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.export_csv(pathlib.Path(folder) / "drift.csv")
        ...     (pathlib.Path(folder) / "drift.csv").read_text().splitlines()[0][:34]
        'time_s,position_x_m,position_y_m,p'
        """
        from polhode.io.csv_table import write_csv

        write_csv(self, check_path(path, "the table"), names)

    def save(self, path: str | Path) -> None:
        """Store the motion as a Zarr folder, which `ph.load` and xarray read.  It is written whole or not at all.

        A motion that is already there is replaced at the end, and a link is followed.  Two processes may save to one
        path: the last one stays.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), duration=2.0, method="exact")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.save(pathlib.Path(folder) / "coasting.zarr")
        ...     bool((ph.load(pathlib.Path(folder) / "coasting.zarr").position == motion.position).all())
        True
        """
        write_motion(self, check_path(path, "the motion"))

    def _repr_html_(self) -> str | None:
        """The page in a sandboxed frame, for notebooks."""
        from polhode.web.html_page import build_iframe

        return build_iframe(self) if len(self.times) and len(self.axes) < 2 else None


def load(path: str | Path) -> Motion:
    """Read a motion that `motion.save` stored; `ph.load` also opens ensembles.  A damaged one is refused."""
    stored = read_motion(Path(path))
    return Motion(stored.scenario, stored.run_result, stored.unknown_forces)
