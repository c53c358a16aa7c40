"""URDF files of our own: each carries the problems that it must give, as ``EXPECT line code``."""

from __future__ import annotations

import pytest

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.models import count, read_file
from cbsim.models.urdf import count as count_robot
from tests.formats.test_objects_corpus import CORPUS, expected

FILES = sorted((CORPUS / "urdf").glob("*.urdf"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_file_gives_exactly_the_problems_that_it_says(path):
    reading = read_file(path)
    assert reading.format.name == "urdf"
    assert sorted((p.location.line, p.code) for p in reading.problems if p.code != "I923") == expected(path)
    assert all(p.location.path == str(path) for p in reading.problems)


def test_what_is_written_is_what_was_read_with_its_numbers_as_they_stood():
    reading = read_file(CORPUS / "urdf" / "every_element.urdf")
    text = reading.format.load().write(reading.spec)
    again = reading.format.load().read(Source("again", text, text.encode()), Problems())
    assert again == reading.spec
    assert reading.format.load().write(again) == text
    for kept in ('value="12.50"', 'xyz="0 3 4"', "<gazebo", "<transmission", "<safety_controller", 'velocity="inf"'):
        assert kept in text


def test_counts_are_those_of_the_file():
    reading = read_file(CORPUS / "urdf" / "every_element.urdf")
    counts = count(reading)
    assert counts == {"bodies": 5, "joints": 5, "loops": 1, "degrees_of_freedom": 8, "mass": 13.6}


def test_a_joint_without_its_links_is_counted_as_it_stands():
    text = '<robot name="r"><link name="a"/><joint name="j" type="revolute"><parent/><child link="a"/></joint></robot>'
    problems = Problems()
    form = read_file(CORPUS / "urdf" / "circle.urdf").format.load()
    robot = form.read(Source("half", text, text.encode()), problems)
    assert "E903" in {problem.code for problem in problems.errors}
    assert count_robot(robot)["degrees_of_freedom"] == 1
