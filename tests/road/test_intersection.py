"""Intersections and who stops, inferred from exits."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.road.intersection import intersections
from cbsim.road.overlap import overlapping
from cbsim.road.roadmap import RoadMap, build
from tests.road.site import Site, city, point, straight


def crossing(stops: int) -> RoadMap:
    """Four one-lane roads each way around the origin; `stops` of them end at a stop line."""
    site = Site(metric=True)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    for k in range(4):
        spin = np.linalg.matrix_power(turn, k)
        into = [tuple(spin @ np.array([1.8, y])) for y in (-60.0, -35.0, -10.0)]
        out = [tuple(spin @ np.array([-1.8, y])) for y in (-10.0, -35.0, -60.0)]
        ways = [(f"{k + 1}.1.3", f"{j + 1}.2.1") for j in range(4) if j != k]
        site.lane(f"{k + 1}.1", into, exits=ways, stops=[f"{k + 1}.1.3"] if k < stops else [])
        site.lane(f"{k + 1}.2", out)
    return build(site.network())


@pytest.mark.parametrize(
    ("stops", "pattern"), [(0, "no stop"), (1, "one-way stop"), (2, "two-way stop"), (4, "all-way stop")]
)
def test_stop_pattern_of_a_crossing(stops: int, pattern: str) -> None:
    (found,) = intersections(crossing(stops))
    assert found.pattern == pattern
    assert [a.points for a in found.approaches] == [(point(f"{k}.1.3"),) for k in (1, 2, 3, 4)]
    assert found.departures == tuple(point(f"{k}.2.1") for k in (1, 2, 3, 4))
    assert np.allclose(found.position, 0.0, atol=1e-9)


def test_a_road_that_runs_through_is_an_approach() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0, 5))
    site.lane("2.1", [(60.0, 50.0), (30.0, 50.0), (10.0, 50.0)], exits=[("2.1.3", "1.1.4")], stops=["2.1.3"])
    (found,) = intersections(build(site.network()))
    assert [str(a.points[0]) for a in found.approaches] == ["1.1.3", "2.1.3"]
    assert found.pattern == "one-way stop"


def test_parallel_lanes_of_one_road_are_one_approach() -> None:
    site = Site(metric=True)
    site.lane("1.1", straight(50.0), exits=[("1.1.5", "2.1.1")], stops=["1.1.5"])
    site.lane("1.2", straight(50.0, x=3.66), exits=[("1.2.5", "2.1.1")], stops=["1.2.5"])
    site.lane("2.1", straight(50.0, y=70.0))
    site.lane("3.1", [(40.0, 60.0), (10.0, 60.0)], exits=[("3.1.2", "2.1.1")])
    (found,) = intersections(build(site.network()))
    assert [len(a.points) for a in found.approaches] == [2, 1]
    assert found.pattern == "one-way stop"


def test_one_road_that_goes_on_or_splits_is_no_intersection() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "2.1.1"), ("1.1.5", "3.1.1")])
    site.lane("2.1", straight(50.0, y=60.0)).lane("3.1", [(20.0, 60.0), (60.0, 60.0)])
    assert intersections(build(site.network())) == ()


def test_exits_that_only_cross_meet_in_one_intersection() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "2.1.1")]).lane("2.1", straight(50.0, y=80.0))
    site.lane("3.1", [(-60.0, 65.0), (-15.0, 65.0)], exits=[("3.1.2", "4.1.1")])
    site.lane("4.1", [(15.0, 65.0), (60.0, 65.0)])
    (found,) = intersections(build(site.network()))
    assert len(found.approaches) == 2


def test_a_city_has_one_intersection_at_every_corner_of_blocks() -> None:
    found = intersections(build(city(4, 200.0)))
    assert len(found) == 4 * 4 - 4
    assert {(len(i.approaches), i.pattern) for i in found} == {(3, "all-way stop"), (4, "all-way stop")}


def test_a_network_without_exits_has_no_intersections() -> None:
    assert intersections(build(Site(metric=True).lane("1.1", straight(10.0)).network())) == ()


def test_overlapping_pairs_are_bounded_where_everything_lies_on_everything() -> None:
    import shapely

    boxes = np.array([shapely.box(0, 0, 1, 1)] * 1000, object)
    one, other = overlapping(boxes)
    assert 50_000 < len(one) <= 200_000
    assert np.all(one < other)
