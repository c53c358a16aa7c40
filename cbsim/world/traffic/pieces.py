"""Centrelines as pieces of equal length, each a parabola: a straight has one, a bend a few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.world.traffic.tables import DENSITY, LAST_PIECE, PIECE, Road

__all__ = ["fit_pieces", "points_on"]

NEAR = 0.01  # [m] from the samples
SLOWER = 0.5  # [m/s] than what is allowed at a sample and the two before
FASTEST = 40.0  # [m/s] above which it does not matter what is allowed
FLAT = 1e-9  # [m] bow of a piece that is straight
COUNTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]  # pieces tried; twice the last one from there on


def fit_pieces(points: Floats, stations: Floats, squares: Floats, offsets: Ints) -> tuple[Ints, Floats]:
    """Divide polylines into as few pieces as stay within 1 cm of all samples.

    A piece is r(u) = r₀ + u (t + u c) for u from 0 to 1. It meets the polyline at its ends and in its middle. The
    square of the allowed speed is linear along it.

    Parameters
    ----------
    points : ndarray, shape (samples, 2)
        Of all polylines [m].
    stations : ndarray, shape (samples,)
        Along each, from 0 on [m].
    squares : ndarray, shape (samples,)
        Square of the allowed speed [m²/s²].
    offsets : ndarray of int, shape (polylines + 1,)
        First sample of each.

    Returns
    -------
    firsts : ndarray of int, shape (polylines + 1,)
        First piece of each.
    pieces : ndarray, shape (pieces, 8)
        r₀, t and c [m]; square of the allowed speed at the begin, and its change up to the end [m²/s²].
    """
    lines, sizes = len(offsets) - 1, np.diff(offsets)
    counts, parts, open_ = np.zeros(lines, np.int64), list[tuple[Ints, Floats]](), np.arange(lines)
    number = 0
    while len(open_):
        count = COUNTS[number] if number < len(COUNTS) else COUNTS[-1] << (number - len(COUNTS) + 1)
        made = _pieces_of(points, stations, squares, offsets, open_, count)
        done = (count >= sizes[open_] - 1) | _bound(made, points, stations, squares, offsets, open_, count)
        counts[open_[done]] = count
        parts.append((np.repeat(open_[done], count), made[np.repeat(done, count)]))
        open_, number = open_[~done], number + 1
    firsts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    owners = np.concatenate([np.zeros(0, np.int64), *(each[0] for each in parts)])
    pieces = np.concatenate([np.zeros((0, 8)), *(each[1] for each in parts)])
    return firsts, pieces[np.argsort(owners, kind="stable")]


def _pieces_of(points: Floats, stations: Floats, squares: Floats, offsets: Ints, lines: Ints, count: int) -> Floats:
    """Divide some polylines into so many pieces each."""
    lengths = stations[offsets[lines + 1] - 1]
    shares = np.arange(2 * count + 1) / (2.0 * count)
    found = _interpolated(points, stations, squares, offsets, np.repeat(lines, len(shares)), np.outer(lengths, shares))
    found = found.reshape(len(lines), len(shares), 3)
    begins, middles, ends = found[:, :-1:2], found[:, 1::2], found[:, 2::2]
    chords = ends[..., :2] - begins[..., :2]
    bows = 2.0 * (begins[..., :2] + ends[..., :2] - 2.0 * middles[..., :2])
    bows[(np.abs(bows) < FLAT).all(axis=-1)] = 0.0
    changes = ends[..., 2:] - begins[..., 2:]
    made = np.concatenate([begins[..., :2], chords - bows, bows, begins[..., 2:], changes], axis=-1)
    return np.asarray(made.reshape(-1, 8))


def _interpolated(
    points: Floats, stations: Floats, squares: Floats, offsets: Ints, lines: Ints, wanted: Floats
) -> Floats:
    """Points and squares of speeds of polylines at stations, shape (n, 3)."""
    wanted = wanted.reshape(-1)
    first, last = offsets[lines], offsets[lines + 1] - 1
    low, high = first.copy(), last.copy()  # of the last sample at or before the station
    while (low < high).any():
        middle = (low + high + 1) // 2
        beyond = stations[middle] > wanted
        low, high = np.where(beyond, low, middle), np.where(beyond, np.maximum(middle - 1, low), high)
    here = np.clip(low, first, np.maximum(last - 1, first))
    there = np.minimum(here + 1, last)
    spans = stations[there] - stations[here]
    parts = np.where(spans > 0.0, (wanted - stations[here]) / np.where(spans > 0.0, spans, 1.0), 0.0)
    values = np.column_stack([points, squares])
    return np.asarray(values[here] + parts[:, None] * (values[there] - values[here]))


def _bound(
    pieces: Floats, points: Floats, stations: Floats, squares: Floats, offsets: Ints, lines: Ints, count: int
) -> NDArray[np.bool_]:
    """Lower the speeds of pieces to what all samples allow; tell which polylines are near enough to their pieces."""
    sizes = offsets[lines + 1] - offsets[lines]
    ends = np.cumsum(sizes)
    samples = np.arange(int(sizes.sum())) + np.repeat(offsets[lines] - ends + sizes, sizes)
    lengths = np.repeat(stations[offsets[lines + 1] - 1], sizes)
    scaled = stations[samples] * count / np.where(lengths > 0.0, lengths, 1.0)
    numbers = np.minimum(scaled.astype(np.int64), count - 1)
    owners, u = np.repeat(np.arange(len(lines)) * count, sizes) + numbers, scaled - numbers
    slopes = np.where(u > 1e-6, (squares[samples] - pieces[owners, 6]) / np.maximum(u, 1e-6), np.inf)
    found = np.flatnonzero(np.diff(owners, prepend=-1))
    pieces[owners[found], 7] = np.minimum(pieces[owners[found], 7], np.minimum.reduceat(slopes, found))
    rows = pieces[owners]
    away = rows[:, :2] + u[:, None] * (rows[:, 2:4] + u[:, None] * rows[:, 4:6]) - points[samples]
    near = away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1] <= NEAR * NEAR
    least = np.minimum(squares[samples], FASTEST * FASTEST)
    for k in (1, 2):
        least = np.minimum(least, squares[np.maximum(samples - k, np.repeat(offsets[lines], sizes))])
    near &= np.sqrt(np.maximum(rows[:, 6] + u * rows[:, 7], 0.0)) >= np.sqrt(least) - SLOWER
    return np.asarray(np.logical_and.reduceat(near, ends - sizes))


def points_on(road: Road, lanelets: Ints, stations: Floats) -> Floats:
    """Points of centrelines at stations, shape (n, 2) [m]; beyond its end the last piece continues."""
    scaled = stations * road.lanelets[lanelets, DENSITY]
    first, last = road.links[lanelets, PIECE], road.links[lanelets, LAST_PIECE]
    numbers = np.minimum(scaled.astype(np.int64), last - first)
    rows, u = road.pieces[first + numbers], (scaled - numbers)[:, None]
    return np.asarray(rows[:, :2] + u * (rows[:, 2:4] + u * rows[:, 4:6]))
