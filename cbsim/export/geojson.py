"""GeoJSON (RFC 7946) of a road network: lanelets, their connections, and conflicts with right of way."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import UsageError
from cbsim.road.lanelet_map import LaneletMap
from cbsim.road.lanelets import Lanelet
from cbsim.road.right_of_way import ConflictKind, Rule, conflict_areas
from cbsim.road.roadmap import build
from cbsim.spec.road import RoadNetwork

__all__ = ["geojson_of_network"]

DECIMALS = 8  # of degrees: a millimetre


def geojson_of_network(network: RoadNetwork) -> str:
    """Write a network as a feature collection.

    Features have a property `layer`: ``centreline`` (LineString in the direction of travel) and ``area`` (Polygon) of
    each lanelet, ``conflict`` (Polygon) of each conflict. Coordinates are longitude and latitude [deg].

    Raises
    ------
    UsageError
        If the network is metric: it has no place on earth.
    """
    if network.metric:
        raise UsageError(f"the road network '{network.name}' is given in metres; GeoJSON needs latitude and longitude")
    road = LaneletMap(build(network))
    drawn = [lanelet for lanelet in road.lanelets if len(lanelet.samples) > 1]
    features = [feature for lanelet in drawn for feature in _of_lanelet(road, lanelet)]
    lines = ",\n".join(json.dumps(feature, allow_nan=False) for feature in [*features, *_of_conflicts(road)])
    return f'{{"type": "FeatureCollection", "name": {json.dumps(network.name)}, "features": [\n{lines}\n]}}\n'


def _of_lanelet(road: LaneletMap, lanelet: Lanelet) -> list[dict[str, Any]]:
    properties = {
        "id": lanelet.name,
        "kind": lanelet.kind.name.lower(),
        "length": round(lanelet.length, 3),
        "width": round(lanelet.width, 3),
        "speed_limit": round(lanelet.limit, 3),
        "stop": lanelet.stop,
        "lights": list(lanelet.lights),
        "successors": [other.name for other in lanelet.successors],
    }
    ring = np.concatenate([lanelet.right, lanelet.left[::-1], lanelet.right[:1]])
    line = {"type": "LineString", "coordinates": _coordinates(road, lanelet.samples)}
    area = {"type": "Polygon", "coordinates": [_coordinates(road, ring)]}
    return [
        _feature(line, {"layer": "centreline", **properties}),
        _feature(area, {"layer": "area", "id": lanelet.name, "kind": lanelet.kind.name.lower()}),
    ]


def _of_conflicts(road: LaneletMap) -> list[dict[str, Any]]:
    conflicts = road.conflicts
    found = []
    for row, corners in enumerate(conflict_areas(conflicts)):
        if not len(corners):
            continue
        side = int(conflicts.yields[row])
        names = [road.lanelets.names[lanelet] for lanelet in conflicts.pairs[row].tolist()]
        properties = {
            "layer": "conflict",
            "kind": ConflictKind(conflicts.kinds[row]).name.lower(),
            "rule": Rule(conflicts.rules[row]).name.lower(),
            "yields": names[side],
            "goes_first": names[1 - side],
        }
        ring = np.concatenate([corners, corners[:1]])
        if _signed_area(ring) < 0.0:
            ring = ring[::-1]  # RFC 7946: outer rings run counter-clockwise
        found.append(_feature({"type": "Polygon", "coordinates": [_coordinates(road, ring)]}, properties))
    return found


def _feature(geometry: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _coordinates(road: LaneletMap, points: Floats) -> list[list[float]]:
    latitude, longitude = road.roadmap.plane.to_geodetic(points)
    degrees = np.round(np.stack([longitude, latitude], axis=1), DECIMALS)
    if not np.isfinite(degrees).all():
        raise UsageError(f"the road network '{road.roadmap.name}' is too large to be written as GeoJSON")
    return [[float(x), float(y)] for x, y in degrees]


def _signed_area(ring: Floats) -> float:
    x, y = ring.T
    return float(0.5 * np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))
