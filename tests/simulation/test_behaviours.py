"""Behaviours and motions of models: driven, steered, recorded, restored and replayed bit for bit."""

from __future__ import annotations

import math
import sys
from types import MappingProxyType, ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.errors import ModelError, RecordingError, StepError, UsageError
from cbsim.evaluation.outcome import execute
from cbsim.geometry.pose import heading_quaternion
from cbsim.models import MODELS
from cbsim.planner import PlannerError
from cbsim.recording.batch import Batch
from cbsim.recording.recorder import MemoryRecorder
from cbsim.recording.recording import Recording
from cbsim.simulation.advance import advance
from cbsim.simulation.loop import Run
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import Motor
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating, Revolute
from cbsim.spec.mechanism.shapes import Box
from cbsim.spec.objects import Triple
from cbsim.world.compile import compile_world
from cbsim.world.scene import Model, Scene, Settings
from tests.worlds import bot, mover


class Servo:
    """Turns a motor towards an angle, with an integral of what is left; counts its calls; pushes the body outwards."""

    memory = np.array([0.0, 0.0, 0.5, 0.0])
    controls = MappingProxyType({"stick.x": 2, "push": 3})

    def act(self, time, state, memory, inputs, forces):
        angle = 2.0 * math.atan2(state[0, 9], state[0, 6])
        memory[0] += 1.0
        memory[1] += 0.01 * (memory[2] - angle)
        inputs[0] = 4.0 * (memory[2] - angle) + memory[1] + 0.01 * math.sin(time)
        forces[0, 5] = memory[3]

    def tables(self):
        return (np.array([4.0]),)


class Stride:
    """Goes ahead on a circle, whose speed is a control."""

    memory = np.array([1.0, 0.0])
    controls = MappingProxyType({"speed": 0})

    def move(self, time, step, state, memory):
        memory[1] += memory[0] * step
        state[0, :3] = (math.cos(memory[1]), math.sin(memory[1]), 1.0)
        state[0, 3:6] = memory[0] * np.array([-math.sin(memory[1]), math.cos(memory[1]), 0.0])
        state[0, 6:10], state[0, 10:] = heading_quaternion(memory[1]), (0.0, 0.0, memory[0])

    def tables(self):
        return ()


INERTIA = '<inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>'
MOTOR = (Motor(50.0),)


def arm(drives=MOTOR, **controller):
    origin, body = Origin(), Box(0.1, 1.0, 0.1, mass=1.0).body(name="arm")
    pin = Revolute(origin, body, (0, 0, 1), child_vertex=(0, -0.5, 0), drives=drives, name="pin")
    return ModelDescription(MechanismSpec(origin, [body], [pin], timestep=0.01, gravity=0.0), **controller)


def walker(**controller):
    origin, body = Origin(), Box(0.5, 1.0, 0.5, mass=2.0).body(name="body")
    spec = MechanismSpec(origin, [body], [Floating(origin, body, name="free")], timestep=0.01)
    return ModelDescription(spec, {"free": (1.0, 0.0, 1.0, 0.0, 0.0, 0.0)}, **controller)


def alone(description, steps=1, **controls):
    model = Model("it", description, steps, controls)
    return compile_world(Scene("alone", (), settings=Settings(step=0.01 * steps, duration=2.0), models=(model,)))


def driven():
    return alone(arm(behaviour=Servo()))


def crowd():
    actors = (bot("Bot", position_offset=Triple(-9, 0, 0)), mover("Car", (2.0, 0.0, 50.0, 0.0), at=Triple(9, 0, 0)))
    models = Model("one", arm(behaviour=Servo()), 5), Model("two", walker(motion=Stride()), 5)
    return compile_world(Scene("crowd", actors, settings=Settings(step=0.05, duration=2.0), models=models))


WORLDS = {"behaviour": driven, "motion": lambda: alone(walker(motion=Stride()), 2), "crowd": crowd}


# --- what they do -----------------------------------------------------------------------------------------------------
def test_a_behaviour_brings_its_joint_to_where_its_control_says():
    world = driven()
    recording = cbsim.run(world, duration=20.0)
    assert recording.headings("arm")[-1] == pytest.approx(0.5, abs=2e-2)
    steered = cbsim.run(world, duration=20.0, snapshot=cbsim.steer(world, world.start, {"stick.x": -1.0}))
    assert steered.headings("arm")[-1] == pytest.approx(-1.0, abs=2e-2)


def test_a_behaviour_is_asked_once_in_every_step_of_its_model():
    world = alone(arm(behaviour=Servo()), 5)
    snapshot = cbsim.step(world, cbsim.step(world, world.start))
    assert snapshot.columns.controller_state[0] == 10.0
    assert world.start.columns.controller_state[0] == 0.0


def test_a_force_of_a_behaviour_turns_its_body():
    """A torque T about a hinge through the end of a rod: T = (J + m l²) a; a step turns by 2 asin(h w / 2), not h w."""

    class Free(Servo):
        def act(self, time, state, memory, inputs, forces):
            forces[0, 5] = 2.0

    world = alone(arm([], behaviour=Free()))
    recording = cbsim.run(world, duration=0.5)
    inertia = (0.1**2 + 1.0**2) / 12.0 + 0.25
    assert recording.headings("arm")[-1] == pytest.approx(0.5 * 2.0 / inertia * 0.5 * 0.51, rel=1e-4)


def test_a_motion_says_where_bodies_are():
    world = alone(walker(motion=Stride()))
    recording = cbsim.run(world, duration=1.0)
    angle = recording.times[1:]
    circle = np.stack([np.cos(angle), np.sin(angle), np.ones(100)], axis=1)
    np.testing.assert_allclose(recording.positions("body")[1:], circle, atol=1e-12)
    told = execute(world).to_dict()
    assert told["constraint_error"] == 0.0
    potential, turning = 2.0 * 9.81 * 1.0, 0.5 * 2.0 * (0.25 + 1.0) / 12.0
    assert told["energy"] == pytest.approx(potential + 0.5 * 2.0 + turning, rel=1e-9)


def test_controls_of_a_scene_are_set_at_the_start():
    world = alone(walker(motion=Stride()), speed=3.0)
    assert world.start.columns.controller_state[0] == 3.0
    assert cbsim.run(world, duration=1.0).headings("body")[-1] == pytest.approx(3.0)
    with pytest.raises(ModelError, match="model 'it': has no control 'spede'"):
        alone(walker(motion=Stride()), spede=3.0)
    with pytest.raises(ModelError, match="has a behaviour and a motion"):
        alone(arm(behaviour=Servo(), motion=Stride()))


def test_the_digest_knows_what_a_behaviour_is_made_of():
    class Stiffer(Servo):
        def tables(self):
            return (np.array([5.0]),)

    class Sooner(Servo):
        memory = np.array([0.0, 0.0, 0.6, 0.0])

    class Renamed(Servo):
        controls = MappingProxyType({"stick.y": 2, "push": 3})

    digests = {alone(arm(behaviour=kind())).digest for kind in (Servo, Servo, Stiffer, Sooner, Renamed)}
    assert len(digests) == 4


# --- bits -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", WORLDS)
@settings(max_examples=6, deadline=None)
@given(cuts=st.lists(st.integers(1, 15), max_size=4))
def test_batches_of_any_length_and_restored_snapshots_have_the_same_bits(kind, cuts):
    world = WORLDS[kind]()
    whole = world.start
    hashes, _, _ = advance(world, whole, 40)
    part, done = world.start, 0
    for cut in cuts[:2]:
        found, _, _ = advance(world, part, cut)
        np.testing.assert_array_equal(found, hashes[done : done + cut])
        done += cut
        part = world.restore(part.to_bytes())
    advance(world, part, 40 - done)
    assert part == whole
    assert part.hash == int(hashes[-1])


@pytest.mark.parametrize("at", [1, 17, 90])
def test_a_run_goes_on_from_any_step_as_if_it_had_not_stopped(at):
    world = driven()
    whole = cbsim.run(world, duration=1.0)
    snapshot = world.start
    for _ in range(at):
        snapshot = cbsim.step(world, snapshot)
    rest = cbsim.run(world, duration=1.0 - 0.01 * at, snapshot=world.restore(snapshot.to_bytes()))
    np.testing.assert_array_equal(rest.hashes, whole.hashes[at:])


@pytest.mark.parametrize("kind", WORLDS)
def test_a_recording_of_steered_models_is_replayed(kind, tmp_path):
    world = WORLDS[kind]()
    name = next(iter(world.controls))
    memory = MemoryRecorder()
    run = Run(world, world.start, [], [memory])
    run.begin()
    for value in (0.3, -0.4, -0.4, 0.1):
        run.steer({name: value})
        run.advance(7)
    run.end()
    recording = Recording(memory)
    assert recording.controls() == [(0, name, 0.3), (7, name, -0.4), (21, name, 0.1)]
    recording.save(tmp_path / "run.mcap")
    again = Recording.open(tmp_path / "run.mcap")
    assert again.controls() == recording.controls()
    assert cbsim.replay(again, world) is None
    snapshot = world.start
    for step in range(28):
        value = {0: 0.3, 7: -0.4, 21: 0.1}.get(step)
        snapshot = snapshot if value is None else cbsim.steer(world, snapshot, {name: value})
        snapshot = cbsim.step(world, snapshot)
    assert snapshot.hash == int(recording.hashes[-1])


def test_a_recorded_control_of_no_model_is_refused():
    world = driven()
    recording = cbsim.run(world, duration=0.1)
    memory = MemoryRecorder()
    memory.begin(recording.header, recording.snapshot, recording.sources)
    for batch in recording.batches():
        memory.take(Batch(batch.first_step, batch.hashes, batch.motion, controls=[(2, 99, 1.0)]))
    with pytest.raises(RecordingError, match="a command of step 2 is for control 99, which does not exist"):
        cbsim.replay(Recording(memory), world)


# --- steering ---------------------------------------------------------------------------------------------------------
def test_steering_is_pure_and_checked_by_name_and_by_value():
    world = driven()
    snapshot = world.start
    before = snapshot.to_bytes()
    assert cbsim.steer(world, snapshot, {"stick.x": 1}).columns.controller_state[2] == 1.0
    assert snapshot.to_bytes() == before
    for controls, message in (
        ({"stick.y": 1.0}, r"no control 'stick.y'; there is stick.x, push \(did you mean 'stick.x'\?\)"),
        ({"push": math.nan}, "control 'push' is nan, expected a finite number"),
        ({"push": "hard"}, "control 'push' is 'hard', expected a finite number"),
    ):
        with pytest.raises(UsageError, match=message):
            cbsim.steer(world, snapshot, controls)
    assert list(crowd().controls) == ["one/stick.x", "one/push", "two/speed"]


class Zigzag:
    """Turns the stick with the arm."""

    def __init__(self):
        self.told, self.seen = None, []

    def start(self, mission, network, puppet):
        self.told = puppet

    def plan(self, observation):
        self.seen.append(observation)
        return {"stick.x": -1.0 if observation.heading > 0.2 else 1.0} if len(self.seen) > 1 else None


def test_a_controller_is_asked_in_every_step_and_its_controls_are_replayed():
    world, controller = driven(), Zigzag()
    recording = cbsim.run(world, duration=2.0, planner=controller)
    assert controller.told.bodies == ("arm",)
    assert controller.told.controls == {"stick.x": 0.5, "push": 0.0}
    assert len(controller.seen) == 200
    assert controller.seen[0].state.shape == (1, 13)
    assert controller.seen[2].controls["stick.x"] == 1.0
    assert controller.seen[5].yaw_rate == recording.motion("arm")[5, 12]
    assert len(recording.controls()) > 2
    assert cbsim.replay(recording, world) is None


def test_a_controller_works_one_model_among_others():
    class Faster:
        def plan(self, observation):
            return {"speed": 2.0}

    world = crowd()
    recording = cbsim.run(world, duration=1.0, planner={"two": Faster()})
    assert recording.controls() == [(0, "two/speed", 2.0)]
    assert recording.headings("two/body")[-1] == pytest.approx(2.0)
    with pytest.raises(UsageError, match="no object 'three'"):
        cbsim.run(world, duration=1.0, planner={"three": Faster()})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (3.0, "expected a mapping from names of controls to numbers"),
        ({"stick.z": 1.0}, r"the model has no control 'stick.z'; there is stick.x, push \(did you mean 'stick.x'\?\)"),
        ({"stick.x": math.inf}, "set 'stick.x' to inf, expected a finite number"),
        ({"stick.x": "left"}, "set 'stick.x' to 'left', expected a finite number"),
        ({7: 1.0}, "the model has no control 7"),
    ],
)
def test_mistakes_of_a_controller_are_its_own(answer, message):
    class Wrong:
        def plan(self, observation):
            return answer

    with pytest.raises(PlannerError, match=message):
        cbsim.run(driven(), duration=0.1, planner=Wrong())
    outcome = execute(driven(), planner=Wrong())
    assert outcome.verdict == "fail"
    with pytest.raises(UsageError, match="and no model with controls"):
        cbsim.run(alone(arm()), duration=0.1, planner=Wrong())


# --- failure ----------------------------------------------------------------------------------------------------------
def test_a_motion_that_leaves_the_numbers_is_told_and_what_was_before_is_kept():
    class Lost(Stride):
        def move(self, time, step, state, memory):
            super().move(time, step, state, memory)
            state[0, 0] = math.nan if time > 0.295 else state[0, 0]

    world = alone(walker(motion=Lost()))
    snapshot = world.start
    hashes, _, _ = advance(world, snapshot, 50)
    assert len(hashes) == 30
    with pytest.raises(StepError, match=r"t=0.300 s: the motion of .it. is not finite"):
        advance(world, snapshot, 1)


def test_a_behaviour_that_drives_a_model_mad_stops_at_the_step_before():
    class Mad(Servo):
        def act(self, time, state, memory, inputs, forces):
            super().act(time, state, memory, inputs, forces)
            forces[0, 5] = 1e9 if time > 0.295 else 0.0

    world = alone(arm(behaviour=Mad()))
    snapshot = world.start
    hashes, _, _ = advance(world, snapshot, 50)
    assert len(hashes) == 30
    with pytest.raises(StepError, match=r"t=0.300 s"):
        advance(world, snapshot, 1)


# --- settings ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def format_of_servos(monkeypatch):
    """A format of models whose file is a robot, its description an arm with a servo."""
    module = ModuleType("tests_servo_figure")
    module.OPTIONS = {"mass": "of the arm [kg]"}
    module.describe = lambda _, given, *__, **___: arm(behaviour=Servo()) if given == {"mass": "2"} else walker()
    monkeypatch.setitem(sys.modules, "tests_servo_figure", module)
    monkeypatch.setitem(MODELS, "urdf", "tests_servo_figure")


def test_settings_are_options_of_the_format_or_controls_of_the_model(tmp_path, format_of_servos):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="r"><link name="a"><inertial><mass value="1"/>' + INERTIA)
    world = cbsim.load(path, settings={"mass": 2, "stick.x": -0.25})
    assert world.start.columns.controller_state.tolist() == [0.0, 0.0, -0.25, 0.0]
    assert world.step == 0.01
    for given_, message in (
        ({"mass": 2, "stick": 1}, r"no setting 'stick'; there is mass, stick.x, push \(did you mean 'stick.x'\?\)"),
        ({"mass": 2, "push": "up"}, "control 'push' is 'up', expected a finite number"),
        ({"stick.x": 1}, "no setting 'stick.x'; there is mass$"),
    ):
        with pytest.raises(UsageError, match=message):
            cbsim.load(path, settings=given_)


def test_a_model_takes_its_own_step_into_that_of_the_world(tmp_path, format_of_servos):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="r"><link name="a"><inertial><mass value="1"/>' + INERTIA)
    world = cbsim.load(path, step=0.033, settings={"mass": 2})
    assert world.step == 0.033
    assert world.instances[0].steps == 3
    assert world.instances[0].spec.timestep == pytest.approx(0.011, rel=1e-15)
