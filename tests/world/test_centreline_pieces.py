"""Centrelines as pieces: near their samples, joined, and never faster than bends allow."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.world.traffic.pieces import FASTEST, NEAR, fit_pieces


def stations_of(points):
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])


def straight():
    return np.column_stack([np.linspace(3.0, 183.0, 181), np.full(181, 7.0)])


def arc(radius=8.0, turn=0.5 * np.pi, steps=18):
    angles = np.linspace(0.0, turn, steps)
    return radius * np.column_stack([np.sin(angles), 1.0 - np.cos(angles)])


def straight_and_arc():
    bend = arc(30.0, 1.0, 40)
    return np.concatenate([np.column_stack([np.linspace(-60.0, 0.0, 61), np.zeros(61)]), bend[1:]])


def kink():
    return np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0]])


LINES = {"straight": straight(), "arc": arc(), "straight and arc": straight_and_arc(), "kink": kink()}


def fitted(line, squares):
    firsts, pieces = fit_pieces(line, stations_of(line), squares, np.array([0, len(line)]))
    assert firsts.tolist() == [0, len(pieces)]
    return pieces


def values(pieces, stations, length):
    scaled = stations * len(pieces) / length
    k = np.minimum(scaled.astype(int), len(pieces) - 1)
    rows, u = pieces[k], scaled - k
    return rows[:, :2] + u[:, None] * (rows[:, 2:4] + u[:, None] * rows[:, 4:6]), rows[:, 6] + u * rows[:, 7]


@pytest.mark.parametrize("name", ["straight", "arc", "straight and arc"])
def test_pieces_are_as_near_to_all_samples_as_they_should_be(name):
    line = LINES[name]
    pieces, stations = fitted(line, np.full(len(line), 1e4)), stations_of(line)
    places, _ = values(pieces, stations, stations[-1])
    assert np.hypot(*(places - line).T).max() <= NEAR
    assert len(pieces) < 0.7 * len(line)


def test_a_straight_is_one_piece_and_exact():
    pieces = fitted(straight(), np.full(181, 1e4))
    assert pieces.tolist() == [[3.0, 7.0, 180.0, 0.0, 0.0, 0.0, 1e4, 0.0]]


@pytest.mark.parametrize("name", LINES)
def test_pieces_begin_where_the_one_before_ends(name):
    line = LINES[name]
    pieces = fitted(line, np.full(len(line), 1e4))
    ends = pieces[:, :2] + pieces[:, 2:4] + pieces[:, 4:6]
    assert ends[:-1] == pytest.approx(pieces[1:, :2], abs=1e-9)
    assert pieces[0, :2] == pytest.approx(line[0])
    assert ends[-1] == pytest.approx(line[-1])


def test_speed_is_that_of_samples_or_less_and_not_much_less():
    line = straight_and_arc()
    stations = stations_of(line)
    bend = np.where(stations >= 60.0, 2.2 * 30.0, 2.2 * 30.0 + 3.0 * (60.0 - stations))
    _, squares = values(fitted(line, bend), stations, stations[-1])
    assert (squares <= bend + 1e-9).all()
    assert (np.sqrt(squares) >= np.sqrt(np.minimum(bend, FASTEST**2)) - 0.5).all()


def test_lines_of_no_length_and_of_one_sample_have_one_piece():
    points = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 6.0]])
    firsts, pieces = fit_pieces(points, np.zeros(3), np.full(3, 4.0), np.array([0, 2, 3]))
    assert firsts.tolist() == [0, 1, 2]
    assert pieces[:, :2].tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert not pieces[:, 2:6].any()


def test_lines_are_fitted_each_for_itself():
    lines = list(LINES.values())
    offsets = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    squares = [np.full(len(line), 30.0 + k) for k, line in enumerate(lines)]
    stations = np.concatenate([stations_of(line) for line in lines])
    firsts, pieces = fit_pieces(np.concatenate(lines), stations, np.concatenate(squares), offsets)
    for k, line in enumerate(lines):
        assert np.array_equal(pieces[firsts[k] : firsts[k + 1]], fitted(line, squares[k]))
