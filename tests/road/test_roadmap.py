"""Points, headings, places and zones of a map; wrong questions are answered with what is near."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.road.address import Addresses
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.road import PointId, RoadNetwork
from tests.road.site import ORIGIN, Site, point, straight

SQUARE = [(0, 40), (40, 40), (40, 0), (0, 0)]


@pytest.fixture
def roadmap() -> RoadMap:
    site = Site()
    site.lane("1.1", straight(100.0)).lane("1.2", straight(100.0, x=-3.66, back=True))
    site.lane("2.1", [(0.0, 120.0), (20.0, 140.0), (60.0, 150.0)])
    site.zone(3, [(x + 100, y) for x, y in SQUARE], spots=[((110, 10), (110, 15)), ((130, 30), (125, 30))])
    return build(site.network())


def test_origin_is_the_first_waypoint(roadmap: RoadMap) -> None:
    assert np.allclose(roadmap.position(point("1.1.1")), 0.0, atol=1e-9)
    assert roadmap.plane.latitude == pytest.approx(ORIGIN.latitude, abs=1e-9)


def test_origin_is_the_first_waypoint_of_the_file_even_where_segments_are_sorted() -> None:
    network = Site().lane("2.1", straight(10.0, y=500.0)).lane("1.1", straight(10.0)).network()
    turned = RoadNetwork("r", tuple(reversed(network.segments)), location=network.location)
    assert np.allclose(build(turned).position(point("2.1.1")), 0.0, atol=1e-9)


def test_origin_can_be_chosen(roadmap: RoadMap) -> None:
    north = ORIGIN.to_geodetic([0.0, 1000.0])
    moved = build(roadmap.network, (float(north[0]), float(north[1])))
    assert np.allclose(moved.position(point("1.1.1")), [0.0, -1000.0], atol=1e-3)


def test_places_of_the_file_come_back_on_the_plane(roadmap: RoadMap) -> None:
    assert np.allclose(roadmap.lane(2, 1).points, [(0.0, 120.0), (20.0, 140.0), (60.0, 150.0)], atol=1e-5)
    assert np.allclose(roadmap.position(point("3.2.2")), [125.0, 30.0], atol=1e-5)


def test_points_of_lanes_perimeters_and_spots_exist(roadmap: RoadMap) -> None:
    assert all(roadmap.has(point(text)) for text in ("1.1.1", "2.1.3", "3.0.4", "3.2.2"))
    assert not any(roadmap.has(point(text)) for text in ("1.1.6", "1.3.1", "3.0.5", "3.3.1", "0.0.0"))


@pytest.mark.parametrize(
    ("text", "degrees"), [("1.1.3", 0.0), ("1.2.2", 180.0), ("3.1.2", 0.0), ("3.2.1", 90.0), ("3.0.2", 0.0)]
)
def test_headings_of_points(roadmap: RoadMap, text: str, degrees: float) -> None:
    assert abs(np.degrees(roadmap.heading(point(text)))) == pytest.approx(degrees, abs=1e-3)


def test_heading_of_the_last_waypoint_is_that_of_the_chord_to_it(roadmap: RoadMap) -> None:
    assert roadmap.heading(point("2.1.3")) == pytest.approx(-np.arctan2(40.0, 10.0), abs=1e-6)
    assert roadmap.heading(point("2.1.1")) == pytest.approx(-np.pi / 4, abs=1e-6)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [("1.1.9", "1.1.5"), ("1.7.2", "1.2.2"), ("9.0.2", "3.0.2"), ("3.5.2", "3.2.2"), ("1.1.0", "1.1.1")],
)
def test_nearest_existing_id(roadmap: RoadMap, asked: str, answer: str) -> None:
    assert roadmap.nearest(point(asked)) == answer


def test_missing_point_is_refused_with_the_nearest_one(roadmap: RoadMap) -> None:
    with pytest.raises(ModelError, match=r"'site' has no point '1\.1\.9' \(did you mean '1\.1\.5'\?\)"):
        roadmap.position(point("1.1.9"))


def test_missing_lane_is_refused_with_the_nearest_one(roadmap: RoadMap) -> None:
    with pytest.raises(ModelError, match=r"no lane '1\.4' \(did you mean '1\.2'\?\)"):
        roadmap.lane(1, 4)


def test_an_empty_network_has_a_map_without_lanes() -> None:
    roadmap = build(RoadNetwork("empty"))
    assert roadmap.lanes == ()
    assert roadmap.nearest(point("1.1.1")) == ""
    assert roadmap.match([[0.0, 0.0]]).lane.tolist() == [-1]
    assert roadmap.zone_at([[0.0, 0.0]]).tolist() == [-1]
    with pytest.raises(ModelError, match=r"no lane '1\.1'$"):
        roadmap.lane(1, 1)


def test_place_goes_along_the_lane_and_to_its_left(roadmap: RoadMap) -> None:
    position, heading = roadmap.place(point("1.1.2"), 10.0, 1.5)
    assert np.allclose(position, [-1.5, 35.0], atol=1e-4)
    assert heading == pytest.approx(0.0, abs=1e-6)


def test_place_from_a_spot_goes_along_the_spot(roadmap: RoadMap) -> None:
    position, heading = roadmap.place(point("3.2.1"), 2.0, 1.0)
    assert np.allclose(position, [128.0, 29.0], atol=1e-4)
    assert heading == pytest.approx(np.pi / 2, abs=1e-5)


def test_zone_holds_its_inside_and_its_boundary(roadmap: RoadMap) -> None:
    assert roadmap.zone_at([[120.0, 20.0], [50.0, 20.0]]).tolist() == [0, -1]
    assert roadmap.zone_at(roadmap.perimeters[0]).tolist() == [0, 0, 0, 0]


def test_a_zone_without_perimeter_holds_nothing_and_a_crossed_one_still_something() -> None:
    site = Site(metric=True).zone(1, None).zone(2, [(0, 0), (10, 10), (10, 0), (0, 10)])
    roadmap = build(site.network())
    assert roadmap.zone_at([[9.0, 5.0], [1.0, 5.0], [5.0, 1.0]]).tolist() == [1, 1, -1]


def test_the_first_of_two_equal_ids_holds() -> None:
    roadmap = build(Site(metric=True).lane("1.1", straight(10.0)).lane("1.1", straight(10.0, x=50.0)).network())
    assert len(roadmap.lanes) == 2
    assert roadmap.lane(1, 1) is roadmap.lanes[0]
    assert roadmap.position(point("1.1.1")).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e300])
def test_coordinates_that_are_no_place_are_refused_at_their_line(wrong: float) -> None:
    network = Site(metric=True).lane("1.1", [(0, 0), (0, wrong)]).network()
    with pytest.raises(ModelError, match=r"site\.rndf:151: error: the coordinates of point '1\.1\.2'"):
        build(network)


def test_metric_networks_keep_their_coordinates() -> None:
    roadmap = build(Site(metric=True).lane("1.1", [(7.0, 5.0), (7.0, 25.0)]).network())
    assert roadmap.position(point("1.1.2")).tolist() == [7.0, 25.0]


def test_addresses_of_nothing_know_nothing() -> None:
    assert Addresses([]).nearest(PointId(1, 1, 1)) == ""
    assert Addresses([]).hint(PointId(1, 1, 1)) == ""
    assert Addresses([PointId(4, 2, 1)]).nearest_lane(4, 9) == "4.2"
