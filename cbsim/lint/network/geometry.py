"""Rules about the shape of lanes and exits (304 to 309)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from cbsim.arrays import Bools, Ints
from cbsim.geometry.polyline import heading, wrap
from cbsim.lint.network.context import NetworkContext
from cbsim.lint.rule import Finding, Rule
from cbsim.road.connector import ConnectorKind, connector_kinds, connectors, exit_spans
from cbsim.road.curve import COINCIDENT, LaneCurve
from cbsim.road.matching import LaneIndex
from cbsim.road.overlap import overlapping
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import Exit, PointId

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

__all__ = ["RULES"]

FOOT = 0.3048  # [m] thresholds of width stand in feet, as widths do in the files
CLOSEST, FARTHEST = 0.1, 400.0  # [m] between waypoints
KINK = np.radians(60.0)
LONGEST_EXIT = 60.0  # [m]
TIGHTEST = 3.0  # [m] radius
BATCH = 2000  # exits drawn at once, so that memory does not grow with their number
NARROWEST, WIDEST = 5.0, 30.0  # [ft]
ROUNDING = 1e-9
OVERLAP = 1.0  # [m²] less is a matter of drawing


def _point(lane: LaneCurve, row: int) -> PointId:
    return PointId(*lane.id, lane.numbers[row])


def _spacing(context: NetworkContext) -> Iterator[Finding]:
    """W304: neighbouring waypoints stand on top of each other, or out of sight."""
    for lane in context.roadmap.lanes:
        gaps = np.hypot(*np.diff(lane.points, axis=0).T)
        for row in np.flatnonzero((gaps < CLOSEST) | (gaps > FARTHEST)).tolist():
            one, other = _point(lane, row), _point(lane, row + 1)
            limits = f"expected {CLOSEST:g} to {FARTHEST:g} m"
            yield Finding(f"'{other}' stands {gaps[row]:.3g} m from '{one}'", context.at(other), limits)


def _kink(context: NetworkContext) -> Iterator[Finding]:
    """W305: the lane turns by more than 60° at one waypoint."""
    for lane in context.roadmap.lanes:
        chords = np.diff(lane.points, axis=0)
        rows = np.flatnonzero(np.hypot(*chords.T) >= COINCIDENT)
        turns = np.degrees(wrap(np.diff(heading(chords[rows]))))
        for k in np.flatnonzero(np.abs(turns) > np.degrees(KINK)):
            point = _point(lane, int(rows[k + 1]))
            side = "left" if turns[k] > 0 else "right"
            yield Finding(f"the lane turns {abs(turns[k]):.0f}° to the {side} at '{point}'", context.at(point))


def _deviation(context: NetworkContext) -> Iterator[Finding]:
    """W306: the smooth curve through the waypoints leaves the straight line between two of them by half the width."""
    for lane in context.roadmap.lanes:
        if len(lane.samples) < 2:
            continue
        chord = np.searchsorted(lane.waypoint_rows, np.arange(len(lane.samples)), side="right") - 1
        chord = np.minimum(chord, len(lane.points) - 2)
        along = lane.points[chord + 1] - lane.points[chord]
        size = np.hypot(*along.T)
        away = lane.samples - lane.points[chord]
        side = np.abs(along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]) / np.where(size > COINCIDENT, size, np.inf)
        side[lane.waypoint_rows[-1] :] = 0.0  # a closed lane's way back to its start
        too_far = np.unique(chord[side > 0.5 * lane.width])
        if len(too_far):
            row = int(chord[np.argmax(side)])
            one, other = _point(lane, row), _point(lane, row + 1)
            others = f", and off {len(too_far) - 1} more" if len(too_far) > 1 else ""
            message = f"between '{one}' and '{other}' the curve swings {side.max():.1f} m off the straight line{others}"
            limit = f"more than half the lane's width, {0.5 * lane.width:.1f} m: give more waypoints"
            yield Finding(message, context.at(other), limit)


def _long_or_tight_exit(context: NetworkContext) -> Iterator[Finding]:
    """W307: an exit is longer than 60 m, or turns within less than 3 m."""
    exits = context.roadmap.exits
    for start in range(0, len(exits), BATCH):
        yield from _long_or_tight(context.roadmap, exits[start : start + BATCH])


def _long_or_tight(roadmap: RoadMap, exits: tuple[Exit, ...]) -> Iterator[Finding]:
    """W307 for some exits; only those that are not too long are drawn."""
    gaps = exit_spans(roadmap, exits).tolist()
    kinds = connector_kinds(roadmap, exits)
    curved = [
        e.source.lane != 0 and e.target.lane != 0 and gap <= LONGEST_EXIT and kind is ConnectorKind.TURN
        for e, gap, kind in zip(exits, gaps, kinds, strict=True)
    ]
    drawn = iter(connectors(roadmap, [e for e, needed in zip(exits, curved, strict=True) if needed]))
    for e, gap, needed in zip(exits, gaps, curved, strict=True):
        if gap > LONGEST_EXIT:
            message = f"exit '{e.source}' to '{e.target}' is {gap:.0f} m long"
            yield Finding(message, e.location, f"expected up to {LONGEST_EXIT:g} m")
        elif needed and (c := next(drawn)).radius < TIGHTEST:
            turn = f"turns {abs(np.degrees(c.turn)):.0f}° within a radius of {c.radius:.1f} m"
            message = f"exit '{e.source}' to '{e.target}' {turn}"
            yield Finding(message, e.location, f"expected at least {TIGHTEST:g} m")


def _lane_overlap(context: NetworkContext) -> Iterator[Finding]:
    """W308: a lane lies on a lane of another segment, with no exit between the two segments."""
    lanes, index = context.roadmap.lanes, context.roadmap.index
    rank = {segment: k for k, segment in enumerate(dict.fromkeys(lane.id[0] for lane in lanes))}
    segments = np.array([rank[lane.id[0]] for lane in lanes], np.int64)[index.lane_of_stretch]
    links = {(rank.get(e.source.segment, -1), rank.get(e.target.segment, -1)) for e in context.exits}
    linked = np.array([one * len(rank) + other for a, b in links for one, other in ((a, b), (b, a))], np.int64)

    def strangers(one: Ints, other: Ints) -> Bools:
        pair = segments[one] * len(rank) + segments[other]
        return np.asarray((segments[one] != segments[other]) & ~np.isin(pair, linked))

    for (i, j), areas in _shared_areas(index, strangers).items():
        total = math.fsum(area.area for area in areas)
        if total > OVERLAP:
            x, y = max(areas, key=lambda area: area.area).representative_point().coords[0]
            near = _point(lanes[j], int(np.argmin(np.hypot(*(lanes[j].points - [x, y]).T))))
            message = f"lane '{lanes[j]}' overlaps lane '{lanes[i]}' by {total:.0f} m² near '{near}'"
            also = context.at(_point(lanes[i], 0))
            yield Finding(message, context.at(near), "no exit joins their segments", also)


def _shared_areas(index: LaneIndex, wanted: Callable[[Ints, Ints], Bools]) -> dict[tuple[int, int], list[BaseGeometry]]:
    """Collect what stretches of lanes have in common, by pairs of lanes."""
    import shapely

    strips = index.strips()
    one, other = overlapping(strips, wanted)
    pairs = np.sort(index.lane_of_stretch[np.stack([one, other], axis=1)], axis=1)
    common: dict[tuple[int, int], list[BaseGeometry]] = {}
    for (i, j), area in zip(pairs.tolist(), shapely.intersection(strips[one], strips[other]), strict=True):
        if not area.is_empty:
            common.setdefault((i, j), []).append(area)
    return common


def _width(context: NetworkContext) -> Iterator[Finding]:
    """W309: a lane is narrower than 5 ft or wider than 30 ft."""
    for lane in context.network.lanes:
        feet = lane.width / FOOT if lane.width else 0.0
        if lane.width and not NARROWEST - ROUNDING <= feet <= WIDEST + ROUNDING:
            message = f"lane '{lane}' is {feet:.3g} ft ({lane.width:.3g} m) wide"
            unit = "; is the width in metres?" if NARROWEST <= feet / FOOT <= WIDEST else ""
            yield Finding(message, lane.location, f"expected {NARROWEST:g} to {WIDEST:g} ft{unit}")


RULES: tuple[Rule[NetworkContext], ...] = (
    Rule("W304", _spacing, requires="map"),
    Rule("W305", _kink, requires="map"),
    Rule("W306", _deviation, requires="map"),
    Rule("W307", _long_or_tight_exit, requires="map"),
    Rule("W308", _lane_overlap, requires="map"),
    Rule("W309", _width),
)
