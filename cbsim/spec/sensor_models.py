"""Default values of sensor models (docs/formats/sensor_conf.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["SENSOR_MODELS", "Mode", "SensorModel"]


class Mode(NamedTuple):
    """A way a device can work: resolution [rad], scans per second [Hz], field of view [rad]."""

    resolution: float
    rate: float
    span: float


@dataclass(frozen=True, slots=True)
class SensorModel:
    """One row of the table.

    Attributes
    ----------
    type : str
        As in `cbsim.spec.sensor.SensorConf`.
    modes : tuple of Mode
        The first is the default; the resolution of a conf chooses another.
    min_range, max_range : float
        [m].
    layers : int
        Scan planes.
    lowest, highest : float
        Pitch of the outermost layers [rad].
    range_sigma : float
        Noise of a range [m].
    native_zero_right : bool
        Whether the maker's own angles begin at the right, as SICK's do.
    others : mapping
        Field of a `SensorConf` → default, where it is not that of the class.
    """

    type: str
    modes: tuple[Mode, ...]
    min_range: float
    max_range: float
    layers: int = 1
    lowest: float = 0.0
    highest: float = 0.0
    range_sigma: float = 0.0
    native_zero_right: bool = False
    others: Mapping[str, Any] = field(default_factory=dict)


def _modes(*rows: tuple[float, float, float]) -> tuple[Mode, ...]:
    return tuple(Mode(math.radians(step), rate, math.radians(span)) for step, rate, span in rows)


SENSOR_MODELS = {
    "generic": SensorModel("ladar", _modes((1.0, 10.0, 180.0)), 0.0, 80.0),
    "lms291": SensorModel(
        "ladar", _modes((1.0, 75.0, 180.0), (0.5, 37.5, 180.0), (0.25, 18.75, 100.0)), 0.2, 80.0,
        range_sigma=0.01, native_zero_right=True,
    ),
    "alasca_xt": SensorModel(
        "ladar", _modes((0.25, 12.5, 240.0), (0.5, 25.0, 240.0)), 0.3, 200.0,
        layers=4, lowest=math.radians(-1.6), highest=math.radians(1.6), range_sigma=0.05,
    ),
    "ldlrs": SensorModel("ladar", _modes((0.25, 10.0, 270.0)), 0.5, 50.0, range_sigma=0.03),
    "hdl64": SensorModel(
        "ladar", _modes((0.18, 10.0, 360.0)), 0.9, 120.0,
        layers=64, lowest=math.radians(-24.8), highest=math.radians(2.0), range_sigma=0.02,
    ),
    "vorad": SensorModel("radar", _modes((2.0, 15.0, 12.0)), 1.0, 107.0),
    "cnav": SensorModel(
        "gps", _modes((360.0, 5.0, 360.0)), 0.0, 80.0,
        others={"position_sigma": 0.05, "altitude_sigma": 0.1, "position_drift": 0.1, "velocity_sigma": 0.05},
    ),
    "rt3000": SensorModel(
        "ins", _modes((360.0, 100.0, 360.0)), 0.0, 80.0,
        others={
            "position_sigma": 0.01, "altitude_sigma": 0.02, "position_drift": 0.1, "velocity_sigma": 0.03,
            "heading_sigma": math.radians(0.03), "heading_drift": math.radians(0.1),
            "yaw_rate_sigma": math.radians(0.01), "outage_drift": 0.05,
        },
    ),
}  # fmt: skip
"""Name → defaults. Angles of a field of view are centred on the sensor's forward direction."""
