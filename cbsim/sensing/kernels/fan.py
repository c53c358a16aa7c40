"""`Fan`: the beams of one scan as kernels see them, and where they look."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry import elementary as math

__all__ = ["LANES", "SLACK", "Fan", "fan_of"]

LANES = 4  # beams that vector code takes at once; runs and rows of beams are filled up to a multiple of it
SLACK = 4e-5  # [rad] by which windows are widened: approximate arc tangents are off by 1e-5, rounding by far less


class Fan(NamedTuple):
    """Beams of one scan: layers of evenly spaced azimuths, filled up so that rows are a multiple of `LANES` long.

    Attributes
    ----------
    layers, beams, width : int
        Layers; beams of each; length of a row, the last beams repeated.
    first, step : float
        Azimuth of the first beam [rad], in [-π, π), and from one to the next, of either sign.
    slack : float
        Largest distance of a beam from where these two put it, and `SLACK` [rad].
    east, north, up : (layers · width,)
        Unit vectors in the sensor frame: x right, y forward, z up.
    slopes : (layers,)
        Tangents of the layers' pitches, ascending.
    order : (layers,) int64
        Which layer each of them belongs to.
    """

    layers: int
    beams: int
    width: int
    first: float
    step: float
    slack: float
    east: NDArray[np.float64]
    north: NDArray[np.float64]
    up: NDArray[np.float64]
    slopes: NDArray[np.float64]
    order: NDArray[np.int64]


def fan_of(azimuths: NDArray[np.float64], directions: NDArray[np.float64], pitches: NDArray[np.float64]) -> Fan:
    """Lay out beams for the kernels.

    Parameters
    ----------
    azimuths : (beams,) [rad]
        Evenly spaced, 0 forward, counter-clockwise.
    directions : (layers, beams, 3)
        Unit vectors in the sensor frame.
    pitches : (layers,) [rad]
        Nose up positive, within ±π/2.
    """
    layers, beams = directions.shape[:2]
    filled = np.pad(directions, ((0, 0), (0, -beams % LANES), (0, 0)), mode="edge")
    east, north, up = (np.ascontiguousarray(filled[..., k]).reshape(-1) for k in range(3))
    step = float(azimuths[-1] - azimuths[0]) / (beams - 1) if beams > 1 else 2.0 * math.pi
    first = (float(azimuths[0]) + math.pi) % (2.0 * math.pi) - math.pi
    uneven = float(np.abs(azimuths[0] + step * np.arange(beams) - azimuths).max())
    order = np.argsort(pitches, kind="stable")
    slopes = math.tan(np.asarray(pitches, float)[order])
    return Fan(layers, beams, filled.shape[1], first, step, SLACK + uneven, east, north, up, slopes, order)
