"""Models of a recording in 3-D, with their lights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import RecordingError
from cbsim.geometry.pose import rotate
from cbsim.recording.recording import Recording
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.shapes import matrix
from cbsim.view3d.build import solids_of
from cbsim.view3d.default_floor import floor_of
from cbsim.view3d.environment import MOST_LAMPS, set_lamp
from cbsim.view3d.export import export_scene
from cbsim.view3d.scene import Light, Robot, Solid
from cbsim.view3d.track import Track
from cbsim.view3d.visualizer import Visualizer
from cbsim.world.frames import Frame
from cbsim.world.places import frame_of
from cbsim.world.scene import Model

__all__ = ["visualize_recording"]

DARKEST = 0.15  # ambient light at least, so that shapes are seen


@dataclass(frozen=True, eq=False)
class _Parts:
    """Bodies of a model, massless links included, and its constraints."""

    origin: Origin
    bodies: tuple[Body, ...]
    joints: tuple[JointConstraint, ...]
    contacts: tuple[ContactConstraint, ...]
    colliders: tuple[Collider, ...]
    timestep: float
    pose: Floats


def visualize_recording(
    recording: Recording,
    *,
    vis: Visualizer | None = None,
    html: str | Path | None = None,
    port: int = 8080,
    verbose: bool = True,
) -> Visualizer:
    """Show the models of a recording on a web page or in a file: shapes, motion, and lights if their files have some.

    Parameters
    ----------
    recording : Recording
        Of a run with models. Vehicles and props are not drawn.
    vis : Visualizer, optional
        Scene to draw into; by default a new one.
    html : str or Path, optional
        Write a self-contained page to this file instead of opening one.
    port, verbose
        As in `visualize`.

    Returns
    -------
    Visualizer
        Use `close` to close the page, or `wait` to keep a script's page open.

    Raises
    ------
    RecordingError
        If it has no models, or no source files.
    UsageError
        If a page is requested and the extra ``view3d`` is not installed.

    Examples
    --------
    >>> import cbsim, tempfile
    >>> from cbsim.view3d import visualize_recording
    >>> recording = cbsim.run(cbsim.load("cart.jm"), duration=0.1)
    >>> vis = visualize_recording(recording, html=tempfile.mkdtemp() + "/cart.html")
    >>> len(vis.scene.frames)
    5
    """
    from cbsim.evaluation.judge import scene_of

    shown = Visualizer() if vis is None else vis
    scene = scene_of(recording)
    models = scene.models
    if not models:
        raise RecordingError("this recording has no models: the viewer shows vehicles")
    names = iter(recording.bodies)
    for number, model in enumerate(models):
        motion = np.stack([recording.motion(next(names))[:, :7] for _ in model.description.bodies], axis=1)
        track = Track(recording.times, motion[..., :3], motion[..., 3:])
        _put(shown, model, _frame_name(model, number), frame_of(model, scene), track)
    _dim(shown, models)
    if html is not None:
        export_scene(shown.scene, html)
    else:
        shown.open(port=port, verbose=verbose)
    return shown


def _frame_name(model: Model, number: int) -> str:
    return model.name.replace("/", "∕") or f"model {number + 1}"


def _put(shown: Visualizer, model: Model, name: str, frame: Frame, track: Track) -> None:
    """Add the solids of a model, scaled, its motion and its lights."""
    bodies = tuple(model.description.bodies)
    spec = model.description.spec
    pose = np.concatenate([track.x[0], np.zeros((len(bodies), 3)), track.q[0]], axis=1)
    parts = _Parts(
        spec.origin, bodies, tuple(spec.joints), tuple(spec.contacts), tuple(spec.colliders), spec.timestep, pose
    )
    solids = {key: _scaled(solid, model.scale) for key, solid in solids_of(parts, name).items()}
    solids |= {key: _moved(solid, frame) for key, solid in solids.items() if not solid.frame}
    robot = Robot(name, tuple(body.name for body in bodies), track.x[0], track.q[0])
    shown.change(
        robots={**shown.scene.robots, name: robot}, solids={**shown.scene.solids, **solids},
        tracks={**shown.scene.tracks, name: track},
    )  # fmt: skip
    if shown.scene.floor is None:
        shown.change(floor=floor_of(parts, shown.scene))
    for number, light in enumerate(model.description.lights):
        if len(shown.scene.lamps) == MOST_LAMPS:
            break
        here = (light.position, light.direction)
        if light.body:
            position, direction = model.scale * np.array(here[0]), np.array(here[1])
        else:
            direction = rotate(frame.orientation, np.array(here[1]))
            position = frame.position + frame.scale * rotate(frame.orientation, np.array(here[0]))
        set_lamp(
            shown, light.kind, position=position, direction=direction, color=light.diffuse,
            frame=f"{name}/{light.body}" if light.body else "", name=f"{name}/{light.name or number}",
        )  # fmt: skip


def _dim(shown: Visualizer, models: Sequence[Model]) -> None:
    """Put out the usual lamp where files have lights; the sum of their ambient light is in its place."""
    lights = [light for model in models for light in model.description.lights]
    if lights:
        ambient = float(np.clip(sum(np.mean(light.ambient) for light in lights), DARKEST, 1.0))
        shown.change(light=Light(ambient=ambient, fill=0.0, lamp=0.0, shadow=False))


def _moved(solid: Solid, frame: Frame) -> Solid:
    """Place a solid that is fixed to the origin of a model, already scaled."""
    return replace(solid, triangles=solid.triangles.moved(matrix(frame.orientation), frame.position))


def _scaled(solid: Solid, scale: float) -> Solid:
    if scale == 1.0:
        return solid
    return replace(solid, triangles=solid.triangles._replace(vertices=scale * solid.triangles.vertices))
