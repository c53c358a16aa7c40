"""Rules about zones: perimeters, spots, ways in and out (310 to 313, 405)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cbsim.lint.network.context import NetworkContext
from cbsim.lint.rule import Finding, Rule
from cbsim.spec.road import PointId, Spot, Zone

__all__ = ["RULES"]

VEHICLE_WIDTH, VEHICLE_LENGTH = 1.7, 3.68  # [m] of CajunBot, a two-door Jeep
LEVEL = 1e-9  # [deg] points on the same latitude are equally far north
EDGE = 0.1  # [m] a spot may touch the perimeter
DOOR = 5.0  # [m] from a lane's end to the perimeter point it leads to


def _perimeter(context: NetworkContext) -> Iterator[Finding]:
    """W310: a perimeter crosses itself, runs counter-clockwise, or does not start in the north."""
    import shapely

    for zone, corners in zip(context.network.zones, context.roadmap.perimeters, strict=True):
        if zone.perimeter is None or len(corners) < 3:
            continue
        name, place, points = f"perimeter '{zone.number}.0'", zone.perimeter.location, zone.perimeter.points
        ring = shapely.LinearRing(corners)
        if not ring.is_simple:
            yield Finding(f"{name} crosses itself", place)
        elif ring.is_ccw:
            yield Finding(f"{name} runs counter-clockwise", place, "expected clockwise")
        north = points.longitude if context.network.metric else points.latitude
        top = int(np.argmax(north))
        if north[top] > north[0] + LEVEL:
            found = PointId(zone.number, 0, points.numbers[top])
            yield Finding(f"{name} does not start at its northernmost point '{found}'", place, also=context.at(found))


def _spots(context: NetworkContext) -> Iterator[tuple[Zone, Spot]]:
    return ((zone, spot) for zone in context.network.zones for spot in zone.spots)


def _spot_size(context: NetworkContext) -> Iterator[Finding]:
    """W311: a spot is too small for a vehicle."""
    for zone, spot in _spots(context):
        name = f"spot '{zone.number}.{spot.number}'"
        if spot.width is not None and 0.0 < spot.width < VEHICLE_WIDTH:
            expected = f"expected more than a vehicle's {VEHICLE_WIDTH:g} m"
            yield Finding(f"{name} is {spot.width:.2g} m wide", spot.location, expected)
        ends = [context.roadmap.rows.get(PointId(zone.number, spot.number, number)) for number in (1, 2)]
        if ends[0] is not None and ends[1] is not None:
            gap = float(np.hypot(*(context.roadmap.positions[ends[1]] - context.roadmap.positions[ends[0]])))
            if 2.0 * gap < VEHICLE_LENGTH:
                message = f"{name} is {2.0 * gap:.2g} m long, twice the {gap:.2g} m from its entry to its centre"
                yield Finding(message, spot.location, f"expected more than a vehicle's {VEHICLE_LENGTH:g} m")


def _spot_outside(context: NetworkContext) -> Iterator[Finding]:
    """W312: a spot lies outside the perimeter of its zone."""
    import shapely

    roadmap = context.roadmap
    for zone, area in zip(context.network.zones, roadmap.zone_areas, strict=True):
        points = [PointId(zone.number, spot.number, n) for spot in zone.spots for n in spot.points.numbers]
        if area.is_empty or not points:
            continue
        places = np.asarray(shapely.points(roadmap.positions[[roadmap.rows[point] for point in points]]))
        shapely.prepare(area)
        for k in np.flatnonzero(~shapely.dwithin(area, places, EDGE)):
            away = shapely.distance(area, places[k])
            message = f"'{points[k]}' of a parking spot lies {away:.1f} m outside perimeter '{zone.number}.0'"
            yield Finding(message, context.at(points[k]))


def _door(context: NetworkContext) -> Iterator[Finding]:
    """W313: a perimeter point stands far from the lane that it joins."""
    roadmap = context.roadmap
    for e in roadmap.exits:
        if (e.source.lane == 0) == (e.target.lane == 0):
            continue
        gap = float(np.hypot(*(roadmap.positions[roadmap.rows[e.target]] - roadmap.positions[roadmap.rows[e.source]])))
        if gap > DOOR:
            door, lane = (e.source, e.target) if e.source.lane == 0 else (e.target, e.source)
            message = f"perimeter point '{door}' is {gap:.1f} m from waypoint '{lane}' that it is joined to"
            yield Finding(message, e.location, f"expected up to {DOOR:g} m")


def _no_door(context: NetworkContext) -> Iterator[Finding]:
    """W405: a zone cannot be entered, or cannot be left."""
    entered = {e.target.segment for e in context.exits if e.target.lane == 0 and e.target in context.addresses}
    left = {e.source.segment for e in context.exits if e.source.lane == 0 and e.source in context.addresses}
    for zone in context.network.zones:
        missing = [what for what, there in (("in", entered), ("out", left)) if zone.number not in there]
        if missing:
            yield Finding(f"zone '{zone.number}' has no way {' and no way '.join(missing)}", zone.location)


RULES: tuple[Rule[NetworkContext], ...] = (
    Rule("W310", _perimeter, requires="map"),
    Rule("W311", _spot_size, requires="map"),
    Rule("W312", _spot_outside, requires="map"),
    Rule("W313", _door, requires="map"),
    Rule("W405", _no_door),
)
