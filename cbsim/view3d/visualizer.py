"""Visualizer: a scene, and its web page while open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from cbsim.errors import UsageError, did_you_mean
from cbsim.view3d.scene import Scene, Solid

if TYPE_CHECKING:
    from cbsim.view3d.live import LiveScene

__all__ = ["Visualizer"]


class Visualizer:
    """A scene to draw into, and its web page once opened.

    Attributes
    ----------
    scene : Scene
        The scene; functions such as `set_floor` replace it.

    Examples
    --------
    >>> from cbsim.view3d import Visualizer, set_arrow
    >>> vis = Visualizer()
    >>> set_arrow(vis, (0, 0, 1), (1, 0, 0), name="wind")
    >>> sorted(vis.scene.solids)
    ['wind']
    """

    def __init__(self) -> None:
        self.scene = Scene()
        self._live: LiveScene | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def change(self, **parts: object) -> None:
        """Replace parts of the scene, and update an open page."""
        self.scene = replace(self.scene, **parts)  # type: ignore[arg-type]
        if self._live is not None:
            self._live.show(self.scene)

    def put(self, solids: Mapping[str, Solid]) -> None:
        """Add solids, replacing those of the same name."""
        self.change(solids={**self.scene.solids, **solids})

    def remove(self, name: str) -> None:
        """Remove a robot with what moves with it, a solid, a lamp or the ``floor``.

        Raises
        ------
        UsageError
            If there is nothing of that name.
        """
        scene = self.scene
        if name in scene.robots:
            self.change(
                robots={key: robot for key, robot in scene.robots.items() if key != name},
                tracks={key: track for key, track in scene.tracks.items() if key != name},
                solids={key: solid for key, solid in scene.solids.items() if not key.startswith(f"{name}/")},
                lamps={key: lamp for key, lamp in scene.lamps.items() if not lamp.frame.startswith(f"{name}/")},
            )
        elif name in scene.solids:
            self.change(solids={key: solid for key, solid in scene.solids.items() if key != name})
        elif name in scene.lamps:
            self.change(lamps={key: lamp for key, lamp in scene.lamps.items() if key != name})
        elif name == "floor":
            self.change(floor=None)
        else:
            known = [*scene.robots, *scene.solids, *scene.lamps, "floor"]
            raise UsageError(f"nothing here is called '{name}' {did_you_mean(name, known)}".rstrip())

    def open(self, *, host: str = "127.0.0.1", port: int = 8080, verbose: bool = True) -> str:
        """Open a web page that shows the scene until `close`; returns its address.

        Parameters
        ----------
        host : str
            Address to listen on: ``"127.0.0.1"`` for this machine only, ``"0.0.0.0"`` for all interfaces.
        port : int
            First port to try; 0: any.
        verbose : bool
            Print the address on standard output.

        Raises
        ------
        UsageError
            If the extra ``view3d`` is not installed, the host is unknown, or no port is free.
        """
        from cbsim.view3d.live import LiveScene

        if self._live is None:
            self._live = LiveScene(self.scene, host=host, port=port, verbose=verbose)
        return self._live.url

    @property
    def live(self) -> LiveScene:
        """The open page.

        Raises
        ------
        UsageError
            If it is not open.
        """
        if self._live is None:
            raise UsageError("the page is not open: call open() first")
        return self._live

    @property
    def is_open(self) -> bool:
        """Whether the page is open."""
        return self._live is not None

    def wait(self) -> None:
        """Keep the page open until the program is interrupted (Ctrl-C); for the end of a script."""
        try:
            self.live.wait()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Close the page; the scene is kept."""
        if self._live is not None:
            self._live.close()
            self._live = None
