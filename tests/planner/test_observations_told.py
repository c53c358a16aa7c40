"""What a planner is told: an observation with read-only readings, and all else as it was."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from cbsim.planner.driver import _with_readings
from cbsim.spec.command import NO_OBJECTS, Observation


def test_an_observation_with_other_readings_keeps_all_else():
    values = {
        "time": 1.0,
        "position": np.ones(3),
        "heading": 0.1,
        "speed": 2.0,
        "yaw_rate": 0.3,
        "state": np.ones((1, 13)),
    }
    control = {"controls": {"a": 1.0}, "run_state": "PAUSE", "alarm": 4.0, "mission_time": 5.0, "restarts": 6}
    control["checkpoints"] = 7
    told = Observation(**values, **control, scans={}, readings={}, objects=NO_OBJECTS)
    scans, readings = {"front": 1}, {"gps": 2}
    changed = _with_readings(told, scans, readings)
    assert changed.scans is scans
    assert changed.readings is readings
    others = [each.name for each in fields(Observation) if each.name not in ("scans", "readings")]
    assert set(others) == {*values, *control, "objects"}
    assert all(getattr(changed, name) is getattr(told, name) for name in others)
