"""Kernels of the rules against plain implementations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import shapely

from cbsim.evaluation.rules.footprints import rectangles_along
from cbsim.evaluation.rules.track import planar
from cbsim.geometry.kernels.encroachment import encroachments
from cbsim.geometry.kernels.path_lengths import ALIGNED, SLACK, durations_into, path_lengths_into
from cbsim.geometry.polyline import direction
from cbsim.geometry.pose import heading, heading_quaternion
from cbsim.road.kernels.projection import project_into
from cbsim.road.line_index import LineIndex
from cbsim.road.matching import LaneIndex
from tests.road.test_matching import CROSSING, WINDING


@pytest.mark.parametrize("network", [WINDING, CROSSING])
@pytest.mark.parametrize("onward", [np.pi, 1.0])
def test_positions_are_matched_with_the_bits_of_the_index_without_kernels(network, onward):
    rng = np.random.default_rng(1)
    places = network.positions[rng.integers(0, len(network.positions), 3000)] + rng.normal(0.0, 5.0, (3000, 2))
    places[: len(network.positions)] = network.positions
    places[17] = np.nan
    headings = rng.uniform(-7.0, 7.0, 3000)
    for turned in (headings, None):
        found = LineIndex(network.lanes).match(places, turned, onward)
        expected = LaneIndex(network.lanes).match(places, turned, onward)
        assert 0.2 < np.mean(expected.lane >= 0) < 1.0
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_no_line_holds_no_position():
    assert LineIndex([]).match([[0.0, 0.0]], [0.0]).lane.tolist() == [-1]


def test_the_nearest_sample_of_a_line_is_that_of_a_search_through_all():
    lane, rng = WINDING.lanes[0], np.random.default_rng(2)
    along = direction(lane.headings)
    line = np.column_stack([lane.samples, along, lane.stations])
    places = rng.uniform(-150.0, 250.0, (500, 2))
    out = np.empty((500, 4))
    project_into(line, places, np.broadcast_to([0, len(line)], (500, 2)).copy(), out)
    best = np.linalg.norm(places[:, None] - lane.samples, axis=2).argmin(axis=1)
    way = places - lane.samples[best]
    np.testing.assert_array_equal(out[:, 2:], along[best])
    np.testing.assert_allclose(out[:, 0], lane.stations[best] + (way * along[best]).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(out[:, 1], way[:, 1] * along[best, 0] - way[:, 0] * along[best, 1], atol=1e-12)


def test_of_samples_at_equal_distances_the_first_is_the_nearest():
    """Samples around a place, at whole coordinates, of which later ones are among those that are looked at first."""
    corners = [(3.0, 4.0), (4.0, 3.0), (5.0, 0.0), (4.0, -3.0), (3.0, -4.0), (0.0, -5.0), (-3.0, -4.0), (-5.0, 0.0)]
    for count in range(1, 40):
        far = [(3.0 + 10.0 * k, 40.0) for k in range(count, 0, -1)]
        points = np.array([*far, *corners, *far])
        stations = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        line = np.column_stack([points, np.zeros((len(points), 2)), stations])
        line[:, 2] = np.arange(len(points))  # tells which sample was found
        out = np.empty((1, 4))
        project_into(line, np.zeros((1, 2)), np.array([[0, len(line)]]), out)
        assert out[0, 2] == count


def test_headings_and_speeds_have_the_bits_of_those_without_kernels():
    rng = np.random.default_rng(3)
    motion = rng.normal(size=(200, 13))
    motion[:, 3:7] = heading_quaternion(rng.uniform(-4.0, 4.0, 200))
    found, turned = planar(motion[::2]), heading(motion[::2, 3:7])
    np.testing.assert_array_equal(found[:, 0], turned)
    np.testing.assert_array_equal(found[:, 1:3], direction(turned))
    np.testing.assert_array_equal(found[:, 3], np.linalg.norm(motion[::2, 7:10], axis=1))


@pytest.mark.parametrize("seed", range(4))
def test_the_least_time_between_two_ways_is_that_of_a_search_over_moments(seed):
    rng = np.random.default_rng(seed)
    steps, size = 8, np.array([[1.8, 4.4], [2.0, 3.0]])
    tracks = []
    for angle in (0.0, rng.uniform(0.8, 2.4)):
        ahead = direction(np.array([angle]))[0]
        start = -ahead * rng.uniform(4.0, 9.0)
        pieces = np.array([[*(start + k * 2.0 * ahead), *(2.0 * ahead), *ahead] for k in range(steps)])
        tracks.append(pieces)
    bounds, numbers = np.array([[-50.0, -50.0, 50.0, 50.0]]), np.array([11, 14, 11, 5])
    times, who = np.full(steps + 3, np.inf), np.full(steps + 3, -1)
    encroachments(tracks[0], tracks[1][:, None], bounds, size, numbers, np.array([0.1, 10.0]), 0.9, times, who)

    def boxes(pieces: np.ndarray, one: int, first: int) -> list[tuple[float, shapely.Polygon]]:
        moments = [
            (k + s, row[:2] + s * row[2:4], row[4:]) for k, row in enumerate(pieces) for s in np.arange(0, 1, 0.1)
        ]
        places, ahead = (np.array([moment[part] for moment in moments]) for part in (1, 2))
        corners = rectangles_along(places, ahead, np.broadcast_to(size[one], places.shape))
        return [(first + moment[0], shapely.Polygon(c)) for moment, c in zip(moments, corners, strict=True)]

    pairs = itertools.product(boxes(tracks[0], 0, 11), boxes(tracks[1], 1, 14))
    least = min((abs(a - b) for (a, one), (b, other) in pairs if one.intersects(other)), default=np.inf)
    assert np.isfinite(least)
    assert 0.1 * least - 0.02 <= times.min() <= 0.1 * least + 1e-9
    assert set(who[np.isfinite(times)].tolist()) == {5}


def two_pieces(step, way, first, second):
    """Durations of both pieces of steps, all at once; 0 and the whole step where none fit."""

    def cross(one, other):
        return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]

    def length(vectors):
        return np.hypot(*vectors.T)

    with np.errstate(divide="ignore", invalid="ignore"):
        turn, fast, slow = cross(first, second), length(first), length(second)
        along = np.where((fast >= slow)[:, None], first, second)
        along = along / length(along)[:, None]
        before, after = (first * along).sum(axis=1), (second * along).sum(axis=1)
        on_line = np.abs(cross(way, along)) <= ALIGNED * length(way)
        share = np.where(on_line, ((way * along).sum(axis=1) - after * step) / (before - after), np.nan)
        straight = np.abs(turn) <= ALIGNED * fast * slow
        a = np.where(straight, share, cross(way, second) / turn)
        b = np.where(straight, step - share, cross(first, way) / turn)
        fits = np.isfinite(a + b) & (a >= -SLACK * step) & (b >= -SLACK * step) & (a + b <= (1.0 + SLACK) * step)
    return np.where(fits, np.clip(a, 0.0, step), 0.0), np.where(fits, np.clip(b, 0.0, step), step)


def winding_ways():
    """Times (201,) and motion (201, 6, 13) of bodies that turn, pause, stop and start within steps."""
    rng = np.random.default_rng(7)
    times, motion = 0.05 * np.arange(201), rng.normal(size=(201, 6, 13))
    velocities = motion[..., 7:9]
    velocities[:, 2] = [3.0, 0.0]
    velocities[50:90, 3] = 0.0
    velocities[100:, 4] = 0.0  # it stops within a step
    velocities[:100, 4] = velocities[100, 1]
    turned = rng.random((201, 6, 1)) < 0.5
    share = rng.random((200, 6, 1))  # of a step, before the corner in it
    ways = np.concatenate([np.zeros((1, 6, 2)), 0.05 * (share * velocities[:-1] + (1.0 - share) * velocities[1:])])
    motion[..., :2] = np.cumsum(ways, axis=0) + 1e-3 * turned * rng.normal(size=(201, 6, 2))
    motion[50:90, 3, :3] = motion[50, 3, :3]
    motion[:, 4, :2] = np.minimum(times, times[99] + 0.02)[:, None] * velocities[0, 4]
    motion[..., 2] = np.where(np.arange(6) % 2, 2.0, 0.1 * motion[..., 2])
    return times, motion


@pytest.mark.parametrize("cut", [201, 200, 77, 1])
def test_paths_have_the_lengths_of_two_pieces_for_each_step_however_steps_are_cut(cut):
    times, motion = winding_ways()
    columns, before = np.array([4, 0, 2, 3, 5]), np.full((5, 6), np.nan)
    found = np.empty((5, 201))
    for begin in range(0, 201, cut):
        part = slice(begin, begin + cut)
        lengths = np.empty((5, len(times[part])))
        path_lengths_into(motion[part][:, columns], times[part], before, lengths)
        found[:, part] = lengths
    assert (found[:, 0] == 0.0).all()  # nothing is known before it
    for lengths, k in zip(found, columns, strict=True):
        way, velocity = np.diff(motion[:, k, :2], axis=0), motion[:, k, 7:9]
        a, _ = two_pieces(np.diff(times), way, velocity[:-1], velocity[1:])
        corner = a[:, None] * velocity[:-1]
        level = np.linalg.norm(corner, axis=1) + np.linalg.norm(way - corner, axis=1)
        np.testing.assert_allclose(lengths[1:], np.hypot(level, np.diff(motion[:, k, 2])), rtol=1e-13)
    assert not found[3, 60:80].any()


def test_pieces_of_steps_last_as_long_as_their_lines_meet():
    times, motion = winding_ways()
    cornered = 0
    for k in range(6):
        places, velocities, found = motion[:, k, :2].copy(), motion[:, k, 7:9].copy(), np.empty((200, 2))
        durations_into(times, places, velocities, found)
        expected = two_pieces(np.diff(times), np.diff(places, axis=0), velocities[:-1], velocities[1:])
        np.testing.assert_allclose(found.T, expected, atol=1e-12)
        cornered += ((found > 0.0) & (found < 0.05)).all(axis=1).sum()
    assert 300 < cornered < 900
