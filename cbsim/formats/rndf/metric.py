"""Lengths of a network, and recognition of metric coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry import elementary as math
from cbsim.geometry.elementary import square
from cbsim.spec.road import RoadNetwork

__all__ = ["DEGREES_APART", "EXTENT", "is_metric", "lane_length"]

DEGREES_APART = 0.02  # two kilometres: neighbouring points of real networks are 0.5 to 305 m apart, so this is metres
EXTENT = 2.0  # [degrees] larger than any network of single points; the threshold of UT Austin's ART
MAJOR_AXIS = 6_378_137.0  # [m] WGS84
ECCENTRICITY_SQUARED = 6.694_379_990_141_317e-3  # WGS84


def is_metric(latitude: NDArray[np.float64], longitude: NDArray[np.float64], borders: Sequence[int]) -> bool:
    """Return whether the two columns of a network are metres x and y.

    The distance between neighbouring points decides, by its lower median, because one mistyped coordinate must not turn
    a whole network into metres. Without neighbours it is the extent.

    Parameters
    ----------
    latitude, longitude : ndarray, shape (n,)
        The columns of all points.
    borders : sequence of int
        0, the row at which each block but the first starts, and n.
    """
    if not len(latitude):
        return False
    pairs = np.array([latitude, longitude])
    inner = np.unique(borders)[1:-1]
    apart = np.delete(np.abs(np.diff(pairs)).max(axis=0), inner - 1)
    if not len(apart):
        return bool(np.ptp(pairs, axis=1).max() > EXTENT)
    middle = (len(apart) - 1) // 2
    return bool(np.partition(apart, middle)[middle] > DEGREES_APART)


def lane_length(network: RoadNetwork) -> float:
    """Sum the chords between consecutive waypoints of all lanes [m], on the WGS84 ellipsoid or in the metric plane."""
    lanes = [lane.points for lane in network.lanes if len(lane.points) > 1]
    if not lanes:
        return 0.0
    first = np.concatenate([points.latitude for points in lanes])
    second = np.concatenate([points.longitude for points in lanes])
    place = np.array([first, second]) if network.metric else _earth_centred(np.radians(first), np.radians(second))
    chords = np.sqrt(square(np.diff(place)).sum(axis=0))
    borders = np.cumsum([len(points) for points in lanes])[:-1]
    return float(np.delete(chords, borders - 1).sum())


def _earth_centred(latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cartesian coordinates (3, n) [m] of points on the ellipsoid; angles in radians."""
    sine, cosine = math.sin(latitude), math.cos(latitude)
    normal = MAJOR_AXIS / np.sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
    across = normal * cosine
    return np.array(
        [across * math.cos(longitude), across * math.sin(longitude), normal * (1.0 - ECCENTRICITY_SQUARED) * sine]
    )
