"""Environment of a scene: camera, light, floor, surfaces, arrows and background."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from cbsim.errors import ModelError
from cbsim.spec.mechanism.model_light import LightKind
from cbsim.spec.mechanism.values import number, unit, vector, whole
from cbsim.view3d import tessellate
from cbsim.view3d.build import along
from cbsim.view3d.scene import Background, Camera, Floor, Lamp, Light, Solid
from cbsim.view3d.shapes import color_of, triad
from cbsim.view3d.visualizer import Visualizer

__all__ = [
    "MOST_LAMPS", "set_arrow", "set_background", "set_camera", "set_floor", "set_lamp", "set_light", "set_surface",
]  # fmt: skip

MOST_LAMPS = 8  # which the page's program has room for

LARGEST_IMAGE = 4_000_000  # [bytes] largest tile image, which is embedded into the page
IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def set_camera(
    vis: Visualizer,
    *,
    zoom: float = 1.0,
    cam_pos: ArrayLike | None = None,
    look_at: ArrayLike | None = None,
    follow: bool | None = None,
) -> None:
    """Set the camera.

    Parameters
    ----------
    vis : Visualizer
        The scene.
    zoom : float
        Zoom factor, positive.
    cam_pos : array_like, shape (3,), optional
        Camera position [m]; by default such that everything is visible.
    look_at : array_like, shape (3,), optional
        Point in the centre of the picture [m]; by default the centre of the motion.
    follow : bool, optional
        Follow the first robot; by default if it travels far.
    """
    vis.change(
        camera=Camera(
            None if cam_pos is None else _triple(cam_pos, "set_camera", "cam_pos"),
            None if look_at is None else _triple(look_at, "set_camera", "look_at"),
            number(zoom, "set_camera", "zoom", least=1e-6),
            follow,
        )
    )


def set_light(
    vis: Visualizer,
    *,
    ambient: float = 0.35,
    fill: float = 0.25,
    point_x: float = 0.85,
    point_x_shadow: bool = True,
    direction: str | ArrayLike = (0.45, -0.3, 1.0),
) -> None:
    """Set the lighting.

    Parameters
    ----------
    vis : Visualizer
        The scene.
    ambient, fill, point_x : float
        Intensities of ambient light, of light from the viewer, and of a distant lamp; 0 is dark.
    point_x_shadow : bool
        Whether the lamp casts shadows.
    direction : str or array_like, shape (3,)
        Direction of the lamp: ``"Positive"`` or ``"Negative"`` (above, on that side of x), or a vector.
    """
    if isinstance(direction, str):
        sides = {"positive": (1.0, -0.3, 1.0), "negative": (-1.0, -0.3, 1.0)}
        if direction.lower() not in sides:
            raise ModelError(
                f"direction is {direction!r}, expected Positive, Negative or a vector", subject="set_light"
            )
        direction = sides[direction.lower()]
    x, y, z = unit(direction, "set_light", "direction").tolist()
    bright = {"ambient": ambient, "fill": fill, "lamp": point_x}
    checked = {what: number(value, "set_light", what, least=0.0) for what, value in bright.items()}
    vis.change(light=Light(**checked, direction=(x, y, z), shadow=bool(point_x_shadow)))


def set_lamp(
    vis: Visualizer,
    kind: LightKind,
    *,
    position: ArrayLike = (0.0, 0.0, 2.0),
    direction: ArrayLike = (0.0, 0.0, -1.0),
    color: ArrayLike = (1.0, 1.0, 1.0),
    frame: str = "",
    name: str = "lamp",
) -> None:
    """Add a lamp, beside what `set_light` says. It casts no shadows.

    Parameters
    ----------
    vis : Visualizer
        The scene.
    kind : str
        ``"point"``, ``"spot"`` (a cone of 30° about its direction) or ``"directional"``.
    position, direction : array_like, shape (3,)
        Where it is [m], and in which direction it shines.
    color : array_like, shape (3,)
        Red, green and blue intensities, from 0 to 1.
    frame : str
        ``robot/body``, with which it moves; empty: it is fixed in the world.
    name : str
        An existing lamp of the same name is replaced.
    """
    if kind not in get_args(LightKind):
        raise ModelError(f"kind is {kind!r}, expected point, spot or directional", subject="set_lamp")
    if frame and frame not in vis.scene.frames:
        raise ModelError(f"there is no frame {frame!r}", subject="set_lamp")
    if name not in vis.scene.lamps and len(vis.scene.lamps) == MOST_LAMPS:
        raise ModelError(f"there are {MOST_LAMPS} lamps already", subject="set_lamp")
    toward = _triple(unit(direction, "set_lamp", "direction"), "set_lamp", "direction")
    lamp = Lamp(frame, kind, _triple(position, "set_lamp", "position"), toward, color_of(color, "color")[:3])
    vis.change(lamps={**vis.scene.lamps, name: lamp})


def set_surface(
    vis: Visualizer,
    f: Callable[..., object],
    *,
    xlims: ArrayLike = (-20.0, 20.0),
    ylims: ArrayLike = (-20.0, 20.0),
    color: ArrayLike = (0.62, 0.64, 0.6, 1.0),
    n: int = 100,
    name: str = "surface",
) -> None:
    """Add a surface.

    Parameters
    ----------
    vis : Visualizer
        The scene.
    f : callable
        Height z = f(x, y) [m]; called with arrays, or with two numbers.
    xlims, ylims : array_like, shape (2,)
        Range of x and y [m].
    color : array_like, shape (4,)
        Red, green, blue, opacity, from 0 to 1.
    n : int
        Points along each side, at least 2.
    name : str
        An existing surface of the same name is replaced.
    """
    if not callable(f):
        raise ModelError(f"f is {f!r}, expected a function of x and y", subject="set_surface")
    limits = [vector(value, "set_surface", what, 2) for value, what in ((xlims, "xlims"), (ylims, "ylims"))]
    for (low, high), what in zip(limits, ("xlims", "ylims"), strict=True):
        if not low < high:
            raise ModelError(f"{what} are {low:g} and {high:g}, expected the lower one first", subject="set_surface")
    surface = tessellate.height_field(f, limits[0], limits[1], whole(n, "set_surface", "n", least=2))
    vis.put({name: Solid("", "surface", surface, color_of(color, "color"))})


def set_floor(  # noqa: PLR0913 (the keywords of Dojo's page)
    vis: Visualizer,
    *,
    x: float = 20.0,
    y: float = 20.0,
    z: float = 0.1,
    origin: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike = (0.0, 0.0, 1.0),
    color: ArrayLike | None = None,
    tilepermeter: float = 1.0,
    imagename: str | Path | None = None,
    axis: bool = False,
    grid: bool = True,
) -> None:
    """Set the floor.

    Parameters
    ----------
    vis : Visualizer
        The scene.
    x, y, z : float
        Length, width and thickness [m].
    origin : array_like, shape (3,)
        Centre of its upper side [m].
    normal : array_like, shape (3,)
        Upward direction.
    color : array_like, shape (4,), optional
        Red, green, blue and opacity from 0 to 1; by default that of the page's theme.
    tilepermeter : float
        Tiles per metre.
    imagename : str or Path, optional
        PNG or JPEG image drawn on every tile.
    axis : bool
        Draw the world axes, one tile long.
    grid : bool
        Draw tiles; False for a single colour.
    """
    size = [number(value, "set_floor", what, least=1e-9) for value, what in ((x, "x"), (y, "y"), (z, "z"))]
    tile = 1.0 / number(tilepermeter, "set_floor", "tilepermeter", least=1e-9)
    floor = Floor(
        (size[0], size[1], size[2]), _triple(origin, "set_floor", "origin"),
        _triple(unit(normal, "set_floor", "normal"), "set_floor", "normal"), tile,
        None if color is None else color_of(color, "color"),
        "" if imagename is None else _picture(Path(imagename)), bool(axis), bool(grid),
    )  # fmt: skip
    marks = {key: solid for key, solid in vis.scene.solids.items() if not key.startswith("floor/axis_")}
    if axis:
        for i, (arrow, tint) in enumerate(triad(tile, 0.02 * tile)):
            marks[f"floor/axis_{'xyz'[i]}"] = Solid("", "frame", arrow, (*tint, 1.0))
    vis.change(floor=floor, solids=marks)


def set_arrow(
    vis: Visualizer,
    origin: ArrayLike,
    direction: ArrayLike,
    *,
    color: ArrayLike = (0.9, 0.3, 0.25, 1.0),
    shaft_radius: float = 0.0125,
    max_head_radius: float = 0.025,
    scaling: float = 1.0,
    name: str = "arrow",
) -> None:
    """Add an arrow.

    Parameters
    ----------
    vis : Visualizer
        The scene.
    origin : array_like, shape (3,)
        Start [m].
    direction : array_like, shape (3,)
        Vector from start to tip, before scaling [m].
    color : array_like, shape (4,)
        Red, green, blue, opacity, from 0 to 1.
    shaft_radius, max_head_radius : float
        Radii of shaft and head [m]; the head is limited to a quarter of the arrow's length.
    scaling : float
        Scaling factor of length and radii.
    name : str
        An existing arrow of the same name is replaced.
    """
    start = vector(origin, "set_arrow", "origin")
    reach = vector(direction, "set_arrow", "direction") * number(scaling, "set_arrow", "scaling", least=1e-9)
    length = float(np.linalg.norm(reach))
    if length < 1e-12:
        raise ModelError("direction is zero", subject="set_arrow")
    head = min(number(max_head_radius, "set_arrow", "max_head_radius", least=1e-9) * scaling, 0.25 * length)
    shaft = min(number(shaft_radius, "set_arrow", "shaft_radius", least=1e-9) * scaling, head)
    surface = tessellate.arrow(length, shaft, head).moved(along(reach), start)
    vis.put({name: Solid("", "arrow", surface, color_of(color, "color"))})


def set_background(
    vis: Visualizer, *, top_color: ArrayLike = (0.45, 0.65, 0.9), bottom_color: ArrayLike = (1.0, 1.0, 1.0)
) -> None:
    """Set the background gradient; the default follows the page's theme.

    Parameters
    ----------
    vis : Visualizer
        The scene.
    top_color, bottom_color : array_like, shape (3,)
        Red, green, blue, from 0 to 1.
    """
    vis.change(background=Background(color_of(top_color, "top_color")[:3], color_of(bottom_color, "bottom_color")[:3]))


def _triple(value: ArrayLike, who: str, what: str) -> tuple[float, float, float]:
    x, y, z = vector(value, who, what).tolist()
    return x, y, z


def _picture(path: Path) -> str:
    kind = IMAGES.get(path.suffix.lower())
    if kind is None:
        raise ModelError(f"'{path}' is neither png nor jpeg", subject="set_floor")
    try:
        if path.stat().st_size > LARGEST_IMAGE:
            raise ModelError(f"'{path}' has more than {LARGEST_IMAGE} bytes", subject="set_floor")
        data = path.read_bytes()
    except OSError as problem:
        raise ModelError(f"'{path}' cannot be read: {problem.strerror}", subject="set_floor") from None
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
