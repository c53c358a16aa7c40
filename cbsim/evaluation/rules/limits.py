"""`Limits`: speed limits of a mission along the track of an object."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.corridors import Corridors, corridors
from cbsim.evaluation.rules.track import Track
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission

__all__ = ["CAP", "MPH", "Limits"]

MPH = 0.44704  # [m/s]
CAP = 30.0 * MPH  # [m/s] where no limit is known; the highest of DARPA's missions


class Limits:
    """Speed limits of a mission along an object's track.

    Parameters
    ----------
    roadmap : RoadMap
    mission : Mission
    """

    def __init__(self, roadmap: RoadMap, mission: Mission) -> None:
        self.corridors: Corridors = corridors(roadmap)
        self.roadmap = roadmap
        given = {limit.segment: limit for limit in mission.speed_limits or ()}
        highest = {number: limit.maximum or CAP for number, limit in given.items()}
        lowest = {number: limit.minimum for number, limit in given.items()}
        segments = self.corridors.segments.tolist()
        self.high: Floats = np.array([max(highest.get(one, CAP) for one in ends) for ends in segments] + [CAP])
        self.low: Floats = np.array([min(lowest.get(one, 0.0) for one in ends) for ends in segments] + [0.0])
        self.zones: Floats = np.array([highest.get(zone.number, CAP) for zone in roadmap.network.zones] + [CAP])

    def maximum(self, track: Track, lines: np.ndarray) -> Floats:
        """Upper limit at each step, shape (n,) [m/s]: that of its line or zone, else 30 mph."""
        limit = self.high[lines]
        off = np.flatnonzero(lines < 0)
        if len(off) and len(self.zones) > 1:
            limit[off] = self.zones[self.roadmap.zone_at(track.centres[1:][off])]
        return np.asarray(limit)
