"""Randomness left in a run: where nothing random is yet to happen, a fork has the same future."""

from __future__ import annotations

from cbsim.errors import FileError, Location, Problem, Severity, UsageError
from cbsim.spec.sensor import SensorConf
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.scene import Scene
from cbsim.world.world import World

__all__ = ["require_streams", "streams_of"]

SIGMAS = (
    "range_sigma", "angle_sigma", "range_sigma_slope", "position_sigma", "altitude_sigma", "position_drift",
    "heading_drift", "yaw_rate_drift", "velocity_sigma", "heading_sigma", "yaw_rate_sigma", "outage_drift",
    "detection_rate", "radial_sigma", "tangential_sigma", "yaw_sigma", "flip_rate", "false_positives", "dropout",
)  # fmt: skip


def require_streams(world: World) -> None:
    """Refuse a World in which nothing is random after its start.

    Raises
    ------
    FileError, UsageError
        If there is no such stream.
    """
    if streams_of(world):
        return
    message = (
        "nothing is random in what is yet to happen, so that a fork has the same future: there are no arrivals of a "
        "flow, no errors of drivers, no noise of a planner's sensors or objects, and no random latency"
    )
    scenario = world.scene.request.get("scenario")
    if not scenario:
        raise UsageError(message)
    raise FileError(Problem(Severity.ERROR, "E812", message, Location(str(scenario))))


def streams_of(world: World) -> list[str]:
    """Name the streams that a fork changes."""
    scene, found = world.scene, list[str]()
    flows = [pool for pool in scene.pools if pool.flow > 0.0]
    found += [f"arrivals of '{pool.name}'" for pool in flows if not pool.is_even or _varies(pool, scene)]
    found += [f"errors of drivers '{driver.name}'" for driver in scene.drivers if _errs(driver)]
    asked = {seat for seat, _ in scene.settings.planners}
    if asked:
        found += [f"noise of '{sensor.key}'" for sensor in world.sensors if _is_noisy(sensor.conf)]
        for seat in scene.settings.seats:
            if seat.latency.deviation > 0.0:
                found.append("latency of commands")
            if seat.fidelity == "noisy":
                found.append("noise of objects")
    return found


def _errs(driver: Driver) -> bool:
    return driver.runs_stops > 0.0 or driver.ignores_right_of_way > 0.0 or driver.brakes_hard > 0.0


def _varies(pool: Pool, scene: Scene) -> bool:
    """Whether cars that arrive differ by chance."""
    if len(pool.destinations) > 1 or len(pool.drivers) > 1:
        return True
    names = [name for name, _ in pool.drivers]
    drivers = [one for one in scene.drivers if one.name in names]
    spreads = [value for one in drivers for value in (getattr(one, f) for f in one.__slots__) if type(value) is Spread]
    return any(spread.deviation > 0.0 for spread in spreads) or any(one.tailgates > 0.0 for one in drivers)


def _is_noisy(conf: SensorConf) -> bool:
    values = (getattr(conf, name, 0.0) for name in SIGMAS)
    return any(any(value) if isinstance(value, tuple) else bool(value) for value in values)
