"""A mission as a draft of the way: lanes, connectors, lane changes, U-turns, zones and spots, leg by leg."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.planner.pilot.draft import Draft, Mark, Stretch
from cbsim.planner.pilot.manoeuvre import BEFORE, turn_round
from cbsim.planner.pilot.moves import Pose, Word, sample
from cbsim.planner.pilot.rig import Rig
from cbsim.planner.pilot.zone import Ground, across
from cbsim.road.connector import Connector, connectors
from cbsim.road.roadmap import RoadMap
from cbsim.road.route import Kind, Leg, Route, checkpoints, mission_legs, route
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId

__all__ = ["Itinerary"]

Floats = NDArray[np.float64]

UNKNOWN_LIMIT = 13.4112  # [m/s] 30 mph, where no limit is given
BELOW = 0.97  # of a limit: what is left is for the control
SLOW = 2.5  # [m/s] in manoeuvres
BACKWARDS = 1.5  # [m/s]
CHANGE = (8.0, 45.0)  # [m] that a lane change takes at least and at most
CHANGE_TIME = 2.5  # [s] that one has for it where there is room
ON_LANE = math.radians(60.0)  # a car turned more than this away from its lane is not on it


@dataclass
class Itinerary:
    """The way of one mission, leg by leg.

    Attributes
    ----------
    roadmap : RoadMap
    mission : Mission or None
        None: on along the lane, to its end.
    rig : Rig
    reason : str
        Why the way ends before the mission does; empty if it does not.
    """

    roadmap: RoadMap
    mission: Mission | None
    rig: Rig
    reason: str = ""
    _skip: float = 0.0
    _turns: dict[tuple[PointId, PointId, bool], tuple[float, float, Word] | None] = field(default_factory=dict)
    _ways: dict[tuple[Pose, PointId], tuple[float, Word] | None] = field(default_factory=dict)

    @cached_property
    def legs(self) -> list[Leg]:
        """The legs from checkpoint to checkpoint."""
        return [] if self.mission is None else mission_legs(self.roadmap, self.mission)

    @cached_property
    def stops(self) -> set[PointId]:
        """Waypoints with a stop line."""
        return {stop.point for lane in self.roadmap.network.lanes for stop in lane.stops}

    @cached_property
    def limits(self) -> dict[int, float]:
        """Speed to keep below in each segment and zone that the mission limits [m/s]."""
        given = (self.mission.speed_limits or ()) if self.mission is not None else ()
        return {limit.segment: BELOW * limit.maximum for limit in given if limit.maximum > 0.0}

    @cached_property
    def connectors(self) -> dict[tuple[PointId, PointId], Connector]:
        """Curves of the exits that the mission uses."""
        used = {
            pair
            for leg in self.legs
            if leg.route is not None
            for pair, kind in zip(_pairs(leg.route), leg.route.kinds, strict=True)
            if kind is Kind.EXIT
        }
        wanted = [way for way in self.roadmap.exits if (way.source, way.target) in used]
        return {(c.source, c.target): c for c in connectors(self.roadmap, wanted)}

    @cached_property
    def grounds(self) -> dict[int, Ground]:
        """The zones, ready to plan in."""
        return {zone.number: Ground.of(self.roadmap, index) for index, zone in enumerate(self.roadmap.network.zones)}

    def prepare(self) -> None:
        """Plan the manoeuvres and draw the curves of the mission before the clock runs; `draft` remembers them."""
        if self.legs and self.legs[0].start is not None:
            rehearsal = Draft()
            for leg in self.legs:
                if leg.route is None:
                    break
                self._follow(rehearsal, leg.route)
        self._skip = 0.0

    def draft(self, start: Pose) -> Draft:
        """Draw the way from where the car stands (the point that follows the path) to the end of the mission."""
        draft = Draft()
        self._skip, self.reason = 0.0, ""
        goal = None
        if self.mission is not None:
            number = self.mission.checkpoints[0].number
            goal = checkpoints(self.roadmap).get(number)
            if goal is None:
                self.reason = f"the network has no checkpoint '{number}'"
        if not self._approach(draft, start, goal) or goal is None:
            return draft
        draft.mark(Mark.CHECKPOINT)
        for leg in self.legs:
            if leg.route is None:
                self.reason = f"no way from checkpoint {leg.numbers[0]} to {leg.numbers[1]}: {leg.reason}"
                break
            self._follow(draft, leg.route)
            draft.mark(Mark.CHECKPOINT)
        draft.mark(Mark.FINISH)
        return draft

    # --- from where the car stands -------------------------------------------------------------------------------

    def _approach(self, draft: Draft, start: Pose, goal: PointId | None) -> bool:
        """Draw the way to the first checkpoint; to the end of the lane where there is none."""
        arm = self.rig.arm
        centre = start[0] - arm * math.sin(start[2]), start[1] + arm * math.cos(start[2])
        match = self.roadmap.match([centre], [start[2]])
        lane, station = int(match.lane[0]), float(match.station[0]) - arm
        if lane < 0 or abs(float(match.heading_error[0])) > ON_LANE:
            return self._approach_off_road(draft, start, goal)
        curve = self.roadmap.lanes[lane]
        stations = curve.waypoint_stations
        rows = np.flatnonzero(stations > station + self.rig.nose)
        ids = [PointId(*curve.id, number) for number in curve.numbers]
        if goal is None:
            self._along(draft, lane, station, curve.length)
            draft.mark(Mark.FINISH)
            return True
        for row in [*rows.tolist(), *np.flatnonzero(stations > station).tolist()[::-1]]:
            found = None if ids[row] == goal else route(self.roadmap, ids[row], goal)
            if ids[row] == goal or found is not None:
                first = row if row not in rows else int(rows[0])
                self._along(draft, lane, station, float(stations[row]), marks=range(first, row + 1))
                if found is not None:
                    self._follow(draft, found)
                return True
        self.reason = f"no way from lane {curve} to checkpoint at {goal}"
        self._along(draft, lane, station, curve.length)
        draft.mark(Mark.FINISH)
        return False

    def _approach_off_road(self, draft: Draft, start: Pose, goal: PointId | None) -> bool:
        """Draw a way from beside the road, or in a zone, onto the network."""
        found = self._entry(start, goal)
        if found is None:
            self.reason = "the car stands neither on a lane nor near one"
            return False
        point, word = found
        self._word(draft, start, word, SLOW)
        if goal is not None and point != goal:
            onward = route(self.roadmap, point, goal)
            if onward is not None:
                self._follow(draft, onward)
        return True

    def _entry(self, start: Pose, goal: PointId | None) -> tuple[PointId, Word] | None:
        """Choose where to come onto the network: the shortest way to there and on to the goal."""
        zone = int(self.roadmap.zone_at([start[:2]])[0])
        if zone >= 0:
            number = self.roadmap.network.zones[zone].number
            points = sorted({e.source for e in self.roadmap.exits if e.source[:2] == (number, 0)})
        else:
            away = np.hypot(*(self.roadmap.positions[: self.roadmap.offsets[-1]] - start[:2]).T)
            points = [self.roadmap.ids[row] for row in np.argsort(away, kind="stable")[:24]]
            number = -1
        ground = self.grounds.get(number) or Ground.open()
        best: tuple[float, PointId, Word] | None = None
        for point in points:
            onward = None if goal is None or point == goal else route(self.roadmap, point, goal)
            if goal is not None and point != goal and onward is None:
                continue
            found = across(ground, start, self._pose(point), self.rig, leaving=ground.spot_at(*start[:2]))
            if found is None:
                continue
            cost = found[0] + (onward.length if onward is not None else 0.0)
            if best is None or cost < best[0]:
                best = cost, point, found[1]
        return None if best is None else best[1:]

    def _pose(self, point: PointId) -> Pose:
        """Pose at a point of the network; at a perimeter's exit, towards the lane that it leads to."""
        x, y = map(float, self.roadmap.position(point))
        if point.lane == 0:
            for way in self.roadmap.exits:
                if way.source == point:
                    dx, dy = (self.roadmap.position(way.target) - self.roadmap.position(point)).tolist()
                    return x, y, math.atan2(-dx, dy)
        return x, y, self.roadmap.heading(point)

    # --- along a route -------------------------------------------------------------------------------------------

    def _follow(self, draft: Draft, way: Route) -> None:
        """Draw a route, move by move; consecutive points of a lane make one stretch."""
        moves = list(zip(_pairs(way), way.kinds, strict=True))
        k = 0
        while k < len(moves):
            (source, target), kind = moves[k]
            if kind is Kind.LANE:
                last = k
                while last + 1 < len(moves) and moves[last + 1][1] is Kind.LANE:
                    last += 1
                self._lane(draft, source, moves[last][0][1])
                k = last + 1
                continue
            if kind is Kind.EXIT:
                self._exit(draft, source, target)
            elif kind is Kind.LANE_CHANGE:
                self._change(draft, source, target, self._along_lane(moves[k + 1 :]))
            elif kind is Kind.U_TURN:
                self._turn(draft, source, target, k + 1 == len(moves))
            else:
                self._cross(draft, way.points, k)
            k += 1

    def _limit(self, *points: PointId) -> float:
        return min(self.limits.get(point.segment, BELOW * UNKNOWN_LIMIT) for point in points)

    def _lane_place(self, point: PointId) -> tuple[int, int, float]:
        """Lane, index within it, and station of a waypoint."""
        row = self.roadmap.row(point)
        lane = int(self.roadmap.lane_of_row[row])
        index = row - int(self.roadmap.offsets[lane])
        return lane, index, float(self.roadmap.lanes[lane].waypoint_stations[index])

    def _along_lane(self, moves: Sequence[tuple[tuple[PointId, PointId], Kind]]) -> float:
        """How far some moves lead along a lane before anything else [m]."""
        ends = [pair for pair, _ in itertools.takewhile(lambda move: move[1] is Kind.LANE, moves)]
        return self._lane_place(ends[-1][1])[2] - self._lane_place(ends[0][0])[2] if ends else 0.0

    def _lane(self, draft: Draft, source: PointId, target: PointId) -> None:
        lane, first, begin = self._lane_place(source)
        _, last, end = self._lane_place(target)
        self._along(draft, lane, begin, end, marks=range(first + 1, last + 1))

    def _along(self, draft: Draft, lane: int, begin: float, end: float, marks: Sequence[int] = ()) -> None:
        """Draw a part of a lane, with the stop lines at some of its waypoints."""
        curve = self.roadmap.lanes[lane]
        cut = min(self._skip, max(0.0, end - begin - 0.1))
        self._skip = 0.0
        begin += cut
        inner = (curve.stations > begin + 1e-6) & (curve.stations < end - 1e-6)
        stations = np.concatenate([[begin], curve.stations[inner], [end]])
        points, _ = curve.at(stations)
        headings = np.interp(stations, curve.stations, curve.headings)
        draft.add(Stretch(points, headings, self._limit(PointId(*curve.id, 0))))
        for row in marks:
            if PointId(*curve.id, curve.numbers[row]) in self.stops:
                draft.mark(Mark.STOP, back=end - float(curve.waypoint_stations[row]))

    def _exit(self, draft: Draft, source: PointId, target: PointId) -> None:
        """Draw a connector; the way round a closed lane is part of the lane."""
        if source.lane and source[:2] == target[:2]:
            lane, _, begin = self._lane_place(source)
            curve = self.roadmap.lanes[lane]
            if curve.closed and self._lane_place(target)[2] < begin:
                self._along(draft, lane, begin, curve.length)
                return
        found = self.connectors.get((source, target))
        if found is None:
            wanted = [way for way in self.roadmap.exits if (way.source, way.target) == (source, target)]
            found = self.connectors[source, target] = connectors(self.roadmap, wanted)[0]
        draft.add(Stretch(found.samples, found.headings, self._limit(source, target)))

    def _change(self, draft: Draft, source: PointId, target: PointId, onward: float) -> None:
        """Draw a lane change: a smooth step from one curve to the other, both followed at the same share.

        Where the other lane begins so late that it is too short before `target`, the step goes on beside it, at most
        `onward` metres past `target`.
        """
        lane, _, begin = self._lane_place(source)
        other, index, end = self._lane_place(target)
        here, there = self.roadmap.lanes[lane], self.roadmap.lanes[other]
        length = float(np.hypot(*(self.roadmap.position(target) - self.roadmap.position(source))))
        wanted = max(CHANGE[0], CHANGE_TIME * self._limit(source, target))
        more = max(0.0, min(wanted - end, onward - 1.0, here.length - begin - length))
        first = max(0.0, length - end)  # where the other lane begins
        end, length, self._skip = end + more, length + more, more
        last = min(length, here.length - begin)  # and one's own ends
        if last - first < CHANGE[0]:
            first, last = 0.0, length
        share = np.linspace(0.0, 1.0, max(8, math.ceil(length)) + 1)
        part = np.clip((share * length - first) / min(last - first, CHANGE[1]), 0.0, 1.0)
        weight = (part**3 * (10.0 - 15.0 * part + 6.0 * part**2))[:, None]
        one, other_side = here.at(begin + share * length)[0], there.at(end - (1.0 - share) * length)[0]
        points = one + weight * (other_side - one)
        heading = np.arctan2(-np.gradient(points[:, 0]), np.gradient(points[:, 1]))
        draft.add(Stretch(points, np.unwrap(heading), self._limit(source, target)))
        if PointId(*there.id, there.numbers[index]) in self.stops:
            draft.mark(Mark.STOP, back=more)

    def _turn(self, draft: Draft, source: PointId, target: PointId, is_goal: bool) -> None:
        """Draw a U-turn from the end of one lane to the start of the other."""
        room = draft.spare
        key = (source, target, room >= -min(BEFORE))
        if key not in self._turns:
            lane, _, begin = self._lane_place(source)
            other, _, end = self._lane_place(target)
            curves = self.roadmap.lanes[lane], self.roadmap.lanes[other]
            self._turns[key] = turn_round(curves, (begin, end), self.rig, is_goal, room)
        found = self._turns[key]
        if found is None:
            self._exit(draft, source, target)
            return
        before, after, word = found
        lane, _, begin = self._lane_place(source)
        if before > 0.0:
            self._along(draft, lane, begin, begin + before)
        elif before < 0.0:
            draft.trim(-before)
        position, heading = self.roadmap.lanes[lane].at(begin + before)
        pose = float(position[0]), float(position[1]), float(heading)
        changes = any(length < 0.0 for _, length in word)
        draft.fresh |= changes
        self._word(draft, pose, word, min(SLOW, self._limit(source, target)))
        draft.fresh |= changes
        other, _, end = self._lane_place(target)
        if after < 0.0:
            self._along(draft, other, end + after, end)
        self._skip = max(after, 0.0)

    def _cross(self, draft: Draft, points: tuple[PointId, ...], k: int) -> None:
        """Draw a way through a zone: from where the way ends so far to an exit or a spot."""
        source, target = points[k], points[k + 1]
        start = self._at_end(draft) or self._pose(source)
        key = (tuple(round(value, 6) for value in start), target)
        if key not in self._ways:
            ground = self.grounds[source.segment]
            if target.lane:
                goal, run_in = self._parked(target)
                found = across(ground, start, goal, self.rig, run_in=run_in, leaving=source.lane, parking=target.lane)
            else:
                found = across(ground, start, self._pose(target), self.rig, leaving=source.lane)
            self._ways[key] = found  # type: ignore[index]
        way = self._ways[key]  # type: ignore[index]
        if way is not None:
            self._word(draft, start, way[1], min(self._limit(source), 2.0 * SLOW))

    def _parked(self, point: PointId) -> tuple[Pose, float]:
        """Pose in a spot with the front bumper just past its second point, and the length of the straight into it."""
        place, heading = self.roadmap.position(point), self.roadmap.heading(point)
        back = self.rig.nose - 0.2
        x, y = float(place[0]) + back * math.sin(heading), float(place[1]) - back * math.cos(heading)
        entry = self.roadmap.position(PointId(point.segment, point.lane, 1))
        return (x, y, heading), max(1.0, float(np.hypot(*(place - entry))) - back + 0.5)

    def _at_end(self, draft: Draft) -> Pose | None:
        """Pose of the body where the way ends so far."""
        if not draft.stretches:
            return None
        last = draft.stretches[-1]
        heading = float(last.headings[-1]) - (math.pi if last.reverse else 0.0)
        return float(last.points[-1, 0]), float(last.points[-1, 1]), heading

    def _word(self, draft: Draft, start: Pose, word: Word, limit: float) -> None:
        for points, headings, reverse in sample(start, word):
            travel = headings + math.pi if reverse else headings
            pace = min(limit, BACKWARDS) if reverse else limit
            draft.add(Stretch(points, travel, pace, reverse, exact=True))


def _pairs(way: Route) -> list[tuple[PointId, PointId]]:
    return list(zip(way.points, way.points[1:], strict=False))
