"""Lane curves: through their waypoints, closed where a road is circular, with edges at half the width."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cbsim.geometry.polyline import direction, wrap
from cbsim.road.curve import DEFAULT_WIDTH, LaneCurve
from cbsim.road.edge import edge
from cbsim.road.roadmap import build
from tests.road.site import Site, straight


def curve(places: list[tuple[float, float]], **options: object) -> LaneCurve:
    return build(Site(metric=True).lane("1.1", places, **options).network()).lane(1, 1)  # type: ignore[arg-type]


def ring(radius: float = 30.0, count: int = 12) -> list[tuple[float, float]]:
    return [tuple(radius * direction(np.array(a))) for a in np.arange(count) * 2.0 * np.pi / count]


def bend(radius: float, turn: float) -> list[tuple[float, float]]:
    """A straight, an arc to the left, a straight."""
    arc = [(radius * (np.cos(a) - 1.0), 30.0 + radius * np.sin(a)) for a in np.linspace(0.0, turn, 9)]
    x, y = arc[-1]
    out = direction(np.array(turn)) * 30.0
    return [(0.0, 0.0), *arc, (x + out[0], y + out[1])]


def test_coincident_waypoints_share_a_place_on_the_curve() -> None:
    lane = curve([(0, 0), (0, 20), (0, 20.01), (10, 40), (10, 40)])
    assert lane.waypoint_stations[1] == lane.waypoint_stations[2]
    assert lane.waypoint_stations[3] == lane.waypoint_stations[4] == lane.length
    assert np.all(np.diff(lane.stations) > 0.0)


def test_exit_from_last_to_first_waypoint_closes_the_lane() -> None:
    lane = curve(ring(), exits=[("1.1.12", "1.1.1")])
    assert lane.closed
    assert np.array_equal(lane.samples[0], lane.samples[-1])
    assert abs(lane.length - 2 * np.pi * 30.0) < 0.5
    assert lane.waypoint_stations[-1] < lane.length - 10.0
    assert abs(wrap(lane.headings[-1] - lane.headings[0])) < 1e-9


def test_a_ring_whose_last_waypoint_repeats_the_first_closes_without_a_gap() -> None:
    lane = curve([*ring(), ring()[0]], exits=[("1.1.13", "1.1.1")])
    assert lane.closed
    assert lane.waypoint_stations[-1] == lane.length
    assert abs(lane.length - 2 * np.pi * 30.0) < 0.5


def test_a_square_block_closes_round_its_corners() -> None:
    assert curve([(0, 0), (0, 50), (50, 50), (50, 0)], exits=[("1.1.4", "1.1.1")]).closed


def test_a_straight_road_with_an_exit_back_to_its_start_stays_open() -> None:
    assert not curve(straight(100.0), exits=[("1.1.5", "1.1.1")]).closed


def test_a_closed_lane_goes_round_again() -> None:
    lane = curve(ring(), exits=[("1.1.12", "1.1.1")])
    once, twice = (lane.at(7.0 + turn * lane.length, 1.0) for turn in (0, 2))
    assert np.allclose(once[0], twice[0], rtol=0, atol=1e-9)


def test_beyond_its_ends_an_open_lane_goes_straight_on() -> None:
    lane = curve(straight(100.0))
    places, headings = lane.at([-10.0, 110.0], [0.0, 2.0])
    assert np.allclose(places, [[0.0, -10.0], [-2.0, 110.0]])
    assert headings.tolist() == [0.0, 0.0]


def test_a_lane_of_one_waypoint_points_north_and_has_no_area() -> None:
    lane = curve([(5, 5)])
    assert lane.length == 0.0
    assert lane.polygon.is_empty
    place, heading = lane.at(3.0, 1.0)
    assert (place.tolist(), float(heading)) == ([4.0, 8.0], 0.0)


@pytest.mark.parametrize("width", [None, 0.0, float("nan"), 1e9])
def test_an_unknown_or_absurd_width_is_twelve_feet(width: float | None) -> None:
    assert curve(straight(10.0), width=width).width == DEFAULT_WIDTH == pytest.approx(12 * 0.3048)


def test_edges_of_a_straight_lane_are_half_its_width_away() -> None:
    lane = curve(straight(50.0), width=4.0)
    assert np.allclose(lane.left, lane.samples - np.array([2.0, 0.0]))
    assert np.allclose(lane.right, lane.samples + np.array([2.0, 0.0]))
    assert lane.polygon.area == pytest.approx(200.0)


@given(st.floats(0.5, 40.0), st.floats(0.2, 2.6))
@settings(max_examples=100)
@example(3.0, 2.0)  # the inner edge turns on the spot
def test_edges_do_not_cross_themselves_however_tight_the_bend(radius: float, turn: float) -> None:
    lane = curve(bend(radius, turn), width=6.0)
    for side in (lane.left, lane.right):
        assert len(side) == len(lane.samples)
        moved = np.concatenate([[True], np.hypot(*np.diff(side, axis=0).T) > 1e-9])
        assert shapely.LineString(side[moved]).is_simple


@given(st.floats(0.5, 40.0), st.floats(0.2, 2.6))
@settings(max_examples=40)
def test_polygon_contains_the_centre_line(radius: float, turn: float) -> None:
    lane = curve(bend(radius, turn))
    assert lane.polygon.is_valid
    assert lane.polygon.buffer(1e-6).covers(shapely.LineString(lane.samples))


def test_polygon_of_a_circular_road_has_a_hole() -> None:
    area = curve(ring(), exits=[("1.1.12", "1.1.1")], width=4.0).polygon
    assert len(area.interiors) == 1
    assert area.area == pytest.approx(2 * np.pi * 30.0 * 4.0, rel=0.01)


def test_an_edge_that_does_not_fold_is_left_alone() -> None:
    centre = np.array([[0.0, y] for y in range(10)])
    assert np.array_equal(edge(centre, np.zeros(10), 1.0), centre - [1.0, 0.0])


def test_curves_cannot_be_written_to() -> None:
    lane = curve(straight(10.0))
    with pytest.raises(ValueError, match="read-only"):
        lane.samples[0] = 0.0


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("closed", [False, True])
def test_a_single_place_has_the_bits_of_many(closed: bool, compiled: bool) -> None:
    lane = curve(ring(), exits=[("1.1.12", "1.1.1")]) if closed else curve(bend(15.0, 2.0))
    assert lane.closed is closed
    if compiled:
        lane.compile_points()
    stations = np.concatenate([np.random.default_rng(4).uniform(-30.0, lane.length + 30.0, 300), lane.stations, [0.0]])
    offsets = np.random.default_rng(5).uniform(-3.0, 3.0, len(stations))
    positions, headings = lane.at(stations, offsets)
    for k, (station, offset) in enumerate(zip(stations.tolist(), offsets.tolist(), strict=True)):
        position, heading = lane.at(station, offset)
        assert position.tobytes() == positions[k].tobytes()
        assert heading == headings[k]
    assert np.isnan(lane.at(np.nan)[0]).all()


@pytest.mark.parametrize("closed", [False, True])
def test_a_part_has_the_bits_of_its_single_places(closed: bool) -> None:
    lane = curve(ring(), exits=[("1.1.12", "1.1.1")]) if closed else curve(bend(15.0, 2.0))
    drawn = np.random.default_rng(6).uniform(-10.0, lane.length + 10.0, (60, 2))
    ends = np.concatenate([drawn, [[0.0, lane.length], lane.stations[[2, 9]], [5.0, 5.0], [9.0, 4.0]]])
    for begin, end in ends.tolist():
        points, headings = lane.between(begin, end)
        inner = lane.stations[(lane.stations > begin + 1e-6) & (lane.stations < end - 1e-6)]
        stations = np.concatenate([[begin], inner, [end]])
        assert points.tobytes() == lane.at(stations)[0].tobytes()
        assert headings.tobytes() == np.interp(stations, lane.stations, lane.headings).tobytes()
