"""Parking zones of a generated city: a lot at the end of a street, with spots on both sides of an aisle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.export.streets import LANE_WIDTH, LaneLine, Street

__all__ = ["SPOT_WIDTH", "Lot", "lay_out_lot"]

GAP = 2.0  # [m] between the end of a lane and the perimeter
DEPTH, WIDTH = 34.0, 32.0  # [m] along the street and across
AISLE = 7.0  # [m] from the middle of the lot to the entries of the spots
SPOT_LENGTH = 4.5  # [m] from the entry of a spot to its middle
SPOT_WIDTH = 12 * 0.3048  # [m] twelve feet
SPOTS_PER_SIDE = 5
PITCH = 4.5  # [m] between the middles of neighbouring spots
UNEVEN = 2.0  # [m] by which the far corners lie off the rectangle


@dataclass(frozen=True, slots=True)
class Lot:
    """Geometry of a parking zone [m].

    Attributes
    ----------
    perimeter : ndarray, shape (n, 2)
        Clockwise from the northernmost point.
    entries, exits : dict
        Lane number → row of the perimeter point where the lane enters, or from which it is entered.
    spots : list of ndarray, shape (2, 2)
        Entry and middle of each spot.
    """

    perimeter: Floats
    entries: dict[int, int]
    exits: dict[int, int]
    spots: list[Floats]


def lay_out_lot(street: Street, random: np.random.Generator) -> Lot:
    """Lay out the parking lot at the dead end of a street."""
    at_start = bool(street.dead_end)
    arriving, leaving = street.arriving(at_start=at_start), street.leaving(at_start=at_start)
    last = arriving[0].points
    along = last[-1] - last[-2]
    along = along / np.hypot(*along)
    left = np.array([-along[1], along[0]])
    origin = last[-1] + left * (arriving[0].rank + 0.5) * LANE_WIDTH + along * GAP

    def place(forward: float, aside: float) -> Floats:
        return np.asarray(origin + forward * along + aside * left)

    def gates(lanes: list[LaneLine], sign: float) -> list[Floats]:
        return [place(0.0, sign * (one.rank + 0.5) * LANE_WIDTH) for one in lanes]

    uneven = random.uniform(-UNEVEN, UNEVEN, 4)
    points = [  # clockwise, seen from above, when the street comes from below
        place(0.0, 0.5 * WIDTH),
        place(DEPTH + uneven[0], 0.5 * WIDTH + uneven[1]),
        place(DEPTH + uneven[2], -0.5 * WIDTH + uneven[3]),
        place(0.0, -0.5 * WIDTH),
        *reversed(gates(arriving, -1.0)),
        *gates(leaving, 1.0),
    ]
    first = int(np.argmax([point[1] for point in points]))
    row = {k: (k - first) % len(points) for k in range(len(points))}
    entries = {one.number: row[4 + k] for k, one in enumerate(reversed(arriving))}
    exits = {one.number: row[4 + len(arriving) + k] for k, one in enumerate(leaving)}
    spots = [
        np.array([place(8.0 + k * PITCH, side * AISLE), place(8.0 + k * PITCH, side * (AISLE + SPOT_LENGTH))])
        for side in (1.0, -1.0)
        for k in range(SPOTS_PER_SIDE)
    ]
    spots.sort(key=lambda spot: (spot[1, 0], -spot[1, 1]))
    return Lot(np.array(points[first:] + points[:first]), entries, exits, spots)
