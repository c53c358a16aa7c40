"""Faults of sensors that events begin: outages and freezes as windows of time, from the event on.

A window follows from the step in which the event came true, which the Snapshot holds, so nothing else has to be kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from cbsim.spec.sensor import SensorConf, Window
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import Sensor, World

__all__ = ["sensors_at"]

NOT_YET: Window = (math.inf, math.inf)
SOON = 1e-6  # [s] a reading that is taken when the event comes true belongs to the state before it


def sensors_at(world: World, snapshot: Snapshot) -> Sequence[Sensor]:
    """All sensors, with the faults that have begun by a Snapshot."""
    if not world.events.faults:
        return world.sensors
    found = list(world.sensors)
    for fault in world.events.faults:
        step = int(snapshot.columns.event[fault.event])
        begin = step * world.step
        window = (begin + SOON, begin + fault.duration) if step >= 0 else NOT_YET
        for number in fault.sensors:
            found[number] = replace(found[number], conf=_with(found[number].conf, fault.kind, window))
    return found


def _with(conf: SensorConf, kind: str, window: Window) -> SensorConf:
    """Add a window to the outages or the freezes of a conf; those of the conf itself keep their places."""
    if kind == "frozen":
        return conf if window == NOT_YET else replace(conf, freezes=(*conf.freezes, window))
    return replace(conf, outages=(*conf.outages, window))
