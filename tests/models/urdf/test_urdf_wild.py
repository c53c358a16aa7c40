"""URDF files as they are met: encodings, marks and blanks that ROS's reader takes, and where meshes may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.urdf import read
from cbsim.models.urdf.meshes import candidates, read_meshes
from cbsim.paths import Files

LINK = '<link name="ä"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{}</link>'
TEXT = f'<robot name="r">{LINK.format("")}</robot>'
TRIANGLE = b"""solid a
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid a
"""


def problems_of(data):
    problems = Problems()
    robot = read(Source.decode("r.urdf", data), problems)
    return robot, [problem.code for problem in problems]


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        f'<?xml version="1.0" encoding="UTF-16"?>{TEXT}'.encode("utf-16"),
        f'<?xml version="1.0" encoding="UTF-16"?>{TEXT}'.encode("utf-16-be"),
        f'<?xml version="1.0" encoding="ISO-8859-1"?>{TEXT}'.encode("latin-1"),
    ],
)
def test_a_file_in_the_encoding_that_it_declares_or_marks_has_its_names_and_no_problems(data):
    robot, codes = problems_of(data)
    assert [link.name for link in robot.links] == ["ä"]
    assert not codes


@pytest.mark.parametrize(
    "data",
    [
        f'<?xml version="1.0" encoding="utf-8"?>{TEXT}'.encode("latin-1"),
        f'<?xml version="1.0" encoding="utf-16"?>{TEXT}'.encode(),
        f'  <?xml version="1.0"?>{TEXT}'.encode(),
        TEXT.replace('"r"', '"a & b"').encode(),
    ],
)
def test_what_ros_takes_and_xml_does_not_is_mended_with_a_warning(data):
    robot, codes = problems_of(data)
    assert [link.name for link in robot.links] == ["ä"]
    assert codes == ["W913"]
    assert robot.name in ("r", "a & b")


def test_commas_between_numbers_are_one_mistake_of_an_attribute():
    joint = '<joint name="j" type="fixed"><origin xyz="1, 2, 3"/><parent link="ä"/><child link="b"/></joint>'
    problems = Problems()
    read(Source.decode("r.urdf", TEXT.replace("</robot>", f'<link name="b"/>{joint}</robot>').encode()), problems)
    (problem,) = problems
    assert (problem.code, problem.hint) == ("E904", "blanks stand between the numbers, no commas")


def test_a_mesh_is_looked_for_in_its_package_whatever_is_in_its_name():
    folder = Path("/ws/src/bot/urdf")
    first = {
        "meshes/a#1.stl": "/ws/src/bot/urdf/meshes/a#1.stl",
        "meshes\\a.stl": "/ws/src/bot/urdf/meshes/a.stl",
        "package://bot/meshes/a%20b#1?.stl": "/ws/src/bot/meshes/a b#1?.stl",
        "package://bot": "/ws/src/bot",
        "package://[bot/a.stl": "/ws/src/bot/urdf/[bot/a.stl",
        "file:///opt/a.stl": "/opt/a.stl",
        "file:/opt/a.stl": "/opt/a.stl",
        "file://localhost/opt/a.stl": "/opt/a.stl",
    }
    for name, place in first.items():
        assert next(candidates(name, folder)) == Path(place)
    for name in ("http://example.org/a.stl", "gazebo://a"):
        assert not list(candidates(name, folder))


def test_a_mesh_that_lies_there_in_other_cases_is_suggested(tmp_path):
    (tmp_path / "base.STL").write_bytes(TRIANGLE)
    for name, said in (
        ("base.STL", []),
        (".\\base.STL", []),
        ("BASE.stl", ["mesh 'BASE.stl' is not there (did you mean 'base.STL'?); it is not drawn"]),
        ("package://nowhere/q.xyz", ["mesh 'package://nowhere/q.xyz' is not there; it is not drawn"]),
    ):
        look = LINK.format(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>')
        problems = Problems()
        robot = read(Source.decode(tmp_path / "r.urdf", f'<robot name="r">{look}</robot>'.encode()), problems)
        meshes = read_meshes(robot, tmp_path, Files([tmp_path]), problems)
        assert [problem.message for problem in problems] == said
        assert bool(meshes) == (not said)


def test_looks_that_an_exporter_repeats_in_collisions_are_no_warning():
    solid = '<collision><geometry><sphere radius="1"/></geometry><material name="red"/></collision>'
    _, codes = problems_of(f'<robot name="r">{LINK.format(solid)}</robot>'.encode())
    assert codes == ["I917"]
