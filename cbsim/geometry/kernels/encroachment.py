"""Post-encroachment times of rectangles that move evenly for one step at a time."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import ORIENTATION, POSITION
from cbsim.jit import inner, kernel

__all__ = ["encroachments", "pieces_into"]

BEGIN_X, BEGIN_Y, WAY_X, WAY_Y, FACE_X, FACE_Y = range(6)  # columns of a piece of a way
SLACK = 1e-9  # of a step, for rounding


@kernel
def encroachments(mine, theirs, bounds, sizes, numbers, time, crosses, times, who):
    """Find the least times between one rectangle leaving a place and others reaching it, or the other way round.

    Parameters
    ----------
    mine : (p, 6)
        Of one rectangle, for each step: where it begins [m], its way in it [m], and the direction in which it faces.
    theirs : (q, m, 6)
        Likewise of others; nan where they are not there.
    bounds : (m, 4)
        Least and largest coordinates of the rectangles of the others [m].
    sizes : (1 + m, 2)
        Width and length of the one, and of the others [m].
    numbers : (3 + m,) int
        Step of the first row of `mine`, of `theirs`, and of the times; then rows of the others.
    time : (2,)
        Length of a step, and longest time that counts [s].
    crosses : float
        Cosine of the least angle between both, where ways cross.
    times, who : (n,) [s], (n,) int, changed
        Least time that becomes known at a step, and row of the other.
    """
    step, horizon = time[0], time[1]
    reach = int(horizon / step + 1.0)
    lines, excess = np.empty((12, 3)), np.empty(12)
    own, other = np.empty((4, 2)), np.empty((4, 2))
    half = 0.5 * math.hypot(sizes[0, 0], sizes[0, 1])
    # the bounds of the way of the one: reference points at the begin and the end of each step
    low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
    for a in range(len(mine)):
        end_x, end_y = mine[a, BEGIN_X] + mine[a, WAY_X], mine[a, BEGIN_Y] + mine[a, WAY_Y]
        low_x, high_x = min(low_x, mine[a, BEGIN_X], end_x), max(high_x, mine[a, BEGIN_X], end_x)
        low_y, high_y = min(low_y, mine[a, BEGIN_Y], end_y), max(high_y, mine[a, BEGIN_Y], end_y)
    # bounds of the whole way first: most of the others never come near it
    for m in range(theirs.shape[1]):
        if not (bounds[m, 0] <= high_x + half and bounds[m, 2] >= low_x - half):
            continue
        if not (bounds[m, 1] <= high_y + half and bounds[m, 3] >= low_y - half):
            continue
        other_half = 0.5 * math.hypot(sizes[1 + m, 0], sizes[1 + m, 1])
        for a in range(len(mine)):
            x, y = mine[a, BEGIN_X] + 0.5 * mine[a, WAY_X], mine[a, BEGIN_Y] + 0.5 * mine[a, WAY_Y]
            circle = 0.5 * math.sqrt(mine[a, WAY_X] * mine[a, WAY_X] + mine[a, WAY_Y] * mine[a, WAY_Y]) + half
            if not (bounds[m, 0] - circle <= x <= bounds[m, 2] + circle):
                continue
            if not (bounds[m, 1] - circle <= y <= bounds[m, 3] + circle):
                continue
            corners_into(mine[a], sizes[0], own)
            # only pieces within the horizon of this one can give a time that counts
            first = numbers[0] + a - numbers[1]
            for b in range(max(first - reach, 0), min(first + reach + 1, len(theirs))):
                piece = theirs[b, m]
                east, north = x - (piece[BEGIN_X] + 0.5 * piece[WAY_X]), y - (piece[BEGIN_Y] + 0.5 * piece[WAY_Y])
                far = circle + other_half + 0.5 * math.sqrt(piece[WAY_X] * piece[WAY_X] + piece[WAY_Y] * piece[WAY_Y])
                # not <= where it is absent: nan
                if not east * east + north * north <= far * far:
                    continue
                if not mine[a, FACE_X] * piece[FACE_X] + mine[a, FACE_Y] * piece[FACE_Y] < crosses:
                    continue
                corners_into(piece, sizes[1 + m], other)
                found = step * least_difference(own, mine[a], other, piece, float(b - first), lines, excess)
                at = max(numbers[0] + a, numbers[1] + b) - numbers[2]
                row = numbers[3 + m]
                if found <= horizon and (found < times[at] or (found == times[at] and row < who[at])):
                    times[at], who[at] = found, row


@kernel
def pieces_into(motion, columns, near, begin, halves, pieces, bounds):
    """Write the ways of rectangles from step to step, as `encroachments` takes them.

    Parameters
    ----------
    motion : (n, c, 13)
        Position, orientation, velocity, angular velocity.
    columns : (m,) int
        Which of them.
    near : (n, c) bool
        Whether they are there and count.
    begin : (m, 2)
        Where they are at the step before the first [m]; nan where they do not count there.
    halves : (m,) [m]
        Half diagonals.
    pieces : (q, m, 6), out
        The last q steps: n, or n − 1 if what was before the first is unknown.
    bounds : (m, 4), out
        Least and largest coordinates [m]; of infinite size turned round where nothing counts.
    """
    skipped = len(motion) - len(pieces)
    for m in range(len(columns)):
        c = columns[m]
        x, y = begin[m, 0], begin[m, 1]
        low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
        if not (math.isnan(x) or math.isnan(y)):
            low_x, low_y, high_x, high_y = x, y, x, y
        for k in range(len(motion)):
            body = motion[k, c]
            next_x, next_y = np.nan, np.nan
            if near[k, c]:
                next_x, next_y = body[POSITION], body[POSITION + 1]
                low_x, high_x = min(low_x, next_x), max(high_x, next_x)
                low_y, high_y = min(low_y, next_y), max(high_y, next_y)
            if k >= skipped:
                piece = pieces[k - skipped, m]
                piece[BEGIN_X], piece[BEGIN_Y], piece[WAY_X], piece[WAY_Y] = x, y, next_x - x, next_y - y
                # the body's forward axis, seen from above
                a, b, q = body[ORIENTATION], body[ORIENTATION + 1], ORIENTATION + 2
                east = 2.0 * (b * body[q] - a * body[q + 1])
                north = 1.0 - 2.0 * (b * b + body[q + 1] * body[q + 1])
                length = max(math.sqrt(east * east + north * north), 1e-12)
                piece[FACE_X], piece[FACE_Y] = east / length, north / length
            x, y = next_x, next_y
        bounds[m, 0], bounds[m, 1] = low_x - halves[m], low_y - halves[m]
        bounds[m, 2], bounds[m, 3] = high_x + halves[m], high_y + halves[m]


@inner
def corners_into(piece, size, out):
    """Write the corners (4, 2) of a rectangle where its step begins, counter-clockwise."""
    ahead_x, ahead_y = 0.5 * size[1] * piece[FACE_X], 0.5 * size[1] * piece[FACE_Y]
    left_x, left_y = 0.5 * size[0] * -piece[FACE_Y], 0.5 * size[0] * piece[FACE_X]
    out[0, 0], out[0, 1] = piece[BEGIN_X] + ahead_x - left_x, piece[BEGIN_Y] + ahead_y - left_y
    out[1, 0], out[1, 1] = piece[BEGIN_X] + ahead_x + left_x, piece[BEGIN_Y] + ahead_y + left_y
    out[2, 0], out[2, 1] = piece[BEGIN_X] - ahead_x + left_x, piece[BEGIN_Y] - ahead_y + left_y
    out[3, 0], out[3, 1] = piece[BEGIN_X] - ahead_x - left_x, piece[BEGIN_Y] - ahead_y - left_y


@inner
def extent(corners, x, y):
    """Least and largest projection of a quadrilateral on an axis."""
    low, high = np.inf, -np.inf
    for k in range(4):
        value = corners[k, 0] * x + corners[k, 1] * y
        low, high = min(low, value), max(high, value)
    return low, high


@inner
def least_difference(own, mine, other, theirs, apart, lines, excess):
    """Least difference of the times at which two rectangles overlap, each at a time of its own step, in steps.

    Infinite where they never do. Rectangles overlap if their projections on the normals of all sides do (separating
    axes). With shares s and t of both steps, these are eight linear inequalities a s + b t <= c, the rows of `lines`,
    and 0 ≤ s, t ≤ 1 four more: the least and the largest ``apart + t − s`` are at corners of the polygon that they
    bound.
    """
    # −s ≤ 0, s ≤ 1, −t ≤ 0 and t ≤ 1
    for k in range(4):
        lines[k, 0] = lines[k, 1] = lines[k, 2] = 0.0
    lines[0, 0], lines[2, 1] = -1.0, -1.0
    lines[1, 0] = lines[1, 2] = lines[3, 1] = lines[3, 2] = 1.0
    for k in range(4):
        polygon, side = (own, k) if k < 2 else (other, k - 2)
        x, y = polygon[side + 1, 0] - polygon[side, 0], polygon[side + 1, 1] - polygon[side, 1]
        low, high = extent(own, x, y)
        other_low, other_high = extent(other, x, y)
        goes, comes = mine[WAY_X] * x + mine[WAY_Y] * y, theirs[WAY_X] * x + theirs[WAY_Y] * y
        # the projections overlap at (s, t) if s goes − t comes ≤ before, and if t comes − s goes ≤ beyond
        before, beyond = other_high - low, high - other_low
        # not even at the most favourable shares
        if min(goes, 0.0) - max(comes, 0.0) > before or min(comes, 0.0) - max(goes, 0.0) > beyond:
            return np.inf
        lines[4 + 2 * k, 0], lines[4 + 2 * k, 1], lines[4 + 2 * k, 2] = goes, -comes, before
        lines[5 + 2 * k, 0], lines[5 + 2 * k, 1], lines[5 + 2 * k, 2] = -goes, comes, beyond
    for k in range(4, 12):
        excess[k] = lines[k, 2] + SLACK * (1.0 + abs(lines[k, 2]))
    least, most = np.inf, -np.inf
    # the least and the largest difference lie where two of the lines cross and the other ten hold
    for i in range(11):
        for k in range(i + 1, 12):
            turned = lines[i, 0] * lines[k, 1] - lines[i, 1] * lines[k, 0]
            if not abs(turned) > 1e-12:
                continue
            s = (lines[i, 2] * lines[k, 1] - lines[i, 1] * lines[k, 2]) / turned
            t = (lines[i, 0] * lines[k, 2] - lines[i, 2] * lines[k, 0]) / turned
            holds = -SLACK <= s <= 1.0 + SLACK and -SLACK <= t <= 1.0 + SLACK
            for j in range(4, 12):
                holds = holds and lines[j, 0] * s + lines[j, 1] * t <= excess[j]
            if holds:
                least, most = min(least, apart + t - s), max(most, apart + t - s)
    # where both signs occur, both are there at one time
    if least > 0.0:
        return least
    return -most if most < 0.0 else 0.0
