"""Lengths of the histories of a Snapshot: pose history for sensors, command delay for dead times."""

from __future__ import annotations

import math

from cbsim.errors import ModelError
from cbsim.spec.objects import TrafficObject
from cbsim.spec.sensor import SensorConf
from cbsim.vehicle.parameters import PARAMETERS, drive_name, vehicle_parameters
from cbsim.world.world import Sensor

__all__ = ["command_delay_steps", "pose_history_steps"]

MEMORY_LIMIT = 100_000  # steps


def pose_history_steps(sensors: tuple[Sensor, ...], step: float) -> int:
    """Count the steps of pose history that readings need."""
    steps = 0
    for sensor in sensors:
        needed = math.ceil(_look(sensor.conf) / step + 1e-6) + 2
        if needed > MEMORY_LIMIT:
            message = (
                f"sensor '{sensor.key}' looks back over {needed} steps, more than the {MEMORY_LIMIT} that are kept"
            )
            raise ModelError(message, location=sensor.conf.location if sensor.conf.location.path else None)
        steps = max(steps, needed)
    return steps


def command_delay_steps(items: list[TrafficObject], step: float) -> int:
    """Count the steps of commands that the longest dead time needs; 0 without dead times."""
    columns = [PARAMETERS.index("throttle_delay"), PARAMETERS.index("steering_delay")]
    delays = [(float(vehicle_parameters(item)[columns].max()), item) for item in items if drive_name(item) == "delayed"]
    longest, item = max(delays, key=lambda delay: delay[0], default=(0.0, None))
    steps = math.ceil(longest / step) + 2 if item else 0
    if item and steps > MEMORY_LIMIT:
        message = f"a dead time looks back over {steps} steps, more than the {MEMORY_LIMIT} that are kept"
        place = item.location if item.location.path else None
        raise ModelError(message, subject=f"object '{item.name}'", location=place)
    return steps


def _look(conf: SensorConf) -> float:
    """Look-back of a reading [s]: period, latency, and for scans sweep and freeze."""
    periods = 2.0 if conf.type == "odometry" else 1.0
    frozen = math.fsum(end - start for start, end in conf.freezes) if conf.type == "ladar" else 0.0
    sweep = conf.scan_time if conf.type == "ladar" else 0.0
    return periods / conf.rate + conf.latency + sweep + (frozen + 1.0 / conf.rate if frozen else 0.0)
