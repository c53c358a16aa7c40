"""Shift models converted: to themselves, and to URDF with the same freedoms and mass."""

from __future__ import annotations

import pytest

from cbsim.errors import Problems
from cbsim.export.convert import convert_file
from cbsim.formats.reader import Source
from cbsim.formats.shift import count, read
from cbsim.formats.urdf import count as count_urdf
from cbsim.formats.urdf import read as read_urdf
from tests.common import shared
from tests.shift.models import file_of

NAMES = ("slider_crank/slider_crank", "bricard/bricard_no_ground_link", "vehicle/vehicle")


@pytest.mark.parametrize("name", NAMES)
def test_urdf_has_the_freedoms_and_the_mass(name):
    path = shared("shift", "head_dac9a79", *f"{name}.json".split("/"))
    problems = Problems()
    text = convert_file(path, "urdf", None, problems)
    robot = read_urdf(Source("robot.urdf", text, text.encode()), Problems())
    ours, theirs = count(file_of(path)), count_urdf(robot)
    assert theirs["degrees_of_freedom"] == ours["degrees_of_freedom"]
    assert theirs["loops"] == ours["loops"]
    assert theirs["mass"] == pytest.approx(ours["mass"], rel=1e-6)
    springs = "vehicle" in name
    assert any(problem.code == "W930" for problem in problems) == springs


@pytest.mark.parametrize("name", NAMES)
def test_the_later_dialect_says_the_same(name):
    path = shared("shift", "head_dac9a79", *f"{name}.json".split("/"))
    text = convert_file(path, "shift", None, Problems())
    assert read(Source("again.json", text, text.encode()), Problems()) == file_of(path)
    assert '"body_frame_pairs"' not in text
