"""Plane polylines in batches: smooth curves through vertices, arc length, offset curves, projections.

A set of lines is one array of points with `offsets`: line k owns rows ``offsets[k]:offsets[k + 1]``, at least one. One
call then serves a whole road network, whose thousand lanes would otherwise cost a thousand calls each.

Headings follow the project: 0 = north (+y), counter-clockwise positive [rad].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry import elementary as math

__all__ = [
    "Pieces",
    "Samples",
    "beside",
    "chord_stations",
    "direction",
    "distinct",
    "dot",
    "heading",
    "hermite",
    "left_of",
    "smooth",
    "wrap",
]

TURN_STEP = 0.1  # [rad] a piece that turns gets a sample at least so often
PIECE_LIMIT = 4096  # samples of one piece; only chords of kilometres, which no road has, are sampled coarser
BLOCK = 1 << 14  # samples that are computed together
SAMPLE_LIMIT = 4_000_000  # samples of one call; a hostile file must not fill memory


class Samples(NamedTuple):
    """Sampled lines, one array each over all lines.

    Attributes
    ----------
    points : ndarray, shape (m, 2)
        On the curves [m].
    headings : ndarray, shape (m,)
        Of the tangent [rad], continuous along each line, its first in (-π, π].
    curvatures : ndarray, shape (m, 2)
        Of the curve right before and right behind each sample, positive to the left; they differ where pieces of it
        join. Before the first sample of a line, and behind its last, the curve goes on as on the other side [1/m].
    stations : ndarray, shape (m,)
        Arc length from the start of the line [m].
    offsets : ndarray, shape (k + 1,)
        First row of each line, and m.
    knots : ndarray, shape (n,)
        Row of each vertex or piece start, and of each line's end, in order.
    """

    points: Floats
    headings: Floats
    curvatures: Floats
    stations: Floats
    offsets: Ints
    knots: Ints


class Pieces(NamedTuple):
    """Cubic Hermite pieces in the order of travel, those of one line in a row.

    Attributes
    ----------
    start, end : ndarray, shape (p, 2)
        End points [m].
    leaving, arriving : ndarray, shape (p, 2)
        Derivatives by the parameter 0…1 at both ends [m].
    offsets : ndarray, shape (k + 1,)
        First piece of each line, and p.
    ends : ndarray, shape (k, 2)
        Where each line ends; its only point if it has no piece [m].
    """

    start: Floats
    end: Floats
    leaving: Floats
    arriving: Floats
    offsets: Ints
    ends: Floats

    def part(self, first: int, stop: int) -> Pieces:
        """Return some pieces in a row; lines are those of all."""
        start, end, leaving, arriving = (one[first:stop] for one in self[:4])
        return Pieces(start, end, leaving, arriving, self.offsets, self.ends)


def wrap(angle: Floats) -> Floats:
    """Bring angles [rad] into (-π, π]."""
    return np.pi - np.mod(np.pi - angle, 2.0 * np.pi)


def heading(vectors: Floats) -> Floats:
    """Measure the heading of vectors, shape (..., 2) → (...) [rad] in (-π, π]."""
    return wrap(math.atan2(-vectors[..., 0], vectors[..., 1]))


def direction(headings: Floats) -> Floats:
    """Point unit vectors along headings, shape (...) → (..., 2)."""
    return np.stack([-math.sin(headings), math.cos(headings)], axis=-1)


def left_of(vectors: Floats) -> Floats:
    """Turn vectors a quarter turn to the left, shape (..., 2)."""
    return np.stack([-vectors[..., 1], vectors[..., 0]], axis=-1)


def chord_stations(points: Floats, offsets: Ints) -> Floats:
    """Sum the chords along each line, from 0 at its first point, shape (m,) [m]."""
    steps = np.zeros(len(points))
    steps[1:] = math.hypot(*np.diff(points, axis=0).T)
    steps[offsets[:-1]] = 0.0
    total = np.cumsum(steps)
    return total - np.repeat(total[offsets[:-1]], np.diff(offsets))


def distinct(points: Floats, offsets: Ints, tolerance: float) -> Bools:
    """Mark the points that stand at least `tolerance` [m] from the last marked one before them on the same line.

    Returns
    -------
    ndarray, shape (n,)
        The first point of every line is always marked.
    """
    keep = np.ones(len(points), bool)
    steps = np.full(len(points), np.inf)
    steps[1:] = math.hypot(*np.diff(points, axis=0).T)
    steps[offsets[:-1]] = np.inf
    close = np.flatnonzero(steps < tolerance)
    for line in np.unique(np.searchsorted(offsets, close, side="right") - 1).tolist():
        anchor = points[offsets[line]]
        for row in range(int(offsets[line]) + 1, int(offsets[line + 1])):
            keep[row] = math.hypot(*(points[row] - anchor)) >= tolerance
            anchor = points[row] if keep[row] else anchor
    return keep


def smooth(points: Floats, offsets: Ints, closed: Bools, step: float) -> Samples:
    """Draw a curve with continuous heading through the vertices of each line.

    Parameters
    ----------
    points : ndarray, shape (n, 2)
        Vertices, no two in a row alike [m].
    offsets : ndarray, shape (k + 1,)
        First vertex of each line, and n.
    closed : ndarray, shape (k,)
        True for lines whose last vertex repeats the first: the heading is continuous there too.
    step : float
        Largest distance of samples [m].

    Returns
    -------
    Samples
        `knots` has the row of each vertex.

    Notes
    -----
    The tangent at a vertex is the normalised sum of the unit chords beside it (UT-Austin's ART), at an end the chord;
    its length is that of the shorter chord. A chord more than twice as long as that is straight in the middle: a bend
    between a short and a long chord would otherwise swing the long one off the road.
    """
    tangents, reach = _tangents(points, offsets, closed)
    pieces, first = _pieces(points, offsets, tangents, reach)
    samples = hermite(pieces, step)
    return samples._replace(knots=samples.knots[first])


def _tangents(points: Floats, offsets: Ints, closed: Bools) -> tuple[Floats, Floats]:
    """Give each vertex its unit tangent (n, 2) and the length of its shorter chord (n,) [m]."""
    before, after = np.zeros((2, *points.shape))
    length_before, length_after = np.full((2, len(points)), np.inf)
    rows = _chord_rows(offsets)
    chords = points[rows + 1] - points[rows]
    lengths = np.asarray(math.hypot(*chords.T))
    after[rows] = before[rows + 1] = chords / lengths[:, None]
    length_after[rows] = length_before[rows + 1] = lengths
    first, last = offsets[:-1], offsets[1:] - 1
    seam_first, seam_last = first[closed], last[closed]
    before[seam_first], after[seam_last] = before[seam_last], after[seam_first]
    length_before[seam_first], length_after[seam_last] = length_before[seam_last], length_after[seam_first]
    before[first[~closed]] = after[first[~closed]]
    after[last[~closed]] = before[last[~closed]]
    tangents = before + after
    size = np.asarray(math.hypot(*tangents.T))
    back = size < 1e-6  # the line turns on its heel (or is a single point): cross the turning point sideways
    tangents[back], size[back] = left_of(before[back]), 1.0
    return tangents / size[:, None], np.minimum(length_before, length_after)


def _chord_rows(offsets: Ints) -> Ints:
    """Rows that are followed by another vertex of the same line."""
    followed = np.ones(offsets[-1], bool)
    followed[offsets[1:] - 1] = False
    return np.flatnonzero(followed)


def _pieces(points: Floats, offsets: Ints, tangents: Floats, reach: Floats) -> tuple[Pieces, Ints]:
    """Split each chord into bend, straight, bend as needed; also the knot number of each vertex.

    The three candidates of a chord stand side by side, (chords, 3, …), and those that are not needed are masked out.
    """
    rows = _chord_rows(offsets)
    chords = points[rows + 1] - points[rows]
    lengths = np.asarray(math.hypot(*chords.T))
    units = chords / lengths[:, None]
    bends = np.stack([reach[rows], reach[rows + 1]], axis=1)
    apart = bends < 0.5 * lengths[:, None]
    inner = np.where(apart, bends, 0.0)
    middle = lengths - inner.sum(axis=1)
    held = np.minimum(np.where(apart, middle[:, None], bends), middle[:, None])[..., None]
    here, there = points[rows], points[rows + 1]
    cuts = np.stack([here, here + inner[:, :1] * units, there - inner[:, 1:] * units, there], axis=1)
    tangent_here, tangent_there = tangents[rows], tangents[rows + 1]
    mid_leaving = np.where(apart[:, :1], units, tangent_here) * held[:, 0]
    mid_arriving = np.where(apart[:, 1:], units, tangent_there) * held[:, 1]
    leaving = np.stack([tangent_here * bends[:, :1], mid_leaving, units * bends[:, 1:]], axis=1)
    arriving = np.stack([units * bends[:, :1], mid_arriving, tangent_there * bends[:, 1:]], axis=1)
    wanted = np.stack([apart[:, 0], np.ones(len(rows), bool), apart[:, 1]], axis=1)
    count = wanted.sum(axis=1)
    total = np.concatenate([[0], np.cumsum(count)])
    ends = offsets[1:] - 1
    starts = total[np.searchsorted(rows, offsets)]
    pieces = Pieces(cuts[:, :3][wanted], cuts[:, 1:][wanted], leaving[wanted], arriving[wanted], starts, points[ends])
    vertex = np.zeros(len(points), np.int64)
    line = np.repeat(np.arange(len(ends)), np.diff(offsets))
    vertex[rows] = total[:-1]
    vertex[ends] = starts[1:]
    return pieces, vertex + line  # each line before has one knot more than pieces


def hermite(pieces: Pieces, step: float) -> Samples:
    """Sample Hermite pieces at most `step` [m] apart; `knots` has each piece's first row and each line's last."""
    count = _sample_counts(pieces, step)
    line_count = len(pieces.offsets) - 1
    line = np.repeat(np.arange(line_count), np.diff(pieces.offsets))
    total = np.concatenate([[0], np.cumsum(count)])
    owner = np.repeat(np.arange(len(count)), count)
    rows = np.arange(total[-1]) + line[owner]
    offsets = total[pieces.offsets] + np.arange(line_count + 1)
    points, tangents = np.empty((2, offsets[-1], 2))
    behind = np.zeros(offsets[-1])
    for begin in range(0, len(owner), BLOCK):  # parts, whose intermediate results stay in the processor's cache
        part = slice(begin, begin + BLOCK)
        own, row = owner[part], rows[part]
        u = (np.arange(begin, begin + len(own)) - total[own]) / count[own]
        few, own = pieces.part(int(own[0]), int(own[-1]) + 1), own - own[0]
        points[row], along = _evaluate(few, own, u[:, None])
        tangents[row], behind[row] = along, _curvatures(few, own, u, along)
    before = behind.copy()
    ends = rows[total[1:] - 1] + 1  # of each piece: the sample behind its last
    before[ends] = _curvatures(pieces, np.arange(len(count)), np.ones(len(count)), pieces.arriving)
    points[offsets[1:] - 1] = pieces.ends
    full = np.flatnonzero(np.diff(pieces.offsets))
    tangents[offsets[1:] - 1] = [0.0, 1.0]
    tangents[offsets[full + 1] - 1] = pieces.arriving[pieces.offsets[full + 1] - 1]
    behind[offsets[full + 1] - 1] = before[offsets[full + 1] - 1]
    knots = np.sort(np.concatenate([total[:-1] + line, offsets[1:] - 1]))
    headings, curvatures = _continuous(heading(tangents), offsets), np.stack([before, behind], axis=1)
    return Samples(points, headings, curvatures, chord_stations(points, offsets), offsets, knots)


def _sample_counts(pieces: Pieces, step: float) -> Ints:
    """Intervals per piece: the control polygon of the derivative bounds the speed, so no interval exceeds `step`."""
    inner = 3.0 * (pieces.end - pieces.start) - pieces.leaving - pieces.arriving
    speed = np.max([math.hypot(*v.T) for v in (pieces.leaving, inner, pieces.arriving)], axis=0, initial=0.0)
    turn = np.abs(wrap(heading(pieces.arriving) - heading(pieces.leaving)))
    wanted = np.maximum(np.ceil(speed / step - 1e-9), np.ceil(turn / TURN_STEP - 1e-9))
    wanted = np.clip(wanted, 1, PIECE_LIMIT)
    thinning = min(1.0, SAMPLE_LIMIT / max(float(wanted.sum()), 1.0))
    return np.asarray(np.maximum(wanted * thinning, 1.0), np.int64)


def _evaluate(pieces: Pieces, owner: Ints, u: Floats) -> tuple[Floats, Floats]:
    """Points and derivatives of pieces `owner` (m,) at parameters `u` (m, 1), each (m, 2)."""
    chord = pieces.end - pieces.start
    quadratic = (3.0 * chord - 2.0 * pieces.leaving - pieces.arriving)[owner]
    cubic = (pieces.leaving + pieces.arriving - 2.0 * chord)[owner]
    linear = pieces.leaving[owner]
    points = pieces.start[owner] + u * (linear + u * (quadratic + u * cubic))
    return points, linear + u * (2.0 * quadratic + 3.0 * u * cubic)


def _curvatures(pieces: Pieces, owner: Ints, u: Floats, tangents: Floats) -> Floats:
    """Curvatures of pieces `owner` at parameters `u`, where the derivatives are `tangents` (m, 2), shape (m,) [1/m].

    The cross product of the first and second derivative of l u + q u² + c u³ is 2 l×q + 6 l×c u + 6 q×c u².
    """
    chord = pieces.end - pieces.start
    quadratic = 3.0 * chord - 2.0 * pieces.leaving - pieces.arriving
    cubic = pieces.leaving + pieces.arriving - 2.0 * chord
    pairs = ((2.0, pieces.leaving, quadratic), (6.0, pieces.leaving, cubic), (6.0, quadratic, cubic))
    constant, slope, square = (k * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])[owner] for k, a, b in pairs)
    speed = tangents[:, 0] * tangents[:, 0] + tangents[:, 1] * tangents[:, 1]
    cube = speed * np.sqrt(speed)
    turn = constant + u * (slope + u * square)
    return np.asarray(np.divide(turn, cube, out=np.zeros(len(turn)), where=cube > 1e-12))


def _continuous(angles: Floats, offsets: Ints) -> Floats:
    """Add whole turns so that no step along a line exceeds half a turn."""
    turns = np.zeros(len(angles))
    turns[1:] = -np.round(np.diff(angles) / (2.0 * np.pi))
    turns[offsets[:-1]] = 0.0
    total = np.cumsum(turns)
    return angles + 2.0 * np.pi * (total - np.repeat(total[offsets[:-1]], np.diff(offsets)))


def beside(query: Floats, a: Floats, b: Floats, along_a: Floats, along_b: Floats) -> tuple[Floats, Floats]:
    """Find where a point stands beside the interval from a to b, whose direction turns from one end to the other.

    The foot is where the line to the point is perpendicular to the direction blended linearly between the ends.
    Neighbouring intervals share that direction, so around a bend there are neither gaps nor doubly covered points, and
    the answer undoes a placement by the same blend exactly.

    Parameters
    ----------
    query, a, b : ndarray, shape (..., 2)
        The point and the ends of the interval [m].
    along_a, along_b : ndarray, shape (..., 2)
        Unit vectors along the line at both ends.

    Returns
    -------
    share, offset : ndarray, shape (...)
        Where along the interval the foot is, 0 at a and 1 at b (nan if there is none), and the distance of the point
        from it, positive to the left [m].
    """
    chord, away, turn = b - a, query - a, along_b - along_a
    constant = dot(away, along_a)
    linear = dot(away, turn) - dot(chord, along_a)
    quadratic = -dot(chord, turn)
    inside = linear * linear - 4.0 * quadratic * constant
    below = np.sqrt(np.maximum(inside, 0.0)) - linear
    share = 2.0 * constant / np.where((inside >= 0.0) & (below > 0.0), below, np.nan)
    along = along_a + share[..., None] * turn
    left = left_of(along) / math.hypot(along[..., 0], along[..., 1])[..., None]
    return share, dot(away - share[..., None] * chord, left)


def dot(a: Floats, b: Floats) -> Floats:
    """Inner products of vectors in the plane, shape (..., 2) → (...); NumPy's sum over so short an axis is slow."""
    return np.asarray(a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1])
