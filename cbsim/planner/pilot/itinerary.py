"""Path of a mission, leg by leg: lanes, connectors, lane changes, U-turns, zones and parking spots."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.planner.pilot.arc_paths import ArcPath, Pose, sample
from cbsim.planner.pilot.lane_change import lane_change
from cbsim.planner.pilot.path_builder import Mark, PathBuilder, PathSection
from cbsim.planner.pilot.u_turn import BEFORE, best_u_turn
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry
from cbsim.planner.pilot.zone_crossing import ZoneRaster, cross_zone
from cbsim.road.lanelets import Lanelets, build_lanelets
from cbsim.road.lanelets.limits import UNKNOWN_LIMIT, speed_limits
from cbsim.road.lanelets.routes import stretches_between
from cbsim.road.roadmap import RoadMap
from cbsim.road.route import Kind, Leg, Route, checkpoints, mission_legs, route
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId

__all__ = ["Itinerary"]

LIMIT_SHARE = 0.985  # share of the limit that is planned with; the rest is margin for the controller
MANOEUVRE_SPEED = 2.5  # [m/s] in manoeuvres
REVERSE_SPEED = 1.5  # [m/s] in reverse
ON_LANE = math.radians(60.0)  # heading error above which a car does not count as on the lane


@dataclass
class Itinerary:
    """Path of one mission, leg by leg.

    Attributes
    ----------
    roadmap : RoadMap
    mission : Mission or None
        None: follow the lane to its end.
    geometry : VehicleGeometry
    reason : str
        Why the path ends before the mission does; empty if it does not.
    """

    roadmap: RoadMap
    mission: Mission | None
    geometry: VehicleGeometry
    reason: str = ""
    _skip: float = 0.0
    _overhang: float = 0.0  # [m] of the front bumper beyond the end of the path, in a parking spot
    _u_turns: dict[tuple[PointId, PointId, bool], tuple[float, float, ArcPath] | None] = field(default_factory=dict)
    _parts: dict[tuple[int, float, float], PathSection] = field(default_factory=dict)
    _ways: dict[tuple[Pose, PointId], tuple[float, ArcPath] | None] = field(default_factory=dict)

    @cached_property
    def legs(self) -> list[Leg]:
        """The legs from checkpoint to checkpoint."""
        return [] if self.mission is None else mission_legs(self.roadmap, self.mission)

    @cached_property
    def _begins(self) -> list[int]:
        """Numbers of the checkpoints with which parts of the mission begin: no way leads to any but the first."""
        return [0, *(number for number, leg in enumerate(self.legs, 1) if leg.route is None)]

    @cached_property
    def lanelets(self) -> Lanelets:
        """The network with the mission's limits."""
        return build_lanelets(self.roadmap, self.mission)

    @cached_property
    def stops(self) -> set[PointId]:
        """Waypoints with a stop line."""
        return {self.roadmap.ids[row] for row in self.lanelets.ends[self.lanelets.stops, 1].tolist()}

    @cached_property
    def limits(self) -> Floats:
        """Maximum planned speed at each point of the network [m/s]."""
        every = np.arange(len(self.roadmap.ids))[:, None]
        return LIMIT_SHARE * speed_limits(self.roadmap, every, self.mission, UNKNOWN_LIMIT)

    @cached_property
    def rasters(self) -> dict[int, ZoneRaster]:
        """Rasters of the zones, by number."""
        return {
            zone.number: ZoneRaster.of(self.roadmap, index) for index, zone in enumerate(self.roadmap.network.zones)
        }

    def prepare(self) -> None:
        """Plan the manoeuvres and curves of the mission before the first step, and cache them for `build`."""
        if self.legs and self.legs[0].start is not None:
            rehearsal = PathBuilder()
            for leg in self.legs:
                if leg.route is None or not self._follow(rehearsal, leg.route):
                    break
        self._skip = 0.0

    def build(self, start: Pose, part: int = 0) -> PathBuilder:
        """Plan the path from the pose of the car's control point to the end of the mission.

        `part` is the number of legs without a way that lie behind.
        """
        builder = PathBuilder()
        self._skip, self._overhang, self.reason = 0.0, 0.0, ""
        goal, first = None, self._begins[min(part, len(self._begins) - 1)]
        if self.mission is not None:
            number = self.mission.checkpoints[first].number
            goal = checkpoints(self.roadmap).get(number)
            if goal is None:
                self.reason = f"the network has no checkpoint '{number}'"
        if not self._approach(builder, start, goal) or goal is None:
            return builder
        builder.mark(Mark.CHECKPOINT)
        for leg in self.legs[first:]:
            if leg.route is None:
                self.reason = f"no route from checkpoint {leg.numbers[0]} to {leg.numbers[1]}: {leg.reason}"
                break
            if not self._follow(builder, leg.route):
                break
            builder.mark(Mark.CHECKPOINT)
        builder.mark(Mark.FINISH, back=-self._overhang)
        return builder

    # --- from the initial pose -----------------------------------------------------------------------------------

    def _approach(self, builder: PathBuilder, start: Pose, goal: PointId | None) -> bool:
        """Plan the path to the first checkpoint, or to the end of the lane if there is none."""
        arm = self.geometry.arm
        centre = start[0] - arm * math.sin(start[2]), start[1] + arm * math.cos(start[2])
        match = self.roadmap.match([centre], [start[2]])
        lane, station = int(match.lane[0]), float(match.station[0]) - arm
        if lane < 0 or abs(float(match.heading_error[0])) > ON_LANE:
            return self._approach_off_road(builder, start, goal)
        curve = self.roadmap.lanes[lane]
        stations = curve.waypoint_stations
        rows = np.flatnonzero(stations > station + self.geometry.nose)
        ids = [PointId(*curve.id, number) for number in curve.numbers]
        if goal is None:
            self._along(builder, lane, station, curve.length)
            builder.mark(Mark.FINISH)
            return True
        for row in [*rows.tolist(), *np.flatnonzero(stations > station).tolist()[::-1]]:
            found = None if ids[row] == goal else route(self.roadmap, ids[row], goal)
            if ids[row] == goal or found is not None:
                first = row if row not in rows else int(rows[0])
                self._along(builder, lane, station, float(stations[row]), marks=range(first, row + 1))
                if found is not None:
                    return self._followed(builder, found)
                return True
        self.reason = f"no route from lane {curve} to the checkpoint at {goal}"
        self._along(builder, lane, station, curve.length)
        builder.mark(Mark.FINISH)
        return False

    def _approach_off_road(self, builder: PathBuilder, start: Pose, goal: PointId | None) -> bool:
        """Plan the path from beside the road, or from within a zone, onto the network."""
        found = self._entry(start, goal)
        if found is None:
            self.reason = "the car is neither on a lane nor near one"
            return False
        point, arc_path = found
        self._add_arc_path(builder, start, arc_path, MANOEUVRE_SPEED)
        if goal is not None and point != goal:
            onward = route(self.roadmap, point, goal)
            if onward is not None:
                return self._followed(builder, onward)
        return True

    def _followed(self, builder: PathBuilder, way: Route) -> bool:
        """Add a route; where it leads no further, the path ends there."""
        done = self._follow(builder, way)
        if not done:
            builder.mark(Mark.FINISH, back=-self._overhang)
        return done

    def _entry(self, start: Pose, goal: PointId | None) -> tuple[PointId, ArcPath] | None:
        """Choose the entry point onto the network that gives the shortest path to the goal."""
        zone = int(self.roadmap.zone_at([start[:2]])[0])
        if zone >= 0:
            number = self.roadmap.network.zones[zone].number
            points = sorted({e.source for e in self.roadmap.exits if e.source[:2] == (number, 0)})
        else:
            away = math.hypot(*(self.roadmap.positions[: self.roadmap.offsets[-1]] - start[:2]).T)
            points = [self.roadmap.ids[row] for row in np.argsort(away, kind="stable")[:24]]
            number = -1
        ground = self.rasters.get(number) or ZoneRaster.open()
        best: tuple[float, PointId, ArcPath] | None = None
        for point in points:
            onward = None if goal is None or point == goal else route(self.roadmap, point, goal)
            if goal is not None and point != goal and onward is None:
                continue
            found = cross_zone(ground, start, self._pose(point), self.geometry, leaving=ground.spot_at(*start[:2]))
            if found is None:
                continue
            cost = found[0] + (onward.length if onward is not None else 0.0)
            if best is None or cost < best[0]:
                best = cost, point, found[1]
        return None if best is None else best[1:]

    def _pose(self, point: PointId) -> Pose:
        """Pose at a point of the network; at a perimeter's exit, headed towards its target lane."""
        x, y = map(float, self.roadmap.position(point))
        if point.lane == 0:
            for way in self.roadmap.exits:
                if way.source == point:
                    dx, dy = (self.roadmap.position(way.target) - self.roadmap.position(point)).tolist()
                    return x, y, math.atan2(-dx, dy)
        return x, y, self.roadmap.heading(point)

    # --- along a route -------------------------------------------------------------------------------------------

    def _follow(self, builder: PathBuilder, way: Route) -> bool:
        """Add a route, move by move; consecutive points of a lane make one section.

        Returns
        -------
        bool
            False if no way through a zone was found: the path ends before it, and `reason` says so.
        """
        moves = list(zip(_pairs(way), way.kinds, strict=True))
        k = 0
        while k < len(moves):
            (source, target), kind = moves[k]
            if kind is Kind.LANE:
                last = k
                while last + 1 < len(moves) and moves[last + 1][1] is Kind.LANE:
                    last += 1
                self._lane(builder, source, moves[last][0][1])
                self._overhang = 0.0
                k = last + 1
                continue
            if kind is Kind.EXIT:
                self._exit(builder, source, target)
            elif kind is Kind.LANE_CHANGE:
                run_up = self._along_lane(moves[:k][::-1])
                self._change(builder, source, target, run_up, self._along_lane(moves[k + 1 :]))
            elif kind is Kind.U_TURN:
                self._turn(builder, source, target, k + 1 == len(moves))
            elif not self._cross(builder, way.points, k):
                return False
            self._overhang = self.geometry.nose if kind is Kind.ZONE and target.lane else 0.0
            k += 1
        return True

    def _limit(self, *points: PointId) -> float:
        return min(float(self.limits[self.roadmap.row(point)]) for point in points)

    def _lane_place(self, point: PointId) -> tuple[int, int, float]:
        """Lane, index within it, and station of a waypoint."""
        row = self.roadmap.row(point)
        lane = int(self.roadmap.lane_of_row[row])
        index = row - int(self.roadmap.offsets[lane])
        return lane, index, float(self.roadmap.lanes[lane].waypoint_stations[index])

    def _along_lane(self, moves: Sequence[tuple[tuple[PointId, PointId], Kind]]) -> float:
        """Length of the lane moves that some moves, in either order, begin with [m]."""
        ends = [pair for pair, _ in itertools.takewhile(lambda move: move[1] is Kind.LANE, moves)]
        places = [self._lane_place(point)[2] for pair in (ends[0], ends[-1]) for point in pair] if ends else [0.0]
        return max(places) - min(places)

    def _lane(self, builder: PathBuilder, source: PointId, target: PointId) -> None:
        lane, first, begin = self._lane_place(source)
        _, last, end = self._lane_place(target)
        self._along(builder, lane, begin, end, marks=range(first + 1, last + 1))

    def _along(self, builder: PathBuilder, lane: int, begin: float, end: float, marks: Sequence[int] = ()) -> None:
        """Add a part of a lane, with the stop lines at some of its waypoints."""
        curve = self.roadmap.lanes[lane]
        cut = min(self._skip, max(0.0, end - begin - 0.1))
        self._skip = 0.0
        begin += cut
        if (part := (lane, begin, end)) not in self._parts:
            limit = self._limit(PointId(*curve.id, curve.numbers[0]))
            self._parts[part] = PathSection(*curve.between(begin, end), limit)
        builder.add(self._parts[part])
        for row in marks:
            if PointId(*curve.id, curve.numbers[row]) in self.stops:
                builder.mark(Mark.STOP, back=end - float(curve.waypoint_stations[row]))

    def _exit(self, builder: PathBuilder, source: PointId, target: PointId) -> None:
        """Add the lanelet of an exit, or the part of the lane that takes its place."""
        ends = self.roadmap.row(source), self.roadmap.row(target)
        for row, begin, end in stretches_between(self.lanelets, *ends, is_lane=False):
            lanelet, lane, start = self.lanelets[row], int(self.lanelets.lanes[row]), float(self.lanelets.begins[row])
            if lane >= 0:
                self._along(builder, lane, start + begin, start + end)
            else:
                limit = LIMIT_SHARE * lanelet.limit
                builder.add(PathSection(lanelet.samples, lanelet.headings, limit))

    def _change(self, builder: PathBuilder, source: PointId, target: PointId, run_up: float, onward: float) -> None:
        """Add a lane change, at most `run_up` metres before `source` and `onward` metres past `target`."""
        lane, _, begin = self._lane_place(source)
        other, index, end = self._lane_place(target)
        curves = self.roadmap.lanes[lane], self.roadmap.lanes[other]
        span = float(math.hypot(*(self.roadmap.position(target) - self.roadmap.position(source))))
        limit = self._limit(source, target)
        change = lane_change(curves, (begin, end), span, limit, (min(run_up, builder.spare), onward))
        if change.early > 0.0:
            builder.trim(change.early)
        self._skip = change.late
        builder.add(PathSection(change.points, change.headings, limit))
        if PointId(*curves[1].id, curves[1].numbers[index]) in self.stops:
            builder.mark(Mark.STOP, back=change.late)

    def _turn(self, builder: PathBuilder, source: PointId, target: PointId, is_goal: bool) -> None:
        """Add a U-turn from the end of one lane to the start of the other."""
        room = builder.spare
        key = (source, target, room >= -min(BEFORE))
        if key not in self._u_turns:
            lane, _, begin = self._lane_place(source)
            other, _, end = self._lane_place(target)
            curves = self.roadmap.lanes[lane], self.roadmap.lanes[other]
            self._u_turns[key] = best_u_turn(curves, (begin, end), self.geometry, is_goal, room)
        if (found := self._u_turns[key]) is None:
            self._exit(builder, source, target)
            return
        before, after, arc_path = found
        lane, _, begin = self._lane_place(source)
        if before > 0.0:
            self._along(builder, lane, begin, begin + before)
        elif before < 0.0:
            builder.trim(-before)
        position, heading = self.roadmap.lanes[lane].at(begin + before)
        pose = float(position[0]), float(position[1]), float(heading)
        changes = any(length < 0.0 for _, length in arc_path)
        builder.fresh |= changes
        self._add_arc_path(builder, pose, arc_path, min(MANOEUVRE_SPEED, self._limit(source, target)))
        builder.fresh |= changes
        other, _, end = self._lane_place(target)
        if after < 0.0:
            self._along(builder, other, end + after, end)
        self._skip = max(after, 0.0)

    def _cross(self, builder: PathBuilder, points: tuple[PointId, ...], k: int) -> bool:
        """Add a path through a zone, from the current end to an exit or a spot; return False if none is found."""
        source, target = points[k], points[k + 1]
        start = self._at_end(builder) or self._pose(source)
        key = (tuple(round(value, 6) for value in start), target)
        if key not in self._ways:
            ground = self.rasters[source.segment]
            if target.lane:
                goal, run_in = self._parked(target)
                found = cross_zone(
                    ground, start, goal, self.geometry, run_in=run_in, leaving=source.lane, parking=target.lane
                )
            else:
                found = cross_zone(ground, start, self._pose(target), self.geometry, leaving=source.lane)
            self._ways[key] = found  # type: ignore[index]
        way = self._ways[key]  # type: ignore[index]
        if way is None:
            size = f"a car {self.geometry.vehicle.width:.2f} m wide and {self.geometry.vehicle.length:.2f} m long"
            self.reason = f"found no way for {size} through zone {source.segment} from {source} to {target}"
            return False
        self._add_arc_path(builder, start, way[1], min(self._limit(source), 2.0 * MANOEUVRE_SPEED))
        return True

    def _parked(self, point: PointId) -> tuple[Pose, float]:
        """Pose in a spot with the front bumper just past its second point, and length of the straight into it [m]."""
        place, heading = self.roadmap.position(point), self.roadmap.heading(point)
        back = self.geometry.nose - 0.2
        x, y = float(place[0]) + back * math.sin(heading), float(place[1]) - back * math.cos(heading)
        entry = self.roadmap.position(PointId(point.segment, point.lane, 1))
        return (x, y, heading), max(1.0, float(math.hypot(*(place - entry))) - back + 0.5)

    def _at_end(self, builder: PathBuilder) -> Pose | None:
        """Pose of the body at the current end of the path."""
        if not builder.sections:
            return None
        last = builder.sections[-1]
        heading = float(last.headings[-1]) - (math.pi if last.reverse else 0.0)
        return float(last.points[-1, 0]), float(last.points[-1, 1]), heading

    def _add_arc_path(self, builder: PathBuilder, start: Pose, arc_path: ArcPath, limit: float) -> None:
        for points, headings, reverse in sample(start, arc_path):
            travel = headings + math.pi if reverse else headings
            pace = min(limit, REVERSE_SPEED) if reverse else limit
            builder.add(PathSection(points, travel, pace, reverse, exact=True))


def _pairs(way: Route) -> list[tuple[PointId, PointId]]:
    return list(zip(way.points, way.points[1:], strict=False))
