"""Scene description as plain data, independent of its presentation.

A scene has moving frames (one per body, named ``robot/body``) and solids, each fixed in a frame or in the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.model_light import LightKind
from cbsim.view3d.tessellate import Triangles
from cbsim.view3d.track import Track

__all__ = ["Background", "Camera", "Floor", "Kind", "Lamp", "Light", "Robot", "Scene", "Solid"]

Kind = Literal["shape", "inertia", "contact", "joint", "frame", "surface", "arrow"]


@dataclass(frozen=True, eq=False)
class Solid:
    """A coloured surface, fixed in a frame.

    Attributes
    ----------
    frame : str
        ``robot/body``, or empty for the world.
    kind : str
        Kind of object; contacts, joints and frames can be hidden on the page.
    triangles : Triangles
        Vertices in the frame [m].
    color : tuple of float
        Red, green, blue, opacity, from 0 to 1.
    """

    frame: str
    kind: Kind
    triangles: Triangles
    color: tuple[float, float, float, float]

    @property
    def reach(self) -> float:
        """Largest distance of a vertex from the frame's origin [m]."""
        return float(np.linalg.norm(self.triangles.vertices, axis=1).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Robot:
    """Frames of a mechanism: names of `bodies`, and their poses at rest, `x` (bodies, 3) [m] and `q` (bodies, 4)."""

    name: str
    bodies: tuple[str, ...]
    x: Floats
    q: Floats

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the frames."""
        return tuple(f"{self.name}/{body}" for body in self.bodies)


@dataclass(frozen=True)
class Camera:
    """Camera parameters; None is chosen so that everything is visible.

    Attributes
    ----------
    position, look_at : tuple of float or None
        In the world [m].
    zoom : float
        Above 1: nearer.
    follow : bool or None
        Follow the first robot; None if it travels further than a few times its size.
    """

    position: tuple[float, float, float] | None = None
    look_at: tuple[float, float, float] | None = None
    zoom: float = 1.0
    follow: bool | None = None


@dataclass(frozen=True)
class Light:
    """Intensities of ambient light, of light from the viewer (`fill`), and of a distant lamp.

    Attributes
    ----------
    direction : tuple of float
        Direction towards the lamp.
    shadow : bool
        Whether the lamp casts shadows.
    """

    ambient: float = 0.35
    fill: float = 0.25
    lamp: float = 0.85
    direction: tuple[float, float, float] = (0.45, -0.3, 1.0)
    shadow: bool = True


@dataclass(frozen=True)
class Lamp:
    """A lamp without shadows, beside the distant one of `Light`.

    Attributes
    ----------
    frame : str
        ``robot/body``, or empty for the world.
    kind : str
        ``point``, ``spot`` (a cone of 30° about its direction) or ``directional``.
    position : tuple of float
        In the frame [m]; of no effect for a directional one.
    direction : tuple of float
        Unit vector in which it shines, in the frame; of no effect for a point.
    color : tuple of float
        Red, green and blue intensities; 1 is full.
    """

    frame: str
    kind: LightKind
    position: tuple[float, float, float]
    direction: tuple[float, float, float]
    color: tuple[float, float, float]


@dataclass(frozen=True)
class Floor:
    """A tiled slab.

    Attributes
    ----------
    size : tuple of float
        Lengths along x and y, and thickness [m]; its upper side passes through `origin`.
    tile : float
        Edge length of a tile [m].
    color : tuple of float or None
        Red, green, blue and opacity; None follows the page's theme.
    image : str
        Image of every tile as a data URL; empty for a checkerboard.
    """

    size: tuple[float, float, float] = (20.0, 20.0, 0.1)
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    tile: float = 1.0
    color: tuple[float, float, float, float] | None = None
    image: str = ""
    axis: bool = False
    grid: bool = True

    @property
    def quaternion(self) -> tuple[float, float, float, float]:
        """The slab's frame in the world: z along the normal, turned about an axis in the plane (scalar first)."""
        x, y, z = self.normal
        if z < -1.0 + 1e-12:
            return (0.0, 1.0, 0.0, 0.0)
        length = float(np.sqrt(2.0 * (1.0 + z)))
        return (0.5 * length, -y / length, x / length, 0.0)


@dataclass(frozen=True)
class Background:
    """Colours (red, green, blue) above and below."""

    top: tuple[float, float, float]
    bottom: tuple[float, float, float]


@dataclass(frozen=True)
class Scene:
    """A scene.

    Attributes
    ----------
    solids : mapping of str to Solid
        By name.
    robots : mapping of str to Robot
        By name, in order of addition.
    tracks : mapping of str to Track
        Motion of the robots that move.
    lamps : mapping of str to Lamp
        By name.
    floor : Floor or None
        None for no floor.
    background : Background or None
        None follows the page's theme.
    """

    solids: Mapping[str, Solid] = field(default_factory=dict)
    robots: Mapping[str, Robot] = field(default_factory=dict)
    tracks: Mapping[str, Track] = field(default_factory=dict)
    camera: Camera = field(default_factory=Camera)
    light: Light = field(default_factory=Light)
    lamps: Mapping[str, Lamp] = field(default_factory=dict)
    floor: Floor | None = None
    background: Background | None = None

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of all frames, robot by robot."""
        return tuple(frame for robot in self.robots.values() for frame in robot.frames)

    @property
    def times(self) -> Floats:
        """Times of all tracks (n,) [s], increasing; at least one."""
        times = np.unique(np.concatenate([[], *(track.times for track in self.tracks.values())]))
        if not len(times):
            return np.zeros(1)
        # times that differ only by rounding are merged
        return np.asarray(times[np.diff(times, prepend=-np.inf) > 1e-9 * max(1.0, abs(float(times[-1])))])

    def poses(self) -> tuple[Floats, Floats]:
        """Positions (n, frames, 3) [m] and orientations (n, frames, 4) of all frames at `times`."""
        times = self.times
        x, q = list[Floats](), list[Floats]()
        for name, robot in self.robots.items():
            track = self.tracks.get(name)
            at, turned = (robot.x[None], robot.q[None]) if track is None else track.sample(times)
            x.append(np.broadcast_to(at, (len(times), *robot.x.shape)))
            q.append(np.broadcast_to(turned, (len(times), *robot.q.shape)))
        if not x:
            return np.zeros((len(times), 0, 3)), np.zeros((len(times), 0, 4))
        return np.concatenate(x, axis=1), np.concatenate(q, axis=1)

    def placed(self, name: str, k: int = 0) -> Floats:
        """Vertices (n, 3) of a solid in the world at time k [m]."""
        solid = self.solids[name]
        if not solid.frame:
            return solid.triangles.vertices
        x, q = self.poses()
        i = self.frames.index(solid.frame)
        return np.asarray(rotate(q[k, i], solid.triangles.vertices) + x[k, i])
