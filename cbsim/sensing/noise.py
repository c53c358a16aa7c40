"""Noise of laser scanners: true distances to readings, drawn from the scanner's own stream, counted by scan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.world.streams import normals, uniforms
from cbsim.world.tables import Floats
from cbsim.world.world import Sensor

__all__ = ["measure"]

Key = tuple[np.uint64, np.uint64]


def measure(sensor: Sensor, true: Floats, key: Key, index: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Turn true distances into readings: limits, noise, dropout, quantisation, and what no return reads.

    Parameters
    ----------
    sensor : Sensor
    true : (layers, beams) [m]
        Distance to the first surface; infinity where there is none.
    key : tuple of uint64
        Of the scanner's stream.
    index : int
        Number of the scan.

    Returns
    -------
    ranges : (layers, beams) [m]
    returned : (layers, beams) bool
    """
    conf, count = sensor.conf, true.size
    seen = (true >= conf.min_range) & (true <= conf.max_range)
    ranges = true
    if conf.range_sigma > 0.0:
        noise = normals(key, index, count).reshape(true.shape)
        ranges = np.maximum(true + conf.range_sigma * noise, 0.0)
    if conf.dropout > 0.0:
        seen = seen & (uniforms(key, index, count, first=count).reshape(true.shape) >= conf.dropout)
    if conf.range_resolution > 0.0:
        ranges = np.round(ranges / conf.range_resolution) * conf.range_resolution
    nothing = {"max": conf.max_range, "inf": np.inf, "nan": np.nan}[conf.no_return]
    return np.where(seen, ranges, nothing), seen
