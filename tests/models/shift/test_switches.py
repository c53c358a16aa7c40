"""What of a Shift file is switched off, or held fast, or said twice: it is kept, told, and does nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cbsim
from cbsim.errors import Problems, UsageError
from cbsim.formats.reader import Source
from cbsim.formats.shift import write
from cbsim.models.shift import count
from cbsim.models.shift.external_references import check_named
from cbsim.paths import Files
from tests.models.shift.models import Run, model_of, read
from tests.models.shift.test_terrain import hills

UNIT = {"Ixx": 1.0, "Iyy": 1.0, "Izz": 1.0}


def body(name, **keys):
    return {"name": name, "mass": 1.0, "moment_of_inertia": UNIT, "frames": [{"name": "f", "T": [0.5, 0, 0]}]} | keys


def joint(name, parent, child, kind="Ry", **keys):
    return {"name": name, "type": kind, "body_frame_pairs": [parent, child]} | keys


FIRST = joint("j", ["fixed", "origin"], ["b", "f"])


def model(bodies, joints, gravity=(0, 0, 9.81), fixed=None, units=None, **more):
    whole = {
        "model_parameters": {"gravity": gravity} | ({"units": units} if units else {}),
        "fixed": fixed or {},
        "assemblies": [{"name": "a", "bodies": bodies, "joints": joints} | more],
    }
    return model_of(json.dumps(whole))


def codes(problems):
    return [problem.code for problem in problems]


ASLEEP = {
    "a joint": {"joints": [FIRST, joint("k", ["b", "origin"], ["nix", "f"], "gear", active=False)]},
    "a body": {"bodies": [body("b"), {"name": "c", "mass": "x", "active": False}]},
    "a restraint": {"restraint": {"type": "rope", "active": False}},
    "an assembly": {
        "assemblies": [{"name": "z", "active": False, "bodies": [{"name": "q", "mass": "x"}], "joints": [{"type": 3}]}]
    },
}


@pytest.mark.parametrize("what", ASLEEP)
def test_mistakes_in_what_is_not_active_are_told_once_and_kept(what):
    spec, problems = model(**({"bodies": [body("b")], "joints": [FIRST]} | ASLEEP[what]))
    assert codes(problems) == ["W982"]
    assert "is not active, and kept as it stands" in next(iter(problems)).message
    again, _ = model_of(write(spec))
    assert again == spec
    assert count(spec)["degrees_of_freedom"] == 1
    (kept,) = spec.assemblies[0].dormant
    (given,) = ASLEEP[what].values()
    assert json.loads(kept.text) == (given[-1] if isinstance(given, list) else given)


@pytest.mark.parametrize("name", ["z:q", "z:deep:q", "c"])
def test_what_refers_to_a_kept_record_falls_away_with_a_warning(name):
    inner = {"name": "z", "active": False, "bodies": [{"name": "q", "mass": "x"}]}
    other = joint("k", ["b", "origin"], [name, "f"])
    spec, problems = model([body("b"), {"name": "c", "mass": "x", "active": False}], [FIRST, other], assemblies=[inner])
    assert set(codes(problems)) == {"W982"}
    assert not problems.errors
    assert count(spec)["degrees_of_freedom"] == 1


def test_terrain_that_is_not_active_holds_nothing(tmp_path):
    falls = {}
    for active in (True, False):
        path = hills(tmp_path, np.ones((3, 3)), active=active)
        spec, problems = model_of(path.read_text())
        assert not problems.errors
        assert model_of(write(spec))[0] == spec
        assert spec.terrain[0].active is active
        falls[active] = Run(spec, 0.01, path).until(1.5)[-1, 0, 2]
    assert falls[True] == pytest.approx(2.0, abs=0.01)  # its radius above the ground
    assert falls[False] == pytest.approx(4.0 - 0.5 * 9.81 * 1.5**2, abs=1e-6)


def named(fixed, tmp_path, **more):
    spec, problems = model([body("b")], [FIRST], fixed=fixed, **more)
    assert not problems.errors
    found = Problems()
    path = tmp_path / "model.json"
    check_named(spec, tmp_path, Files([path]), found)
    return [(problem.code, problem.message) for problem in found]


def test_terrain_without_picture_or_place_is_told_when_a_file_is_checked(tmp_path):
    place = {"name": "t", "elevation_map": "none.tiff", "scale": [1, 1]}
    ((code, message),) = named({"terrain": [place]}, tmp_path)
    assert (code, "none.tiff" in message) == ("W998", True)
    ((code, message),) = named({"terrain": [place | {"parent": ["fixed", "hill"]}]}, tmp_path)
    assert (code, "'fixed:hill', which is not there" in message) == ("W998", True)
    assert not named({"terrain": [place | {"active": False}]}, tmp_path)


def test_lights_that_stand_nowhere_are_told_unless_they_are_off(tmp_path):
    def lit(parent, **keys):
        return {"lights": [{"name": "sun", "type": "point", "parent": parent} | keys]}

    for parent in (["fixed", "origin"], ["b", "f"], ["a:b", "f"], [["a", "b"], "f"]):
        assert not named(lit(parent), tmp_path)
    assert [code for code, _ in named(lit(["c", "f"]), tmp_path)] == ["W983"]
    assert [code for code, _ in named(lit(["b", "g"]), tmp_path)] == ["W984"]
    assert not named(lit(["c", "f"], active=False), tmp_path)
    spec, _ = model([body("b")], [FIRST], fixed=lit(["c", "f"], active=False))
    assert not spec.lights[0].active
    assert model_of(write(spec))[0] == spec


def test_a_body_that_a_rigid_joint_holds_stands_and_a_second_one_changes_nothing():
    hold = joint("j", ["fixed", "origin"], ["b", "f"], "rigid")
    for joints in ([hold], [hold, hold | {"name": "k"}]):
        spec, problems = model([body("b")], joints)
        assert not problems.errors
        assert count(spec)["degrees_of_freedom"] == 0
        states = Run(spec).until(0.5)
        assert np.abs(states - states[0])[:, :, :10].max() < 1e-12
    spec, problems = model([body("b")], [hold, joint("k", ["fixed", "origin"], ["b", "origin"], "rigid")])
    assert codes(problems.errors) == ["E988"]


def test_two_rigid_joints_between_moving_bodies_swing_as_one_does():
    ways = []
    tie = joint("k", ["b", "origin"], ["c", "f"], "rigid")
    for joints in ([FIRST, tie], [FIRST, tie, tie | {"name": "l"}]):
        spec, problems = model([body("b"), body("c")], joints)
        assert not problems.errors
        ways.append(Run(spec, 0.01).until(1.0)[-1])
    assert ways[0] == pytest.approx(ways[1], abs=1e-9)


def truss():
    """Three bars in a triangle, hinged at its corners; the first hangs on the ground by a hinge at its end."""
    tip = [{"name": "tip", "T": [1, 0, 0]}]
    bars = [body(name, frames=tip, center_of_mass=[0.5, 0, 0]) for name in "bcd"]
    third = 2.0 * np.pi / 3.0
    return model(
        bars,
        [
            joint("q", ["fixed", "origin"], ["b", "origin"], "Rz"),
            joint("one", ["b", "tip"], ["c", "origin"], "Rz", initial_displacement=third),
            joint("two", ["c", "tip"], ["d", "origin"], "Rz", initial_displacement=third, stiffness=[5.0, 9.0]),
            joint("three", ["d", "tip"], ["b", "origin"], "Rz", initial_displacement=third),
        ],
        gravity=(0, 9.81, 0),
        force_modules=[{"type": "pid", "p": 1e3, "target": 9, "input": {"joint": "q"}, "output": {"joint": "three"}}],
    )


def test_a_truss_swings_as_one_body():
    spec, problems = truss()
    assert codes(problems) == ["W990", "W982"]  # its hinges, and the controller that would drive one
    assert count(spec)["degrees_of_freedom"] == 1
    run = Run(spec, 0.01)
    states = run.until(2.0)
    apart = np.linalg.norm(states[:, 0, :3] - states[:, 1, :3], axis=1)
    assert apart == pytest.approx(np.full(len(apart), 0.5), abs=1e-9)
    centers = np.array([[0.5, 0.0], [0.75, 0.75**0.5 / 2.0], [0.25, 0.75**0.5 / 2.0]])
    moment = 3.0 + (centers**2).sum()
    middle = centers.mean(axis=0)
    start, length = np.arctan2(*middle[::-1]), np.hypot(*middle)
    from scipy.integrate import solve_ivp

    pull = 3.0 * 9.81 * length / moment
    exact = solve_ivp(lambda _, y: (y[1], pull * np.cos(start + y[0])), (0, 2), (0, 0), rtol=1e-10, atol=1e-10).y[0, -1]
    assert run.coordinates(states)["q"][-1] == pytest.approx(exact, abs=2e-3)


def test_an_axis_that_a_type_names_is_not_changed():
    plain = joint("j", ["fixed", "origin"], ["b", "f"], "Rx")
    spec, problems = model([body("b")], [plain | {"axis": "y"}])
    assert codes(problems) == ["W978"]
    assert spec.assemblies[0].joints[0].axis == (1.0, 0.0, 0.0)
    assert not list(model([body("b")], [plain | {"axis": [1, 0, 0]}])[1])
    ball = joint("j", ["fixed", "origin"], ["b", "f"], "spherical", axis="x")
    assert codes(model([body("b")], [ball])[1]) == ["W978"]


def test_a_spring_on_one_body_is_told_and_does_nothing():
    spring = {"type": "spring", "body_frame_pair": [["b", "f"], ["b", "origin"]], "coefficients": [[100.0, 0.0]]}
    spec, problems = model([body("b")], [FIRST], restraint=spring)
    assert codes(problems) == ["W993"]
    assert Run(spec).description.behaviour is None


@pytest.mark.parametrize("end", [["a:b:f"], [["a:b:f"]], ["a", "b", "f"], "a:b:f", [["a", "b"], "f"]])
def test_a_path_with_its_frame_is_read_however_it_is_packed(end):
    spec, problems = model([body("b")], [joint("j", ["fixed", "origin"], end)])
    assert not list(problems)
    assert spec.assemblies[0].joints[0].child.frame == "f"


def test_further_integrators_are_told_and_kept():
    text = json.dumps({
        "model_parameters": {
            "gravity": [0, 0, 1],
            "integrators": [{"type": "rk4", "time_step": 0.5}, {"type": "ode113", "time_step": 0.001}],
        },
        "assemblies": [{"name": "a", "bodies": [body("b")], "joints": [FIRST]}],
    })  # fmt: skip
    spec, problems = model_of(text)
    assert codes(problems) == ["W966"]
    assert spec.simulation.step == 0.5
    again, told = model_of(write(spec))
    assert (again, codes(told)) == (spec, ["W966"])


def test_further_integrators_are_in_si_as_the_first_one_is():
    entries = [{"time_step": 10, "omega_n": 0.5}, {"type": "rk4", "time_step": 5, "time_span": 2000, "omega_n": 0.1}]
    text = json.dumps({
        "model_parameters": {"gravity": [0, 0, 1], "units": {"time": "ms"}, "integrators": entries},
        "assemblies": [{"name": "a", "bodies": [body("b")], "joints": [FIRST]}],
    })  # fmt: skip
    written = json.loads(write(model_of(text)[0]))["model_parameters"]
    assert written["units"]["time"] == "seconds"
    first, second = written["integrators"]
    assert first == pytest.approx({"time_step": 0.01, "omega_n": 500.0}, rel=1e-15)
    assert second.pop("type") == "rk4"
    assert second == pytest.approx({"time_step": 0.005, "time_span": 2.0, "omega_n": 100.0}, rel=1e-15)


@pytest.mark.parametrize("unit", ["mm", "m"])
def test_what_is_kept_as_it_stands_in_other_units_than_si_is_told_so(unit):
    text = json.dumps({
        "model_parameters": {"gravity": [0, 0, 1], "units": {"length": unit}},
        "assemblies": [{"name": "a", "joints": [FIRST], "bodies": [
            body("b"), body("c", center_of_mass=[1000, 0, "x"], active=False)]}],
    })  # fmt: skip
    (problem,) = [one for one in model_of(text)[1] if one.code == "W982"]
    assert problem.message.endswith(", in the file's units: what is written is in SI, and its numbers are not") == (
        unit == "mm"
    )


def test_a_file_without_parameters_says_that_it_has_no_gravity():
    text = json.dumps({"assemblies": [{"name": "a", "bodies": [body("b")], "joints": [FIRST]}]})
    assert codes(model_of(text)[1]) == ["W971"]


MM = {"length": "mm", "mass": "g", "angle": "degrees", "time": "ms"}


def controller(**keys):
    watched = {"type": "joint", "joint": "j"}
    law = {"type": "pid", "p": 1.0, "i": 2.0, "d": 3.0, "target": 90.0, "input": watched, "output": {"joint": "j"}}
    spec, problems = model([body("b")], [FIRST], units=MM, force_modules=[law | keys])
    assert not problems.errors
    assert not [problem for problem in problems if problem.code == "W981"]
    assert model_of(write(spec))[0] == spec
    return spec.assemblies[0].force_modules[0].law


def test_numbers_of_controllers_are_taken_to_si():
    degree, torque = np.pi / 180.0, 1e-3 * 1e-3**2 / 1e-3**2  # g mm²/ms²
    law = controller()
    assert law.target == pytest.approx(90.0 * degree)
    assert law.gains == pytest.approx((torque / degree, 2.0 * torque / degree / 1e-3, 3.0 * torque / degree * 1e-3))
    law = controller(input={"type": "frame", "body_frame_pair": ["b", "f"], "dof": "Tx"})
    assert law.target == pytest.approx(90.0)  # mm/ms are m/s
    assert law.gains[0] == pytest.approx(torque)


def test_numbers_of_tyres_are_taken_to_si():
    numbers = {
        "unloaded_radius": 300.0,
        "vertical_stiffness": 200.0,
        "vertical_damping": 500.0,
        "calpha": 2.0,
        "umin": 0.5,
    }
    tyre = {"type": "tire", "tire_type": "fiala", "wheel_body": "b"} | numbers
    spec, problems = model([body("b")], [FIRST], units=MM, force_modules=[tyre])
    assert not problems.errors
    force = 1e-3 * 1e-3 / 1e-3**2  # g mm/ms²
    assert dict(spec.assemblies[0].force_modules[0].law.numbers) == pytest.approx({
        "unloaded_radius": 0.3, "vertical_stiffness": 200.0 * force / 1e-3,
        "vertical_damping": 500.0 * force * 1e-3 / 1e-3, "calpha": 2.0 * force * 180.0 / np.pi, "umin": 0.5,
    })  # fmt: skip


MESSAGES = [
    (body("b", center_of_mass=[0, 0]), "center_of_mass of body 'b' is a list of 2, expected three numbers"),
    (body("b", frames=[{"name": "f", "R": [1] * 9}]),
     "R of frame 'f' is a list of 9, expected three lists of three numbers"),
    (body("b", mass="x"), "mass of body 'b' is 'x', expected a number"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "message"), MESSAGES)
def test_messages_name_the_record_and_what_was_expected(record, message):
    text = json.dumps({"assemblies": [{"name": "a", "bodies": [record], "joints": []}]})
    problems = Problems()
    read(Source("m.json", text, text.encode()), problems)
    assert [problem.message for problem in problems.errors] == [message]


@pytest.mark.parametrize(
    ("times", "options", "step", "steps", "duration"),
    [
        ({"time_step": 0.03, "time_span": 2.0}, {}, 0.03, 3, 2.0),
        ({"time_step": 0.004}, {}, 0.004, 1, 60.0),
        ({"time_step": 0.03, "time_span": 2.0}, {"step": 0.02, "duration": 1.0}, 0.02, 1, 1.0),
        ({}, {}, 0.01, 1, 60.0),
        ({"time_step": 1e11}, {}, 1.0, 100, 60.0),
    ],
)
def test_a_run_has_the_rows_and_the_duration_of_its_file_unless_it_is_told_others(
    tmp_path, times, options, step, steps, duration
):
    path = tmp_path / "model.json"
    parameters = {"gravity": [0, 0, 1], "integrators": [{"type": "ode113"} | times]}
    assembly = {"name": "a", "bodies": [body("b")], "joints": [FIRST]}
    path.write_text(json.dumps({"model_parameters": parameters, "assemblies": [assembly]}))
    world = cbsim.load(path, **options)
    assert (world.settings.step, world.settings.duration) == (step, duration)
    assert world.instances[0].steps == steps
    assert world.instances[0].spec.timestep == pytest.approx(step / steps, rel=1e-15)


def test_a_duration_of_too_many_steps_of_the_file_is_refused(tmp_path):
    path = tmp_path / "model.json"
    parameters = {"gravity": [0, 0, 1], "simulation": {"time_step": 1e-6}}
    assembly = {"name": "a", "bodies": [body("b")], "joints": [FIRST]}
    path.write_text(json.dumps({"model_parameters": parameters, "assemblies": [assembly]}))
    with pytest.raises(UsageError, match=r"10000 s in steps of 1e-06 s are 1e\+10 steps, more than 1e\+09"):
        cbsim.load(path, duration=1e4)


def test_a_piston_at_its_dead_centre_is_not_held():
    """Crank and rod in line: no rate of the crank moves the piston, to first order."""
    tip = [{"name": "tip", "T": [1, 0, 0]}]
    bars = [body("crank", frames=tip, center_of_mass=[0.5, 0, 0]), body("rod", frames=tip, center_of_mass=[0.5, 0, 0])]
    spec, problems = model(
        [*bars, body("piston")],
        [
            joint("q", ["fixed", "origin"], ["crank", "origin"], "Rz", initial_velocity=2.0),
            joint("r", ["crank", "tip"], ["rod", "origin"], "Rz", initial_velocity=-4.0),
            joint("s", ["fixed", "origin"], ["piston", "origin"], "Tx", initial_displacement=2.0),
            joint("t", ["rod", "tip"], ["piston", "origin"], "Rz", initial_velocity=2.0),
        ],
        gravity=(0, 0, 0),
    )
    assert not list(problems)
    assert count(spec)["degrees_of_freedom"] == 1
    run = Run(spec, 0.005)
    found = run.coordinates(run.until(0.5))
    assert found["q"][-1] > 0.5
    assert found["s"] == pytest.approx(2.0 * np.cos(found["q"]), abs=1e-6)
