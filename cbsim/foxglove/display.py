"""`Display`: the batches of a run as foxglove messages.

Viewers that jump in time show the newest message of each topic before that time. Therefore related data are in one
message, data that are sent once have a topic of their own, and every sensor has its own frames.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import Contact
from cbsim.evaluation.rules import Check
from cbsim.foxglove.drawings import planner_annotations
from cbsim.foxglove.entities import bodies, road
from cbsim.foxglove.lasers import Laser
from cbsim.foxglove.messages import MAP, QUARTER, Fields, Message, frame_of, pose, timestamp, transform
from cbsim.geometry.pose import heading_quaternion, multiply
from cbsim.recording.batch import Batch, Header, motion_of_rows
from cbsim.recording.roster import Roster
from cbsim.road.drawing import road_of
from cbsim.spec.road import PointId
from cbsim.world.motion import ABSENT_BELOW, MOTION
from cbsim.world.scene import Scene
from cbsim.world.tables import Shapes

__all__ = ["Display"]

PERIOD = 0.05  # least time between messages of a topic [s]: 20 Hz
TRAIL = 20  # poses of a trail at most
TRAIL_PERIOD = 1.0  # time between poses of a trail [s]
TRAILS = 12  # largest number of bodies with a trail; bots first
DELETE_ALL = 1  # type of a deletion
INFO, WARNING, ERROR, FATAL = 2, 3, 4, 5
POSITION, ORIENTATION = MOTION["position"], MOTION["orientation"]


class Display:
    """Messages of one run.

    Parameters
    ----------
    header : Header
        Header of the recording.
    scene : Scene, optional
        For the road and the goals.
    shapes : Shapes, optional
        For meshes.
    """

    def __init__(self, header: Header, scene: Scene | None = None, shapes: Shapes | None = None) -> None:
        self._header, self._scene, self._shapes = header, scene, shapes
        self._roster = Roster(header.objects)
        self._moving = np.array(header.moving, np.int64)
        self._passing = frozenset(row for row in header.moving if _may_be_absent(header, row))
        self._there: list[tuple[int, str]] = []
        self._lasers = {sensor["key"]: Laser(sensor) for sensor in header.sensors if "angles" in sensor}
        self._stride = _steps(PERIOD, header.step)
        self._trail_stride = _steps(TRAIL_PERIOD, header.step)
        self._first: int | None = None
        self._last: tuple[int, Ints, Floats] | None = None
        self._shown = -1
        self._scanned: dict[str, float] = {}
        self._drawn = -math.inf
        self._trails: dict[int, list[Fields]] = {row: [] for row in self._trailing_rows()}

    def _trailing_rows(self) -> list[int]:
        """Rows of the bodies that leave trails; a row of a flow holds one car after another and leaves none."""
        objects = self._header.objects
        rows = [row for row in self._header.moving if not self._roster.is_flow(row)]
        return sorted(rows, key=lambda row: objects[row].get("type") != "autonomous")[:TRAILS]

    def take(self, batch: Batch) -> Iterator[Message]:
        """Yield the messages of a batch, at most one per period and topic."""
        if self._first is None:
            self._first = batch.first_step
            yield from self._static(batch.first_step * self._header.step)
        self._roster.take(batch.events)
        rows = self._moving if batch.rows is None else batch.rows
        for k, step in enumerate(batch.steps.tolist()):
            since = step - self._first
            if since % self._stride == 0:
                yield from self._frames(step, rows, batch.motion[k])
            if since % self._trail_stride == 0:
                yield from self._paths(step, rows, batch.motion[k])
        if len(batch.hashes):
            self._last = int(batch.steps[-1]), rows, batch.motion[-1].copy()
        for scan in sorted(batch.scans, key=attrgetter("key")):  # the order of files, for equal messages
            last = self._scanned.get(scan.key)
            if scan.key in self._lasers and (last is None or scan.time >= last + PERIOD - 1e-9):
                self._scanned[scan.key] = scan.time
                yield from self._lasers[scan.key].messages_of(scan)
        for annotated in batch.drawings:
            time = annotated.step * self._header.step
            if time >= self._drawn + PERIOD - 1e-9 or not annotated.drawings:  # an empty message is sent only once
                self._drawn = time
                yield _scene("/foxglove/planners", time, [planner_annotations(time, annotated.drawings)])
        for contact in batch.contacts:
            names = self._roster.names_at(round(float(contact[0]) / self._header.step))
            yield self._contact(Contact.of(contact, names))

    def fault(self, name: str, time: float, message: str) -> Message:
        """Return the message of a failure of a planner itself."""
        return _log(FATAL, time, name, message)

    def end(self, checks: Sequence[Check] = ()) -> Iterator[Message]:
        """Yield the last state, unless sent before, and the checks, each at the time of its decision."""
        if self._last is None:
            return
        step, rows, motion = self._last
        if self._shown != step:
            yield from self._frames(step, rows, motion)
        for check in checks:
            time = step * self._header.step if check.time is None else check.time
            text = f"{check.status}: {check.message}"
            level = WARNING if check.passed is None else INFO if check.passed else ERROR
            yield _log(level, time, check.name, text)

    def _static(self, time: float) -> Iterator[Message]:
        """Yield what is sent once: road, static bodies and shapes of bodies."""
        objects = self._header.objects
        always = [(row, objects.names[row]) for row in range(len(objects)) if row not in self._passing]
        yield _scene("/foxglove/bodies", time, bodies(self._header, time, self._shapes, always))
        if self._scene is None or self._scene.roadmap is None:
            return
        yield _scene("/foxglove/road", time, road(road_of(self._scene.roadmap), time))
        for row, goals in _goals(self._scene).items():
            yield _poses(f"/foxglove/goals/{objects.names[row]}", time, goals)

    def _frames(self, step: int, rows: Ints, motion: Floats) -> Iterator[Message]:
        """Yield the transforms of moving bodies (n, 13), and shapes of traffic if it is not the same as before."""
        self._shown, time = step, step * self._header.step
        shown = np.flatnonzero(np.all(np.isfinite(motion), axis=1) & (motion[:, 2] > ABSENT_BELOW)).tolist()
        names = [self._roster.name(int(rows[k]), step) for k in shown]
        there = [(int(rows[k]), name) for k, name in zip(shown, names, strict=True) if int(rows[k]) in self._passing]
        if there != self._there:
            self._there = there
            # whole, for viewers that jump to this time and know no message before it
            yield _scene("/foxglove/traffic", time, bodies(self._header, time, self._shapes, there), anew=True)
        frames = [
            transform(time, frame_of("body", name), motion[k, POSITION], motion[k, ORIENTATION])
            for k, name in zip(shown, names, strict=True)
        ]
        if frames:
            yield _packed("/foxglove/frames", "foxglove.FrameTransforms", time, {"transforms": frames})

    def _paths(self, step: int, rows: Ints, motion: Floats) -> Iterator[Message]:
        """Yield the trails of bodies; poses have their fronts along x, as viewers draw them."""
        found = motion_of_rows(motion[None], rows, np.array(sorted(self._trails), np.int64))[0]
        for row, own in zip(sorted(self._trails), found, strict=True):
            trail, name = self._trails[row], self._header.objects.names[row]
            if own[2] < ABSENT_BELOW:
                if trail:
                    trail.clear()
                    yield _poses(f"/foxglove/trail/{name}", step * self._header.step, trail)
                continue
            if not np.isfinite(own).all():
                continue
            turned = multiply(own[ORIENTATION], QUARTER)
            trail.append(pose(own[POSITION], turned))
            del trail[:-TRAIL]
            yield _poses(f"/foxglove/trail/{name}", step * self._header.step, trail)

    @staticmethod
    def _contact(contact: Contact) -> Message:
        one, other = contact.bodies
        x, y, z = contact.place
        text = f"{one} and {other} touch at ({x:.2f}, {y:.2f}, {z:.2f}) m with {contact.closing_speed:.2f} m/s"
        return _log(WARNING, contact.time, "contact", f"{text}, {contact.impulse:.0f} N s")


def _may_be_absent(header: Header, row: int) -> bool:
    """Whether a row is at times not there, or not recorded."""
    return header.objects.in_pool(row) or not header.is_recorded(row)


def _steps(period: float, step: float) -> int:
    """Count the steps of a period, rounded up, at least one."""
    return max(1, -int(-(period / step - 1e-9) // 1))


def _goals(scene: Scene) -> dict[int, list[Fields]]:
    """Row → poses of a body's goals, with x along the lane."""
    found, roadmap = dict[int, list[Fields]](), scene.roadmap
    if roadmap is None:
        return found
    for row, actor in enumerate(scene.actors):
        points = [PointId(goal.segment, goal.lane, goal.waypoint or 0) for goal in actor.goals]
        known = [point for point in points if roadmap.has(point)]
        if known:
            found[row] = [_goal(roadmap.position(point), float(roadmap.heading(point))) for point in known]
    return found


def _goal(place: Floats, heading: float) -> Fields:
    return pose(np.array([*place[:2], 0.0]), multiply(heading_quaternion(heading), QUARTER))


def _packed(topic: str, schema: str, time: float, message: dict[str, Any]) -> Message:
    return Message(topic, schema, time, json.dumps(message, separators=(",", ":")).encode())


def _scene(topic: str, time: float, entities: list[Fields], *, anew: bool = False) -> Message:
    """Return entities of a topic; `anew` deletes all others."""
    deletions = [{"timestamp": timestamp(time), "type": DELETE_ALL, "id": ""}] if anew else []
    return _packed(topic, "foxglove.SceneUpdate", time, {"deletions": deletions, "entities": entities})


def _poses(topic: str, time: float, poses: list[Fields]) -> Message:
    return _packed(
        topic, "foxglove.PosesInFrame", time, {"timestamp": timestamp(time), "frame_id": MAP, "poses": poses}
    )


def _log(level: int, time: float, name: str, message: str) -> Message:
    entry = {"timestamp": timestamp(time), "level": level, "message": message, "name": name, "file": "", "line": 0}
    return _packed("/foxglove/log", "foxglove.Log", time, entry)
