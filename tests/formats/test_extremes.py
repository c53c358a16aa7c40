"""Numbers beyond all bounds are told at their line, not found out by a crash or a warning of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import Problems
from cbsim.formats import read_file
from cbsim.formats.reader import Source
from cbsim.formats.urdf import read as read_urdf
from cbsim.page.packing import Packer

SCRIPTS = [
    "sphere(vector(0,1e308,1),1e308)",
    "sphere(vector(0,0,1e400),1)",
    "sphere(vector(0,0,0),1e-320)",
    "box(vector(0,0,0),1e200,1e200,1e200)",
    "box(vector(0,0,0),1,1,1)*scale(vector(1e12,1e12,1e12))*scale(vector(1e12,1,1))",
    "vector(1e12,1,1)*1e12",
    "1e300*1e300",
    "1e13",
    "list(1e13)",
    "cylin(vector(0,0,0),vector(0,0,1e-320),1e-320)",
]


@pytest.mark.parametrize("value", SCRIPTS)
def test_a_script_that_makes_no_numbers_is_told_so(value, tmp_path):
    (tmp_path / "x.irt").write_text(f'save("x", {value});\n')
    reading = read_file(tmp_path / "x.irt")
    assert {problem.code for problem in reading.problems} <= {"E060", "E063"}
    assert reading.problems.errors or not reading.spec.objects[0].items
    assert all(problem.location.line == 1 for problem in reading.problems)


ROBOT = (
    '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{}"><parent link="a"/><child link="b"/>'
    '<limit lower="{}" upper="{}" effort="1" velocity="1"/></joint></robot>'
)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(("lower", "upper"), [("1e10", "1e12"), ("-1e12", "-1e10"), ("inf", "inf"), ("-inf", "-inf")])
def test_bounds_that_leave_no_place_are_refused(kind, lower, upper):
    text, problems = ROBOT.format(kind, lower, upper), Problems()
    read_urdf(Source("x.urdf", text, text.encode()), problems)
    assert problems.errors[0].code in ("E904", "E905")


def test_bounds_beyond_everything_are_none():
    text, problems = ROBOT.format("revolute", "-1e10", "1e10"), Problems()
    robot = read_urdf(Source("x.urdf", text, text.encode()), problems)
    assert {problem.code for problem in problems.errors} == {"E926"}  # which is about masses
    assert (robot.joints[0].limit.lower, robot.joints[0].limit.upper) == (-np.inf, np.inf)


@pytest.mark.parametrize("shape", [(0, 2), (0,), (3, 0)])
def test_pages_pack_arrays_without_numbers(shape):
    assert Packer().add(np.zeros(shape, "<f4"), rows=True)["count"] == 0


@pytest.mark.parametrize("rule", ["reach:", "reach: null", "collision: ~"])
def test_a_rule_without_arguments_is_told_at_its_line(rule, tmp_path):
    (tmp_path / "x.yaml").write_text(f"network: loop\nexpect:\n- {rule}\n")
    (problem,) = read_file(tmp_path / "x.yaml").problems.errors
    assert (problem.code, problem.location.line) == ("E806", 3)
    assert "has no arguments" in problem.message
