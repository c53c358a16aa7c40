"""``parking``: an object parks at the right place of a spot, and backs out of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.footprints import rectangles
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import direction, left_of
from cbsim.recording.batch import Batch
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Expectation
from cbsim.world.motion import MOTION

__all__ = ["Parking"]

STILL = 0.1  # [m/s] slower counts as rest
SPOT_WIDTH = 3.6576  # [m] 12 ft, of spots without a width
NEAR = 3.0  # [m] from a spot's second point, within which a bumper at rest parks
ANGLE = 30.0  # [deg] to the spot's direction (C.3)
SETTLED = 1.0  # [s] of rest that parks
OUT = 1.0  # [m] that the bumper moves from where it rested, before the gear counts


class _Spot(NamedTuple):
    """A parking spot: its number, second point (2,) [m], direction (2,) into it, width and length [m]."""

    name: str
    place: Floats
    along: Floats
    width: float
    length: float


class Parking(Invariant):
    """Where it rests in a spot, the bumper is `within` of its second point, within 30°, inside its width (C.3).

    It parks by resting for a second with its front bumper within 3 m of the second point of a spot, and then leaves in
    reverse.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.within = self.number("within", 1.0)
        self.spots = _spots(self.require_roadmap("parking needs"))
        self.since = math.inf
        self.parked: tuple[_Spot, Floats] | None = None
        self.manoeuvre = ""  # in which the object is at the last step
        self.done: list[str] = []

    def see(self, batch: Batch) -> None:
        """Find where the object rests in spots, and how it leaves."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        if not self.spots:
            return
        places = np.array([spot.place for spot in self.spots])
        away = np.linalg.norm(track.fronts[1:, None] - places, axis=2)
        forward = (track.motion[:, MOTION["velocity"]][:, :2] * track.ahead).sum(axis=1)
        spots = away.argmin(axis=1).tolist()
        nearest = spots[-1]
        if self.parked is None and not ((track.speeds[1:] < STILL) & (away.min(axis=1) <= NEAR)).any():
            self.since, spots = math.inf, []  # it rests in none
        for step, nearest in enumerate(spots):
            row, time = 1 + step, float(track.times[1 + step])
            if self.parked is not None:
                self._leave(track, row, float(forward[row]))
            elif track.speeds[row] >= STILL or away[step, nearest] > NEAR:
                self.since = math.inf
            else:
                self.since = min(self.since, time)
                if time - self.since >= SETTLED - 1e-9:
                    self._park(track, row, self.spots[nearest])
            if self.decided:
                return
        self.manoeuvre = self._manoeuvre(track, self.spots[nearest], float(forward[-1]))

    def forget(self) -> None:
        """End the manoeuvre."""
        self.since, self.parked, self.manoeuvre = math.inf, None, ""

    def _manoeuvre(self, track: Track, spot: _Spot, forward: float) -> str:
        """Name the manoeuvre in which the object is at the last step: driving in, settling, or leaving; else empty."""
        if self.parked is not None:
            return f"leaving the spot {self.parked[0].name}" if track.speeds[-1] >= STILL else ""
        if self.since < math.inf:
            return f"parking in the spot {spot.name}"
        way = track.fronts[-1] - spot.place
        along, aside = float(way @ spot.along), float(abs(way @ left_of(spot.along)))
        inside = -spot.length <= along <= 0.0 and aside <= 0.5 * spot.width
        enters = forward >= STILL and float(track.ahead[-1] @ spot.along) > 0.0
        return f"parking in the spot {spot.name}" if enters and (inside or np.hypot(*way) <= NEAR) else ""

    def _park(self, track: Track, row: int, spot: _Spot) -> None:
        self.parked, self.since = (spot, track.fronts[row]), math.inf
        self.done.append(spot.name)
        way = track.fronts[row] - spot.place
        gap, cosine = float(np.hypot(*way)), float(track.ahead[row] @ spot.along)
        size = np.array([self.width, self.length])
        corners = rectangles(track.centres[row], track.headings[row], size)
        aside = np.abs((corners - spot.place) @ left_of(spot.along)).max() - 0.5 * spot.width
        turned = math.degrees(math.acos(min(max(cosine, -1.0), 1.0)))
        if gap > self.within + 1e-9:
            found = f"stood with its bumper {gap:.2f} m from the end of", f"{self.within:g} m at most"
        elif turned > ANGLE + 1e-9:
            found = f"stood turned by {turned:.1f}° in", f"{ANGLE:g}° at most"
        elif aside > 1e-9:
            found = f"stood {aside:.2f} m out of the side of", "to be inside"
        else:
            return
        self._fail(track, row, f"{found[0]} the spot {spot.name}", found[1])

    def _leave(self, track: Track, row: int, forward: float) -> None:
        assert self.parked is not None
        spot, rested = self.parked
        if float(np.hypot(*(track.fronts[row] - rested))) <= OUT:
            return
        self.parked = None
        if forward > STILL:
            self._fail(track, row, f"left the spot {spot.name} forwards", "in reverse")

    def _fail(self, track: Track, row: int, found: str, wanted: str) -> None:
        time, (x, y) = float(track.times[row]), track.centres[row].tolist()
        self.fail(time, f"{found} at {time:.2f} s at ({x:.2f}, {y:.2f}), expected {wanted}")

    def kept(self) -> Check:
        """Pass if it stood right in every spot, left each in reverse, and parked often enough."""
        told = f"parked {len(self.done)} time{'' if len(self.done) == 1 else 's'}"
        kept = f"{told}: {', '.join(self.done)}" if self.done else told
        within = f"while {self.manoeuvre}" if self.manoeuvre else ""
        return self.enough(len(self.done), told, kept, within, begun=self.parked is None)


def _spots(roadmap: RoadMap) -> list[_Spot]:
    found = []
    for zone in roadmap.network.zones:
        for spot in zone.spots:
            entry, end = (PointId(zone.number, spot.number, number) for number in (1, 2))
            if roadmap.has(entry) and roadmap.has(end):
                along = direction(np.array(roadmap.heading(end)))
                width = spot.width or SPOT_WIDTH
                place = roadmap.position(end)
                length = float(np.hypot(*(place - roadmap.position(entry))))
                found.append(_Spot(f"{zone.number}.{spot.number}", place, along, width, length))
    return found
