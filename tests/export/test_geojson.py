"""Networks as GeoJSON: every lanelet and conflict, on the place on earth where it belongs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapely
from shapely.geometry import shape

from cbsim.errors import Problems, UsageError
from cbsim.export.convert import convert_file
from cbsim.export.geojson import geojson_of_network
from cbsim.formats import read_file
from cbsim.road.lanelet_map import LaneletMap
from cbsim.road.roadmap import build
from tests.common import ROOT
from tests.road.site import Site, straight

PATH = ROOT / "rndf" / "parking.rndf"


def features() -> list[dict]:
    text = convert_file(PATH, "geojson", None, Problems())
    collection = json.loads(text)
    assert collection["type"] == "FeatureCollection"
    return collection["features"]


def test_every_lanelet_has_its_centreline_and_area_where_it_belongs() -> None:
    road = LaneletMap(build(read_file(PATH).spec))
    lines = {f["properties"]["id"]: f for f in features() if f["properties"]["layer"] == "centreline"}
    areas = {f["properties"]["id"]: f for f in features() if f["properties"]["layer"] == "area"}
    assert set(lines) == set(areas) == set(road.lanelets.names)
    for lanelet in road.lanelets:
        longitude, latitude = np.array(lines[lanelet.name]["geometry"]["coordinates"]).T
        assert np.allclose(road.roadmap.plane.to_local(latitude, longitude), lanelet.samples, atol=0.002)
        ring = areas[lanelet.name]["geometry"]["coordinates"][0]
        assert ring[0] == ring[-1]
        assert shapely.LinearRing(ring).is_ccw
        assert lines[lanelet.name]["properties"]["stop"] == lanelet.stop
        assert lines[lanelet.name]["properties"]["successors"] == [other.name for other in lanelet.successors]


def test_every_conflict_has_its_area_and_who_yields() -> None:
    found = [f for f in features() if f["properties"]["layer"] == "conflict"]
    road = LaneletMap(build(read_file(PATH).spec))
    assert len(found) == len(road.conflicts)
    pairs = {(f["properties"]["yields"], f["properties"]["goes_first"]): f["properties"]["rule"] for f in found}
    assert pairs["2.1.4-1.1.8", "1.1.7-1.1.8"] == "stop"
    assert all(shape(f["geometry"]).is_valid for f in found)


def test_metric_networks_have_no_place_on_earth() -> None:
    with pytest.raises(UsageError, match="given in metres"):
        geojson_of_network(Site(metric=True).lane("1.1", straight(10.0)).network())
