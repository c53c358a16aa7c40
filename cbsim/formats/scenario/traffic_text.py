"""Spec → the plain values of ``traffic`` and ``drivers`` in a scenario: only what differs from the defaults."""

from __future__ import annotations

from typing import Any

from cbsim.formats.scenario.same_names import changed, plain_of
from cbsim.spec.traffic import DEFAULT_DRIVER, Driver, Pool

__all__ = ["driver_text", "pool_text"]

MISTAKES = ("runs_stops", "ignores_right_of_way", "tailgates", "brakes_hard")
VALUES = ("time_headway", "minimum_gap", "max_acceleration", "comfortable_deceleration", "critical_gap")


def pool_text(spec: Pool) -> dict[str, Any]:
    """Plain values of a pool of cars."""
    default = Pool("")
    values: dict[str, Any] = {
        "name": spec.name,
        "count": spec.count,
        "on": [f"{segment}.{lane}" for segment, lane in spec.lanes],
        "spread": "random" if spec.is_random else None,
        "flow": spec.flow,
        "from": None if spec.origin is None else str(spec.origin),
        "to": {str(point): share for point, share in spec.destinations},
        "parked": list(spec.parked),
        "pause": None if spec.pause == default.pause else spec.pause,
        "then": {str(point): share for point, share in spec.thens},
        "begin": spec.begin,
        "until": None if spec.until == default.until else spec.until,
        "arrivals": "even" if spec.is_even else None,
        "at_most": spec.at_most,
        "drivers": dict(spec.drivers),
        "class": None if spec.vehicle_class == default.vehicle_class else spec.vehicle_class,
    }
    return {key: value for key, value in values.items() if value}


def driver_text(spec: Driver) -> dict[str, Any]:
    """Plain values of a driver."""
    values = changed(DEFAULT_DRIVER, spec, ("model", "desired_speed", *VALUES))
    if "model" in values:
        values["model"] = spec.model.name.lower()
    if spec.speed is not None:
        values["desired_speed"] = {"speed": plain_of(spec.speed)}
    errors = changed(DEFAULT_DRIVER, spec, MISTAKES)
    return values | ({"errors": errors} if errors else {})
