"""Sensor faults: outages, frozen readings and blind sectors, as functions of the conf and the reading's number."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cbsim.spec.sensor import SensorConf, Window
from cbsim.world.world import Sensor

__all__ = ["SLACK", "blind_beams", "displayed_scan", "in_outage", "newest_index", "outage_at", "reading_indices"]

SLACK = 1e-9  # [readings] tolerance, so that rounding of k / rate does not move a reading to the next step


def reading_indices(sensor: Sensor, after: float, until: float) -> range:
    """Numbers of the readings due in (after, until] [s]: number k is taken at k / rate, delivered `latency` later."""
    return range(max(newest_index(sensor.conf, after) + 1, 0), newest_index(sensor.conf, until) + 1)


def newest_index(conf: SensorConf, time: float) -> int:
    """Find the number of the newest reading delivered by a time [s]; negative if there is none yet."""
    return math.floor((time - conf.latency) * conf.rate + SLACK)


def outage_at(conf: SensorConf, index: int) -> Window | None:
    """Find the outage that a reading falls into; outages are half-open intervals of time."""
    return next((w for w in conf.outages if _holds(conf, w, index)), None) if conf.outages else None


def in_outage(conf: SensorConf, index: int) -> bool:
    """Return whether a reading falls into an outage."""
    return outage_at(conf, index) is not None


def displayed_scan(conf: SensorConf, index: int) -> int:
    """Find the number of the scan that a scan displays: its own, or while frozen that of the last one before."""
    for window in conf.freezes:
        if _holds(conf, window, index):
            before = math.ceil(window[0] * conf.rate - SLACK) - 1
            return displayed_scan(conf, before) if before > 0 else 0
    return index


def _holds(conf: SensorConf, window: Window, index: int) -> bool:
    start, end = window
    return start * conf.rate - SLACK <= index < end * conf.rate - SLACK


@lru_cache(maxsize=256)
def _sectors(blind: tuple[Window, ...], azimuths: bytes) -> NDArray[np.bool_]:
    beams = np.frombuffer(azimuths)
    covered = np.zeros(len(beams), bool)
    for start, end in blind:
        covered |= np.mod(beams - start + SLACK, 2.0 * math.pi) <= end - start + 2.0 * SLACK
    return covered


def blind_beams(sensor: Sensor) -> NDArray[np.bool_]:
    """Mask (beams,) of the beams of a laser that lie in its blind sectors, ends included."""
    return _sectors(sensor.conf.blind, sensor.azimuths.tobytes())
