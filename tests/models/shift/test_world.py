"""Shift models in a World: real files run, loops stay closed, shapes touch, axes are turned, options are told."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.errors import ModelError, Problems, UsageError
from cbsim.models.shift.description import describe
from cbsim.models.shift.external_references import check_named
from cbsim.models.shift.kinematics import spin
from cbsim.paths import Files
from tests.common import shared
from tests.models.shift.benchmarks import four_bars
from tests.models.shift.models import Run, at_times, file_of, model_of

QUIET = (("contact_detection", "false"),)


def test_a_vehicle_drives_upright_at_the_speed_that_its_controller_wants():
    path = shared("shift", "head_dac9a79", "vehicle", "vehicle_control_5mps.json")
    run = Run(file_of(path), 0.01, path)
    states = run.until(10.0)
    chassis = [body.name for body in run.description.spec.bodies].index("chassis")
    assert np.linalg.norm(states[-1, chassis, 3:6]) == pytest.approx(5.0, abs=0.1)
    assert states[:, chassis, 2] == pytest.approx(np.full(len(states), 0.45), abs=0.1)
    _, x, y, _ = states[-1, chassis, 6:10]
    assert 1.0 - 2.0 * (x * x + y * y) == pytest.approx(-1.0, abs=1e-3)  # its z axis points down, as SAE has it


def boxes(tmp_path, kind, **moving):
    """Write two cubes of 1 m, the second of which flies at the first."""
    corners = "".join(f"v {x} {y} {z}\n" for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5))
    faces = "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
    (tmp_path / "cube.obj").write_text(corners + faces)

    def body(name):
        return {"name": name, "mass": 1.0, "definition": ["cube.obj"], "collision_geometry": kind,
                "moment_of_inertia": {"Ixx": 1 / 6, "Iyy": 1 / 6, "Izz": 1 / 6}}  # fmt: skip

    def free(name, place, velocity):
        return {"name": f"{name} free", "type": "float", "body_frame_pairs": [["fixed", "origin"], [name, "origin"]],
                "initial_displacement": {"T": place}, "initial_velocity": velocity}  # fmt: skip

    joints = [free("one", [0, 0, 0], [0] * 6), free("two", [3, 0, 0], [-2, 0, 0, 0, 0, 0])]
    whole = {
        "model_parameters": {"gravity": [0, 0, 0]} | moving,
        "assemblies": [{"name": "a", "bodies": [body("one"), body("two")], "joints": joints}],
    }
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize(("kind", "touch"), [("sphere", 1.0), ("ellipsoid", 1.0), ("convex_hull", 1.0)])
def test_bodies_touch_at_the_size_of_their_meshes_and_keep_their_momentum(tmp_path, kind, touch):
    path = boxes(tmp_path, kind)
    run = Run(file_of(path), 0.01, path)
    assert not list(run.problems)
    states = run.until(2.0)
    apart = states[:, 1, 0] - states[:, 0, 0]
    assert apart.min() == pytest.approx(touch, abs=1e-3)
    assert states[-1, :, 3].sum() == pytest.approx(-2.0, abs=1e-9)
    assert states[-1, :, 3] == pytest.approx([-1.0, -1.0], abs=1e-4)  # without restitution they go on together


def test_a_body_that_touches_may_be_held_by_a_damper_that_is_stiff_for_the_step(tmp_path):
    path = boxes(tmp_path, "sphere")
    whole = json.loads(path.read_text())
    ends = [["fixed", "origin"], ["one", "origin"]]
    slider = {"name": "slider", "type": "Tx", "body_frame_pairs": ends, "damping": [0, 1e4]}
    whole["assemblies"][0]["joints"][0] = slider
    path.write_text(json.dumps(whole))
    run = Run(file_of(path), 0.01, path)
    states = run.until(2.0)
    assert (states[:, 1, 0] - states[:, 0, 0]).min() == pytest.approx(1.0, abs=1e-3)
    assert states[-1, 0, 0] == pytest.approx(-2.0 / 1e4, rel=1e-2), "it slides as far as the momentum of the blow goes"


def test_a_file_may_say_that_nothing_touches(tmp_path):
    path = boxes(tmp_path, "sphere", simulation={"contact_detection": False})
    run = Run(file_of(path), 0.01, path)
    assert run.until(2.0)[-1, 0, 0] == 0.0


@pytest.mark.parametrize(("kind", "drop", "count"), [("plane", False, 2), ("sphere", True, 1), ("sphere", False, 0)])
def test_what_should_touch_and_cannot_is_told_by_a_run_and_by_check_alike(tmp_path, kind, drop, count):
    path = boxes(tmp_path, kind)
    if drop:
        (tmp_path / "cube.obj").unlink()
    spec, found = file_of(path), Problems()
    check_named(spec, tmp_path, Files([path]), found)
    told = [problem for problem in Run(spec, 0.01, path).problems if problem.code == "W995"]
    assert [problem for problem in found if problem.code == "W995"] == told
    assert len(told) == count  # bodies without a mesh are told of together
    silent = Problems()
    check_named(replace(spec, simulation=replace(spec.simulation, kept=QUIET)), tmp_path, Files([path]), silent)
    assert "W995" not in [problem.code for problem in silent]


def test_files_outside_the_folders_that_may_be_read_are_not_read(tmp_path):
    (tmp_path / "in").mkdir()
    path = boxes(tmp_path / "in", "sphere")
    (tmp_path / "in" / "cube.obj").rename(tmp_path / "cube.obj")
    path.write_text(path.read_text().replace("cube.obj", "../cube.obj"))
    run = Run(file_of(path), 0.01, path)
    told = {problem.code: problem.message for problem in run.problems}
    assert set(told) == {"W992", "W995"}
    assert "outside the folders that may be read" in told["W992"]


def test_gravity_points_down_whatever_the_file_has():
    for gravity in ((0, 0, 9.81), (0, 0, -9.81), (0, 9.81, 0), (1, 2, 3)):
        body = {"name": "b", "mass": 1.0}
        joint = {"name": "j", "type": "float", "body_frame_pairs": [["fixed", "origin"], ["b", "origin"]]}
        assembly = {"name": "a", "bodies": [body], "joints": [joint]}
        whole = {"model_parameters": {"gravity": gravity}, "assemblies": [assembly]}
        spec = model_of(json.dumps(whole))[0]
        run = Run(spec)
        down = run.until(1.0)[-1, 0, :3]
        assert down == pytest.approx([0.0, 0.0, -0.5 * np.linalg.norm(gravity)], abs=1e-9)
        assert Run(spec, upright=False).until(1.0)[-1, 0, :3] == pytest.approx(0.5 * np.array(gravity), abs=1e-9)


def test_forward_is_ahead_and_right_is_right_where_z_was_down():
    from cbsim.models.shift.upright import upright

    turn = upright((0, 0, 9.81))
    assert (turn @ (1, 0, 0)).tolist() == [0, 1, 0]
    assert (turn @ (0, 1, 0)).tolist() == [1, 0, 0]
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_inertia_may_be_about_the_origin():
    body = {"name": "b", "mass": 2.0, "center_of_mass": [0, 0, 0.5],
            "moment_of_inertia": {"Ixx": 1.0, "Iyy": 1.0, "Izz": 0.2}}  # fmt: skip
    joint = {"name": "q", "type": "Rx", "body_frame_pairs": [["fixed", "origin"], ["b", "origin"]],
             "initial_displacement": 0.1}  # fmt: skip
    assembly = {"name": "a", "bodies": [body], "joints": [joint]}
    whole = {"model_parameters": {"gravity": [0, 0, 9.81]}, "assemblies": [assembly]}
    spec = model_of(json.dumps(whole))[0]
    for about, moment in (("com", 1.5), ("origin", 1.0)):
        run = Run(spec, 0.001, inertia_about=about)
        found = run.coordinates(run.until(0.1))["q"]
        period = np.sqrt(moment / (2.0 * 9.81 * 0.5))
        assert found[-1] == pytest.approx(0.1 * np.cos(0.1 / period), rel=1e-3)


def test_settings_are_checked():
    spec = model_of(json.dumps({"assemblies": [{"name": "a"}]}))[0]
    for wrong in ({"uprigt": "1"}, {"upright": "maybe"}, {"friction": "-1"}, {"substeps": "0"}, {"inertia_about": "x"}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            describe(spec, wrong, 0.01, None, None, None)


def test_a_model_of_nothing_is_refused():
    spec = model_of(json.dumps({"assemblies": [{"name": "a"}]}))[0]
    with pytest.raises(ModelError, match="nothing to simulate"):
        Run(spec)


def test_a_run_stopped_and_resumed_is_the_same_to_the_bit():
    path = shared("shift", "head_dac9a79", "vehicle", "fiala", "tire_fiala_control_4_yaw_3000.json")
    world = cbsim.load(path, step=0.01)
    whole = cbsim.run(world, duration=0.4)
    snapshot = world.start
    for _ in range(40):
        snapshot = cbsim.step(world, snapshot)
    assert whole.positions("tire")[-1].tolist() == world["tire"].pose(snapshot).position.tolist()


def test_loops_that_are_closed_but_for_their_last_digits_move_as_if_they_were_whole():
    whole = four_bars(2)
    tilted = []
    for number, one in enumerate(whole.frames):
        turn = spin(1e-9 * np.array([1.0, -2.0, 0.0]) * number)  # axes that are not quite parallel
        tilted.append(replace(one, placement=one.placement._replace(rotation=tuple(turn.ravel().tolist()))))
    rough = replace(whole, frames=tuple(tilted))
    one, other = (at_times(model, [1.0], 0.01)["foot0"] for model in (whole, rough))
    assert one == pytest.approx(other, abs=1e-6)
