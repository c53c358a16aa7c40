"""Rules about coordinates, shapes and zones, at their very thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cbsim.spec.road import Lane, Points, RoadNetwork, Segment
from tests.lint.test_network_reference import lint
from tests.road.site import Place, Site, straight

FOOT = 0.3048


def codes(network: RoadNetwork) -> set[str]:
    return {p.code for p in lint(network)}


def lane(places: list[Place], **options: object) -> RoadNetwork:
    return Site(metric=True).lane("1.1", places, **options).network()  # type: ignore[arg-type]


def degrees(*places: Place) -> RoadNetwork:
    lat, lon = np.array(places, float).T
    count = len(places)
    points = Points(tuple(range(1, count + 1)), lat, lon, texts=(), lines=tuple(range(10, 10 + count)))
    return RoadNetwork("r", (Segment(1, (Lane(1, 1, points),)),))


def test_a_latitude_beyond_the_pole_is_an_error_at_its_line_and_nothing_is_measured() -> None:
    found = lint(degrees((38.0, -77.0), (95.0, -77.0), (38.001, -190.0)))
    assert [(p.code, p.location.line) for p in found if p.code == "E301"] == [("E301", 11), ("E301", 12)]
    assert found[0].message == "'1.1.2' at '95 -77' is out of range"
    assert not {p.code for p in found} & {"W304", "W305", "W306"}


def test_metric_coordinates_beyond_ten_thousand_kilometres_are_an_error() -> None:
    assert "E301" in codes(lane([(0, 0), (0, 2e7)]))
    assert "E301" in codes(lane([(0, 0), (float("nan"), 5)]))


def test_a_network_wider_than_a_degree_names_the_point_farthest_out() -> None:
    (found,) = [p for p in lint(degrees((38.0, -77.0), (38.001, -77.0), (38.0, -78.5))) if p.code == "W302"]
    assert "spans 1.5° of longitude; '1.1.3'" in found.message
    assert found.location.line == 12


def test_a_metric_network_is_told_once_and_has_no_rules_about_degrees() -> None:
    found = [p for p in lint(lane(straight(1000.0, 20), exits=[("1.1.20", "1.1.1")])) if p.code in ("W302", "W303")]
    assert [p.message for p in found] == ["the coordinates are not degrees: they are taken as metres east and north"]


@pytest.mark.parametrize(
    ("places", "what"),
    [
        ([(38.0, 77.0), (38.001, 77.0)], "every longitude is east of Greenwich"),
        ([(-77.0, 38.0), (-77.0, 38.001)], "latitude and longitude seem to be swapped"),
        ([(-117.0, 34.0), (-117.001, 34.0)], "latitude and longitude seem to be swapped"),
        ([(139.7, 35.6), (139.7, 35.601)], "latitude and longitude seem to be swapped"),
        ([(38.0, -77.0), (38.001, 77.0), (38.002, -77.0)], "the longitude of '1.1.2' has the other sign than the rest"),
        (
            [(38.0, -77.0), (-38.001, -77.0), (38.002, -77.0)],
            "the latitude of '1.1.2' has the other sign than the rest",
        ),
    ],
)
def test_lost_signs_and_swapped_columns_are_suspected(places: list[Place], what: str) -> None:
    assert [p.message for p in lint(degrees(*places), "W303")] == [what]


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        (38.0, -77.0), (48.1, 11.6), (68.97, 33.08), (67.9, 27.2), (35.68, 139.7), (37.57, 126.98), (1.35, 103.82),
        (-33.87, 151.2), (-1.29, 36.82), (-54.8, -68.3), (64.1, -21.9), (51.48, 0.0),
    ],
)  # fmt: skip
def test_networks_anywhere_on_earth_are_not_suspected(latitude: float, longitude: float) -> None:
    assert lint(degrees((latitude, longitude), (latitude + 0.001, longitude - 0.001)), "W303") == []


@pytest.mark.parametrize(("gap", "told"), [(0.09, True), (0.11, False), (399.0, False), (401.0, True)])
def test_spacing_of_waypoints(gap: float, told: bool) -> None:
    found = lint(lane([(0, 0), (0, 50), (0, 50 + gap)]), "W304")
    assert bool(found) == told
    if told:
        assert (found[0].location.line, found[0].location.inside) == (152, "1.1.3")


@pytest.mark.parametrize(("turn", "told"), [(59.0, False), (61.0, True), (-61.0, True)])
def test_kink_at_a_waypoint(turn: float, told: bool) -> None:
    x, y = -20.0 * np.sin(np.radians(turn)), 20.0 + 20.0 * np.cos(np.radians(turn))
    found = lint(lane([(0, 0), (0, 20), (0, 20.01), (x, y)]), "W305")
    assert bool(found) == told
    if told:
        assert f"turns 61° to the {'left' if turn > 0 else 'right'}" in found[0].message
        assert found[0].location.line in (151, 152)


def test_a_curve_that_swings_off_the_road_names_the_stretch() -> None:
    (found,) = lint(lane([(0, 0), (0, 100), (60, 180), (60, 280)]), "W306")
    assert "between '1.1.1' and '1.1.2'" in found.message or "between '1.1.3' and '1.1.4'" in found.message
    assert "more than half the lane's width, 1.8 m" in found.hint


def test_a_gentle_curve_stays_on_the_road() -> None:
    arc = [(100 * np.cos(a) - 100, 100 * np.sin(a)) for a in np.linspace(0, 1.5, 10)]
    assert lint(lane(arc), "W306") == []


def joined(place: Place, turn: float) -> RoadNetwork:
    beyond = (place[0] - 20 * np.sin(turn), place[1] + 20 * np.cos(turn))
    site = Site(metric=True).lane("1.1", straight(40.0, y=-40.0), exits=[("1.1.5", "2.1.1")])
    return site.lane("2.1", [place, beyond]).network()


def test_an_exit_longer_than_sixty_metres_is_suspicious() -> None:
    assert lint(joined((0, 59), 0.0), "W307") == []
    (found,) = lint(joined((0, 61), 0.0), "W307")
    assert found.message == "exit '1.1.5' to '2.1.1' is 61 m long"
    assert found.location.line == 101


def test_an_exit_tighter_than_three_metres_is_suspicious_unless_it_is_a_u_turn() -> None:
    assert lint(joined((-4.0, 4.0), np.pi / 2), "W307") == []
    (found,) = lint(joined((-2.5, 2.5), np.pi / 2), "W307")
    assert found.message == "exit '1.1.5' to '2.1.1' turns 90° within a radius of 2.5 m"
    site = Site(metric=True).lane("1.1", straight(40.0), exits=[("1.1.5", "1.2.1")])
    assert lint(site.lane("1.2", straight(40.0, x=-3.66, back=True)).network(), "W307") == []


def test_lanes_of_two_segments_may_cross_only_where_an_exit_joins_them() -> None:
    def cross(exits: list[tuple[str, str]]) -> RoadNetwork:
        site = Site(metric=True).lane("1.1", straight(100.0), exits=exits)
        return site.lane("2.1", [(-50, 50), (0, 50), (50, 50)]).network()

    (found,) = lint(cross([]), "W308")
    assert found.message == "lane '2.1' overlaps lane '1.1' by 13 m² near '2.1.2'"
    assert found.location.line == 251
    assert lint(cross([("1.1.2", "2.1.2")]), "W308") == []


@pytest.mark.parametrize(("feet", "told"), [(0, False), (4.9, True), (5, False), (12, False), (30, False), (31, True)])
def test_width_of_a_lane(feet: float, told: bool) -> None:
    found = lint(lane(straight(10.0), width=feet * FOOT), "W309")
    assert [p.location.line for p in found] == [100] * told


def test_a_width_given_in_metres_is_suspected() -> None:
    assert "metres?" in lint(lane(straight(10.0), width=3.7 * FOOT), "W309")[0].hint
    assert lint(lane(straight(10.0), width=None), "W309") == []


SQUARE = [(0.0, 41.0), (40.0, 40.0), (40.0, 0.0), (0.0, 0.0)]


@pytest.mark.parametrize(
    ("corners", "what"),
    [
        (SQUARE, []),
        ([SQUARE[0], *SQUARE[:0:-1]], ["runs counter-clockwise"]),
        (SQUARE[1:] + SQUARE[:1], ["does not start at its northernmost point '1.0.4'"]),
        ([SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]], ["crosses itself"]),
    ],
)
def test_perimeters(corners: list[Place], what: list[str]) -> None:
    found = lint(Site(metric=True).zone(1, corners).network(), "W310")
    assert [p.message.removeprefix("perimeter '1.0' ") for p in found] == what
    assert all(p.location.line == 100 for p in found)


def test_a_geographic_perimeter_is_measured_by_latitude() -> None:
    assert lint(Site().zone(1, SQUARE).network(), "W310") == []
    assert len(lint(Site().zone(1, SQUARE[1:] + SQUARE[:1]).network(), "W310")) == 1


def test_spots_too_small_for_a_vehicle() -> None:
    site = Site(metric=True).zone(1, SQUARE, spots=[((10, 10), (10, 11.5))], spot_width=1.5)
    found = lint(site.network(), "W311")
    assert ["1.5 m wide" in found[0].message, "is 3 m long" in found[1].message] == [True, True]
    assert lint(Site(metric=True).zone(1, SQUARE, spots=[((10, 10), (10, 14))]).network(), "W311") == []


def test_a_spot_outside_its_perimeter_names_the_point() -> None:
    network = Site(metric=True).zone(1, SQUARE, spots=[((38, 10), (43, 10))]).network()
    (found,) = lint(network, "W312")
    assert found.message == "'1.1.2' of a parking spot lies 3.0 m outside perimeter '1.0'"
    assert found.location.line == 173


def test_a_perimeter_point_far_from_its_lane_is_suspicious() -> None:
    site = Site(metric=True).lane("1.1", straight(40.0), exits=[("1.1.5", "2.0.1"), ("1.1.5", "2.0.2")])
    network = site.zone(2, [(0, 44), (0, 46), (9, 43)], exits=[("2.0.1", "1.1.1")]).network()
    found = lint(network, "W313")
    assert [p.location.line for p in found] == [102, 201]
    assert found[0].message == "perimeter point '2.0.2' is 6.0 m from waypoint '1.1.5' that it is joined to"


def test_a_zone_without_a_way_in_or_out() -> None:
    site = Site(metric=True).lane("1.1", straight(40.0), exits=[("1.1.5", "2.0.1")]).zone(2, SQUARE).zone(3, SQUARE)
    assert [p.message for p in lint(site.network(), "W405")] == [
        "zone '2' has no way out",
        "zone '3' has no way in and no way out",
    ]


def test_an_exit_to_a_missing_perimeter_point_is_no_way_in() -> None:
    site = Site(metric=True).lane("1.1", straight(40.0), exits=[("1.1.5", "2.0.9")])
    assert "no way in" in lint(site.zone(2, SQUARE).network(), "W405")[0].message


def test_empty_and_degenerate_parts_are_no_reason_to_stop() -> None:
    network = Site(metric=True).lane("1.1", []).lane("1.2", [(0, 0)]).lane("1.3", [(1, 1), (1, 1)]).network()
    strange = replace(network, zones=Site().zone(2, []).zone(3, [(0, 0), (1, 1)]).zone(4, None).zones)
    assert {p.code for p in lint(strange)} >= {"W304", "W401", "W405"}
    assert lint(RoadNetwork("empty")) == []
