"""Forces of Shift models: springs and dampers in pieces, friction, controllers, tyres; bodies without mass."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.shift.tyre_file import parse_tyre
from cbsim.models.shift.fiala import TyreNumbers, forward_force, side_force
from cbsim.models.shift.laws import Law
from tests.models.shift.models import Run, at_times, extrapolated, model_of

UNIT = {"Ixx": 1.0, "Iyy": 1.0, "Izz": 1.0}


def slide(gravity=0.0, velocity=0.0, displacement=0.0, mass=1.0, kind="Tz", joint=None, **more):
    """Make a body on one joint along or about z of the ground, with z down."""
    body = {"name": "b", "mass": mass, "moment_of_inertia": UNIT}
    first = {"name": "q", "type": kind, "body_frame_pairs": [["fixed", "origin"], ["b", "origin"]],
             "initial_displacement": displacement, "initial_velocity": velocity} | (joint or {})  # fmt: skip
    whole = {
        "model_parameters": {"gravity": [0, 0, gravity]},
        "assemblies": [{"name": "a", "bodies": [body], "joints": [first]} | more],
    }
    spec, problems = model_of(json.dumps(whole))
    assert not problems.errors, list(problems)
    return spec


def test_a_knot_belongs_to_the_piece_that_follows():
    law = Law((0.0, 1.0), ((0.0, 0.5, 2.0), (7.0,), (1.0, 1.0)))
    assert [law.at(x) for x in (-1.0, -1e-9, 0.0, 0.5, 1.0, 2.0)] == pytest.approx(
        [1.5, 0.0, 7.0, 7.0, 2.0, 3.0], abs=1e-8
    )


def test_a_damped_oscillator_follows_its_closed_form_whatever_says_so():
    k, c, m = 50.0, 4.0, 2.0
    w0, zeta = math.sqrt(k / m), c / (2.0 * math.sqrt(k * m))
    wd = w0 * math.sqrt(1.0 - zeta * zeta)
    times = np.array([0.1, 0.5, 1.0])
    closed = np.exp(-zeta * w0 * times) * (np.cos(wd * times) + zeta * w0 / wd * np.sin(wd * times))
    spring = {"type": "spring", "coefficients": [[k, 0.0]]}
    damper = {"type": "damper", "coefficients": [[c, 0.0]]}
    pair = {"body_frame_pair": [["fixed", "far"], ["b", "origin"]], "distance_type": "Tz"}
    ground = {"restraints": [spring | {"joint": "q"}, damper | {"joint": "q"}]}
    between = {"restraints": [spring | pair, damper | pair]}
    for model in (
        slide(displacement=1.0, mass=m, joint={"stiffness": [0.0, k], "damping": [0.0, c]}),
        slide(displacement=1.0, mass=m, **ground),
    ):
        found, order = extrapolated(model, times, 0.01)
        assert found["q"] == pytest.approx(closed, abs=5e-8)
        assert order["q"] == pytest.approx(2.0, abs=0.1)
    whole = slide(displacement=1.0, mass=m, **json.loads(json.dumps(between).replace('"far"', '"origin"')))
    found, order = extrapolated(whole, times, 0.005)
    assert found["q"] == pytest.approx(closed, abs=2e-6)  # of dampers between frames the first step is of first order
    assert order["q"] == pytest.approx(2.0, abs=0.2)


def test_angles_go_on_counting_over_full_turns():
    spring = slide(kind="Rz", displacement=20.0, joint={"stiffness": [-15.0, 1.0]})  # slack at 15, two turns and more
    found, _ = extrapolated(spring, [1.0, 2.0, 3.0], 0.01)
    assert found["q"] == pytest.approx(15.0 + 5.0 * np.cos([1.0, 2.0, 3.0]), abs=1e-6)


def test_a_strong_damper_stops_what_it_holds_without_swinging():
    run = Run(slide(velocity=3.0, joint={"damping": [0.0, 1e4]}), 0.01)
    found = run.coordinates(run.until(1.0))["q"]
    assert found[-1] == pytest.approx(3.0 * 1.0 / 1e4, abs=1e-3)  # a hundredth of a step at its speed
    assert np.ptp(found[3:]) < 1e-5


def test_a_block_with_dry_friction_stops_where_it_must_and_stays():
    friction = {"restraints": [{"type": "friction", "joint": "q", "knot_points": [0], "coefficients": [[-5], [5]]}]}
    run = Run(slide(velocity=2.0, **friction), 0.001)
    found = run.coordinates(run.until(2.0))["q"]
    assert found[-1] == pytest.approx(2.0**2 / (2.0 * 5.0), abs=2e-3)
    assert np.ptp(found[450:]) < 1e-9
    held = Run(slide(gravity=4.9, **friction), 0.01)
    assert np.abs(held.coordinates(held.until(1.0))["q"]).max() < 1e-6
    slipping = Run(slide(gravity=9.0, **friction), 0.01)
    assert slipping.coordinates(slipping.until(1.0))["q"][-1] == pytest.approx(0.5 * 4.0, rel=1e-6)


def test_friction_that_grows_with_speed_keeps_its_dry_part():
    dry, rest = Law((0.0,), ((-5.0, 2.0), (5.0, 2.0))).parted()
    assert (dry, rest.pieces) == (5.0, ((0.0, 2.0), (0.0, 2.0)))


def pid(p=0.0, i=0.0, d=0.0, target=0.0, **watched):
    return {"force_modules": [{"type": "pid", "p": p, "i": i, "d": d, "target": target, "input": watched,
                               "output": {"type": "joint", "joint": "q"}}]}  # fmt: skip


def test_a_controller_of_velocity_drives_to_its_target_as_the_exponential():
    frame = {"type": "frame", "body_frame_pair": ["b", "origin"], "dof": "Tz"}
    for watched in (frame, {"type": "joint", "joint": "q", "target_type": "velocity"}):
        run = Run(slide(gravity=1e-12, mass=2.0, **pid(p=4.0, target=3.0, **watched)), 0.001)
        states = run.until(1.0)
        found = run.coordinates(states)["q"]
        times = np.arange(len(found)) * 0.001
        assert found == pytest.approx(3.0 * (times - 0.5 * (1.0 - np.exp(-2.0 * times))), abs=2e-3)


def test_a_controller_of_position_swings_and_its_integral_takes_away_what_gravity_leaves():
    joint = {"type": "joint", "joint": "q"}
    found = at_times(slide(**pid(p=9.0, target=1.0, **joint)), [1.0, 2.0], 0.002)["q"]
    assert found == pytest.approx(1.0 - np.cos([3.0, 6.0]), abs=1e-4)
    held = at_times(slide(gravity=9.81, **pid(p=30.0, i=20.0, d=10.0, target=1.0, **joint)), [20.0], 0.01)["q"]
    assert held == pytest.approx([1.0], abs=1e-3)


TYRE = TyreNumbers()


def test_slip_forces_grow_from_their_stiffness_to_friction():
    load = 4000.0
    assert forward_force(TYRE, load, 1e-4, 0.0) == pytest.approx(TYRE.cslip * 1e-4)
    assert side_force(TYRE, load, 0.0, 1e-5)[0] == pytest.approx(-TYRE.calpha * 1e-5, rel=1e-3)
    assert side_force(TYRE, load, 0.0, 2.0) == (pytest.approx(-TYRE.umin * load), 0.0)
    slips = np.linspace(0.0, 1.0, 200)
    forward = np.array([forward_force(TYRE, load, slip, 0.0) for slip in slips])
    assert (forward <= TYRE.umax * load).all()
    assert np.abs(np.diff(forward)).max() < 600.0  # continuous
    assert side_force(TYRE, load, 0.0, 0.02)[1] > 0.0  # it turns to where it moves


def test_slip_forces_are_odd():
    for value in (1e-3, 0.05, 0.7):
        assert forward_force(TYRE, 3e3, -value, 0.1) == -forward_force(TYRE, 3e3, value, 0.1)
        one, other = side_force(TYRE, 3e3, 0.1, -value), side_force(TYRE, 3e3, 0.1, value)
        assert one == (-other[0], -other[1])


def wheel(speed=0.0, spin=0.0, height=-0.34, **module):
    body = {"name": "w", "mass": 20.0, "moment_of_inertia": {"Ixx": 0.6, "Iyy": 0.9, "Izz": 0.6}}
    joint = {
        "name": "free", "type": "float", "body_frame_pairs": [["fixed", "origin"], ["w", "origin"]],
        "initial_displacement": {"T": [0, 0, height]}, "initial_velocity": [speed, 0, 0, 0, spin, 0],
    }  # fmt: skip
    tyre = {"type": "tire", "tire_type": "fiala", "wheel_body": "w", "unloaded_radius": 0.35} | module
    whole = {
        "model_parameters": {"gravity": [0, 0, 9.81]},
        "assemblies": [{"name": "a", "bodies": [body], "joints": [joint], "force_modules": [tyre]}],
    }
    return model_of(json.dumps(whole))[0]


def test_a_wheel_stands_as_deep_as_its_stiffness_says():
    run = Run(wheel(vertical_damping=2000.0), 0.01)
    states = run.until(3.0)
    assert states[-1, 0, 2] == pytest.approx(0.35 - 20.0 * 9.81 / TYRE.vertical_stiffness, abs=1e-6)
    assert np.abs(states[-1, 0, :2]).max() < 1e-6


def test_a_wheel_that_is_pushed_spins_up_until_it_rolls_and_goes_straight_on():
    run = Run(wheel(speed=10.0, vertical_damping=2000.0), 0.01)
    states = run.until(2.0)
    speed, spin = states[:, 0, 4], -states[:, 0, 11]  # forward is y of the world, and turns back about its axle
    radius = 0.35 - 20.0 * 9.81 / TYRE.vertical_stiffness
    assert spin[-1] * radius == pytest.approx(speed[-1], rel=1e-3)
    # m v + (I / r) w stays: the ground's force changes both
    assert 20.0 * speed[-1] + 0.9 / radius * spin[-1] == pytest.approx(200.0, rel=5e-3)
    assert np.abs(states[:, 0, 0]).max() < 1e-9


def test_a_locked_wheel_brakes_by_friction():
    fast = TyreNumbers()
    spec = wheel(speed=10.0, height=-(0.35 - 20.0 * 9.81 / fast.vertical_stiffness), umin=0.8, umax=0.8)
    run = Run(spec, 0.001)
    states = run.until(0.05)
    slowing = (states[0, 0, 4] - states[-1, 0, 4]) / 0.05
    assert slowing == pytest.approx(0.8 * 9.81, rel=2e-2)  # all of it goes into spinning the wheel up, still sliding


def test_a_tyre_s_file_is_read_in_its_own_units():
    text = """
[UNITS]
LENGTH = 'mm'
FORCE = 'newton'
ANGLE = 'degree'
TIME = 'sec'
[DIMENSION]
UNLOADED_RADIUS = 309.9   $ free
WIDTH = 235.0
[PARAMETER]
VERTICAL_STIFFNESS = 310.0
VERTICAL_DAMPING = 3.1
CSLIP = 1000.0
CALPHA = 800.0
UMIN = 0.9
UMAX = 1.0
"""
    problems = Problems()
    found = parse_tyre(Source("t.tir", text, text.encode()), problems)
    assert not list(problems)
    assert (found.unloaded_radius, found.width) == pytest.approx((0.3099, 0.235))
    assert (found.vertical_stiffness, found.vertical_damping) == pytest.approx((310e3, 3100.0))
    assert found.calpha == pytest.approx(800.0 * 180.0 / math.pi)


def told(module):
    """Return code, message and hint of what is wrong with a force on a hinge, a free body and a wheel."""
    body = {"mass": 1.0, "inertia": {"Ixx": 1.0}}
    ends = {"parent": ["fixed", "origin"]}
    joints = [
        {"name": "hinge", "type": "Ry", **ends, "child": ["arm", "origin"]},
        {"name": "free", "type": "float", **ends, "child": ["wheel", "origin"]},
    ]
    key = "force_modules" if module["type"] in ("pid", "tire") else "restraints"
    bodies = [{"name": "arm", **body}, {"name": "wheel", **body}]
    assembly = {"name": "a", "bodies": bodies, "joints": joints, key: [module]}
    _, problems = model_of(json.dumps({"model_parameters": {"gravity": [0, 0, -9.81]}, "assemblies": [assembly]}))
    return [(problem.code, problem.message.split("' ", 1)[-1], problem.hint) for problem in problems]


def test_a_force_along_a_joint_that_is_not_there_gets_the_nearest_and_one_along_many_coordinates_its_kind():
    missing = ("E991", "names the joint 'hinges', which is not there", "did you mean 'hinge'?")
    many = ("E991", "names the joint 'free', which is float, expected one with a single coordinate", "")
    for name, problem in (("hinges", missing), ("free", many)):
        assert told({"type": "spring", "joint": name, "coefficients": [[1.0, 0.0]]}) == [problem]
        ends = {"input": {"type": "joint", "joint": name}, "output": {"type": "joint", "joint": name}}
        found = told({"type": "pid", "p": 1.0, **ends})
        assert found == [problem, problem]


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ({"unloaded_radius": -1.0}, ("E991", "unloaded_radius is -1, expected more than 0")),
        ({"calpha": 0.0}, ("E991", "calpha is 0, expected more than 0")),
        ({"vertical_damping": -3.0}, ("E991", "vertical_damping is -3, expected at least 0")),
        ({"umin": 2.0, "umax": 1.0}, ("W991", "umin, 2, is above umax, 1: it has most friction when it slips")),
    ],
)
def test_a_number_that_no_tyre_has_is_named_with_what_was_expected(numbers, problem):
    found = told({"type": "tire", "tire_type": "fiala", "wheel_body": "wheel", **numbers})
    assert [(code, message.split(": ", 1)[1]) for code, message, _ in found] == [problem]
