"""Rules about getting from anywhere to anywhere, and inferred intersections."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

from cbsim.errors import Location
from cbsim.spec.road import Exit, RoadNetwork
from tests.lint.test_network_reference import lint
from tests.road.site import Site, city, point, straight
from tests.road.test_intersection import crossing

SQUARE = [(0.0, 0.0), (0.0, 50.0), (50.0, 50.0), (50.0, 0.0)]


def loop(**options: object) -> Site:
    return Site(metric=True).lane("1.1", SQUARE, exits=[("1.1.4", "1.1.1")], **options)  # type: ignore[arg-type]


def cul_de_sac() -> RoadNetwork:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "1.2.1")])
    return site.lane("1.2", straight(50.0, x=-3.66, back=True), exits=[("1.2.5", "1.1.1")]).network()


def test_a_circular_road_is_free_of_findings_but_its_corners() -> None:
    assert {p.code for p in lint(loop().network())} <= {"W302", "W305", "W306"}


def test_a_lane_end_without_exit_is_told_at_its_last_waypoint() -> None:
    (found,) = lint(Site(metric=True).lane("1.1", straight(50.0)).network(), "W401")
    assert found.message == "lane '1.1' ends at '1.1.5' without an exit"
    assert (found.location.line, found.location.inside) == (154, "1.1.5")


def test_a_dead_end_turns_round_and_is_only_a_remark() -> None:
    found = lint(cul_de_sac())
    assert [p.message for p in found if p.code == "I404"] == [
        "dead end: lane '1.1' turns round at '1.1.5' into '1.2.1'",
        "dead end: lane '1.2' turns round at '1.2.5' into '1.1.1'",
    ]
    assert not [p for p in found if p.code in ("W401", "W403")]


def test_a_checkpoint_that_nothing_leads_to_is_an_error() -> None:
    site = loop(checkpoints=[("1.1.1", 1)]).lane(
        "2.1", straight(20.0, y=100.0), checkpoints=[("2.1.1", 2), ("2.1.2", 3)]
    )
    (found,) = lint(site.network(), "E402")
    assert found.message == "checkpoint '2' cannot be reached: nothing leads to '2.1.1'"
    assert found.location.line == 201


def test_a_checkpoint_id_given_twice_belongs_to_its_first_point_for_every_rule() -> None:
    away = straight(20.0, y=100.0)
    second_out_of_reach = loop(checkpoints=[("1.1.1", 7)]).lane("2.1", away, checkpoints=[("2.1.1", 7)]).network()
    assert [p.code for p in lint(second_out_of_reach) if p.code in ("E204", "E402")] == ["E204"]
    site = Site(metric=True).lane("1.1", away, checkpoints=[("1.1.1", 7)])
    first_out_of_reach = site.lane("2.1", SQUARE, exits=[("2.1.4", "2.1.1")], checkpoints=[("2.1.1", 7)]).network()
    found = [p for p in lint(first_out_of_reach) if p.code in ("E204", "E402")]
    assert [p.code for p in found] == ["E204", "E402"]
    assert all("'1.1.1'" in p.message for p in found)


def test_a_checkpoint_reached_only_by_a_lane_change_is_reached() -> None:
    site = (
        Site(metric=True)
        .lane("1.1", straight(100.0))
        .lane("1.2", straight(100.0, x=3.66)[3:], checkpoints=[("1.2.1", 5)])
    )
    assert lint(site.network(), "E402") == []


def test_spots_of_a_zone_without_a_way_in_cannot_be_reached() -> None:
    corners = [(0.0, 40.0), (40.0, 40.0), (40.0, 0.0), (0.0, 0.0)]
    spots = [((10.0, 10.0), (10.0, 15.0)), ((20.0, 10.0), (20.0, 15.0))]
    marks = [("2.1.2", 1), ("2.2.2", 2)]
    shut = Site(metric=True).lane("1.1", straight(40.0, y=-45.0)).zone(2, corners, spots=spots, checkpoints=marks)
    assert [p.message for p in lint(shut.network(), "E402")] == [
        "checkpoint '1' cannot be reached: zone '2' has no way in",
        "checkpoint '2' cannot be reached: zone '2' has no way in",
    ]
    ways = [("1.1.5", "2.0.4")]
    open_ = (
        Site(metric=True)
        .lane("1.1", straight(40.0, y=-45.0), exits=ways)
        .zone(2, corners, spots=spots, checkpoints=marks)
    )
    assert lint(open_.network(), "E402") == []


def test_strongly_connected_parts_are_reported_with_their_sizes() -> None:
    site = loop().lane(
        "2.1", [(x, y + 200.0) for x, y in SQUARE], exits=[("2.1.4", "2.1.1")], checkpoints=[("2.1.2", 9)]
    )
    (found,) = lint(site.lane("3.1", straight(10.0, 2, y=400.0)).network(), "W403")
    assert found.message == (
        "not every point can be reached from every other: 10 points fall into 4 strongly connected parts "
        "(4 with '1.1.1', 4 with '2.1.1'); 1 checkpoint is outside the largest"
    )


def test_doors_and_spots_count_as_places_but_not_the_other_corners() -> None:
    corners = [(0.0, 80.0), (40.0, 80.0), (40.0, 52.0), (0.0, 52.0)]
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "2.0.4")])
    site.zone(2, corners, exits=[("2.0.3", "1.1.1")], spots=[((10.0, 60.0), (10.0, 65.0))])
    assert lint(site.network(), "W403") == []


def test_an_intersection_is_reported_with_its_stop_pattern() -> None:
    (found,) = lint(crossing(2).network, "I406")
    assert found.message == "intersection of 4 approaches (1.1.3, 2.1.3, 3.1.3, 4.1.3): two-way stop"
    assert found.location.inside == "1.1.3"


def test_a_well_made_city_has_nothing_but_intersections() -> None:
    assert {p.code for p in lint(city(4, 200.0))} == {"I406"}


def test_more_exits_than_any_network_has_are_not_sorted_into_intersections() -> None:
    ways = [(f"1.1.{a}", f"2.1.{b}") for a in range(1, 151) for b in range(1, 151)]
    site = Site(metric=True)
    site.lane("1.1", straight(1500.0, 150), exits=[]).lane("2.1", straight(1500.0, 150, x=20.0))
    network = site.network()
    lane = replace(
        network.segments[0].lanes[0], exits=tuple(Exit(point(a), point(b), Location("site.rndf", 101)) for a, b in ways)
    )
    network = replace(network, segments=(replace(network.segments[0], lanes=(lane,)), *network.segments[1:]))
    tracemalloc.start()
    found = lint(network)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [p.message for p in found if p.code == "I406"] == [
        "the network has 22500 exits, too many to infer intersections from"
    ]
    assert sum(p.code == "W307" for p in found) == 1000  # told as ever, past the thousandth only counted
    assert peak < 60e6
