"""Noise of laser scanners: true distances to readings, drawn from the scanner's own stream, counted by scan.

A beam is lost, returns early from dust or rain, is measured with a noise that grows with distance, and is rounded;
shares and noise may differ by elliptical bins of distance, as in the lidar and object models of scenario_simulator_v2
(its documentation, "Parameters"). Whatever is zero in the conf draws nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.sensing.faults import blinded
from cbsim.spec.sensor import SensorConf
from cbsim.world.streams import Key, normals, uniforms
from cbsim.world.tables import Floats
from cbsim.world.world import Sensor

__all__ = ["binned", "bins_of", "measure"]

RANGE, LOSS, ANGLE, EARLY, DUST = range(5)
"""Draws of one scan; number n begins at the block n · beams · layers, so that none overlaps another."""


def measure(sensor: Sensor, true: Floats, key: Key, index: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Turn true distances into readings.

    Parameters
    ----------
    sensor : Sensor
    true : (layers, beams) [m]
        Distance to the first surface; infinity where there is none.
    key : pair of uint64
        Of the scanner's stream.
    index : int
        Number of the scan.

    Returns
    -------
    ranges : (layers, beams) [m]
        What the conf's `no_return` says where there is no return.
    returned : (layers, beams) bool
    """
    conf = sensor.conf
    seen = (true >= conf.min_range) & (true <= conf.max_range)
    ranges = true
    if conf.range_sigma or conf.range_sigma_slope or conf.range_bias or conf.bins or conf.radial_sigma:
        ranges = np.where(seen, true, 0.0)
    bins = bins_of(conf, ranges * _stretch(sensor)) if conf.bins else None
    if conf.dropout or conf.detection_rate:
        kept = (1.0 - conf.dropout) * binned(conf.detection_rate, bins, 1.0)
        seen = seen & (_uniforms(key, index, true, LOSS) < kept)
    sigma = conf.range_sigma + conf.range_sigma_slope * ranges if conf.range_sigma_slope else conf.range_sigma
    if conf.radial_sigma:
        sigma = np.hypot(sigma, binned(conf.radial_sigma, bins, 0.0))
    if np.any(sigma):
        ranges = np.maximum(ranges + sigma * normals(key, index, true.size).reshape(true.shape), 0.0)
    if conf.range_bias or conf.radial_bias:
        ranges = np.maximum(ranges + conf.range_bias + binned(conf.radial_bias, bins, 0.0), 0.0)
    if conf.false_returns:
        ranges, seen = _early_returns(conf, true, ranges, seen, key, index)
    return _rounded(sensor, ranges, seen)


def _early_returns(
    conf: SensorConf, true: Floats, ranges: Floats, seen: NDArray[np.bool_], key: Key, index: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Let some beams return from dust or rain, anywhere between the least range and what they would have met."""
    early = _uniforms(key, index, true, EARLY) < conf.false_returns
    way = np.maximum(np.minimum(true, conf.max_range) - conf.min_range, 0.0)
    dust = conf.min_range + way * _uniforms(key, index, true, DUST)
    return np.where(early, dust, ranges), seen | early


def _rounded(sensor: Sensor, ranges: Floats, seen: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """Round to the quantum, leave out blind sectors, and write what a beam without return reads."""
    conf = sensor.conf
    if conf.range_resolution > 0.0:
        ranges = np.round(ranges / conf.range_resolution) * conf.range_resolution
    if conf.blind:
        seen = seen & ~blinded(sensor)
    if conf.no_return == "max":  # a reading of exactly that cannot be told from none
        seen = seen & (ranges != conf.max_range)
    nothing = {"max": conf.max_range, "inf": np.inf, "nan": np.nan}[conf.no_return]
    return np.where(seen, ranges, nothing), seen


def _uniforms(key: Key, index: int, like: Floats, draw: int) -> Floats:
    return uniforms(key, index, like.size, first=draw * like.size).reshape(like.shape)


def _stretch(sensor: Sensor) -> Floats:
    """Elliptical distance per metre of each beam (layers, beams)."""
    return np.hypot(sensor.directions[..., 0], sensor.directions[..., 1] / sensor.conf.bin_ratio)


def bins_of(conf: SensorConf, distances: Floats) -> NDArray[np.int64]:
    """Which bin each elliptical distance [m] lies in; beyond the last radius the last bin goes on."""
    return np.minimum(np.searchsorted(conf.bins, distances, side="right"), len(conf.bins) - 1)


def binned(values: tuple[float, ...], bins: NDArray[np.int64] | None, default: float) -> Floats:
    """Look values up by bin; one value holds in all bins, none is the default."""
    if len(values) > 1 and bins is not None:
        return np.asarray(values, float)[bins]
    return np.asarray(values[0] if values else default, float)
