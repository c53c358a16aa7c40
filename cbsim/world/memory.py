"""How many steps a Snapshot remembers: as far back as a sensor may look, and as commands take to be heard."""

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
    """Count the steps that a reading may look back: to the one before the oldest that is still the newest."""
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
    """Count the steps that the longest dead time of a command looks back; 0 where no drive has any."""
    columns = PARAMETERS.index("throttle_delay"), PARAMETERS.index("steering_delay")
    delays = [vehicle_parameters(item)[list(columns)].max() for item in items if drive_name(item) == "delayed"]
    steps = math.ceil(max(delays) / step) + 2 if delays else 0
    if steps > MEMORY_LIMIT:
        raise ModelError(f"a dead time looks back over {steps} steps, more than the {MEMORY_LIMIT} that are kept")
    return steps


def _look(conf: SensorConf) -> float:
    """How far back a reading needs motion [s]: a tick lies between two, a scan takes time and may freeze."""
    periods = 2.0 if conf.type == "odometry" else 1.0
    frozen = sum(end - start for start, end in conf.freezes) if conf.type == "ladar" else 0.0
    sweep = conf.scan_time if conf.type == "ladar" else 0.0
    return periods / conf.rate + conf.latency + sweep + (frozen + 1.0 / conf.rate if frozen else 0.0)
