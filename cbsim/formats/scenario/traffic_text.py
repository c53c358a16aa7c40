"""Spec → the plain values of ``traffic`` and ``drivers`` in a scenario: only what differs from the defaults."""

from __future__ import annotations

from typing import Any

from cbsim.spec.traffic import DEFAULT_DRIVER, Driver, Pool, Spread

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
    values: dict[str, Any] = {"model": None if spec.model == DEFAULT_DRIVER.model else spec.model.name.lower()}
    if spec.speed is not None:
        values["desired_speed"] = {"speed": _spread(spec.speed)}
    elif spec.desired_speed != DEFAULT_DRIVER.desired_speed:
        values["desired_speed"] = _spread(spec.desired_speed)
    for name in VALUES:
        value = getattr(spec, name)
        values[name] = None if value == getattr(DEFAULT_DRIVER, name) else _spread(value)
    values["errors"] = {name: getattr(spec, name) for name in MISTAKES if getattr(spec, name)} or None
    return {key: value for key, value in values.items() if value is not None}


def _spread(value: Spread) -> Any:
    return {"normal": list(value)} if value.deviation else value.mean
