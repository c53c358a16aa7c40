"""`Draft`: a way in the making, stretches of curve and marks on them, in the order of travel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

__all__ = ["Draft", "Mark", "Stretch", "length_of", "stations_of"]

Floats = NDArray[np.float64]

SHORTEST = 0.25  # [m] that is left of a stretch whose end is cut off


class Mark(IntEnum):
    """What happens at a place of the way; the value decides who is first of two at one place."""

    CHECKPOINT = 0
    STOP = 1
    FINISH = 2


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """A piece of the way: points (m, 2) [m], headings of travel (m,) [rad], the limit [m/s], and the gear.

    A fresh one begins at rest, with the wheels turned to where it needs them; an exact one is driven as it is, on
    others the body is kept in the middle of the lane.
    """

    points: Floats
    headings: Floats
    limit: float
    reverse: bool = False
    fresh: bool = False
    exact: bool = False


@dataclass
class Draft:
    """A way in the making.

    Attributes
    ----------
    stretches : list of Stretch
    marks : list of (stretch, station, Mark)
        Where the front bumper is to be, as the distance from the start of a stretch [m].
    """

    stretches: list[Stretch] = field(default_factory=list)
    marks: list[tuple[int, float, Mark]] = field(default_factory=list)

    fresh: bool = False

    def add(self, stretch: Stretch) -> None:
        """Append a stretch; one that leads nowhere is left out. It is fresh if `fresh` was set before."""
        if len(stretch.points) > 1 and length_of(stretch.points) > 1e-6:
            self.stretches.append(replace(stretch, fresh=self.fresh and bool(self.stretches)))
            self.fresh = False

    def mark(self, kind: Mark, back: float = 0.0) -> None:
        """Mark the place where the way ends so far, or some distance before it."""
        if not self.stretches:
            self.marks.append((0, -back, kind))
            return
        self.marks.append((len(self.stretches) - 1, length_of(self.stretches[-1].points) - back, kind))

    @property
    def spare(self) -> float:
        """How much of the last stretch can be cut off [m]."""
        if not self.stretches or self.stretches[-1].reverse:
            return 0.0
        return max(0.0, length_of(self.stretches[-1].points) - SHORTEST)

    def trim(self, distance: float) -> None:
        """Cut a distance of at most `spare` off the end of the last stretch."""
        last = self.stretches[-1]
        stations = stations_of(last.points)
        until = stations[-1] - distance
        keep = int(np.searchsorted(stations, until))
        end = np.array([[np.interp(until, stations, last.points[:, k]) for k in (0, 1)]])
        headings = np.append(last.headings[:keep], np.interp(until, stations, last.headings))
        points = np.concatenate([last.points[:keep], end])
        self.stretches[-1] = replace(last, points=points, headings=headings)


def length_of(points: Floats) -> float:
    """Length of a polyline [m]."""
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


def stations_of(points: Floats) -> Floats:
    """Arc length at each point of a polyline, shape (m,) [m]."""
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
