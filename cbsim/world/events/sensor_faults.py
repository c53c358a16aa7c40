"""Faults of sensors that events begin: which sensors, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cbsim.errors import ModelError
from cbsim.spec.events import Action, Event
from cbsim.world.bodies import Bodies
from cbsim.world.events.tables import SensorFault
from cbsim.world.world import Sensor

__all__ = ["FAULTS", "sensor_fault", "with_freezes"]

FAULTS = ("sensor_fault", "gps_outage")
FOREVER = 1e12  # [s]
SATELLITES = ("gps", "ins")  # types of sensors that an outage of satellites concerns


def sensor_fault(action: Action, event: int, sensors: Sequence[Sensor], bodies: Bodies) -> SensorFault:
    """Make the fault of an action of an event, given by its number.

    Raises
    ------
    ModelError
        If the object has no such sensor.
    """
    row, stem = bodies.row(str(action["object"])), action["sensor"]
    own = [number for number, sensor in enumerate(sensors) if sensor.body == row]
    if action.kind == "gps_outage":
        found = [number for number in own if sensors[number].conf.type in SATELLITES]
        if not found:
            raise ModelError(f"'{action['object']}' has no sensor that receives satellites", location=action.location)
    else:
        found = [number for number in own if stem in (None, sensors[number].key.partition("/")[2])]
        if not found:
            what = f"sensor '{stem}'" if stem is not None else "sensor"
            known = ", ".join(sensors[number].key.partition("/")[2] for number in own) or "none"
            raise ModelError(f"'{action['object']}' has no {what}; there is {known}", location=action.location)
    kind, duration = action["fault"], action["for"]
    return SensorFault(event, tuple(found), str(kind or "outage"), duration if isinstance(duration, float) else FOREVER)


def with_freezes(sensors: tuple[Sensor, ...], events: Sequence[Event], bodies: Bodies) -> tuple[Sensor, ...]:
    """Sensors with the freezes that events may begin, which need a longer history of poses."""
    found = list(sensors)
    for event in events:
        for action in event.do:
            if action.kind == "sensor_fault" and action["fault"] == "frozen":
                fault = sensor_fault(action, 0, sensors, bodies)
                for number in fault.sensors:
                    conf = found[number].conf
                    longer = replace(conf, freezes=(*conf.freezes, (0.0, fault.duration)))
                    found[number] = replace(found[number], conf=longer)
    return tuple(found)
