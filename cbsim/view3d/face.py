"""The drawing functions of Dojo's page in Python spelling.

Each changes the scene of a `Visualizer`; none needs a browser. `visualize` opens the page, or writes a file.
"""

from __future__ import annotations

from pathlib import Path

from numpy.typing import ArrayLike

from cbsim.errors import ModelError, UsageError
from cbsim.view3d.build import MechanismLike, StorageLike, robot_of, solids_of, track_of
from cbsim.view3d.export import export_scene
from cbsim.view3d.ground import floor_of
from cbsim.view3d.shapes import color_of
from cbsim.view3d.track import Track
from cbsim.view3d.visualizer import Visualizer

__all__ = ["build_robot", "export_html", "visualize"]

TAKEN = ("floor", "light", "world")  # by what is no robot


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
    """Show a mechanism along a trajectory: on a web page with a player, or in a file.

    Parameters
    ----------
    mechanism : Mechanism
        Whose bodies are drawn.
    storage : Storage, optional
        Its trajectory; every row is a frame of the animation. Without, the mechanism stands at its own state.
    vis : Visualizer, optional
        Where to draw, for several robots in one scene; without, a new one.
    build : bool
        Draw the bodies; False: they are there already, from a call before with the same name.
    show_contact, show_joint, show_frame, show_inertia : bool
        As of `build_robot`.
    animation : dict of str to Track, optional
        Motion of other robots, by name, that is to be shown along, as ``vis.scene.tracks`` of another visualizer.
    color : array_like, shape (4,), optional
        Red, green, blue, opacity, from 0 to 1, of all bodies; without, that of their shapes.
    name : str
        Of the robot; one of the same name in `vis` is replaced.
    html : str or Path, optional
        Write a page to this file, that needs no server and no network (`export_html`), and open none.
    port : int
        Of the page, if `vis` is not open yet; 0: any.
    verbose : bool
        Tell the page's address on standard output.

    Returns
    -------
    Visualizer
        Close it with `close`, or keep a script's page open with `wait`.

    Raises
    ------
    ModelError
        If the storage is not the mechanism's, or an argument is of the wrong kind.
    UsageError
        If a page is asked for and the extra ``view3d`` is not installed.
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
    """Draw the bodies of a mechanism at its own state.

    Parameters
    ----------
    mechanism : Mechanism
        Whose bodies are drawn.
    vis : Visualizer, optional
        Where to draw; without, a new one.
    show_contact : bool
        Draw what touches: spheres of contacts, and the capsules and boxes they meet.
    show_joint : bool
        Draw the free directions of joints: orange arrows turn, blue ones slide; a ball is free all around.
    show_frame : bool
        Draw the bodies' frames at their centres of mass.
    show_inertia : bool, optional
        Draw boxes with the mass and inertia of the bodies; without, of those that have neither a shape nor a joint or
        contact away from their centre of mass. Bodies without a shape are rods to their joints and contacts.
    name : str
        Of the robot; one of the same name in `vis` is replaced.
    color : array_like, shape (4,), optional
        Red, green, blue, opacity, from 0 to 1, of all bodies; without, that of their shapes.

    Returns
    -------
    Visualizer
        Not opened.
    """
    shown = Visualizer() if vis is None else vis
    if not isinstance(shown, Visualizer):
        raise ModelError(f"vis is {vis!r}, expected a Visualizer", subject="build_robot")
    if not hasattr(mechanism, "joints"):
        raise ModelError(f"{mechanism!r} is no mechanism", subject="build_robot")
    if not name or "/" in name or name in TAKEN:
        hint = f", and none of {', '.join(TAKEN)}"
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
    """Write a page of a trajectory to one file, that needs no server, no network and no extra.

    Parameters
    ----------
    mechanism : Mechanism
        Whose bodies are drawn.
    storage : Storage or None
        Its trajectory, in single precision about each body's mean position; None: its own state.
    path : str or Path
        The file.
    vis : Visualizer, optional
        With other things to see: a floor, arrows, other robots.
    show_contact, show_joint, show_frame, show_inertia, animation, color, name
        As of `visualize`.
    title : str
        Of the page; without, the robot's name.

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
