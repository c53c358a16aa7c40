"""Matching of positions to lines, and points on lines.

Compiled twins of `cbsim.road.matching.LaneIndex.match` and `cbsim.road.curve.LaneCurve.at`, with the same bits.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import LINE_EAST, LINE_NORTH, LINE_STATION, LINE_X, LINE_Y
from cbsim.jit import inner, kernel

__all__ = ["TIE", "TOUCH", "match_into", "point_on"]

LINE_HALF_WIDTH, LINE_NUMBER = 5, 6  # of intervals, behind the columns of a sample
TOUCH = 1e-6  # [m] tolerance at edges, and share of an interval beyond its ends
TIE = 1e-6  # [m] distances that differ by less are equal


@kernel
def match_into(positions, headings, onward, intervals, stretches, bounds, lines, found):
    """Find the line of each position.

    Parameters
    ----------
    positions : (n, 2) [m]
    headings : (n,) or (0,) [rad]
        Without any, the nearest centre line is chosen.
    onward : float
        Lines whose direction differs by less come first [rad].
    intervals : (m, 7)
        For each sample of the lines: place, direction, station, half of the width, line.
    stretches : (s, 2) int
        First and last sample of short stretches of lines, in their order.
    bounds : (s, 4)
        Least and largest coordinates of the places on each stretch [m].
    lines : (n,) int, out
        -1 for none.
    found : (3, n), out
        Station, offset and heading error; nan for none.
    """
    # lines near any position at all, then for each position
    near, count = np.empty(len(stretches), np.int64), 0
    low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
    for i in range(len(positions)):
        low_x, high_x = min(low_x, positions[i, 0]), max(high_x, positions[i, 0])
        low_y, high_y = min(low_y, positions[i, 1]), max(high_y, positions[i, 1])
    for k in range(len(stretches)):
        if bounds[k, 0] <= high_x and bounds[k, 2] >= low_x and bounds[k, 1] <= high_y and bounds[k, 3] >= low_y:
            near[count] = k
            count += 1
    for i in range(len(positions)):
        x, y = positions[i, 0], positions[i, 1]
        lines[i], found[0, i], found[1, i], found[2, i] = -1, np.nan, np.nan, np.nan
        best_class, best_away = 0.0, 0.0
        for j in range(count):
            k = near[j]
            if not (bounds[k, 0] <= x <= bounds[k, 2] and bounds[k, 1] <= y <= bounds[k, 3]):
                continue
            for row in range(stretches[k, 0], stretches[k, 1]):
                # beside this interval of the line, and within its width
                here, after = intervals[row], intervals[row + 1]
                share, offset = beside(x, y, here, after)
                if not (-TOUCH <= share <= 1.0 + TOUCH and abs(offset) <= here[LINE_HALF_WIDTH] + TOUCH):
                    continue
                share = min(max(share, 0.0), 1.0)
                error = 0.0
                if len(headings):
                    # heading against the direction between both samples
                    along_x = here[LINE_EAST] + share * (after[LINE_EAST] - here[LINE_EAST])
                    along_y = here[LINE_NORTH] + share * (after[LINE_NORTH] - here[LINE_NORTH])
                    error = wrap(headings[i] - wrap(math.atan2(-along_x, along_y)))
                # classes of a quarter turn, those that lead onward before all others
                rank = np.rint(abs(error) / (0.5 * math.pi)) + (10.0 if abs(error) >= onward else 0.0)
                away = np.rint(abs(offset) / TIE)
                if lines[i] < 0 or rank < best_class or (rank == best_class and away < best_away):
                    best_class, best_away = rank, away
                    lines[i], found[1, i], found[2, i] = np.int64(here[LINE_NUMBER]), offset, error
                    found[0, i] = here[LINE_STATION] + share * (after[LINE_STATION] - here[LINE_STATION])


@kernel
def point_on(station, offset, closed, stations, samples):
    """Compute one point beside a line.

    Parameters
    ----------
    station, offset : float
        Arc length, and distance to the left [m].
    closed : bool
        Whether the line repeats; else it goes straight on beyond its ends.
    stations : (m,) [m]
    samples : (m, 4)
        Place [m] and direction.

    Returns
    -------
    x, y : float
        [m]
    heading : float
        In (-π, π] [rad].
    """
    last = len(stations) - 1
    if closed:
        station %= stations[last]
    # the last sample at or before the station
    low, high = 0, last + 1
    while low < high:
        middle = (low + high) // 2
        if station < stations[middle]:
            high = middle
        else:
            low = middle + 1
    row = min(max(low - 1, 0), last - 1)
    a, b = samples[row], samples[row + 1]
    blend = min(max((station - stations[row]) / (stations[row + 1] - stations[row]), 0.0), 1.0)
    east = (1.0 - blend) * a[LINE_EAST] + blend * b[LINE_EAST]
    north = (1.0 - blend) * a[LINE_NORTH] + blend * b[LINE_NORTH]
    length = math.hypot(east, north)
    east, north = east / length, north / length
    beyond = station - min(max(station, 0.0), stations[last])
    x = a[LINE_X] + blend * (b[LINE_X] - a[LINE_X]) + beyond * east
    y = a[LINE_Y] + blend * (b[LINE_Y] - a[LINE_Y]) + beyond * north
    return x - offset * north, y + offset * east, wrap(math.atan2(-east, north))


@inner
def wrap(angle):
    """Bring an angle [rad] into (-π, π]."""
    return math.pi - (math.pi - angle) % (2.0 * math.pi)


@inner
def beside(x, y, a, b):
    """`cbsim.geometry.polyline.beside` of a place and an interval between two samples; nan where there is no foot."""
    chord_x, chord_y, away_x, away_y = b[LINE_X] - a[LINE_X], b[LINE_Y] - a[LINE_Y], x - a[LINE_X], y - a[LINE_Y]
    turn_x, turn_y = b[LINE_EAST] - a[LINE_EAST], b[LINE_NORTH] - a[LINE_NORTH]
    # share of the interval at which the interpolated direction is orthogonal to the way to the place
    constant = away_x * a[LINE_EAST] + away_y * a[LINE_NORTH]
    linear = (away_x * turn_x + away_y * turn_y) - (chord_x * a[LINE_EAST] + chord_y * a[LINE_NORTH])
    quadratic = -(chord_x * turn_x + chord_y * turn_y)
    inside = linear * linear - 4.0 * quadratic * constant
    below = math.sqrt(max(inside, 0.0)) - linear
    # the quadratic by its root near 0, without cancellation
    if not (inside >= 0.0 and below > 0.0):
        return np.nan, np.nan
    share = 2.0 * constant / below
    along_x, along_y = a[LINE_EAST] + share * turn_x, a[LINE_NORTH] + share * turn_y
    length = math.hypot(along_x, along_y)
    return share, (away_x - share * chord_x) * (-along_y / length) + (away_y - share * chord_y) * (along_x / length)
