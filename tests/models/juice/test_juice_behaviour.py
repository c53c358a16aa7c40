"""What behaviours ask of joints: the engine, clockworks, networks, attitudes, joysticks and keys."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from cbsim.geometry.pose import multiply
from cbsim.models import read_file
from cbsim.models.juice.controls import CONTROLS, PHASE
from cbsim.models.juice.description import description_of
from cbsim.models.juice.poses import orientation_of
from cbsim.models.juice.program import Ask, attitude_of
from cbsim.models.juice.waves import clockwork, wave
from cbsim.spec.juice import (
    Attitude,
    Clockwork,
    ClockworkMotor,
    Edge,
    FunctionNode,
    JointKind,
    Motion,
    MotorNode,
    MotorType,
    Network,
    Source,
    SourceNode,
)
from tests.common import ROOT
from tests.models.juice.texts import Run, turntable


def asked(*behaviours, controls=(), phase=0.0, kind=JointKind.HINGE, state=None, **rest):
    """Position and velocity that behaviours ask of the only joint."""
    behaviour = description_of(turntable(*behaviours, kind=kind, **rest)).behaviour
    memory = behaviour.memory.copy()
    memory[PHASE] = phase
    for name, value in dict(controls).items():
        memory[CONTROLS[name]] = value
    still = np.zeros((2, 13))
    still[:, 6] = 1.0
    ask = Ask(1, still if state is None else state, memory.tolist())
    for run in behaviour.asks:
        run(ask)
    return ask.positions[0], ask.velocities[0]


def moving(source=Source.ENGINE, gain=100.0, amplitude_source=0, feedback=0, **motor):
    return Clockwork("", True, gain, (ClockworkMotor(3, **motor),), source, amplitude_source, feedback=feedback)


def test_the_engine_waits_at_its_phase_and_then_turns_as_fast_as_its_speeds_say():
    """35 turns a minute times 1.27 are 0.74083 Hz: at 1 s after a delay of 1 s the phase is 90 + 266.7 degrees."""
    run = Run(turntable(standard_speed=35.0, speed_factor=1.27, pose_delay=1.0, pose_phase=90.0))
    run.go(1.0)
    run.go(0.01)  # a behaviour acts where a step begins
    assert math.degrees(run.mind[PHASE]) == pytest.approx(90.0, abs=1e-9)
    run.go(1.0)
    assert math.degrees(run.mind[PHASE]) == pytest.approx(356.7, abs=0.01)
    run.go(0.1)
    assert math.degrees(run.mind[PHASE]) == pytest.approx(356.7 + 26.67 - 360.0, abs=0.01)


def test_the_engine_turns_backwards_and_is_never_below_zero():
    run = Run(turntable(standard_speed=60.0, speed_factor=-1.0))
    run.go(0.26)
    assert math.degrees(run.mind[PHASE]) == pytest.approx(270.0, abs=1e-6)


def test_a_phase_in_radians_is_taken_where_asked():
    model = turntable(pose_phase=90.0)
    assert description_of(model).behaviour.memory[PHASE] == pytest.approx(math.pi / 2)
    assert description_of(model, pose_phase_units="radians").behaviour.memory[PHASE] == 90.0


@pytest.mark.parametrize("phase", np.linspace(0.0, 2.0 * math.pi, 33))
def test_waves_of_clockworks_are_sines_and_steps_with_sine_slopes(phase):
    assert clockwork(Motion.SINE, phase) == pytest.approx(math.sin(phase))
    assert clockwork(Motion.DOUBLE_SINE, phase) == pytest.approx(math.sin(2 * phase))
    step = clockwork(Motion.STEP, phase)
    assert -1.0 <= step <= 1.0
    assert clockwork(Motion.STEP, phase + math.pi) == pytest.approx(-step, abs=1e-12)
    if abs(math.sin(phase)) > math.sin(math.pi / 4) + 1e-9:
        assert abs(step) == 1.0


@pytest.mark.parametrize("phase", np.linspace(0.0, 720.0, 49))
def test_waves_of_networks_are_sines_at_full_duty_and_squares_at_none(phase):
    assert wave(phase, 100.0) == pytest.approx(math.sin(math.radians(phase)), abs=1e-12)
    assert abs(wave(phase, 50.0)) >= abs(math.sin(math.radians(phase))) - 1e-9
    if abs(math.sin(math.radians(phase))) > 0.02:
        assert wave(phase, 0.0) == math.copysign(1.0, math.sin(math.radians(phase)))


def test_a_clockwork_asks_its_offset_and_its_amplitude_times_the_wave():
    motor = {"offset": 10.0, "amplitude": 20.0, "phase": 30.0, "motion": 1}
    assert asked(moving(**motor), phase=math.radians(60.0))[0] == pytest.approx(30.0)
    assert asked(moving(gain=50.0, **motor), phase=math.radians(60.0))[0] == pytest.approx(20.0)
    half = asked(moving(amplitude_source=2, **motor), phase=math.radians(60.0), controls={"joystick1.y": 0.5})
    assert half[0] == pytest.approx(20.0)
    assert asked(moving(**{**motor, "motion": 0})) == (None, None)
    assert asked(moving(enabled=False, **motor)) == (None, None)


def test_a_continuous_motion_turns_on_and_is_for_sliders_alone():
    motor = {"offset": 1.0, "motion": 4, "phase": 45.0}
    assert asked(moving(**motor), phase=1.0) == (None, None)
    assert asked(moving(**motor), phase=1.0, kind=JointKind.SLIDER)[0] == pytest.approx(46.0 + math.degrees(1.0))


@pytest.mark.parametrize(
    ("source", "control"), [(2, "1.x"), (3, "1.y"), (4, "1.z"), (5, "1.r"), (10, "2.x"), (13, "2.r")]
)
def test_joysticks_move_joints_whatever_the_motion(source, control):
    assert asked(moving(source, offset=5.0, amplitude=-30.0, motion=0), controls={f"joystick{control}": 0.5})[
        0
    ] == pytest.approx(-10.0)


def test_keys_are_up_and_left_below_zero_and_down_and_right_above():
    for source, key, sign in ((14, "up", -1), (14, "down", 1), (15, "left", -1), (15, "right", 1)):
        assert asked(moving(source, amplitude=30.0), controls={f"key.{key}": 1.0})[0] == pytest.approx(30.0 * sign)


def test_what_a_joystick_asks_beyond_half_a_turn_is_cut():
    assert asked(moving(2, amplitude=400.0), controls={"joystick1.x": 0.5})[0] == 178.0
    assert asked(moving(2, amplitude=400.0), controls={"joystick1.x": -0.5})[0] == -178.0
    assert asked(moving(2, amplitude=360.0), controls={"joystick1.x": 0.5})[0] == 180.0


def leaning(yaw=0.0, pitch=0.0, roll=0.0):
    state = np.zeros((2, 13))
    state[:, 6] = 1.0
    state[0, 6:10] = orientation_of(Attitude(yaw, pitch, roll))
    return state


@pytest.mark.parametrize("angle", [-80.0, -20.0, 0.0, 35.0, 80.0])
def test_attitudes_are_those_of_the_body_about_one_axis(angle):
    assert attitude_of(leaning(pitch=angle), 0, Source.PITCH) == pytest.approx(angle)
    assert attitude_of(leaning(roll=angle), 0, Source.ROLL) == pytest.approx(angle)
    assert attitude_of(leaning(yaw=angle), 0, Source.YAW) == pytest.approx(angle)
    both = leaning()
    both[0, 6:10] = multiply(orientation_of(Attitude(0, 0, angle)), orientation_of(Attitude(0, 20, 0)))
    assert attitude_of(both, 0, Source.PITCH) == pytest.approx(20.0 * math.cos(math.radians(angle)))
    assert attitude_of(both, 0, Source.ROLL) == pytest.approx(angle * math.cos(math.radians(20.0)))


def test_a_clockwork_that_follows_an_attitude_ignores_its_amplitude():
    one = moving(7, offset=5.0, amplitude=100.0, gain=200.0, feedback=1)
    assert asked(one, state=leaning(pitch=10.0))[0] == pytest.approx(25.0)
    assert asked(replace(one, feedback=99))[0] == pytest.approx(5.0)  # no such body


# --- networks ---------------------------------------------------------------------------------------------------------
def net(functions, edges, sources=(), kind=MotorType.POSITION):
    """A network whose motor is node 10."""
    links = tuple(Edge(a, b, f) for a, b, f in edges)
    return Network(motors=(MotorNode(10, joint=3, type=kind),), functions=functions, sources=sources, edges=links)


def constant(number, value):
    return FunctionNode("ConstantNode", number, numbers=(value,))


def through(kind, numbers, value, factor=1.0):
    functions = (FunctionNode(kind, 11, numbers=numbers), constant(12, value))
    return asked(net(functions, ((12, 11, factor), (11, 10, 1.0))))[0]


def test_functions_do_what_they_say():
    assert through("ArithmeticNode", (3.0, 2.0, 0.0), 5.0) == 13.0
    assert through("ArithmeticNode", (3.0, 2.0, 1.0), 5.0) == 16.0
    assert through("LimitNode", (-1.0, 2.0), 5.0) == 2.0
    assert through("LimitNode", (-1.0, 2.0), -5.0) == -1.0
    assert through("AbsoluteValueNode", (), -5.0) == 5.0
    assert through("MultiplyNode", (), 5.0, 2.0) == 10.0
    assert through("ConstantNode", (3.0,), 5.0) == 8.0
    assert through("WaveNode", (100.0, 30.0, 5.0), 90.0) == pytest.approx(35.0)


def test_several_inputs_add_up_and_multiply_nodes_multiply():
    functions = (FunctionNode("MultiplyNode", 11), constant(12, 3.0), constant(13, 4.0))
    assert asked(net(functions, ((12, 11, 1.0), (13, 11, 0.5), (12, 10, 1.0), (11, 10, 2.0))))[0] == 15.0


def test_the_engine_comes_in_as_degrees_and_joysticks_as_they_are():
    sources = (SourceNode(20, source=Source.ENGINE), SourceNode(21, source=Source.JOYSTICK1_Y))
    both = net((), ((20, 10, 1.0), (21, 10, 10.0)), sources)
    assert asked(both, phase=math.pi / 2, controls={"joystick1.y": -1.0})[0] == pytest.approx(80.0)


def test_what_stands_on_a_circle_or_has_no_inputs_stays_at_zero():
    circle = (FunctionNode("MultiplyNode", 11), FunctionNode("MultiplyNode", 12), constant(13, 5.0))
    assert asked(net(circle, ((11, 12, 1.0), (12, 11, 1.0), (13, 10, 1.0), (11, 10, 1.0)))) == (None, None)
    idle = (FunctionNode("ArithmeticNode", 11, numbers=(7.0, 1.0, 0.0)), constant(13, 5.0))
    assert asked(net(idle, ((11, 10, 1.0), (13, 10, 1.0))))[0] == 5.0


def test_a_motor_into_which_nothing_leads_asks_nothing_and_leaves_its_joint_free():
    alone = net((), ())
    assert not description_of(turntable(alone)).behaviour.servos.servos
    run = Run(turntable(alone))
    run.state[1, 12] = 3.0
    assert run.go(1.0)[-1, 1, 12] == pytest.approx(3.0, rel=1e-6)
    held = asked(net((), ()), net((constant(12, 4.0),), ((12, 10, 1.0),)))
    assert held == (4.0, None)
    lost = net((), ((99, 10, 1.0),))  # an edge from nowhere leads nothing in
    assert not description_of(turntable(lost)).behaviour.servos.servos


def test_velocities_go_before_positions_and_are_for_hinges_alone():
    fast = net((constant(12, 4.0),), ((12, 10, 1.0),), kind=MotorType.VELOCITY)
    slow = net((constant(12, 9.0),), ((12, 10, 1.0),))
    assert asked(fast, slow) == (9.0, 4.0)
    run = Run(turntable(fast, slow))
    assert run.go(0.05)[-1, 1, 12] == pytest.approx(4.0, rel=1e-3)
    assert asked(fast, kind=JointKind.SLIDER) == (None, None)


def test_requests_of_several_behaviours_add_up():
    two = (moving(2, offset=5.0), moving(2, offset=7.0))
    assert asked(*two)[0] == 12.0


def test_a_joint_of_which_nothing_is_asked_moves_freely():
    run = Run(turntable(moving(motion=0)))
    run.state[1, 12] = 3.0
    assert run.go(1.0)[-1, 1, 12] == pytest.approx(3.0, rel=1e-6)


def test_positions_are_asked_within_the_stops():
    stops = {"low": -20.0, "high": 20.0, "has_low": True, "has_high": True}
    run = Run(turntable(moving(2, offset=90.0), joint=stops))
    run.go(1.0)
    assert run.coordinates()[0] == pytest.approx(20.0, abs=0.01)


def test_a_servo_goes_the_short_way_round():
    run = Run(turntable(moving(2, offset=170.0)))
    run.go(2.0)
    assert run.coordinates()[0] == pytest.approx(170.0, abs=0.01)
    run.description.behaviour.asks[:] = [lambda ask: ask.add_position(0, -170.0)]
    assert run.go(0.02)[-1, 1, 12] > 0.0  # on over 180


def test_what_is_kept_in_mind_says_all_so_that_a_run_resumes_bit_for_bit():
    model = turntable(moving(motion=1, amplitude=40.0), standard_speed=60.0)
    whole = Run(model)
    path = whole.go(1.0)
    first = Run(model)
    first.go(0.5)
    second = Run(model)
    second.state, second.mind, second.steps = first.state.copy(), first.mind.copy(), first.steps
    assert np.array_equal(second.go(0.5)[-1], path[-1])


def test_the_cart_that_is_shipped_drives_as_fast_as_its_wheels_turn_and_turns_on_the_spot():
    """10 rad/s times a radius of 0.4 m."""
    model = read_file(ROOT / "scenarios" / "models" / "cart.jm").spec
    ahead = Run(model, controls={"joystick1.y": -1.0})
    assert ahead.go(3.0)[-1, 0, 4] == pytest.approx(4.0, rel=2e-3)
    turning = Run(model, controls={"joystick1.x": 1.0}).go(3.0)
    assert abs(turning[-1, 0, 12]) > 0.5
    assert np.linalg.norm(turning[-1, 0, :2]) < 0.2
