"""Networks turned, mirrored and renamed, for tests of what must not depend on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from cbsim.spec.road import Exit, Lane, PointId, Points, RoadNetwork, Segment, Stop


def turned(network: RoadNetwork, angle: float) -> RoadNetwork:
    """Turn a metric network of lanes counter-clockwise [rad]."""
    return _moved(network, lambda x, y: (np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y))


def mirrored(network: RoadNetwork) -> RoadNetwork:
    """Mirror a metric network of lanes: east becomes west."""
    return _moved(network, lambda x, y: (-x, y))


def renumbered(network: RoadNetwork) -> RoadNetwork:
    """Give the segments of a network of lanes their numbers in the opposite order; the order of records stays."""
    top = 1 + max(segment.number for segment in network.segments)

    def named(point: PointId) -> PointId:
        return PointId(top - point.segment, point.lane, point.point)

    def lane(one: Lane) -> Lane:
        return replace(
            one,
            segment=top - one.segment,
            exits=tuple(Exit(named(way.source), named(way.target)) for way in one.exits),
            stops=tuple(Stop(named(stop.point)) for stop in one.stops),
        )

    segments = (Segment(top - s.number, tuple(lane(one) for one in s.lanes)) for s in network.segments)
    return replace(network, segments=tuple(sorted(segments, key=lambda s: s.number)))


def renamed(network: RoadNetwork, numbers: Mapping[int, int]) -> RoadNetwork:
    """Give the segments of a network of lanes other numbers; the order of records stays."""

    def named(point: PointId) -> PointId:
        return point._replace(segment=numbers[point.segment])

    def lane(one: Lane) -> Lane:
        return replace(
            one,
            segment=numbers[one.segment],
            exits=tuple(replace(way, source=named(way.source), target=named(way.target)) for way in one.exits),
            stops=tuple(replace(stop, point=named(stop.point)) for stop in one.stops),
            crossings=tuple(replace(each, point=named(each.point)) for each in one.crossings),
        )

    segments = (replace(s, number=numbers[s.number], lanes=tuple(map(lane, s.lanes))) for s in network.segments)
    return replace(network, segments=tuple(segments))


def in_order(network: RoadNetwork) -> RoadNetwork:
    """Sort the segments of a network by number, as in a file."""
    return replace(network, segments=tuple(sorted(network.segments, key=lambda segment: segment.number)))


def _moved(
    network: RoadNetwork, move: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
) -> RoadNetwork:
    def lane(one: Lane) -> Lane:
        points = Points.of(*move(one.points.latitude, one.points.longitude), one.points.numbers)
        return replace(one, points=points)

    segments = tuple(replace(s, lanes=tuple(lane(one) for one in s.lanes)) for s in network.segments)
    return replace(network, segments=segments)


def metric(network: RoadNetwork) -> RoadNetwork:
    """Give the lanes of a network in metres on its local plane, without zones and what leads there."""
    from cbsim.road.roadmap import build

    roadmap = build(network)
    zones = {zone.number for zone in network.zones}

    def lane(one: Lane) -> Lane:
        x, y = roadmap.positions[[roadmap.rows[point] for point in one.ids()]].T
        exits = tuple(way for way in one.exits if way.target.segment not in zones)
        return replace(one, points=Points.of(x, y, one.points.numbers), exits=exits, checkpoints=())

    segments = tuple(replace(s, lanes=tuple(lane(one) for one in s.lanes)) for s in network.segments)
    return replace(network, segments=segments, zones=(), metric=True)
