"""Path of a whole mission from a pose, cached: the runs of a sweep that begin alike share it."""

from __future__ import annotations

from copy import copy
from functools import lru_cache

from cbsim.planner.pilot.arc_paths import Pose
from cbsim.planner.pilot.itinerary import Itinerary
from cbsim.planner.pilot.path import Path, assemble
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission

__all__ = ["mission_path", "prepared_itinerary"]


@lru_cache(maxsize=4)
def prepared_itinerary(roadmap: RoadMap, mission: Mission | None, geometry: VehicleGeometry) -> Itinerary:
    """Itinerary of a mission with its manoeuvres planned."""
    itinerary = Itinerary(roadmap, mission, geometry)
    itinerary.prepare()
    return itinerary


@lru_cache(maxsize=4)
def mission_path(
    roadmap: RoadMap, mission: Mission | None, geometry: VehicleGeometry, start: Pose, part: int, dwell: float
) -> tuple[Path | None, str]:
    """Plan the path of a mission.

    Parameters
    ----------
    roadmap : RoadMap
    mission : Mission or None
        None: follow the lane to its end.
    geometry : VehicleGeometry
    start : Pose
        Of the vehicle's control point.
    part : int
        Number of legs without a way that lie behind.
    dwell : float
        Time at rest at a stop line [s].

    Returns
    -------
    path : Path or None
        Not to be written to. None if there is none.
    reason : str
        Why it ends before the mission does; empty if it does not.
    """
    itinerary = copy(prepared_itinerary(roadmap, mission, geometry))  # with a state of its own, and shared caches
    builder = itinerary.build(start, part)
    return assemble(builder, geometry, dwell) if builder.sections else None, itinerary.reason
