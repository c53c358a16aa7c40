"""Feasible speed profile along a path."""

from __future__ import annotations

import math

import numpy as np

from cbsim.jit import inner, kernel

__all__ = ["average_speeds", "plan_speeds"]


@kernel
def plan_speeds(station, halts, push, brake, begin, speed):
    """Reduce speed limits to a feasible profile: zero at each halt, accelerations within bounds.

    Parameters
    ----------
    station : (n,) [m]
    halts : (h,) [m]
        In order.
    push, brake : float
        [m/s²]
    begin : float
        Largest speed in the first row [m/s].
    speed : (n,) [m/s], out
        Speed limits on input.
    """
    last, row = speed.shape[0] - 1, 0
    # halts are in order, so that the search goes on where the one before was found
    for h in range(halts.shape[0]):
        while row < last and station[row] < halts[h]:
            row += 1
        speed[row] = 0.0
        # a halt between two rows: the row before it leaves room to brake to the halt itself
        if row > 0:
            speed[row - 1] = min(speed[row - 1], math.sqrt(2.0 * brake * max(0.0, halts[h] - station[row - 1])))
    speed[0] = min(speed[0], begin)
    # backward pass: v² = v₀² + 2 a s limits the speed before slower places; the forward pass limits acceleration
    for k in range(last - 1, -1, -1):
        reached = speed[k + 1] * speed[k + 1] + 2.0 * brake * (station[k + 1] - station[k])
        if speed[k] * speed[k] > reached:
            speed[k] = math.sqrt(reached)
    for k in range(1, last + 1):
        reached = speed[k - 1] * speed[k - 1] + 2.0 * push * (station[k] - station[k - 1])
        if speed[k] * speed[k] > reached:
            speed[k] = math.sqrt(reached)


@kernel
def average_speeds(station, speed, window, grid, average, slope):
    """Average a profile over a window of time, which is shorter near places of rest.

    Parameters
    ----------
    station : (n,) [m]
    speed : (n,) [m/s]
        0 at places of rest; the acceleration between two stations is constant.
    window, grid : float
        Longest time over which speeds are averaged, and time between the samples of the average, at most [s].
    average, slope : (n,) [m/s], (n,) [m/s²], out
        Averages, and their acceleration; at a place of rest that of leaving it.
    """
    last, first = station.shape[0] - 1, 0
    average[:], slope[:] = 0.0, 0.0
    # stretches between places of rest, each by itself: an average over a halt would drive through it
    for row in range(1, last + 1):
        if row == last or speed[row] <= 0.0:
            if station[row] > station[first]:
                average_stretch(station, speed, (first, row), (window, grid), average, slope)
            first = row
    for row in range(last + 1):
        if speed[row] <= 0.0:
            average[row] = 0.0


@inner
def average_stretch(station, speed, rows, times, average, slope):
    """Average the speed between two places of rest, of which the rows are given."""
    (first, last), (window, grid) = rows, times
    duration, size = 0.0, last + 1 - first
    reached = np.zeros(size)
    for k in range(1, size):
        row = first + k
        # at a constant acceleration the mean speed is that of both ends
        duration += 2.0 * (station[row] - station[row - 1]) / (speed[row] + speed[row - 1])
        reached[k] = duration
    # a profile that rests on the way never ends
    if not duration < np.inf:
        return
    count = max(3, math.ceil(duration / grid) + 1)
    step = duration / (count - 1)
    # speed, place and the integral of the place at the samples
    pace, place, way = np.empty(count), np.empty(count), np.empty(count)
    at = 0
    for k in range(count):
        time = duration if k == count - 1 else k * step
        at = place_among(reached, time, at)
        pace[k] = between(reached, speed[first : last + 1], time, at)
    covered, total = 0.0, 0.0
    place[0], way[0] = station[first], 0.0
    for k in range(1, count):
        covered += 0.5 * step * (pace[k] + pace[k - 1])
        place[k] = station[first] + covered
    for k in range(1, count):
        total += 0.5 * step * (place[k] + place[k - 1])
        way[k] = total
    widest = round(0.5 * window / step)
    middle, mean, rate = np.empty(count), np.empty(count), np.empty(count)
    for k in range(count):
        # the window is centred, so narrower towards the ends: a one-sided mean would lag behind
        half = max(min(k, count - 1 - k, widest), 1)
        low, high = max(k - half, 0), min(k + half, count - 1)
        span = (high - low) * step
        # means of place, speed and acceleration over the window are differences of their integrals
        middle[k] = (way[high] - way[low]) / span
        mean[k] = (place[high] - place[low]) / span
        rate[k] = (pace[high] - pace[low]) / span
    # both ends are where they were, so that stations in between have an average to be looked up
    middle[0], middle[count - 1] = place[0], place[count - 1]
    mean[0], mean[count - 1] = pace[0], pace[count - 1]
    at = 0
    for row in range(first, last + 1):
        at = place_among(middle, station[row], at)
        average[row] = between(middle, mean, station[row], at)
        slope[row] = between(middle, rate, station[row], at)


@inner
def place_among(sorted_values, value, begin):
    """Last of sorted values that is not larger than a value, from one on that is known not to be; at least that one."""
    at = begin
    while at + 1 < sorted_values.shape[0] and sorted_values[at + 1] <= value:
        at += 1
    return at


@inner
def between(abscissae, ordinates, value, at):
    """Interpolate linearly from row `at` on; constant beyond both ends."""
    if value <= abscissae[at] or at == abscissae.shape[0] - 1:
        return ordinates[at]
    slope = (ordinates[at + 1] - ordinates[at]) / (abscissae[at + 1] - abscissae[at])
    return slope * (value - abscissae[at]) + ordinates[at]
