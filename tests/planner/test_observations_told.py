"""What a planner is told: an observation with read-only readings, and all else as it was."""

from __future__ import annotations

import inspect
import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest

from cbsim.planner.driver import _with_readings
from cbsim.simulation.observations import observe
from cbsim.spec.command import NO_OBJECTS, Observation, ObservedObjects
from tests.worlds import bot, world

PAGE = Path(__file__).resolve().parents[2] / "docs" / "observation.md"


@pytest.mark.parametrize(
    ("kind", "heading"), [(Observation, "# Observations"), (ObservedObjects, "## Objects")], ids=["own", "objects"]
)
def test_the_page_and_the_help_tell_every_field_and_no_other(kind, heading):
    names = {each.name for each in fields(kind)}
    part = PAGE.read_text().split(f"{heading}\n")[1].split("| field |")[1].split("\n\n")[0]
    first_cells = [line.split("|")[1] for line in part.splitlines()[2:]]
    assert {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)} == names
    listed = re.findall(r"^([\w, ]+) : ", inspect.getdoc(kind), re.MULTILINE)
    assert {name for line in listed for name in line.split(", ")} == names


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


def test_what_a_planner_is_told_has_every_field():
    made = world(bot("car"))
    told = observe(made, made.start, "car", {})
    values = {each.name: getattr(told, each.name) for each in fields(Observation)}
    assert vars(told).keys() == values.keys()
    again = Observation(**values)
    assert all(getattr(again, name) is value for name, value in values.items())
    with pytest.raises(FrozenInstanceError):
        told.speed = 1.0
