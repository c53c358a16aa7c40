"""``lane``: an object stays in its lane, or in its corridor through an intersection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Bools, Floats, Ints
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.evaluation.rules.standing import Standing, nearest
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.road.matching import Match
from cbsim.spec.scenario import Expectation

__all__ = ["Lane"]

OFF_CENTRE = 0.15  # [m] from the centreline of a lane that is closer to the middle of the road than one may come
TOLERANCE = 0.3  # [m] waypoints have six decimals of a degree and are only nominally in the middle of the lane
ONWARD = np.radians(60.0)  # largest angle to a lane; at larger ones its traffic is crossing or oncoming
FORE, AFT = 30.0, 4.0  # a pass: [m] before what stands in the lane, lengths of the car beyond it (A.10, A.11)
ASIDE = 2.0  # lane widths from the middle of the lane, as far as a car may go that passes
STANDOFF = 1.0  # [m] beside what stands in the lane (A.7)
TIGHT, AROUND = 1.0, 2.0  # lengths of the car: radius of a bend too tight to be driven at once, and room around it
U_TURN = 15.0  # [m] from its entry and exit, where a U-turn may leave its lane (Evaluation Criteria 2007, A.12)


class Lane(Invariant):
    """Every corner of the footprint lies in a lane or connector of its direction, within a tolerance (DARPA A.4).

    All lanes of the object's direction are allowed, so that it may change between them. A connector is as wide as the
    narrower of its lanes, and may turn more tightly than the object: corners beside the line under its centre are
    inside, whatever the line's direction there. Gaps between neighbouring lanes that are narrower than any car are
    allowed. Lines are extended straight by a car's length at both ends. Zones, and 15 m around the ends of U-turns, are
    not checked; nor two lengths of the car around bends of lanes that are tighter than the car, and where it passes an
    object that stands in its lane without room for the car and a metre, from 30 m before it to four lengths of the car
    beyond it, or turns back before it.

    On a road without markings between the directions, the object's centre stays `from_middle` from the middle of the
    road, or 0.15 m less than its lane's centreline is, or half of its lane, where that is less.

    Notes
    -----
    A step passes if the rotated footprint, with the bend of the lane added, fits between the edges of the line under
    its centre; only the other steps are checked corner by corner.
    """

    needs_standing = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.tolerance = self.number("tolerance", TOLERANCE)
        self.from_middle = self.number("from_middle", 0.0)
        self.roadmap = self.require_roadmap("lanes need")
        self.corridors = corridors(self.roadmap)
        self.widest = 0.0  # [m] largest excess within the tolerance
        self.passes: set[int] = set()  # rows of what the car passes

    def see(self, batch: Batch) -> None:
        """Find the first step outside the lane."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        match = self.context.on_corridor(self.row, track)
        row = next(self.unexcused(track, match, batch), None)
        if row is not None:
            self._fail(track, match, row)

    def forget(self) -> None:
        """Forget what the car passes."""
        self.passes.clear()

    def unexcused(self, track: Track, match: Match, batch: Batch) -> Iterator[int]:
        """Iterate over the rows of a track at which the object is outside its lane for no reason."""
        standing = self.context.standing(batch)
        doubtful = 1 + np.flatnonzero(~self._fits(match, self._room(match)))
        outside = doubtful[~self._allowed(track, match, doubtful)] if len(doubtful) else doubtful
        if self.from_middle:
            near = 1 + np.flatnonzero(self._way_to_middle(match) < self._least(match) - 1e-9)
            outside = np.union1d(outside, near[~self._is_exempt(track, near)])
        before = 0
        for row in outside.tolist():
            if row > before + 1:
                self.passes.clear()
            if not self._avoids(track, standing, row):
                yield row
            before = row
        if before < len(track.steps) - 1:
            self.passes.clear()

    def _avoids(self, track: Track, standing: Standing, row: int) -> bool:
        """Whether the car passes something that blocks its lane, or turns round before it."""
        place, ahead, half = track.centres[row], track.ahead[row], 0.5 * self.length
        reach = FORE + (AFT + 1.0) * self.length
        for one in standing.parked(self.row, row - 1, place, reach):
            if one.room >= self.width + STANDOFF:
                continue
            curve = self.roadmap.lanes[one.lane]
            station, middle, along = nearest(curve, place)
            front, rear, away = station + half, station - half, float(np.hypot(*(place - middle)))
            onward = float(ahead @ along) > 0.0
            aside = ASIDE if self.passes else 0.5  # the next of a row of parked cars, or the first
            if onward and one.begin - FORE <= front <= one.begin and away <= aside * curve.width:
                self.passes.add(one.row)
            passing = onward and rear <= one.end + AFT * self.length and away <= ASIDE * curve.width
            turning = not onward and rear <= one.end and away <= U_TURN
            if one.row in self.passes and (passing or turning):
                return True
        return False

    def _room(self, match: Match) -> Floats:
        """Distance of the rotated footprint from the edge of the line under its centre, shape (n,) [m]; nan on none."""
        turned = np.abs(match.heading_error)
        half = 0.5 * (self.width * np.abs(np.cos(turned)) + self.length * np.abs(np.sin(turned)))
        return np.asarray(self.corridors.half_widths[match.lane] - np.abs(match.offset) - half)

    def _fits(self, match: Match, room: Floats) -> Bools:
        """Find the steps whose footprint fits for certain, shape (n,)."""
        known = (match.lane >= 0) & (np.abs(match.heading_error) < 0.25 * np.pi)
        found = np.zeros(len(known), bool)
        reach = 0.5 * (self.length + self.width)
        bend = self.corridors.bend(match.lane[known], match.station[known], reach)
        found[known] = room[known] - bend >= -self.tolerance
        return found

    def _allowed(self, track: Track, match: Match, rows: Ints | NDArray[np.intp]) -> Bools:
        """Find the steps with all corners in allowed places, shape (k,)."""
        corners = track.corners(rows).reshape(-1, 2)
        headings = np.repeat(track.headings[rows], 4)
        found = self.corridors.widened(self.tolerance, self.length).match(corners, headings, ONWARD)
        inside = (found.lane >= 0) & (np.abs(found.heading_error) < ONWARD)
        if not inside.all():
            out = np.flatnonzero(~inside)
            inside[out] = self._beside(match, rows[out // 4] - 1, corners[out])
            out = np.flatnonzero(~inside)
            free = self.roadmap.zone_at(corners[out]) >= 0
            inside[out[free]] = True
        allowed = np.all(inside.reshape(-1, 4), axis=1)
        return np.asarray(allowed if allowed.all() else allowed | self._is_exempt(track, rows))

    def _beside(self, match: Match, steps: Ints | NDArray[np.intp], corners: Floats) -> Bools:
        """Find the corners beside the line under the object's centre, if that leads its way, shape (k,).

        In a tight turn the line's direction at a corner is not the object's, and its edge on the inside folds up.
        """
        import shapely

        line = match.lane[steps]
        known = (line >= 0) & (np.abs(match.heading_error[steps]) < ONWARD)
        away = np.full(len(line), np.inf)
        away[known] = shapely.distance(self.corridors.centrelines[line[known]], shapely.points(corners[known]))
        return np.asarray(away <= self.corridors.half_widths[line] + self.tolerance)

    def _is_exempt(self, track: Track, rows: Ints | NDArray[np.intp]) -> Bools:
        """Find the steps around U-turns and bends that are tighter than the car, shape (k,)."""
        found = np.zeros(len(rows), bool)
        bends = self.corridors.hairpins(TIGHT * self.length)
        for places, reach in ((self.corridors.turns, U_TURN), (bends, AROUND * self.length)):
            if len(places) and not found.all():
                gaps = np.linalg.norm(track.centres[rows][:, None] - places, axis=2)
                found |= np.any(gaps <= reach, axis=1)
        return found

    def _way_to_middle(self, match: Match) -> Floats:
        """Distance of the centre from the middle of an unmarked road, shape (n,) [m]; nan on others."""
        found = np.full(len(match.lane), np.nan)
        known = (match.lane >= 0) & (np.abs(match.heading_error) < ONWARD)
        line, station = match.lane[known], match.station[known]
        found[known] = self.corridors.middle(line, station) - match.offset[known]
        return found

    def _least(self, match: Match) -> Floats:
        """Least distance of the centre from the middle of an unmarked road, shape (n,) [m]."""
        own = self.corridors.half_widths[match.lane].copy()
        known = match.lane >= 0
        own[known] = np.fmin(own[known], self.corridors.middle(match.lane[known], match.station[known]))
        return np.fmin(self.from_middle, own - OFF_CENTRE)

    def _fail(self, track: Track, match: Match, row: int) -> None:
        time, (x, y) = float(track.times[row]), track.centres[row].tolist()
        where = f"at {time:.2f} s at ({x:.2f}, {y:.2f})"
        line, room = int(match.lane[row - 1]), float(self._room(match)[row - 1])
        error = float(match.heading_error[row - 1])
        away, least = float(self._way_to_middle(match)[row - 1]), float(self._least(match)[row - 1])
        if self.from_middle and away < least - 1e-9 and self._allowed(track, match, np.array([row]))[0]:
            found = f"drove {away:.2f} m from the middle of an unmarked road, in {self.corridors.names[line]}, {where}"
            self.fail(time, f"{found}, expected {least:g} m at least")
            return
        if line < 0:
            found = f"was off the road {where}"
        elif abs(error) > 0.5 * np.pi:
            found = f"drove against {self.corridors.names[line]} {where}"
        else:
            side = "left" if match.offset[row - 1] > 0.0 else "right"
            over = f" by {-room:.2f} m" if room < 0.0 else ""
            found = f"left {self.corridors.names[line]} to the {side}{over} {where}"
        self.fail(time, f"{found}, expected to stay in lane within {self.tolerance:g} m")

    def kept(self) -> Check:
        """Pass if the object was in its lane at every step."""
        return self.check(True, self.time, f"stayed in lane within {self.tolerance:g} m")
