"""Preview of the objects of a file, as the viewer draws them in a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.editor.objects.placement import frame_of, place_of
from cbsim.editor.objects.stops import script_ends
from cbsim.errors import Problems
from cbsim.formats.companions import Companions
from cbsim.geometry.pose import Pose
from cbsim.paths import Files
from cbsim.recording.batch import Header
from cbsim.recording.objects import Objects
from cbsim.road.goals import expand_goals
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Controller, Kind, TrafficObject
from cbsim.spec.road import PointId
from cbsim.spec.sensor import SensorConf, stand_in_conf
from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.scene.stage import Stage, empty_stage, stage_of
from cbsim.viewer.scene.timeline import SceneState, Timeline
from cbsim.viewer.view import DisplayOptions, View
from cbsim.world.places import start_pose
from cbsim.world.scene import Actor, Scene
from cbsim.world.sensors import mount_pose

__all__ = ["Field", "Preview", "PreviewBuilder"]

CORNERS = 48  # points on the arc of a field of view


@dataclass(frozen=True, eq=False)
class Field:
    """Field of view of a sensor: its conf, and corners (n, 2) of its outline [m], starting at the sensor."""

    conf: str
    corners: Floats


@dataclass(frozen=True, eq=False)
class Preview:
    """Objects ready for drawing.

    Attributes
    ----------
    stage, state, timeline
        As in the viewer; rows are those of the objects.
    lost : frozenset of int
        Rows of objects whose anchor is missing in the network; they are drawn at the map's origin.
    actors : tuple of Actor
        Objects with their goals, confs and meshes.
    ends : tuple
        For each object, the position (2,) [m] of each goal, or None if it has none. For a goal without waypoint it is
        that of the last waypoint it stands for; for a script, the end of each entry.
    """

    stage: Stage
    state: SceneState
    timeline: Timeline
    lost: frozenset[int]
    actors: tuple[Actor, ...]
    ends: tuple[tuple[Floats | None, ...], ...]

    def view(self, camera: Camera, options: DisplayOptions) -> View:
        """Return their view through a camera."""
        return View(self.stage, self.timeline, self.state, camera, options=options)

    def pose(self, row: int) -> Pose:
        """Return the pose of an object's centre."""
        return Pose(self.state.position[row], self.state.orientation[row])

    def fields(self, row: int) -> list[Field]:
        """Fields of view of an object's sensors, from above."""
        actor = self.actors[row]
        layout = self.stage.wheel_layouts.get(row)
        found = list[Field]()
        for mount, (_, conf) in zip(actor.item.sensors, actor.confs, strict=True):
            size = np.asarray(actor.item.size, float)
            pose = self.pose(row) @ mount_pose(conf, size, layout.wheelbase if layout is not None else 0.0)
            found.append(Field(mount.conf, pose.apply(_outline(conf))[:, :2]))
        return found


def _outline(conf: SensorConf) -> Floats:
    """Corners (n, 3) of a sensor's field of view in its own frame [m]."""
    angle = np.linspace(conf.start_angle, conf.end_angle, CORNERS)
    arc = conf.max_range * np.stack([-np.sin(angle), np.cos(angle), np.zeros(CORNERS)], axis=1)
    return np.concatenate([np.zeros((1, 3)), arc])


class Prepared(NamedTuple):
    """An object with its references, its placeable form, its header entry, path of goals, and goal positions."""

    actor: Actor
    placed: Actor
    header: dict[str, object]
    way: Floats
    ends: tuple[Floats | None, ...]


class PreviewBuilder:
    """Builds previews of the objects in a file.

    Parameters
    ----------
    roadmap : RoadMap or None
    files : Files
        Source of confs and meshes.
    folder : Path
        Folder of the object file.

    Attributes
    ----------
    ground : Stage
        The network alone.
    """

    def __init__(self, roadmap: RoadMap | None, files: Files, folder: Path) -> None:
        self.roadmap, self.folder = roadmap, folder
        self.companions = Companions(files, Problems())
        self.ground = Stage("") if roadmap is None else empty_stage(roadmap)
        self._ground_timeline = Timeline(self.ground)
        self._known: dict[int, tuple[TrafficObject, Prepared]] = {}

    def move(self, files: Files, folder: Path) -> None:
        """Change where confs and meshes are read from."""
        self.companions, self.folder = Companions(files, Problems()), folder
        self._known.clear()

    def ground_view(self, camera: Camera, options: DisplayOptions) -> View:
        """Return the view of the network alone."""
        nothing = np.zeros((0, 3))
        state = SceneState(0.0, nothing, np.zeros((0, 4)), nothing, nothing)
        return View(self.ground, self._ground_timeline, state, camera, options=options)

    def build(self, objects: Sequence[TrafficObject], name: str) -> Preview:
        """Build the preview of some objects, reusing unchanged ones."""
        parts = [self._prepared(item) for item in objects]
        self._known = {id(item): (item, part) for item, part in zip(objects, parts, strict=True)}
        placed = tuple(part.placed for part in parts)
        header = Header(0, name, 0.05, 0, "", Objects([part.header for part in parts]), [], [], {})
        goals = {row: part.way for row, part in enumerate(parts) if len(part.way) > 1}
        bare = stage_of(header, Scene(name, placed))
        stage = replace(bare, road=self.ground.road, roadmap=self.roadmap, goals=goals)
        still = np.zeros((len(parts), 3))
        state = SceneState(0.0, stage.position, stage.orientation, still, still)
        lost = frozenset(row for row, part in enumerate(parts) if part.placed is not part.actor)
        return Preview(
            stage, state, Timeline(stage), lost, tuple(part.actor for part in parts), tuple(part.ends for part in parts)
        )

    def _prepared(self, item: TrafficObject) -> Prepared:
        known = self._known.get(id(item))
        if known is not None and known[0] is item:
            return known[1]
        actor = self._actor(item)
        lost = item.anchor is not None and (self.roadmap is None or not self.roadmap.has(item.anchor))
        placed = replace(actor, item=replace(item, anchor=None)) if lost else actor
        pose = start_pose(placed, Scene("", (placed,), self.roadmap))
        return Prepared(actor, placed, _described(placed, pose), self._way(placed), self._ends(item))

    def _actor(self, item: TrafficObject) -> Actor:
        goals = () if self.roadmap is None else expand_goals(item, self.roadmap.network, Problems())
        confs = tuple(
            (Path(mount.conf).stem, self.companions.conf(item, mount, self.folder) or stand_in_conf(item.size.y))
            for mount in item.sensors
        )
        return Actor(item, None, goals, confs, self.companions.mesh(item, self.folder))

    def _way(self, actor: Actor) -> Floats:
        """Positions (k, 2) of an object's goals, preceded by its start [m]; goals without a position are omitted."""
        start = place_of(actor.item, self.roadmap)[0]
        if actor.item.controller is Controller.SCRIPT:
            return np.array([start, *script_ends(actor.item, start)])
        points = [PointId(goal.segment, goal.lane, goal.waypoint or 0) for goal in actor.goals]
        there = [frame_of(point, self.roadmap)[0] for point in points if self.roadmap and self.roadmap.has(point)]
        return np.array([start, *there])

    def _ends(self, item: TrafficObject) -> tuple[Floats | None, ...]:
        """Position (2,) of each goal [m]; for a goal without waypoint, that of the last waypoint it stands for."""
        if item.controller is Controller.SCRIPT:
            return tuple(script_ends(item, place_of(item, self.roadmap)[0]))
        found = list[Floats | None]()
        for number, goal in enumerate(item.goals):
            waypoint, roadmap = goal.waypoint, self.roadmap
            if waypoint is None and roadmap is not None:
                some = [replace(item, goals=item.goals[:end]) for end in (number, number + 1)]
                before, after = (expand_goals(one, roadmap.network, Problems()) for one in some)
                waypoint = after[-1].waypoint if len(after) > len(before) else None
            point = PointId(goal.segment, goal.lane, waypoint or 0)
            found.append(roadmap.position(point) if roadmap is not None and roadmap.has(point) else None)
        return tuple(found)


def _described(actor: Actor, pose: Pose) -> dict[str, object]:
    """Describe an object as in the header of a recording."""
    item = actor.item
    size = np.asarray(item.size, float)
    if actor.mesh is not None:
        size = np.ptp(actor.mesh[0], axis=0) if len(actor.mesh[0]) else np.zeros(3)
    elif item.shape.name == "SPHERE":
        size = np.full(3, size[0])
    elif item.shape.name == "CYLINDER":
        size = size[[0, 0, 2]]
    elif item.shape.name == "WHEEL":
        size = size[[0, 1, 1]]
    return {
        "name": item.name,
        "type": str(Kind.MESH if actor.mesh is not None else item.kind),
        "shape": item.shape.name.lower(),
        "size": size.tolist(),
        "position": pose.position.tolist(),
        "orientation": pose.orientation.tolist(),
    }
