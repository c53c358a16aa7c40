"""Latitude and longitude ↔ the local plane: east-north-up tangent plane on WGS84, height forced to zero.

Written out in numpy because importing a projection library would cost more than reading and linting a whole network;
the tests compare it with one. Both ways are closed forms: the tangent plane of an ellipsoid meets the vertical above
a point in a quadratic, so nothing is iterated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import times

__all__ = ["FLATTENING", "SEMI_MAJOR_AXIS", "LocalPlane"]

SEMI_MAJOR_AXIS = 6_378_137.0  # [m] WGS84
FLATTENING = 1.0 / 298.257_223_563  # WGS84
ECCENTRICITY_2 = FLATTENING * (2.0 - FLATTENING)


@dataclass(frozen=True)
class LocalPlane:
    """The plane that touches the ellipsoid at an origin: x east, y north [m].

    Attributes
    ----------
    latitude, longitude : float
        Origin [deg], north and east positive.
    metric : bool
        True for files whose columns are metres already: both ways are then the identity.
    """

    latitude: float = 0.0
    longitude: float = 0.0
    metric: bool = False

    def to_local(self, latitude: ArrayLike, longitude: ArrayLike) -> Floats:
        """Project points of the ellipsoid onto the plane.

        Parameters
        ----------
        latitude, longitude : array_like, shape (...)
            Degrees; the columns x and y [m] where the plane is metric.

        Returns
        -------
        ndarray, shape (..., 2)
            x east and y north of the origin [m]. The drop of the ground below the plane, 0.7 m at 3 km, is left out.
        """
        first, second = np.broadcast_arrays(np.asarray(latitude, float), np.asarray(longitude, float))
        if self.metric:
            return np.stack([first, second], axis=-1)
        away = _geocentric(first, second) - self._origin
        return np.asarray(times(away, self._frame[:, :2]))

    def to_geodetic(self, points: ArrayLike) -> tuple[Floats, Floats]:
        """Find the points of the ellipsoid above points of the plane; undoes `to_local` to less than 1 mm.

        Parameters
        ----------
        points : array_like, shape (..., 2)
            x east, y north [m].

        Returns
        -------
        latitude, longitude : ndarray, shape (...)
            Degrees; nan where the plane has left the earth. The columns themselves where the plane is metric.
        """
        flat = np.asarray(points, float)
        if self.metric:
            return flat[..., 0].copy(), flat[..., 1].copy()
        squeeze = np.array([1.0, 1.0, 1.0 / (1.0 - ECCENTRICITY_2)])  # turns the ellipsoid into a sphere, squared
        up = self._frame[:, 2]
        away = times(flat, self._frame[:, :2].T)
        # |S (origin + away + height · up)| = a, where the origin itself fulfils |S origin| = a and away ⊥ its gradient
        quadratic = float(times(up, squeeze * up))
        half_linear = times(self._origin + away, squeeze * up)
        constant = np.sum(away * away * squeeze, axis=-1)
        inside = half_linear * half_linear - quadratic * constant
        root = np.sqrt(np.where(inside >= 0.0, inside, np.nan))
        height = -constant / (half_linear + root)
        x, y, z = np.moveaxis(self._origin + away + height[..., None] * up, -1, 0)
        latitude = np.degrees(math.atan2(z, (1.0 - ECCENTRICITY_2) * math.hypot(x, y)))
        return latitude, np.degrees(math.atan2(y, x))

    @cached_property
    def _origin(self) -> Floats:
        """Geocentric position of the origin, shape (3,) [m]."""
        return _geocentric(np.asarray(self.latitude), np.asarray(self.longitude))

    @cached_property
    def _frame(self) -> Floats:
        """Columns east, north, up in geocentric axes, shape (3, 3)."""
        phi, lam = np.radians(self.latitude), np.radians(self.longitude)
        east = [-math.sin(lam), math.cos(lam), 0.0]
        north = [-math.sin(phi) * math.cos(lam), -math.sin(phi) * math.sin(lam), math.cos(phi)]
        up = [math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)]
        return np.array([east, north, up]).T


def _geocentric(latitude: Floats, longitude: Floats) -> Floats:
    """Earth-centred, earth-fixed position of points at height zero, shape (..., 3) [m]."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    normal = SEMI_MAJOR_AXIS / np.sqrt(1.0 - ECCENTRICITY_2 * math.square(math.sin(phi)))
    return np.stack(
        [
            normal * math.cos(phi) * math.cos(lam),
            normal * math.cos(phi) * math.sin(lam),
            normal * (1.0 - ECCENTRICITY_2) * math.sin(phi),
        ],
        axis=-1,
    )
