"""`Gates`: lines across a road, such as checkpoints and stop lines, and where tracks cross them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import direction, dot, left_of

__all__ = ["Beside", "Gates"]


class Beside(NamedTuple):
    """Positions of front bumpers relative to gates.

    Attributes
    ----------
    along : ndarray, shape (n + 1, g)
        Signed distance past the line [m].
    across : ndarray, shape (n + 1, g)
        Distance to the left of the gate's middle [m].
    facing : ndarray, shape (n + 1, g)
        Cosine of the angle between the headings of object and gate.
    """

    along: Floats
    across: Floats
    facing: Floats

    def crossings(self, half_widths: Floats, least_facing: float) -> tuple[Ints, Ints, Floats]:
        """Find the crossings of gates between two steps, within their width and in their direction.

        Returns
        -------
        row, gate : ndarray of int, shape (c,)
            The crossing lies between that row and the next; in order of time.
        part : ndarray, shape (c,)
            Fraction of the step before the crossing, 0 to 1.
        """
        before, after = self.along[:-1], self.along[1:]
        row, gate = np.nonzero((before <= 0.0) & (after > 0.0))
        part = before[row, gate] / (before[row, gate] - after[row, gate])
        across = self.across[row, gate] + part * (self.across[row + 1, gate] - self.across[row, gate])
        facing = self.facing[row, gate] + part * (self.facing[row + 1, gate] - self.facing[row, gate])
        on = (np.abs(across) <= half_widths[gate]) & (facing >= least_facing)
        order = np.argsort(row[on] + part[on], kind="stable")
        return row[on][order], gate[on][order], part[on][order]


class Gates:
    """Lines across the road.

    Parameters
    ----------
    places : ndarray, shape (g, 2)
        Midpoints [m].
    headings : ndarray, shape (g,)
        Directions of travel [rad].
    widths : ndarray, shape (g,)
        [m]
    """

    def __init__(self, places: Floats, headings: Floats, widths: Floats) -> None:
        self.places = np.asarray(places, float).reshape(-1, 2)
        self.half_widths = 0.5 * np.asarray(widths, float)
        self._along = direction(np.asarray(headings, float))
        self._left = left_of(self._along)

    def near(self, track: Track, reach: float) -> Ints:
        """Gates within reach [m] of the bounding box of the front bumper's path."""
        low, high = track.fronts.min(axis=0) - reach, track.fronts.max(axis=0) + reach
        return np.flatnonzero(np.all((self.places >= low) & (self.places <= high), axis=1))

    def beside(self, track: Track, gates: Ints | NDArray[np.intp]) -> Beside:
        """Positions of the front bumper relative to some gates."""
        way = track.fronts[:, None] - self.places[gates]
        along, left = self._along[gates], self._left[gates]
        return Beside(dot(way, along), dot(way, left), track.ahead @ along.T)
