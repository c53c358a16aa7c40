"""When a device fails: silent or frozen for a time, blind in a sector. All of it follows from conf and occasion."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cbsim.spec.sensor import SensorConf, Window
from cbsim.world.world import Sensor

__all__ = ["SLACK", "blinded", "content_index", "is_out", "newest_index", "outage_at", "reading_indices"]

SLACK = 1e-9  # [occasions] one due exactly at a step belongs to it, whatever the rounding of k / rate


def reading_indices(sensor: Sensor, after: float, until: float) -> range:
    """Which readings fall due in (after, until] [s]: number k is taken at k / rate, delivered `latency` later."""
    return range(max(newest_index(sensor.conf, after) + 1, 0), newest_index(sensor.conf, until) + 1)


def newest_index(conf: SensorConf, time: float) -> int:
    """Which reading is the newest that has been delivered by a time [s]; negative if there is none yet."""
    return math.floor((time - conf.latency) * conf.rate + SLACK)


def outage_at(conf: SensorConf, index: int) -> Window | None:
    """Find the outage that a reading falls into; one begins with its first moment and ends before its last."""
    return next((w for w in conf.outages if _holds(conf, w, index)), None) if conf.outages else None


def is_out(conf: SensorConf, index: int) -> bool:
    """Tell whether a reading falls into an outage."""
    return outage_at(conf, index) is not None


def content_index(conf: SensorConf, index: int) -> int:
    """Which scan a scan shows: itself, or where it is frozen the last one before that."""
    for window in conf.freezes:
        if _holds(conf, window, index):
            before = math.ceil(window[0] * conf.rate - SLACK) - 1
            return content_index(conf, before) if before > 0 else 0
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


def blinded(sensor: Sensor) -> NDArray[np.bool_]:
    """Which beams (beams,) of a scanner lie in its blind sectors, ends included."""
    return _sectors(sensor.conf.blind, sensor.azimuths.tobytes())
