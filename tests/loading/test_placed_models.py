"""Models in a scenario: placed, enlarged, set, recorded and judged; they move as they do by themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, ModelError, Problems, UsageError
from cbsim.evaluation.judge import judge
from cbsim.evaluation.outcome import execute
from cbsim.geometry.pose import heading_quaternion, multiply, rotate
from cbsim.lint.scenario import lint_scenario
from cbsim.paths import Files
from cbsim.spec.objects import Triple
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Placement
from cbsim.world.compile import compile_world
from cbsim.world.frames import Frame
from cbsim.world.scene import Model, Scene, Settings
from tests.simulation.test_behaviours import Servo, Stride, arm, walker
from tests.simulation.test_models import PENDULUM, dropped

SCENARIO = """
duration: 2
step: 0.05
add:
  - {name: Bot, kind: autonomous, position: [0, -30, 0]}
models:
  - {file: pendulum.urdf, name: swing, position: [3, 4, 1], heading: 90, scale: 2}
  - {file: pendulum.urdf, position: [20, 0, 0]}
"""


@pytest.fixture
def site(tmp_path):
    def write_site(text=SCENARIO):
        (tmp_path / "pendulum.urdf").write_text(PENDULUM)
        path = tmp_path / "site.yaml"
        path.write_text(text)
        return path

    return write_site


def turned(points, place, heading, scale):
    return np.asarray(place) + scale * rotate(heading_quaternion(heading), points)


# --- similarity -------------------------------------------------------------------------------------------------------
def test_a_frame_goes_there_and_back():
    frame = Frame(np.array([3.0, -2.0, 1.0]), heading_quaternion(0.7), 2.5, 4.0)
    state = np.random.default_rng(1).normal(size=(4, 13))
    state[:, 6:10] /= np.linalg.norm(state[:, 6:10], axis=1)[:, None]
    out = frame.to_world(state)
    np.testing.assert_allclose(frame.to_model(out), state, atol=1e-14)
    np.testing.assert_allclose(out[:, :3], turned(state[:, :3], (3, -2, 1), 0.7, 2.5))
    np.testing.assert_allclose(out[:, 3:6], turned(state[:, 3:6], (0, 0, 0), 0.7, 2.5))
    np.testing.assert_array_equal(out[:, 10:], state[:, 10:])
    assert frame.work == 25.0


def test_a_placed_model_moves_as_it_does_alone_turned_and_enlarged(site):
    world = cbsim.load(site())
    assert [body.name for body in world] == [
        "Bot", "swing/upper", "swing/lower", "pendulum/upper", "pendulum/lower",
    ]  # fmt: skip
    assert [instance.steps for instance in world.instances] == [5, 5]
    together = cbsim.run(world)
    alone = cbsim.run(cbsim.load(site().parent / "pendulum.urdf"), duration=2.0)
    for name in ("upper", "lower"):
        own = alone.positions(name)[::5]
        np.testing.assert_allclose(together.positions(f"pendulum/{name}"), own + np.array([20.0, 0.0, 0.0]), atol=1e-11)
        wanted = turned(own, (3, 4, 1), math.pi / 2, 2.0)
        np.testing.assert_allclose(together.positions(f"swing/{name}"), wanted, atol=1e-11)
        spun = multiply(heading_quaternion(math.pi / 2), alone.orientations(name)[::5])
        np.testing.assert_allclose(together.orientations(f"swing/{name}"), spun, atol=1e-11)
        moved = 2.0 * rotate(heading_quaternion(math.pi / 2), alone.velocities(name)[::5])
        np.testing.assert_allclose(together.velocities(f"swing/{name}"), moved, atol=1e-10)
    assert together.bodies == ["swing/upper", "swing/lower", "pendulum/upper", "pendulum/lower"]
    assert world["swing/upper"].size.tolist() == [0.2, 0.2, 2.0]


def test_energy_and_constraint_error_are_those_of_the_world(site):
    """Energy goes with mass × length² at the same times, and mass with length³."""
    world = cbsim.load(site())
    big, small = (instance.energy(world.start) for instance in world.instances)
    assert big == pytest.approx(32.0 * small, rel=1e-12)
    told = execute(world).to_dict()
    assert told["energy"] == pytest.approx(33.0 * small, rel=2e-2)
    assert told["constraint_error"] < 1e-12
    heavy = cbsim.load(site(SCENARIO.replace("scale: 2", "mass: 50")))
    assert heavy.instances[0].energy(heavy.start) == pytest.approx(25.0 * small, rel=1e-12)


def test_a_model_stands_at_a_waypoint_ahead_of_it(tmp_path):
    dropped(tmp_path)
    path = tmp_path / "site.yaml"
    path.write_text("network: four_way_stop\nmodels:\n  - {file: cube, at: {waypoint: 1.1.2, station: 3, offset: 1}}\n")
    world = cbsim.load(path)
    spot, heading = world.scene.roadmap.place((1, 1, 2), 3.0, 1.0)
    pose = world["cube/cube"].pose(world.start)
    np.testing.assert_allclose(pose.position, [*spot, 0.5], atol=1e-9)
    assert pose.heading == pytest.approx(heading)
    recording = cbsim.run(world, duration=1.0)
    np.testing.assert_allclose(recording.positions("cube/cube")[-1], [*spot, 0.5], atol=1e-3)


def test_behaviours_and_motions_act_in_the_frame_of_the_model():
    models = (
        Model("a", arm(behaviour=Servo()), 5, placement=Placement(position=Triple(5, 0, 0), heading=1.0), scale=0.5),
        Model("b", walker(motion=Stride()), 5, placement=Placement(position=Triple(0, 7, 0), heading=-2.0), scale=3.0),
    )
    placed = compile_world(Scene("placed", (), settings=Settings(step=0.05), models=models))
    alone = [
        cbsim.run(
            compile_world(Scene("alone", (), settings=Settings(step=0.05), models=(Model("it", description, 5),)))
        )
        for description in (arm(behaviour=Servo()), walker(motion=Stride()))
    ]
    recording = cbsim.run(placed)
    for name, own, place, heading, scale in (
        ("a/arm", alone[0].positions("arm"), (5, 0, 0), 1.0, 0.5),
        ("b/body", alone[1].positions("body"), (0, 7, 0), -2.0, 3.0),
    ):
        np.testing.assert_allclose(recording.positions(name), turned(own, place, heading, scale), atol=1e-9)
    assert cbsim.replay(recording, placed) is None


# --- bits -------------------------------------------------------------------------------------------------------------
def test_a_scenario_with_models_is_replayed_judged_and_restored_bit_for_bit(site, tmp_path):
    text = SCENARIO + "expect:\n  - collision: {object: Bot}\n  - travel: {object: swing, at_least: 1}\n"
    world = cbsim.load(site(text))
    record = tmp_path / "run.mcap"
    outcome = execute(world, record=record)
    assert outcome.verdict == "pass"
    recording = cbsim.Recording.open(record)
    (site().parent / "pendulum.urdf").unlink()
    assert cbsim.replay(recording) is None
    assert judge(recording).checks == outcome.checks
    snapshot = world.start
    for step in range(1, 41):
        snapshot = world.restore(cbsim.step(world, snapshot).to_bytes())
        assert snapshot.hash == int(recording.hashes[step])


# --- settings and steps -----------------------------------------------------------------------------------------------
def test_settings_of_a_model_stand_in_the_scenario_or_come_from_outside(site):
    text = SCENARIO.replace("scale: 2", "settings: {gravity: -3, merge_fixed: true}")
    world = cbsim.load(site(text))
    assert [instance.spec.gravity[2] for instance in world.instances] == [-3.0, -9.81]
    world = cbsim.load(site(text), settings={"swing/gravity": -4, "pendulum/gravity": "-5"})
    assert [instance.spec.gravity[2] for instance in world.instances] == [-4.0, -5.0]
    with pytest.raises(
        UsageError, match=r"no model 'swng' to set; there is swing, pendulum \(did you mean 'swing'\?\)"
    ):
        cbsim.load(site(text), settings={"swng/gravity": -4})
    with pytest.raises(FileError, match=r"site.yaml:7: error: .*no setting 'gravty'.*did you mean 'gravity'.*\[E892\]"):
        cbsim.load(site(text), settings={"swing/gravty": -4})


def test_a_step_that_no_whole_number_of_own_steps_makes_is_told(site):
    problems = Problems()
    world = cbsim.load(site(SCENARIO.replace("step: 0.05", "step: 0.033")), problems=problems)
    assert [instance.steps for instance in world.instances] == [3, 3]
    assert world.instances[0].spec.timestep == pytest.approx(0.011)
    told = [problem for problem in problems if problem.code == "W893"]
    assert len(told) == 2
    assert "takes steps of 0.011 s, 3 in one of 0.033 s, in place of its own of 0.01 s" in told[0].message


def test_mistakes_of_models_are_told_where_they_are(site, tmp_path):
    (tmp_path / "bad.urdf").write_text('<robot name="r">\n<link name="a"/>\n<link name="a"/></robot>')
    for text, message in (
        ("models: [{file: bad.urdf}]", r"bad.urdf:3: error: .*\[E908\]"),
        ("models: [{file: lost.jm}]", r"site.yaml:1: error: no such file 'lost.jm'"),
        (
            "models: [{file: site.yaml}]",
            r"site.yaml:1: error: this is a file of format 'scenario', expected irit or juice",
        ),
        ("models: [{file: pendulum, scale: -1}]", r"site.yaml:1: error: .*scale"),
        ("models: [{file: pendulum, settings: {floating: [1]}}]", r"a list is not a setting"),
        ("models: [{file: pendulum}]\nexpect: [{rest: {object: pendulm}}]", r"did you mean 'pendulum'"),
    ):
        with pytest.raises(FileError, match=message):
            cbsim.load(site(text))
    with pytest.raises(FileError, match=r"no road network to look up '1.1.1'"):
        cbsim.load(site("models: [{file: pendulum, at: 1.1.1}]"))
    here = Placement(waypoint=PointId(1, 1, 1))
    with pytest.raises(ModelError, match="it: refers to a waypoint, but there is no road network"):
        compile_world(Scene("lost", (), models=(Model("it", walker(), placement=here),)))


def test_models_of_a_scenario_are_written_as_they_were_read(site, tmp_path):
    text = "models:\n  - {file: a/walker.jm, name: w, at: 1.1.2, heading: 30, scale: 0.5, mass: 80, settings: "
    text += '{joystick1.y: -1.50, key.up: "1", fast: true, word: "true", n: 3}}\n'
    path = tmp_path / "models.yaml"
    path.write_text(text)
    spec = cbsim.read(path)
    assert dict(spec.models[0].settings)["joystick1.y"] == "-1.50"
    cbsim.write(spec, tmp_path / "again.yaml")
    assert cbsim.read(tmp_path / "again.yaml").models == spec.models


def test_check_tells_what_is_wrong_in_the_file_of_a_model_and_a_run_tells_it_once(site, tmp_path):
    (tmp_path / "bad.urdf").write_text('<robot name="r">\n<link name="a"/>\n<link name="a"/></robot>')
    path = site("models: [{file: bad.urdf}]")
    problems = Problems()
    spec = cbsim.read(path)
    lint_scenario(spec, Files([path]), problems)
    assert [(p.code, p.location.line) for p in problems.errors][:1] == [("E908", 3)]
    with pytest.raises(FileError) as caught:
        cbsim.load(path)
    assert [p.code for p in caught.value.problems.errors].count("E908") == 1
