"""Plausibility of objects: values that no vehicle has are told, ordinary ones are not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Location, Problems
from cbsim.lint.objects import lint_objects
from cbsim.paths import Files
from cbsim.spec.objects import Controller, Goal, Kind, ObjectFile, TrafficObject, Triple, Wheels, WheelType

PLACE = Location("o.xml", 4)


def found(kind=Kind.AUTONOMOUS, **fields):
    fields.setdefault("size", Triple(1.8, 4.5, 1.5))
    fields.setdefault("controller", None if kind is Kind.STATIC else Controller.SENSOR)
    item, problems = TrafficObject(kind, "Bot", location=PLACE, **fields), Problems()
    lint_objects(ObjectFile("", (item,), location=PLACE), None, Files(["o.xml"]), problems)
    return [problem.message for problem in problems if problem.code == "W669"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"size": Triple(1.8, 1700.0, 1.5)}, "length of object 'Bot' is 1700 m; usual is 0.05 to 50 m"),
        ({"size": Triple(0.018, 4.5, 1.5)}, "width of object 'Bot' is 0.018 m; usual is 0.05 to 50 m"),
        ({"wheels": Wheels(WheelType.SKID, 15.0, 0.2)}, "wheel radius of object 'Bot' is 15 m; usual is 0.01 to 2.5 m"),
        ({"initial_pause": 500000.0}, "initial pause of object 'Bot' is 500000 s; usual is at most 86400 s"),
        ({"goals": (Goal(300.0, 0.0, 1, 1, 2),) * 3}, "speed of object 'Bot' is 300 m/s; usual is at most 120 m/s"),
        ({"goals": (Goal(3.0, 5e5, 1, 1, 2),)}, "pause of object 'Bot' is 500000 s; usual is at most 86400 s"),
        ({"parameters": (("mass", 1.5),)}, None),
        ({"parameters": (("mass", 1.5e6),)}, "mass of object 'Bot' is 1.5e+06 kg; usual is 0.05 to 200000 kg"),
        ({"goals": (Goal(0.0, 0.0, 1, 1, 2),)}, None),
        ({}, None),
    ],
)
def test_values_that_no_vehicle_has_are_told_once_with_what_is_usual(fields, told):
    assert found(**fields) == ([] if told is None else [told])


def test_what_stands_may_have_any_size():
    assert found(Kind.STATIC, size=Triple(900.0, 0.01, 200.0)) == []


@settings(max_examples=30)
@given(st.floats(0.3, 20.0), st.floats(0.1, 30.0), st.floats(0.0, 80.0), st.floats(0.0, 3600.0))
def test_ordinary_values_are_never_told(length, width, speed, pause):
    assert found(size=Triple(width, length, 1.5), goals=(Goal(speed, pause, 1, 1, 2),)) == []
