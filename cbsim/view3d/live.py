"""Live scene on a viser page: incremental updates, and a player that moves the frames."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import socket
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cbsim.errors import UsageError
from cbsim.view3d.framing import FIELD_OF_VIEW, framing
from cbsim.view3d.player import Player
from cbsim.view3d.scene import Background, Camera, Floor, Lamp, Light, Scene, Solid
from cbsim.view3d.shapes import Color

__all__ = ["LiveScene"]

SKY = Background((0.80, 0.87, 0.94), (0.965, 0.972, 0.98))
SPOT_ANGLE = np.radians(30.0)
TILES = (0.90, 0.915, 0.93, 1.0)


def viser() -> Any:
    """Import the optional dependency viser.

    Raises
    ------
    UsageError
        If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module("viser")
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"the 3-D page needs the extra 'view3d' ({missing.name} is missing): pip install 'cbsim[view3d]'; "
            "export_html and visualize(…, html='out.html') do without"
        ) from None


def free_port(host: str, port: int) -> int:
    """Find the first free port from a given one; viser itself would search without end.

    Raises
    ------
    UsageError
        If the host is not an address of this machine, or none of a hundred ports is free.
    """
    if not 0 <= port <= 65535:
        raise UsageError(f"port is {port}, expected 0 to 65535")
    for candidate in range(port, min(port + 100, 65536)):
        try:
            with socket.create_server((host, candidate)) as probe:
                return int(probe.getsockname()[1])
        except OSError as problem:
            if problem.errno not in {errno.EADDRINUSE, errno.EACCES}:
                raise UsageError(f"no page at '{host}': {problem.strerror}") from None
    raise UsageError(f"no port from {port} to {candidate} is free at '{host}'")


class LiveScene:
    """An open page.

    Parameters
    ----------
    scene : Scene
        Initial scene.
    host, port, verbose
        As in `Visualizer.open`.
    """

    def __init__(self, scene: Scene, *, host: str, port: int, verbose: bool) -> None:
        library, port = viser(), free_port(host, port)
        with contextlib.nullcontext() if verbose else contextlib.redirect_stdout(io.StringIO()):  # viser always prints
            self.server = library.ViserServer(host=host, port=port, label="cbsim", verbose=verbose)
        self.url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{self.server.get_port()}"
        self._stopped = threading.Event()
        self._solids = dict[str, tuple[Solid, Any]]()
        self._frames = dict[str, Any]()
        self._names = dict[str, Any]()
        self._floor: list[Any] = []
        self._lamps: list[Any] = []
        self._shown: Scene | None = None
        self._verbose = verbose
        self._follow, self._seen = False, np.zeros(3)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)  # no sharing with third parties
        self.server.scene.set_up_direction("+z")
        self.server.scene.configure_default_lights(enabled=False)
        self.server.scene.configure_environment_map(hdri=None)
        self.player = Player(self.server, self._move)
        self.show(scene)

    def show(self, scene: Scene) -> None:
        """Show another scene; objects that are identical to before are kept."""
        before, self._shown = self._shown, scene
        with self.player.lock, self.server.atomic():  # the player must not move frames while they are replaced
            self._put_frames(scene)
            self._put_solids(scene)
            if before is None or before.floor is not scene.floor:
                self._put_floor(scene.floor)
            if before is None or before.light is not scene.light:
                self._put_light(scene.light)
            if before is None or before.lamps is not scene.lamps or before.robots is not scene.robots:
                self._put_lamps(scene.lamps)
            if before is None or before.background is not scene.background:
                self._put_background(scene.background or SKY)
            self._put_camera(scene, None if before is None else before.camera)
            if before is None or before.tracks is not scene.tracks or before.robots is not scene.robots:
                self.player.load(scene.times, *scene.poses())

    def wait(self) -> None:
        """Wait until the page is closed."""
        while not self._stopped.wait(0.2):  # in short intervals, so that Ctrl-C works on every platform
            pass

    def close(self) -> None:
        """Close the page."""
        self._stopped.set()
        self.player.close()
        with contextlib.nullcontext() if self._verbose else contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def _move(self, x: Any, q: Any) -> None:
        """Move the frames to their poses; following cameras move along."""
        with self.server.atomic():
            for handle, at, turned in zip(self._frames.values(), x, q, strict=True):
                handle.position, handle.wxyz = at, turned
        if len(x) and self._follow:
            step = x[0] - self._seen
            for client in self.server.get_clients().values() if np.any(step) else ():
                client.camera.position = client.camera.position + step  # viser moves the target along
        self._seen = x[0] if len(x) else np.zeros(3)

    def _put_frames(self, scene: Scene) -> None:
        for handle in self._frames.values() if tuple(self._frames) != scene.frames else ():
            handle.remove()  # including its children
        if tuple(self._frames) == scene.frames:
            return
        self._solids = {name: pair for name, pair in self._solids.items() if not pair[0].frame}
        self._frames = {frame: self.server.scene.add_frame(path_of(frame), show_axes=False) for frame in scene.frames}
        self._names = {
            frame: self.server.scene.add_label(f"{path_of(frame)}/name", frame.split("/", 1)[1], visible=False)
            for frame in scene.frames
        }
        self.player.names = list(self._names.values())

    def _put_solids(self, scene: Scene) -> None:
        for name, (solid, handle) in list(self._solids.items()):
            if scene.solids.get(name) is not solid:
                handle.remove()
                del self._solids[name]
        for name, solid in scene.solids.items():
            if name not in self._solids:
                self._solids[name] = (solid, self._mesh(name, solid))

    def _mesh(self, name: str, solid: Solid) -> Any:
        leaf = name.rsplit("/", 1)[-1]
        path = f"{path_of(solid.frame)}/{leaf}" if solid.frame else path_of(f"world/{name}")
        opacity, closed = solid.color[3], solid.triangles.is_closed
        return self.server.scene.add_mesh_simple(
            path,
            solid.triangles.vertices.astype(np.float32),
            solid.triangles.faces.astype(np.uint32),
            color=rgb(solid.color),
            opacity=None if opacity >= 1.0 else opacity,
            side="front" if closed else "double",
            cast_shadow=closed and opacity >= 1.0,  # double-sided meshes would shadow themselves
        )

    def _put_floor(self, floor: Floor | None) -> None:
        for handle in self._floor:
            handle.remove()
        self._floor = []
        if floor is None:
            return
        color = floor.color or TILES
        width, height, _ = floor.size
        where = {"wxyz": floor.quaternion, "position": floor.origin}
        if floor.image:
            self._floor.append(self.server.scene.add_image("/floor", tiled(floor), width, height, **where))
            return
        dark = (0.86 * color[0], 0.86 * color[1], 0.86 * color[2], color[3])
        self._floor.append(
            self.server.scene.add_grid(
                "/floor", width, height, plane="xy", cell_size=floor.tile, section_size=5.0 * floor.tile,
                cell_color=rgb(dark), section_color=rgb(tuple(0.92 * c for c in dark)),
                cell_thickness=1.0 if floor.grid else 0.0, section_thickness=1.2 if floor.grid else 0.0,
                plane_color=rgb(color), plane_opacity=color[3], fade_distance=1e6, shadow_opacity=0.3, **where,
            )
        )  # fmt: skip

    def _put_light(self, light: Light) -> None:
        scene, reach = self.server.scene, 50.0
        x, y, z = light.direction
        scene.add_light_ambient("/light/ambient", intensity=2.1 * (light.ambient + light.fill))
        scene.add_light_directional(
            "/light/lamp", intensity=3.0 * light.lamp, position=(reach * x, reach * y, reach * z),
            cast_shadow=light.shadow,
        )  # fmt: skip

    def _put_lamps(self, lamps: Mapping[str, Lamp]) -> None:
        for handle in self._lamps:
            handle.remove()
        self._lamps = []
        for name, lamp in lamps.items():
            add, path = self.server.scene, f"{path_of(lamp.frame or 'world')}/lamp {name.replace('/', '∕')}"
            x, y, z = lamp.direction
            power: dict[str, Any] = {"color": rgb(lamp.color)}
            match lamp.kind:
                case "point":
                    made = add.add_light_point(path, intensity=2.4, decay=0.0, position=lamp.position, **power)
                case "spot":
                    made = add.add_light_spot(
                        path, intensity=2.4, decay=0.0, angle=SPOT_ANGLE, penumbra=0.1, position=lamp.position,
                        direction=lamp.direction, **power,
                    )  # fmt: skip
                case "directional":
                    made = add.add_light_directional(path, intensity=2.4, position=(-x, -y, -z), **power)
            self._lamps.append(made)

    def _put_background(self, background: Background) -> None:
        share = np.linspace(0.0, 1.0, 256)[:, None, None]
        image = (1.0 - share) * np.array(background.top) + share * np.array(background.bottom)
        self.server.scene.set_background_image(np.round(255.0 * np.repeat(image, 4, axis=1)).astype(np.uint8))

    def _put_camera(self, scene: Scene, before: Camera | None) -> None:
        """Set the initial camera; open pages follow only explicit camera changes."""
        seen, camera = framing(scene), self.server.initial_camera
        if before is not None and replace(before, follow=scene.camera.follow) != scene.camera:
            for client in self.server.get_clients().values():
                client.camera.position, client.camera.look_at = seen.position, seen.look_at
        camera.position, camera.look_at = tuple(seen.position), tuple(seen.look_at)
        camera.fov = float(FIELD_OF_VIEW)
        self._follow = seen.follow


def path_of(name: str) -> str:
    """Path of a frame in viser's tree; slashes in body names are replaced, because they would create branches."""
    robot, _, rest = name.partition("/")
    return f"/{robot}/{rest.replace('/', '∕')}"


def rgb(color: Color | tuple[float, ...]) -> tuple[int, int, int]:
    """Convert a colour to red, green and blue from 0 to 255."""
    red, green, blue = (round(255.0 * c) for c in color[:3])
    return red, green, blue


def tiled(floor: Floor) -> Any:
    """Pixels (h, w, 3) of a floor with an image on every tile, at most 2048 a side."""
    import base64

    iio = importlib.import_module("imageio.v3")  # a dependency of viser
    one = np.asarray(iio.imread(base64.b64decode(floor.image.split(",", 1)[1])))
    one = one[..., :3] if one.ndim == 3 else np.repeat(one[..., None], 3, axis=2)
    columns, rows = (max(1, round(edge / floor.tile)) for edge in floor.size[:2])
    thin = max(1, -(-max(one.shape[1] * columns, one.shape[0] * rows) // 2048))
    return np.tile(one[::thin, ::thin], (rows, columns, 1))
