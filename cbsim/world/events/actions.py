"""Actions of events to rows of tables: who is acted on, and with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import Location, ModelError, did_you_mean
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import Pose
from cbsim.road.roadmap import RoadMap
from cbsim.spec.events import LIGHT_STATES, RUN_STATES, Action, Event, Place
from cbsim.spec.objects import Kind
from cbsim.world.bodies import Bodies
from cbsim.world.command_queue import CommandQueue
from cbsim.world.events.tables import ACTIONS, CAR, GUIDED, LIGHT, VEHICLE
from cbsim.world.scene import Scene
from cbsim.world.tables import Constants
from cbsim.world.traffic.tables import LANELET, OFFSET, STATION
from cbsim.world.traffic.zones.tables import IN_ZONE
from cbsim.world.world import Sensor

__all__ = ["APPEARANCES", "EventContext", "absent_rows", "action_row", "guided_rows"]

LANE_CHANGES = {"left": 1, "right": -1}
ON_THE_MOVE = ("speed", "stop", "resume", "synchronise")
APPEARANCES = ("block", "appear")
PRESENCE = (*APPEARANCES, "leave")
RATE = 2.0  # [m/s²] of an ordered speed, unless the scenario says otherwise
FAMILIES = (("run_state",), ON_THE_MOVE, (*PRESENCE, "restart"), ("lane_change",))
"""Actions that change the same thing of an object: of two in one step the later line wins."""


@dataclass(frozen=True, slots=True, eq=False)
class EventContext:
    """What names and places of events refer to.

    Attributes
    ----------
    bodies : Bodies
    constants : Constants
    car_rows : ndarray of int
        Rows of the bodies of reactive cars.
    starts : (ndarray, ndarray)
        Columns `travel` and `intent` of reactive cars at the start.
    roadmap : RoadMap or None
    kinds : list of Kind
        Of the objects, by their rows.
    sensors : tuple of Sensor
    queues : tuple of CommandQueue
        Of vehicles whose commands act late.
    poses : mapping
        Place → where a vehicle begins anew.
    """

    bodies: Bodies
    constants: Constants
    car_rows: Ints
    starts: tuple[Floats, Ints]
    roadmap: RoadMap | None
    kinds: list[Kind]
    sensors: tuple[Sensor, ...]
    queues: tuple[CommandQueue, ...] = ()
    poses: Mapping[Place, Pose] = field(default_factory=dict)

    def row(self, name: object, at: Location) -> int:
        """Row of the body of that name; -1 without a name."""
        if name is None:
            return -1
        row = self.bodies.row(str(name))
        if row is None:
            hint = did_you_mean(str(name), self.bodies.names)
            raise ModelError(f"no object '{name}'" + (f" ({hint})" if hint else ""), location=at)
        return row

    def place(self, place: object, at: Location) -> tuple[float, float, float]:
        """Coordinates [m] of a place, and the heading [rad] of the lane there."""
        if not isinstance(place, Place):
            return 0.0, 0.0, 0.0
        if place.waypoint is None:
            return place.x, place.y, 0.0
        if self.roadmap is None or not self.roadmap.has(place.waypoint):
            raise ModelError(f"no waypoint '{place.waypoint}' in the network", location=at)
        x, y = self.roadmap.position(place.waypoint).tolist()
        return x, y, float(self.roadmap.heading(place.waypoint))

    @property
    def light_names(self) -> tuple[str, ...]:
        """Names of all traffic lights."""
        from cbsim.road.lanelets import build_lanelets  # imported here: scenarios without events for lights need none

        return () if self.roadmap is None else build_lanelets(self.roadmap).light_names

    def light(self, action: Action) -> int:
        """Find the number of a traffic light.

        Raises
        ------
        ModelError
            If there is no such light.
        """
        name, names = str(action["light"]), self.light_names
        if name not in names:
            raise ModelError(f"no traffic light '{name}'", location=action.location)
        return names.index(name)

    def _can(self, action: Action, body: int) -> bool:
        """Whether a guided body can do what is asked for: what is static does not move."""
        is_static = body < len(self.kinds) and self.kinds[body] is Kind.STATIC
        return action.kind in PRESENCE or (action.kind in ON_THE_MOVE and not is_static)

    def target(self, action: Action) -> tuple[int, int, int]:
        """Table of who is acted on, row there, and row of the body.

        Raises
        ------
        ModelError
            If the object cannot do what is asked for.
        """
        body = self.row(action["object"], action.location)
        tables = {
            VEHICLE: (self.constants.vehicle_body, ("run_state", "restart")),
            GUIDED: (self.constants.guided_body, (action.kind,) if self._can(action, body) else ()),
            CAR: (self.car_rows, (*ON_THE_MOVE, "appear", "leave", "lane_change")),
        }
        for kind, (rows, can) in tables.items():
            found = np.flatnonzero(rows == body)
            if len(found) and action.kind in can:
                return kind, int(found[0]), body
        raise ModelError(f"'{action['object']}' cannot do what '{action.kind}' asks for", location=action.location)


def guided_rows(scene: Scene) -> list[int]:
    """Rows of objects that move, appear or leave as events tell them, and are no reactive cars."""
    named = {
        str(action["object"])
        for event in scene.events
        for action in event.do
        if action.kind in (*ON_THE_MOVE, *PRESENCE)
    }
    found: dict[str, int] = {}
    for row, actor in enumerate(scene.actors):
        item = actor.item
        if (item.name in named or actor.person is not None) and item.name not in found:
            found[item.name] = row
            if item.kind is Kind.AUTONOMOUS or actor.mesh is not None or item.reactive:
                found[item.name] = -1
    return sorted(row for row in found.values() if row >= 0)


def absent_rows(events: Sequence[Event], bodies: Bodies) -> list[int]:
    """Rows of bodies that an event makes appear, before any takes them away."""
    first: dict[str, str] = {}
    for event in events:
        for action in event.do:
            if action.kind in PRESENCE:
                first.setdefault(str(action["object"]), action.kind)
    rows = (bodies.row(name) for name, kind in first.items() if kind in APPEARANCES)
    return [row for row in rows if row is not None]


def action_row(action: Action, event: int, context: EventContext) -> tuple[list[int], list[float]]:
    """Rows of `EventTables.actions` and `action_values`."""
    at = action.location
    if action.kind == "light":
        light = context.light(action)
        state = LIGHT_STATES.index(str(action["state"])) - 1
        return [ACTIONS.index("light"), event, light, -1 - light, state, LIGHT, -1, 0], [0.0] * 10
    kind, target, body = context.target(action)
    family = next(number for number, kinds in enumerate(FAMILIES) if action.kind in kinds)
    slot = body * len(FAMILIES) + family
    state = RUN_STATES.index(str(action["state"])) if action.kind == "run_state" else 0
    if action.kind == "lane_change":
        state = LANE_CHANGES[str(action["side"])] * (2 if action["safe"] else 1)
    if action.kind == "restart":
        pose = context.poses[action["place"]]  # type: ignore[index]
        queue = next((one for one in context.queues if one.vehicle == target), None)
        rows = (0.0, 0.0) if queue is None else (float(queue.first), float(queue.last))
        numbers = [*pose.position.tolist(), *pose.orientation.tolist(), *rows, 0.0]
        return [ACTIONS.index("restart"), event, target, slot, int(action["leg"]), VEHICLE, -1, 0], numbers  # type: ignore[arg-type]
    x, y, lane = context.place(action["place"], at)
    heading = action["heading"]
    turn = float(heading) if isinstance(heading, float) else lane
    other_x, other_y, _ = context.place(action["with_place"], at)
    lanelet, station, offset = 0, 0.0, 0.0
    if kind == CAR:
        travel, intent = context.starts
        lanelet = int(intent[target, LANELET])
        if lanelet == IN_ZONE and action.kind == "appear":
            text = f"'{context.bodies[body].name}' starts in a parking spot, and cannot appear there by an event"
            raise ModelError(text, location=at)
        station, offset = float(travel[target, STATION]), float(travel[target, OFFSET])
    elif kind == GUIDED and action.kind == "synchronise":
        station = _station(context.constants, target, x, y)
    speed = {"stop": 0.0, "speed": action["to"], "synchronise": action["speed"]}.get(action.kind)
    rate, within = action["rate"], action["within"]
    values = [
        *(-1.0 if not isinstance(speed, float) else speed, rate if isinstance(rate, float) else RATE),
        *(within if isinstance(within, float) else -1.0, x, y, turn, other_x, other_y, station, offset),
    ]
    other = context.row(action["with"], at)
    return [ACTIONS.index(action.kind), event, target, slot, state, kind, other, lanelet], values


def _station(constants: Constants, guided: int, x: float, y: float) -> float:
    """Station [m] at which a guided body comes nearest to a place on its own trajectory."""
    rows = np.arange(constants.guided_first[guided], constants.guided_last[guided] + 1)
    best, found = np.inf, 0.0
    for row in rows.tolist():
        begin, velocity = constants.segment_origin[row, :2], constants.segment_velocity[row, :2]
        pace = math.hypot(*velocity.tolist())
        last = row == rows[-1]
        length = 0.0 if last else float(constants.segment_station[row + 1] - constants.segment_station[row])
        along = velocity / pace if pace > 0.0 else np.zeros(2)
        gap = np.array([x, y]) - begin
        way = min(max(float((gap * along).sum()), 0.0), length)
        distance = float(norm(gap - way * along))
        if distance < best - 1e-9:
            best, found = distance, float(constants.segment_station[row]) + way
    return found
