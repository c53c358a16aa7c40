"""Path under construction: sections of curve and marks on them, in the order of travel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math

__all__ = ["Mark", "PathBuilder", "PathSection", "length_of", "stations_of"]

SHORTEST = 0.25  # [m] minimum length of a trimmed section


class Mark(IntEnum):
    """Event at a place on the path; of two at the same place, the lower value comes first."""

    CHECKPOINT = 0
    STOP = 1
    FINISH = 2


@dataclass(frozen=True, slots=True, eq=False)
class PathSection:
    """A section of path: points (m, 2) [m], headings of travel (m,) [rad], the speed limit [m/s], and the gear.

    A fresh section begins at rest, with the wheels already turned to its initial curvature. An exact section is driven
    as it is; on others, the path is shifted so that the body stays in the middle of the lane.
    """

    points: Floats
    headings: Floats
    limit: float
    reverse: bool = False
    fresh: bool = False
    exact: bool = False


@dataclass
class PathBuilder:
    """A path under construction.

    Attributes
    ----------
    sections : list of PathSection
    marks : list of (section, station, Mark)
        Target of the front bumper, as a distance from the start of a section [m].
    """

    sections: list[PathSection] = field(default_factory=list)
    marks: list[tuple[int, float, Mark]] = field(default_factory=list)

    fresh: bool = False

    def add(self, section: PathSection) -> None:
        """Append a section, unless its length is zero. It is fresh if `fresh` was set before."""
        if len(section.points) > 1 and length_of(section.points) > 1e-6:
            self.sections.append(replace(section, fresh=self.fresh and bool(self.sections)))
            self.fresh = False

    def mark(self, kind: Mark, back: float = 0.0) -> None:
        """Mark the current end of the path, or a place some distance before it."""
        if not self.sections:
            self.marks.append((0, -back, kind))
            return
        self.marks.append((len(self.sections) - 1, length_of(self.sections[-1].points) - back, kind))

    @property
    def spare(self) -> float:
        """Length that can be trimmed off the last section [m]."""
        if not self.sections or self.sections[-1].reverse:
            return 0.0
        return max(0.0, length_of(self.sections[-1].points) - SHORTEST)

    def trim(self, distance: float) -> None:
        """Trim a distance of at most `spare` off the end of the last section."""
        last = self.sections[-1]
        stations = stations_of(last.points)
        until = stations[-1] - distance
        keep = int(np.searchsorted(stations, until))
        end = np.array([[np.interp(until, stations, last.points[:, k]) for k in (0, 1)]])
        headings = np.append(last.headings[:keep], np.interp(until, stations, last.headings))
        points = np.concatenate([last.points[:keep], end])
        self.sections[-1] = replace(last, points=points, headings=headings)


def length_of(points: Floats) -> float:
    """Length of a polyline [m]."""
    return float(np.sum(math.hypot(*np.diff(points, axis=0).T)))


def stations_of(points: Floats) -> Floats:
    """Arc length at each point of a polyline, shape (m,) [m]."""
    return np.concatenate([[0.0], np.cumsum(math.hypot(*np.diff(points, axis=0).T))])
