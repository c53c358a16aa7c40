"""`MissionProgress`: how many checkpoints of its mission a vehicle has passed, for its planner."""

from __future__ import annotations

from typing import NamedTuple

from cbsim.geometry import elementary as math
from cbsim.road.restarts import width_at
from cbsim.road.route import checkpoints
from cbsim.world.world import World

__all__ = ["MissionProgress"]


Place = tuple[float, float, float]  # x, y [m] and heading [rad] of the vehicle


class Line(NamedTuple):
    """Line across the road through a checkpoint: its middle [m], direction of travel, half of its width [m]."""

    x: float
    y: float
    east: float
    north: float
    half_width: float


class MissionProgress:
    """Checkpoints that a vehicle has passed, in the order of its mission.

    One is passed when the middle of the front bumper crosses the line through it, across the lane, no further from its
    middle than half the lane, with a heading within 90° of the lane's; or when the vehicle starts above it. The path
    between two decisions of its planner counts as straight.

    Parameters
    ----------
    world : World
    row : int
        Of the vehicle's body.

    Attributes
    ----------
    passed : int
    """

    def __init__(self, world: World, row: int) -> None:
        self.passed = 0
        self._half_length = 0.5 * float(world.shapes.size[row, 1])
        self._lines = _lines_of(world)
        self._reach = 4.0 * self._half_length  # [m] more than between the centre and the front
        self._before: Place | None = None
        self._restarts = 0

    def resume(self, passed: int) -> None:
        """Go on where some have been passed."""
        self.passed = passed

    def see(self, x: float, y: float, heading: float, restarts: int) -> int:
        """Take the next place [m] and heading [rad], and how often the vehicle has been restarted; return `passed`."""
        if self.passed >= len(self._lines):
            return self.passed
        place, then = (x, y, heading), self._before if restarts == self._restarts else None
        self._before, self._restarts = place, restarts
        if then is not None:  # far from the line, sines are spared
            line = self._lines[self.passed]
            dx, dy = x - line.x, y - line.y
            reach = self._reach + line.half_width + abs(x - then[0]) + abs(y - then[1])
            if dx * dx + dy * dy > reach * reach:
                return self.passed
        ahead_x, ahead_y = -math.sin(heading), math.cos(heading)
        front = x + self._half_length * ahead_x, y + self._half_length * ahead_y
        before = None if then is None else self._front_of(*then)
        if before is None and (self.passed == 0 or restarts != self._restarts):  # it starts here
            line = self._lines[self.passed]
            along, across = _beside(line, front)
            facing = line.east * ahead_x + line.north * ahead_y
            self.passed += 0.0 < along <= 2.0 * self._half_length and abs(across) <= line.half_width and facing >= 0.0
        while before is not None and self.passed < len(self._lines):
            line = self._lines[self.passed]
            (one, aside), (two, beside) = _beside(line, before), _beside(line, front)
            if not one <= 0.0 < two or line.east * ahead_x + line.north * ahead_y < 0.0:
                break
            part = -one / (two - one)
            if abs(aside + part * (beside - aside)) > line.half_width:
                break
            before = before[0] + part * (front[0] - before[0]), before[1] + part * (front[1] - before[1])
            self.passed += 1
        return self.passed

    def _front_of(self, x: float, y: float, heading: float) -> tuple[float, float]:
        """Middle of the front bumper [m]."""
        return x - self._half_length * math.sin(heading), y + self._half_length * math.cos(heading)


def _beside(line: Line, point: tuple[float, float]) -> tuple[float, float]:
    """Way beyond a line, and to the left of its middle [m]."""
    dx, dy = point[0] - line.x, point[1] - line.y
    return dx * line.east + dy * line.north, dy * line.east - dx * line.north


def _lines_of(world: World) -> list[Line]:
    """Lines through the checkpoints of the mission, up to one that the network does not have."""
    roadmap, mission = world.scene.roadmap, world.scene.mission
    if roadmap is None or mission is None:
        return []
    known, lines = checkpoints(roadmap), list[Line]()
    for one in mission.checkpoints:
        point = known.get(one.number)
        if point is None:
            break
        row = roadmap.rows[point]
        heading = float(roadmap.headings[row])
        heading = 0.0 if math.isnan(heading) else heading
        x, y = roadmap.positions[row].tolist()
        lines.append(Line(x, y, -math.sin(heading), math.cos(heading), 0.5 * width_at(roadmap, point)))
    return lines
