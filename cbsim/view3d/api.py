"""Public drawing functions, after Dojo's visualisation interface.

Each function updates the scene of a `Visualizer` without needing a browser. `visualize` opens a page or writes a file.
"""

from __future__ import annotations

from pathlib import Path

from numpy.typing import ArrayLike

from cbsim.errors import ModelError, UsageError
from cbsim.view3d.build import MechanismLike, StorageLike, robot_of, solids_of, track_of
from cbsim.view3d.default_floor import floor_of
from cbsim.view3d.export import export_scene
from cbsim.view3d.shapes import color_of
from cbsim.view3d.track import Track
from cbsim.view3d.visualizer import Visualizer

__all__ = ["build_robot", "export_html", "visualize"]

RESERVED = ("floor", "light", "world")  # names that robots cannot have


def visualize(  # noqa: PLR0913 (the keywords of Dojo's page, and how to look)
    mechanism: MechanismLike,
    storage: StorageLike | None = None,
    *,
    vis: Visualizer | None = None,
    build: bool = True,
    show_contact: bool = False,
    show_joint: bool = False,
    show_frame: bool = False,
    show_inertia: bool | None = None,
    animation: dict[str, Track] | None = None,
    color: ArrayLike | None = None,
    name: str = "robot",
    html: str | Path | None = None,
    port: int = 8080,
    verbose: bool = True,
) -> Visualizer:
    """Show a mechanism and its trajectory on a web page or in a file.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to draw.
    storage : Storage, optional
        Trajectory; every row is a frame. Without one, the mechanism is shown in its current state.
    vis : Visualizer, optional
        Scene to draw into; by default a new one.
    build : bool
        Draw the bodies; False if an earlier call drew them under the same name.
    show_contact, show_joint, show_frame, show_inertia : bool
        As of `build_robot`.
    animation : dict of str to Track, optional
        Motion of other robots by name, such as ``vis.scene.tracks`` of another visualizer.
    color : array_like, shape (4,), optional
        Red, green, blue and opacity from 0 to 1 for all bodies; by default those of the shapes.
    name : str
        Name of the robot; an existing one of the same name is replaced.
    html : str or Path, optional
        Write a self-contained page to this file (`export_html`) instead of opening one.
    port : int
        Port of the page, if `vis` is not open yet; 0: any.
    verbose : bool
        Print the page's address on standard output.

    Returns
    -------
    Visualizer
        Use `close` to close the page, or `wait` to keep a script's page open.

    Raises
    ------
    ModelError
        If the storage does not belong to the mechanism, or an argument has the wrong type.
    UsageError
        If a page is requested and the extra ``view3d`` is not installed.
    """
    shown = Visualizer() if vis is None else vis
    if build:
        build_robot(
            mechanism, vis=shown, name=name, color=color, show_contact=show_contact, show_joint=show_joint,
            show_frame=show_frame, show_inertia=show_inertia,
        )  # fmt: skip
    elif name not in shown.scene.robots:
        raise UsageError(f"robot '{name}' was not built: leave build=True")
    tracks = {**shown.scene.tracks, **(animation or {})}
    if storage is not None:
        tracks[name] = track_of(mechanism, storage, name)
    shown.change(tracks=tracks)
    if shown.scene.floor is None:
        shown.change(floor=floor_of(mechanism, shown.scene))
    if html is not None:
        export_scene(shown.scene, html)
    else:
        shown.open(port=port, verbose=verbose)
    return shown


def build_robot(
    mechanism: MechanismLike,
    *,
    vis: Visualizer | None = None,
    show_contact: bool = False,
    show_joint: bool = False,
    show_frame: bool = False,
    show_inertia: bool | None = None,
    name: str = "robot",
    color: ArrayLike | None = None,
) -> Visualizer:
    """Draw the bodies of a mechanism in its current state.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to draw.
    vis : Visualizer, optional
        Scene to draw into; by default a new one.
    show_contact : bool
        Draw contact geometry: spheres, and the capsules and boxes they touch.
    show_joint : bool
        Draw the free directions of joints: orange arrows rotate, blue ones translate, spheres are free all around.
    show_frame : bool
        Draw body frames at the centres of mass.
    show_inertia : bool, optional
        Draw boxes of equal mass and inertia; by default only for bodies without a shape and without joints or contacts
        away from their centre of mass. Bodies without a shape are drawn as rods to their joints and contacts.
    name : str
        Name of the robot; an existing one of the same name is replaced.
    color : array_like, shape (4,), optional
        Red, green, blue and opacity from 0 to 1 for all bodies; by default those of the shapes.

    Returns
    -------
    Visualizer
        Not opened yet.
    """
    shown = Visualizer() if vis is None else vis
    if not isinstance(shown, Visualizer):
        raise ModelError(f"vis is {vis!r}, expected a Visualizer", subject="build_robot")
    if not hasattr(mechanism, "joints"):
        raise ModelError(f"{mechanism!r} is no mechanism", subject="build_robot")
    if not name or "/" in name or name in RESERVED:
        hint = f", and none of {', '.join(RESERVED)}"
        raise ModelError(f"name is {name!r}, expected a name without '/'{hint}", subject="build_robot")
    if name in shown.scene.robots:
        shown.remove(name)
    solids = solids_of(
        mechanism, name, color=None if color is None else color_of(color, "color"), show_contact=show_contact,
        show_joint=show_joint, show_frame=show_frame, show_inertia=show_inertia,
    )  # fmt: skip
    shown.change(
        robots={**shown.scene.robots, name: robot_of(mechanism, name)}, solids={**shown.scene.solids, **solids}
    )
    return shown


def export_html(  # noqa: PLR0913 (as visualize)
    mechanism: MechanismLike,
    storage: StorageLike | None,
    path: str | Path,
    *,
    vis: Visualizer | None = None,
    show_contact: bool = False,
    show_joint: bool = False,
    show_frame: bool = False,
    show_inertia: bool | None = None,
    animation: dict[str, Track] | None = None,
    color: ArrayLike | None = None,
    name: str = "robot",
    title: str = "",
) -> Path:
    """Write a trajectory to a self-contained HTML file.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to draw.
    storage : Storage or None
        Trajectory, stored in single precision about each body's mean position; None for the current state.
    path : str or Path
        Output file.
    vis : Visualizer, optional
        Scene with further objects: a floor, arrows, other robots.
    show_contact, show_joint, show_frame, show_inertia, animation, color, name
        As in `visualize`.
    title : str
        Title of the page; by default the robot's name.

    Returns
    -------
    Path
        The file.
    """
    shown = visualize(
        mechanism, storage, vis=vis, show_contact=show_contact, show_joint=show_joint, show_frame=show_frame,
        show_inertia=show_inertia, animation=animation, color=color, name=name, html=path,
    )  # fmt: skip
    return export_scene(shown.scene, path, title=title or name)
