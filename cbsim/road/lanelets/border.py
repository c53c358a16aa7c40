"""Left and right borders of lanelets, loops on the inner side of tight bends cut off."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry.polyline import direction, left_of
from cbsim.road.edge import trim
from cbsim.road.roadmap import RoadMap

__all__ = ["borders"]


class Centrelines(Protocol):
    """Columns of `cbsim.road.lanelets.table.Lanelets` that borders follow from."""

    @property
    def roadmap(self) -> RoadMap:
        """The network."""

    @property
    def lanes(self) -> Ints:
        """Index into `RoadMap.lanes`; -1 for exits."""

    @property
    def begins(self) -> Floats:
        """Station at which a piece of a lane begins [m]."""

    @property
    def points(self) -> Floats:
        """Samples of the centrelines [m]."""

    @property
    def headings(self) -> Floats:
        """Tangent at each sample [rad]."""

    @property
    def stations(self) -> Floats:
        """Arc length at each sample [m]."""

    @property
    def widths(self) -> Floats:
        """Width of each lanelet [m]."""

    @property
    def owners(self) -> Ints:
        """Lanelet of each sample."""

    def samples_of(self, row: int) -> slice:
        """Slice of the samples of a lanelet."""


def borders(lanelets: Centrelines) -> tuple[Floats, Floats]:
    """Draw both borders at half the width from the centrelines.

    Returns
    -------
    left, right : ndarray, shape (m, 2)
        Row i beside sample i [m]. Pieces of a lane have those of its `LaneCurve`, so that they fit together.
    """
    aside = 0.5 * lanelets.widths[lanelets.owners, None] * left_of(direction(lanelets.headings))
    sides = lanelets.points + aside, lanelets.points - aside
    for row in _tight(lanelets).tolist():
        part = lanelets.samples_of(row)
        lane = int(lanelets.lanes[row])
        if lane >= 0:
            curve = lanelets.roadmap.lanes[lane]
            first = int(np.searchsorted(curve.stations, lanelets.begins[row] - 1e-9))
            own = slice(first, first + part.stop - part.start)
            for side, whole in zip(sides, (curve.left, curve.right), strict=True):
                side[part] = whole[own]
        else:
            for side in sides:
                side[part] = trim(side[part], lanelets.points[part])
    for side in sides:
        side.flags.writeable = False
    return sides


def _tight(lanelets: Centrelines) -> Ints:
    """List the lanelets that turn somewhere on a radius smaller than their width."""
    inner = np.diff(lanelets.owners) == 0
    turn = np.abs(np.diff(lanelets.headings)) * lanelets.widths[lanelets.owners[1:]]
    return np.unique(lanelets.owners[1:][inner & (turn > np.diff(lanelets.stations))])
