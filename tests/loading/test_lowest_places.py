"""What would lie below -5000 m, where bodies count as absent: files are refused, and a model that falls so far ends.

Nor may a model begin beyond 1e7 m, where its motion has no digits left.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import cbsim
from cbsim.errors import CbsimError, StepError
from cbsim.formats import read_file
from cbsim.formats.objects.values import HEIGHT
from cbsim.world.motion import ABSENT_BELOW
from tests.extremes import V1, V2, mechanism, model

BALL = """<robot name="m"><link name="ball"><inertial><origin xyz="0 0 {}"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def with_number(text: str, line: int, old: str, new: str) -> str:
    lines = text.splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    return "".join(lines)


def refusal(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    with pytest.raises(CbsimError) as found:
        cbsim.load(folder / name)
    return str(found.value)


@pytest.mark.parametrize("key", ["position", "position_offset"])
def test_a_scenario_says_where_an_object_is_too_low(tmp_path, key):
    said = refusal(tmp_path, "low.yaml", f"add:\n  - {{name: Wall, {key}: [0, 0, -6000]}}\n")
    assert "low.yaml:2: error: " in said
    assert f"{key}.z' is '-6000', expected at least -2000" in said
    assert "counts as absent" in said


def test_what_is_as_low_as_files_allow_is_there(tmp_path):
    low = HEIGHT.least
    text = f"add: [{{name: Wall, position: [0, 0, {low}], position_offset: [0, 0, {low}]}}]\n"
    (tmp_path / "low.yaml").write_text(text)
    world = cbsim.load(tmp_path / "low.yaml")
    assert world["Wall"].pose(world.start).position[2] > ABSENT_BELOW
    told = cbsim.execute(world, steps=2).to_dict()
    assert [one["name"] for one in told["objects"]] == ["Wall"]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("low.xml", V2.replace('<position_offset x="0" y="4" z="0"/>', '<position_offset x="0" y="4" z="-6000"/>'), 12),
        ("low.obj", V1.replace("0.0\n1.0\n0.0\n", "0.0\n1.0\n-6000.0\n"), 36),
    ],
)
def test_object_files_say_where_an_offset_is_too_low(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    reading = read_file(tmp_path / name)
    (said,) = [problem for problem in reading.problems.errors if problem.code == "E611"]
    assert said.location.line == line
    assert "must be at least -2000 m, not '-6000" in str(said)
    assert "counts as absent" in str(said)


def test_a_mesh_whose_vertices_are_too_low_is_refused_at_its_line(tmp_path):
    (tmp_path / "v.txt").write_text("-9 -9 -9000\n9 -9 -9000\n9 20 -9000\n")
    (tmp_path / "i.txt").write_text("0 1 2\n")
    item = "{name: Hill, kind: mesh, position: [0, 0, 0], vertices: v.txt, indices: i.txt}"
    said = refusal(tmp_path, "low.yaml", f"add:\n  - {item}\n")
    assert "low.yaml:2: error: object 'Hill': its centre is -9000 m high" in said


def test_a_model_with_a_body_that_is_too_low_is_refused_alone_and_in_a_scenario(tmp_path):
    said = refusal(tmp_path, "low.urdf", BALL.format(-6000))
    assert "low.urdf: error: " in said
    assert "body 'ball' is -6000 m high" in said
    said = refusal(tmp_path, "low.yaml", "models:\n  - {file: low.urdf, name: Low}\n")
    assert "low.yaml:2: error: model 'Low': body 'ball' is -6000 m high" in said


@pytest.mark.parametrize(
    ("what", "line", "old"),
    [
        ("body 'Front Left Wheel'", 41, "0.5"),
        ("joint 'Front Left Axle'", 142, "-0.65"),
        ("the shape of body 'Front Left Wheel'", 57, "0.8"),
    ],
)
def test_a_model_beyond_the_size_of_the_earth_is_refused(tmp_path, what, line, old):
    said = refusal(tmp_path, "far.jm", with_number(model("cart.jm").files["cart.jm"], line, old, "1e9"))
    assert f"far.jm: error: model 'far': {what} is " in said
    assert "m out; beyond 1e+07 m" in said


def test_a_model_whose_solid_is_beyond_the_size_of_the_earth_is_refused(tmp_path):
    dummy = model("crash_dummy.urdf").files["crash_dummy.urdf"]
    assert '"0.13 0.26 0.4"/></geometry></collision>' in dummy
    large = dummy.replace('"0.13 0.26 0.4"/></geometry></collision>', '"0.13 1e9 0.4"/></geometry></collision>', 1)
    said = refusal(tmp_path, "far.urdf", large)
    assert "far.urdf: error: model 'far': collider " in said


@pytest.mark.parametrize("scenario", [False, True])
def test_a_model_that_falls_too_low_ends_with_an_error_that_says_so(tmp_path, scenario):
    (tmp_path / "low.urdf").write_text(BALL.format(-4990))
    (tmp_path / "low.yaml").write_text(
        "add: [{name: Bot, kind: autonomous, position: [0, 0, 0]}]\nmodels: [{file: low.urdf, name: Low}]\n"
    )
    world = cbsim.load(tmp_path / ("low.yaml" if scenario else "low.urdf"))
    with pytest.raises(StepError, match=r"body 'ball' of model '[Ll]ow' falls below -5000 m") as found:
        cbsim.execute(world, steps=100 if scenario else 500)
    assert found.value.time == pytest.approx((2.0 * 10.0 / 9.81) ** 0.5, abs=0.06)


def test_a_body_that_cannot_be_built_is_told_with_its_file(tmp_path):
    bars = with_number(mechanism().files["bars.json"], 67, "0.08333333333333333", "-5e-324")
    said = refusal(tmp_path, "bars.json", with_number(bars, 23, "0.001", "5e-324"))
    assert "bars.json:1: error: body 'coupler0': inertia has the principal moments" in said
