"""Construction of the spec from blocks, one function per kind of block."""

from __future__ import annotations

from cbsim.errors import Location
from cbsim.formats.rndf.columns import Columns, column
from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.metric import is_metric
from cbsim.spec.road import (
    Crosswalk,
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

__all__ = ["build_network"]


def build_network(root: Draft, path: str, columns: Columns) -> RoadNetwork:
    """Build the spec of a file."""
    blocks = Blocks(path, columns)
    return RoadNetwork(
        name=root.values.get("RNDF_name") or "",
        segments=tuple(blocks.segment(draft) for draft in _by_number(root, "segment")),
        zones=tuple(blocks.zone(draft) for draft in _by_number(root, "zone")),
        intersections=tuple(blocks.intersection(draft) for draft in _by_number(root, "intersection")),
        format_version=root.values.get("format_version") or "",
        creation_date=root.values.get("creation_date") or "",
        metric=is_metric(columns.latitude, columns.longitude, columns.borders),
        segment_count=root.values.get("num_segments"),
        zone_count=root.values.get("num_zones"),
        intersection_count=root.values.get("num_intersections"),
        extensions=tuple(root.extensions),
        location=Location(path, 1),
    )


def _by_number(draft: Draft, kind: str) -> list[Draft]:
    """Children of one kind by number, then those of other blocks, ties in file order."""
    return sorted(draft.of_kind(kind), key=lambda child: child.ids[::-1])


class Blocks:
    """Builder of specs, one method per kind of block."""

    def __init__(self, path: str, columns: Columns) -> None:
        self.path = path
        self.points = columns.points

    def segment(self, draft: Draft) -> Segment:
        return Segment(
            number=draft.ids[0],
            lanes=tuple(self.lane(child) for child in _by_number(draft, "lane")),
            name=draft.values.get("segment_name") or "",
            crosswalks=tuple(self.crosswalk(child) for child in _by_number(draft, "crosswalk")),
            speed_limit=draft.values.get("speed_limit"),
            lane_count=draft.values.get("num_lanes"),
            crosswalk_count=draft.values.get("num_crosswalks"),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )

    def lane(self, draft: Draft) -> Lane:
        options = draft.options
        return Lane(
            segment=draft.ids[0],
            number=draft.ids[1],
            points=self.points(draft),
            width=draft.values.get("lane_width"),
            left_boundary=draft.values.get("left_boundary") or "",
            right_boundary=draft.values.get("right_boundary") or "",
            checkpoints=tuple(options.get("checkpoints", ())),
            stops=tuple(options.get("stops", ())),
            exits=tuple(options.get("exits", ())),
            crossings=tuple(options.get("crossings", ())),
            kind=draft.values.get("lane_type") or "",
            waypoint_count=draft.values.get("num_waypoints"),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )

    def crosswalk(self, draft: Draft) -> Crosswalk:
        keys = [key for key in ("crosswalk_p1", "crosswalk_p2") if draft.values.get(key)]
        ends = [draft.values[key] for key in keys]
        return Crosswalk(
            segment=draft.ids[0],
            number=draft.ids[1],
            width=draft.values.get("crosswalk_width"),
            ends=Points(
                numbers=tuple(int(key[-1]) for key in keys),
                latitude=column(float(first) for first, _ in ends),
                longitude=column(float(second) for _, second in ends),
                texts=tuple((first.text, second.text) for first, second in ends),
                lines=tuple(draft.places[key] for key in keys),
            ),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )

    def zone(self, draft: Draft) -> Zone:
        perimeters = draft.of_kind("perimeter")
        return Zone(
            number=draft.ids[0],
            perimeter=self.perimeter(perimeters[0]) if perimeters else None,
            spots=tuple(self.spot(child) for child in _by_number(draft, "spot")),
            name=draft.values.get("zone_name") or "",
            spot_count=draft.values.get("num_spots"),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )

    def perimeter(self, draft: Draft) -> Perimeter:
        return Perimeter(
            points=self.points(draft),
            exits=tuple(draft.options.get("exits", ())),
            point_count=draft.values.get("num_perimeterpoints"),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )

    def spot(self, draft: Draft) -> Spot:
        return Spot(
            zone=draft.ids[0],
            number=draft.ids[1],
            points=self.points(draft),
            width=draft.values.get("spot_width"),
            checkpoints=tuple(draft.options.get("checkpoints", ())),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )

    def intersection(self, draft: Draft) -> Intersection:
        return Intersection(
            number=draft.ids[0],
            lights=tuple(self.light(child) for child in _by_number(draft, "trafficlight")),
            light_count=draft.values.get("num_trafficlights"),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )

    def light(self, draft: Draft) -> TrafficLight:
        return TrafficLight(
            number=draft.ids[-1],
            group=draft.values.get("group_id") or "",
            position=draft.values.get("position") or (),
            extensions=tuple(draft.extensions),
            location=draft.location(self.path),
        )
