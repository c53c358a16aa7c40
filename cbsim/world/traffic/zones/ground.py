"""Free ground of a zone: distances from its border and from cars in its spots, as a raster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Bools, Floats
from cbsim.geometry import elementary as math

__all__ = ["CarShape", "Ground", "ground_of", "rectangle"]

CELL, CELLS = 0.25, 400_000  # [m] size of a cell, and greatest number of cells
EDGE = 6.0  # [m] of the raster beyond the perimeter
ASIDE = 0.6  # [m] beside a car that is kept free in the ways in and out
SIDE, ENDS = 0.2, 0.2  # [m] kept free beside a car, and ahead of it and behind it
DISCS = 4


class CarShape(NamedTuple):
    """The largest car that uses a zone.

    Attributes
    ----------
    width, length : float
        [m]
    nose, tail : float
        Distances of the bumpers ahead of and behind the rear axle [m].
    radius : float
        Of the tightest circle of the rear axle [m].
    """

    width: float
    length: float
    nose: float
    tail: float
    radius: float

    @property
    def discs(self) -> Floats:
        """Centres of discs that cover the car, ahead of its rear axle, and their radius [m]."""
        part = (self.length + 2.0 * ENDS) / DISCS
        radius = math.hypot(0.5 * self.width + SIDE, 0.5 * part)
        return np.array([part * (k + 0.5) - self.tail - ENDS for k in range(DISCS)] + [radius])


class Ground(NamedTuple):
    """Drivable area of a zone as a raster.

    Attributes
    ----------
    frame : tuple of float
        West, south and size of a cell [m].
    free : ndarray of bool, shape (columns, rows)
        Within the perimeter, or in a way in or out.
    spots : ndarray of int, shape (columns, rows)
        Number of the spot whose car covers the cell, -1 for none.
    """

    frame: tuple[float, float, float]
    free: Bools
    spots: NDArray[np.int64]

    def field(self, without: int = -1) -> Floats:
        """Distance of each cell from what is in the way, all spots but one taken, shape (columns, rows) [m]."""
        from scipy.ndimage import distance_transform_edt  # type: ignore[attr-defined]

        open_ = self.free & ((self.spots < 0) | (self.spots == without))
        return np.ascontiguousarray(self.frame[2] * distance_transform_edt(open_), np.float64)


def rectangle(pose: tuple[float, float, float], shape: CarShape, more: float = 0.0) -> Floats:
    """Corners of a car at a pose of its rear axle, so much larger on all sides, shape (4, 2) [m]."""
    x, y, heading = pose
    ahead = np.array([-math.sin(heading), math.cos(heading)])
    left = np.array([-ahead[1], ahead[0]])
    nose, tail, half = shape.nose + more, -shape.tail - more, 0.5 * shape.width + more
    ends = ((nose, half), (nose, -half), (tail, -half), (tail, half))
    return np.array([np.array([x, y]) + along * ahead + aside * left for along, aside in ends])


def ground_of(area: Any, ways: list[Floats], parked: list[tuple[float, float, float]], shape: CarShape) -> Ground:
    """Rasterise a zone.

    Parameters
    ----------
    area : shapely geometry
        Inside of the perimeter.
    ways : list of ndarray, shape (n, 2)
        Centrelines of the ways in and out [m].
    parked : list of tuple of float
        Poses of the rear axles of cars in the spots.
    shape : CarShape
    """
    import shapely

    half = 0.5 * shape.width + ASIDE
    strips = [shapely.LineString(way).buffer(half, quad_segs=4) for way in ways if len(way) > 1]
    cars = [shapely.Polygon(rectangle(pose, shape, SIDE + CELL)).buffer(0.2, quad_segs=2) for pose in parked]
    whole = shapely.union_all([area, *strips, *cars])
    low, high = np.array(whole.bounds[:2]) - EDGE, np.array(whole.bounds[2:]) + EDGE
    cell = max(CELL, math.sqrt(float(np.prod(high - low)) / CELLS))
    size = np.ceil((high - low) / cell).astype(int) + 1
    x = low[0] + cell * np.arange(size[0])[:, None] + np.zeros(size)
    y = low[1] + cell * np.arange(size[1])[None, :] + np.zeros(size)
    free = np.asarray(shapely.contains_xy(whole, x, y))
    spots = np.full(size, -1, np.int64)
    for number, pose in enumerate(parked):
        spots[_in_rectangle(x, y, pose, shape)] = number
    return Ground((float(low[0]), float(low[1]), float(cell)), free, spots)


def _in_rectangle(x: Floats, y: Floats, pose: tuple[float, float, float], shape: CarShape) -> Bools:
    sine, cosine = math.sin(pose[2]), math.cos(pose[2])
    along = (y - pose[1]) * cosine - (x - pose[0]) * sine
    aside = (x - pose[0]) * cosine + (y - pose[1]) * sine
    return np.asarray((along <= shape.nose) & (along >= -shape.tail) & (np.abs(aside) <= 0.5 * shape.width))
