"""Obstacles in a scan: returns that lie on the planned path."""

from __future__ import annotations

import math

from cbsim.geometry.kernels.columns import LINE_EAST, LINE_NORTH, LINE_STATION, LINE_X, LINE_Y
from cbsim.geometry.kernels.rotation import rotate
from cbsim.jit import kernel

__all__ = ["first_return"]

HALF_ROW = 0.6  # [m] half the length of path that each row represents


@kernel
def first_return(ranges, returned, directions, position, orientation, places, rows, body):
    """Station [m] of the first return on the path; infinity if there is none.

    Parameters
    ----------
    ranges, returned : (layers, beams) [m], bool
    directions : (layers, beams, 3)
        In the sensor's frame.
    position, orientation : (3,) [m], (4,)
        Of the sensor.
    places : (n, 5 or more)
        Rows of the path: x, y [m], sine and cosine of the direction, station [m].
    rows : tuple of int
        First row, row after the last, and stride.
    body : tuple of float
        Least and largest height of obstacles in the world [m], half the width of the path [m], largest range [m], and
        distance of the vehicle's own front beyond the first row's station [m].
    """
    first, stop, every = rows
    low, high, half, far, own = body
    begin = places[first, LINE_STATION] + own
    # bounding box of the path, to discard most returns cheaply
    west, south, east, north = math.inf, math.inf, -math.inf, -math.inf
    for row in range(first, stop, every):
        west, south = min(west, places[row, LINE_X] - half), min(south, places[row, LINE_Y] - half)
        east, north = max(east, places[row, LINE_X] + half), max(north, places[row, LINE_Y] + half)
    # third row of the rotation matrix: heights alone, before the whole direction is rotated
    w, x, y, z = orientation[0], orientation[1], orientation[2], orientation[3]
    rise_x, rise_y, rise_z = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    nearest = math.inf
    for layer in range(ranges.shape[0]):
        for beam in range(ranges.shape[1]):
            reach, beam_of = ranges[layer, beam], directions[layer, beam]
            height = position[2] + reach * (beam_of[0] * rise_x + beam_of[1] * rise_y + beam_of[2] * rise_z)
            if not (reach < far and low < height < high and returned[layer, beam]):
                continue
            east_of, north_of, _ = rotate(orientation, beam_of[0], beam_of[1], beam_of[2])
            px, py = position[0] + reach * east_of, position[1] + reach * north_of
            if px < west or px > east or py < south or py > north:
                continue
            for row in range(first, stop, every):
                # along the path and to its right, in the frame of the row
                dx, dy = px - places[row, LINE_X], py - places[row, LINE_Y]
                along = dy * places[row, LINE_NORTH] - dx * places[row, LINE_EAST]
                station = places[row, LINE_STATION] + along
                aside = dx * places[row, LINE_NORTH] + dy * places[row, LINE_EAST]
                if abs(along) <= HALF_ROW and abs(aside) <= half and begin <= station < nearest:
                    nearest = station
    return nearest
