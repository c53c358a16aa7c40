"""Curves through vertices, headings, arc length, and points beside a line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.geometry.polyline import (
    Pieces,
    Samples,
    beside,
    chord_stations,
    direction,
    distinct,
    heading,
    hermite,
    left_of,
    smooth,
    wrap,
)

OPEN = np.array([False])
angles = st.floats(-50.0, 50.0)


def draw(*places: tuple[float, float], closed: bool = False, step: float = 1.0) -> Samples:
    points = np.array(places, float)
    return smooth(points, np.array([0, len(points)]), np.array([closed]), step)


@st.composite
def roads(draw: st.DrawFn) -> np.ndarray:
    """Vertices 5 to 80 m apart whose chords turn by up to 80°."""
    count = draw(st.integers(2, 8))
    lengths = np.array(draw(st.lists(st.floats(5.0, 80.0), min_size=count, max_size=count)))
    turns = np.array(draw(st.lists(st.floats(-1.4, 1.4), min_size=count, max_size=count)))
    return np.concatenate([[[0.0, 0.0]], np.cumsum(lengths[:, None] * direction(np.cumsum(turns)), axis=0)])


@given(roads())
def test_curve_passes_through_its_vertices(points: np.ndarray) -> None:
    samples = draw(*points)
    assert np.abs(samples.points[samples.knots] - points).max() < 1e-9


@given(roads())
def test_samples_are_at_most_one_step_apart(points: np.ndarray) -> None:
    steps = np.hypot(*np.diff(draw(*points).points, axis=0).T)
    assert steps.max() <= 1.0 + 1e-9
    assert steps.min() > 0.0


@given(roads())
def test_arc_length_is_at_least_the_chord(points: np.ndarray) -> None:
    samples = draw(*points)
    arcs = np.diff(samples.stations[samples.knots])
    assert np.all(arcs >= np.hypot(*np.diff(points, axis=0).T) - 1e-9)


@given(roads())
def test_heading_has_no_jumps(points: np.ndarray) -> None:
    assert np.abs(np.diff(draw(*points).headings)).max() < 0.5


@given(roads())
def test_ends_head_along_the_first_and_last_chord(points: np.ndarray) -> None:
    samples = draw(*points)
    chords = heading(np.diff(points, axis=0))
    assert abs(wrap(samples.headings[0] - chords[0])) < 1e-9
    assert abs(wrap(samples.headings[-1] - chords[-1])) < 1e-9


@given(roads())
def test_inner_headings_are_those_of_the_sum_of_the_unit_chords(points: np.ndarray) -> None:
    samples = draw(*points)
    units = direction(heading(np.diff(points, axis=0)))
    wanted = heading(units[:-1] + units[1:])
    assert np.abs(wrap(samples.headings[samples.knots[1:-1]] - wanted)).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("count", [2, 3, 7])
def test_straight_line_has_exactly_the_length_of_the_chord(count: int) -> None:
    along = direction(np.array(0.3))
    samples = draw(*[tuple(float(s) * along) for s in np.linspace(0.0, 100.0, count)])
    assert abs(samples.stations[-1] - 100.0) < 1e-9
    assert np.abs(samples.headings - 0.3).max() < 1e-9


def test_a_long_chord_stays_straight_beyond_a_bend_between_short_ones() -> None:
    samples = draw((0, 0), (0, 10), (3, 20), (100, 320))
    along = np.array([97.0, 300.0]) / np.hypot(97.0, 300.0)
    late = samples.stations > samples.stations[samples.knots[2]] + 11.0
    aside = (samples.points[late] - [3, 20]) @ left_of(along)
    assert np.abs(aside).max() < 1e-9
    assert late.sum() > 250


def test_closed_line_has_the_same_heading_at_both_ends() -> None:
    ring = [tuple(50.0 * direction(np.array(turn))) for turn in np.linspace(0.0, 2.0 * np.pi, 9)]
    samples = draw(*ring, closed=True)
    assert abs(samples.headings[-1] - samples.headings[0] - 2.0 * np.pi) < 1e-9
    assert abs(samples.stations[-1] - 2.0 * np.pi * 50.0) < 1.0


def test_a_line_that_turns_on_its_heel_still_has_a_curve() -> None:
    samples = draw((0, 0), (0, 20), (0, 0))
    assert np.isfinite(samples.headings).all()
    assert np.abs(np.diff(samples.headings)).max() < 0.5


def test_a_single_point_is_a_line_without_length() -> None:
    samples = draw((3, 4))
    assert samples.points.tolist() == [[3.0, 4.0]]
    assert samples.headings.tolist() == [0.0]


def test_several_lines_are_drawn_as_if_alone() -> None:
    lines = [[(0, 0), (0, 30), (20, 60)], [(5, 5)], [(100, 0), (90, 40)]]
    points = np.array([p for line in lines for p in line], float)
    together = smooth(points, np.array([0, 3, 4, 6]), np.zeros(3, bool), 1.0)
    for k, line in enumerate(lines):
        alone, part = draw(*line), slice(together.offsets[k], together.offsets[k + 1])
        assert np.array_equal(together.points[part], alone.points)
        assert np.allclose(together.stations[part], alone.stations, rtol=0, atol=1e-9)
        assert np.array_equal(together.headings[part], alone.headings)


def test_an_absurdly_long_chord_does_not_fill_memory() -> None:
    assert len(draw((0, 0), (0, 1e7)).points) <= 4097


def test_a_quarter_circle_is_met_by_one_piece() -> None:
    """The scale |ab| / cos²(θ/4) makes a Hermite piece the usual cubic arc."""
    turn, radius = np.pi / 2.0, 10.0
    scale = radius * np.sqrt(2.0) / np.cos(turn / 4.0) ** 2
    ends = np.array([[0.0, 0.0], [-radius, radius]])
    piece = Pieces(ends[:1], ends[1:], np.array([[0.0, scale]]), np.array([[-scale, 0.0]]), np.array([0, 1]), ends[1:])
    samples = hermite(piece, 1.0)
    assert np.abs(np.hypot(*(samples.points - [-radius, 0.0]).T) - radius).max() < 0.003
    assert abs(samples.stations[-1] - radius * turn) < 0.02
    assert np.abs(samples.curvatures * radius - 1.0).max() < 0.022


@given(roads())
def test_curvature_is_the_change_of_heading_along_the_curve(points: np.ndarray) -> None:
    offsets = np.array([0, len(points)])
    fine = smooth(points, offsets, np.array([False]), 0.01)
    between = np.diff(fine.headings) / np.diff(fine.stations)
    exact = 0.5 * (fine.curvatures[:-1, 1] + fine.curvatures[1:, 0])
    assert np.abs(between - exact).max() < 1e-3 * np.abs(exact).max() + 1e-9


def test_distinct_drops_repeated_points_and_adds_up_a_slow_creep() -> None:
    points = np.array([[0, 0], [0, 0.01], [0, 0.04], [0, 0.06], [0, 5], [0, 5], [0, 5.0]])
    kept = distinct(points, np.array([0, 5, 7]), 0.05)
    assert kept.tolist() == [True, False, False, True, True, True, False]


def test_chord_stations_start_anew_on_every_line() -> None:
    points = np.array([[0.0, 0.0], [3.0, 4.0], [10.0, 0.0], [10.0, 2.0]])
    assert chord_stations(points, np.array([0, 2, 4])).tolist() == [0.0, 5.0, 0.0, 2.0]


@given(angles)
def test_wrap_keeps_the_direction_and_lands_in_one_turn(angle: float) -> None:
    wrapped = wrap(np.array(angle))
    assert -np.pi < wrapped <= np.pi
    assert np.allclose(direction(wrapped), direction(np.array(angle)), rtol=0, atol=1e-9)


@given(angles)
def test_heading_undoes_direction(angle: float) -> None:
    assert abs(wrap(heading(direction(np.array(angle))) - angle)) < 1e-9


def test_heading_is_zero_in_the_north_and_grows_to_the_left() -> None:
    vectors = np.array([[0, 1], [-1, 0], [0, -1], [1, 0]], float)
    assert np.allclose(heading(vectors), [0.0, np.pi / 2, np.pi, -np.pi / 2])
    assert np.allclose(left_of(vectors[0]), vectors[1])


@given(st.floats(0.0, 1.0), st.floats(-4.0, 4.0), st.floats(-0.09, 0.09), st.floats(-0.09, 0.09))
def test_beside_undoes_a_placement_by_blended_directions(share: float, aside: float, one: float, two: float) -> None:
    a, b = np.array([2.0, -1.0]), np.array([2.0, 0.0])
    along_a, along_b = direction(np.array(one)), direction(np.array(two))
    along = (1.0 - share) * along_a + share * along_b
    place = a + share * (b - a) + aside * left_of(along) / np.hypot(*along)
    found, offset = beside(place, a, b, along_a, along_b)
    assert abs(found - share) < 1e-6
    assert abs(offset - aside) < 1e-6


def test_beside_says_nan_where_no_foot_exists() -> None:
    along = direction(np.array([0.0, 0.5]))
    share, _ = beside(np.array([-50.0, 0.3]), np.zeros(2), np.array([0.0, 1.0]), along[0], along[1])
    assert np.isnan(share) or not 0.0 <= share <= 1.0
