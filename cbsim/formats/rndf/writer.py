"""Writer of RNDF in DARPA's order, tab separated, with counts that equal the records.

Numbers keep their text, unknown records follow the options of their block, and RNDF 1.1 records appear only where the
network has them. Comments are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cbsim.spec.number import Written, number_text
from cbsim.spec.road import (
    Checkpoint,
    Crosswalk,
    Exit,
    Extension,
    Intersection,
    Lane,
    Perimeter,
    Points,
    RoadNetwork,
    Segment,
    Spot,
    TrafficLight,
    Zone,
)
from cbsim.units import FOOT, MPH

__all__ = ["given", "phrase", "record", "write"]

FIRST_LINE = "SRNDF"  # an extension that precedes everything


def write(network: RoadNetwork) -> str:
    """Write a network as RNDF."""
    return "".join(f"{line}\n" for line in _network(network))


def _network(network: RoadNetwork) -> Iterator[str]:
    first = [e for e in network.extensions[:1] if e.text == FIRST_LINE]
    yield from _texts(first)
    yield record("RNDF_name", phrase(network.name))
    yield record("num_segments", len(network.segments))
    yield record("num_zones", len(network.zones))
    if network.intersections:
        yield record("num_intersections", len(network.intersections))
    yield from given("format_version", phrase(network.format_version))
    yield from given("creation_date", phrase(network.creation_date))
    yield from _texts(network.extensions[len(first) :])
    has_crosswalks = any(segment.crosswalks for segment in network.segments)
    for segment in network.segments:
        yield from _segment(segment, has_crosswalks)
    for zone in network.zones:
        yield from _zone(zone)
    for intersection in network.intersections:
        yield from _intersection(intersection)
    yield "end_file"


def _segment(segment: Segment, has_crosswalks: bool) -> Iterator[str]:
    yield record("segment", segment.number)
    yield record("num_lanes", len(segment.lanes))
    if has_crosswalks:
        yield record("num_crosswalks", len(segment.crosswalks))
    yield from given("segment_name", phrase(segment.name))
    yield from _quantity("speed_limit", segment.speed_limit, MPH)
    yield from _texts(segment.extensions)
    for lane in segment.lanes:
        yield from _lane(lane)
    for crosswalk in segment.crosswalks:
        yield from _crosswalk(crosswalk)
    yield "end_segment"


def _lane(lane: Lane) -> Iterator[str]:
    yield record("lane", lane)
    yield record("num_waypoints", len(lane.points))
    yield from _quantity("lane_width", lane.width, FOOT)
    yield from given("lane_type", _word(lane.kind))
    yield from given("left_boundary", _word(lane.left_boundary))
    yield from given("right_boundary", _word(lane.right_boundary))
    yield from _checkpoints(lane.checkpoints)
    for stop in lane.stops:
        yield record("stop", stop.point)
    yield from _exits(lane.exits)
    for crossing in lane.crossings:
        yield record(crossing.keyword, crossing.point, _word(crossing.target), _word(crossing.kind))
    yield from _texts(lane.extensions)
    yield from _points(str(lane), lane.points)
    yield "end_lane"


def _crosswalk(crosswalk: Crosswalk) -> Iterator[str]:
    yield record("crosswalk", f"{crosswalk.segment}.{crosswalk.number}")
    yield from _quantity("crosswalk_width", crosswalk.width, FOOT)
    for number, columns in zip(crosswalk.ends.numbers, _columns(crosswalk.ends), strict=True):
        yield record(f"crosswalk_p{number}", *columns)
    yield from _texts(crosswalk.extensions)
    yield "end_crosswalk"


def _zone(zone: Zone) -> Iterator[str]:
    yield record("zone", zone.number)
    yield record("num_spots", len(zone.spots))
    yield from given("zone_name", phrase(zone.name))
    yield from _texts(zone.extensions)
    if zone.perimeter is not None:
        yield from _perimeter(f"{zone.number}.0", zone.perimeter)
    for spot in zone.spots:
        yield from _spot(spot)
    yield "end_zone"


def _perimeter(address: str, perimeter: Perimeter) -> Iterator[str]:
    yield record("perimeter", address)
    yield record("num_perimeterpoints", len(perimeter.points))
    yield from _exits(perimeter.exits)
    yield from _texts(perimeter.extensions)
    yield from _points(address, perimeter.points)
    yield "end_perimeter"


def _spot(spot: Spot) -> Iterator[str]:
    address = f"{spot.zone}.{spot.number}"
    yield record("spot", address)
    yield from _quantity("spot_width", spot.width, FOOT)
    yield from _checkpoints(spot.checkpoints)
    yield from _texts(spot.extensions)
    yield from _points(address, spot.points)
    yield "end_spot"


def _intersection(intersection: Intersection) -> Iterator[str]:
    yield record("intersection", intersection.number)
    yield record("num_trafficlights", len(intersection.lights))
    yield from _texts(intersection.extensions)
    for light in intersection.lights:
        yield from _light(intersection, light)
    yield "end_intersection"


def _light(intersection: Intersection, light: TrafficLight) -> Iterator[str]:
    yield record("trafficlight", f"{intersection.number}.{light.number}")
    yield from given("group_id", _word(light.group))
    if light.position:
        yield record("position", *map(_coordinate, light.position))
    yield from _texts(light.extensions)
    yield "end_trafficlight"


def _checkpoints(checkpoints: Iterable[Checkpoint]) -> Iterator[str]:
    return (record("checkpoint", checkpoint.point, checkpoint.number) for checkpoint in checkpoints)


def _exits(exits: Iterable[Exit]) -> Iterator[str]:
    return (record("exit", exit_.source, exit_.target, _word(exit_.turn)) for exit_ in exits)


def _points(address: str, points: Points) -> Iterator[str]:
    pairs = zip(points.numbers, _columns(points), strict=True)
    return (record(f"{address}.{number}", *columns) for number, columns in pairs)


def _columns(points: Points) -> list[tuple[str, str]]:
    """Return the two columns of points as text: that of the file where it is still valid."""
    values = list(zip(points.latitude.tolist(), points.longitude.tolist(), strict=True))
    texts: Sequence[tuple[str, str]] = points.texts
    if len(texts) == len(values) and all(
        (float(a), float(b)) == pair for (a, b), pair in zip(texts, values, strict=True)
    ):
        return list(texts)
    return [(_coordinate(first), _coordinate(second)) for first, second in values]


def _coordinate(value: float) -> str:
    """Six decimals, or more if needed to read the same number back."""
    if isinstance(value, Written):
        return value.text
    return str(np.format_float_positional(value, unique=True, min_digits=6))


def record(*words: object) -> str:
    """Join the columns of a record, leaving out empty ones."""
    return "\t".join(text for word in words if (text := str(word)))


def given(keyword: str, text: str) -> Iterator[str]:
    """Return the record of a text, if there is one."""
    if text:
        yield record(keyword, text)


def _quantity(keyword: str, value: float | None, unit: float) -> Iterator[str]:
    if value is not None:
        yield record(keyword, number_text(value, unit))


def _texts(extensions: Iterable[Extension]) -> Iterator[str]:
    return (phrase(extension.text) for extension in extensions)


def phrase(text: str) -> str:
    """Convert a text to one line that no reader takes for a comment."""
    return text.replace("\r", " ").replace("\n", " ").replace("/*", "/ *").strip()


def _word(text: str) -> str:
    """One column."""
    return "_".join(phrase(text).split())
