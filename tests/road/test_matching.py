"""From positions to lanes: the inverse of placing, and who wins where lanes overlap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.evaluation.rules.corridors import Strip
from cbsim.road.matching import LaneIndex
from cbsim.road.roadmap import RoadMap, build
from tests.road.site import Site, city, point, straight

WINDING = build(
    Site(metric=True)
    .lane("1.1", [(0, 0), (0, 30), (12, 60), (50, 80), (60, 120), (20, 160), (-60, 170)])
    .lane("2.1", [(300, 0), (330, 20), (335, 60), (300, 90), (270, 40)], exits=[("2.1.5", "2.1.1")])
    .network()
)
CROSSING = build(
    Site(metric=True)
    .lane("1.1", straight(100.0))
    .lane("2.1", [(-50, 50), (0, 50), (50, 50)])
    .lane("3.1", straight(100.0, back=True, x=0.5))
    .network()
)


@given(st.sampled_from(["1.1.1", "1.1.4", "1.1.7", "2.1.2"]), st.floats(0.0, 1.0), st.floats(-1.8, 1.8))
@settings(max_examples=300)
def test_matching_undoes_placing(start: str, share: float, aside: float) -> None:
    lane = WINDING.lane(point(start).segment, 1)
    base = float(lane.waypoint_stations[point(start).point - 1])
    station = share * lane.length
    position, heading = WINDING.place(point(start), station - base, aside)
    match = WINDING.match([position], [heading])
    assert WINDING.lanes[match.lane[0]] is lane
    gap = abs(match.station[0] - station)
    assert min(gap, lane.length - gap if lane.closed else gap) < 1e-6
    assert abs(match.offset[0] - aside) < 1e-6
    assert abs(match.heading_error[0]) < 1e-6


def test_off_the_road_there_is_no_lane() -> None:
    match = WINDING.match([[0.0, 0.0], [10.0, 15.0], [0.0, -1.0]])
    assert match.lane.tolist() == [0, -1, -1]
    assert np.isnan(match.station[1:]).all()
    assert np.isnan(match.offset[1:]).all()


def test_the_very_edge_of_a_lane_belongs_to_it() -> None:
    half = WINDING.lane(1, 1).width / 2
    places = [WINDING.place(point("1.1.2"), 10.0, aside)[0] for aside in (half, -half, half + 1e-3, -half - 1e-3)]
    assert WINDING.match(places).lane.tolist() == [0, 0, -1, -1]


@pytest.mark.parametrize(("degrees", "lane"), [(0.0, 0), (-90.0, 1), (180.0, 2), (30.0, 0), (-60.0, 1), (150.0, 2)])
def test_where_lanes_cross_the_heading_decides(degrees: float, lane: int) -> None:
    assert CROSSING.match([[0.1, 50.0]], [np.radians(degrees)]).lane.tolist() == [lane]


def test_without_heading_the_nearest_centre_line_decides() -> None:
    assert CROSSING.match([[0.2, 20.0], [0.3, 20.0]]).lane.tolist() == [0, 2]


def test_among_equals_the_first_in_the_file_decides() -> None:
    assert CROSSING.match([[0.25, 20.0], [0.0, 50.0]]).lane.tolist() == [0, 0]


def test_heading_error_is_positive_when_turned_to_the_left_of_the_lane() -> None:
    assert CROSSING.match([[0.0, 20.0]], [0.3]).heading_error[0] == pytest.approx(0.3)


def test_answers_do_not_depend_on_the_other_positions_asked() -> None:
    rng = np.random.default_rng(5)
    positions, headings = rng.uniform(-60, 60, (500, 2)) + np.array([0, 60]), rng.uniform(-3, 3, 500)
    together = WINDING.match(positions, headings)
    for k in range(0, 500, 50):
        alone = WINDING.match(positions[k : k + 1], headings[k : k + 1])
        assert all(np.array_equal(a, b[k : k + 1], equal_nan=True) for a, b in zip(alone, together, strict=True))


def test_every_sample_of_a_city_stands_on_its_own_lane() -> None:
    roadmap: RoadMap = build(city(4, 200.0))
    rows = [(k, lane.samples[::7], lane.headings[::7]) for k, lane in enumerate(roadmap.lanes)]
    match = roadmap.match(np.concatenate([r[1] for r in rows]), np.concatenate([r[2] for r in rows]))
    assert np.array_equal(match.lane, np.concatenate([np.full(len(r[1]), r[0]) for r in rows]))
    assert np.abs(match.offset).max() < 1e-6


def test_no_positions_give_no_matches() -> None:
    assert len(WINDING.match(np.empty((0, 2))).lane) == 0


def test_a_line_that_leads_onwards_comes_before_a_nearer_one_that_does_not():
    def line(degrees, aside):
        turned, stations = np.radians(degrees), np.arange(-20.0, 20.5, 0.5)
        along, left = np.array([-np.sin(turned), np.cos(turned)]), np.array([-np.cos(turned), -np.sin(turned)])
        samples = stations[:, None] * along + aside * left
        return Strip(stations - stations[0], samples, np.full(len(stations), turned), 4.0)

    index = LaneIndex([line(70.0, 0.1), line(50.0, 1.0)])
    here, north = np.zeros((1, 2)), np.zeros(1)
    assert index.match(here, north).lane[0] == 0
    match = index.match(here, north, onward=np.radians(60.0))
    assert match.lane[0] == 1
    assert np.degrees(match.heading_error[0]) == pytest.approx(-50.0)


def test_compiled_matching_of_few_positions_finds_the_same() -> None:
    rng = np.random.default_rng(6)
    compiled = build(CROSSING.network)
    compiled.compile_matching()
    for place in rng.uniform(-60.0, 110.0, (200, 1, 2)):
        for headings in (None, rng.uniform(-4.0, 4.0, 1), [np.nan]):
            for ours, theirs in zip(compiled.match(place, headings), CROSSING.match(place, headings), strict=True):
                np.testing.assert_array_equal(ours, theirs)
