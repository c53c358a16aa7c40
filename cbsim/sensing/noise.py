"""Noise of laser scanners, drawn from each scanner's own random stream, counted by scan.

Effects are dropouts, early returns from dust or rain, noise that grows with distance, and quantisation. Probabilities
and deviations may depend on elliptical bins of distance, as in the lidar and object models of scenario_simulator_v2
(its documentation, "Parameters"). Effects that are zero in the conf draw no random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.sensing.faults import blind_beams
from cbsim.sensing.kernels.noise import Noise, Noises
from cbsim.spec.sensor import SensorConf
from cbsim.world.world import Sensor

__all__ = ["binned", "bins_of", "noise_of", "noises_of"]


def noise_of(sensor: Sensor) -> Noise:
    """Noise parameters of a laser, for the kernel."""
    conf = sensor.conf
    bins = np.asarray(conf.bins, float)
    stretch = math.hypot(sensor.directions[..., 0], sensor.directions[..., 1] / conf.bin_ratio)
    by_bin = ((conf.detection_rate, 1.0), (conf.radial_sigma, 0.0), (conf.radial_bias, 0.0))
    every = np.arange(max(len(bins), 1))
    return Noise(
        least=float(conf.min_range),
        most=float(conf.max_range),
        sigma=float(conf.range_sigma),
        slope=float(conf.range_sigma_slope),
        bias=float(conf.range_bias),
        dropout=float(conf.dropout),
        early=float(conf.false_returns),
        quantum=float(conf.range_resolution),
        nothing={"max": float(conf.max_range), "inf": np.inf, "nan": np.nan}[conf.no_return],
        bins=bins,
        **{
            name: np.ascontiguousarray(np.broadcast_to(binned(values, every, default), every.shape), float)
            for name, (values, default) in zip(("rates", "spreads", "shifts"), by_bin, strict=True)
        },
        stretch=np.ascontiguousarray(stretch.reshape(-1)) if len(bins) else np.zeros(0),
        blind=blind_beams(sensor).astype(np.int64) if conf.blind else np.zeros(0, np.int64),
    )


def noises_of(sensors: Sequence[Sensor]) -> Noises:
    """Concatenate the noise parameters of several lasers."""
    each = [noise_of(sensor) for sensor in sensors]
    counts = np.array([[len(n.bins), len(n.rates), len(n.stretch), len(n.blind)] for n in each], np.int64).reshape(
        -1, 4
    )
    ends = np.cumsum(counts, axis=0)
    chained = {
        name: np.concatenate([np.zeros(0, np.int64 if name == "blind" else float), *(getattr(n, name) for n in each)])
        for name in Noise._fields[9:]
    }
    numbers = np.array([n[:9] for n in each], float).reshape(-1, 9)
    return Noises(numbers, np.stack([ends - counts, ends], axis=2), **chained)


def bins_of(conf: SensorConf, distances: Floats) -> NDArray[np.int64]:
    """Bin of each elliptical distance [m]; the last bin extends beyond the last radius."""
    return np.minimum(np.searchsorted(conf.bins, distances, side="right"), len(conf.bins) - 1)


def binned(values: tuple[float, ...], bins: NDArray[np.int64] | None, default: float) -> Floats:
    """Look values up by bin; a single value applies to all bins, and the default if there is none."""
    if len(values) > 1 and bins is not None:
        return np.asarray(values, float)[bins]
    return np.asarray(values[0] if values else default, float)
