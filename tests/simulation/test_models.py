"""Models as citizens: a World without a road, stepped, recorded, restored and replayed bit for bit."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, Problems, StepError, UsageError
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import diff
from cbsim.multibody import Mechanism, SolverOptions, get_maximal_state, read_urdf, simulate, step
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating, Revolute
from cbsim.spec.mechanism.shapes import Box, Capsule, Cylinder, Pyramid, Sphere
from cbsim.spec.objects import Triple
from cbsim.world.compile import compile_world
from cbsim.world.figures import outline_of, triangles_of
from cbsim.world.scene import Model, Scene, Settings
from tests.common import shared
from tests.worlds import bot, mover

INERTIA = '<inertial><origin xyz="0 0 {z}"/><mass value="1"/><inertia ixx="0.08" iyy="0.08" izz="0.01"/></inertial>'
ROD = '<visual><origin xyz="0 0 -0.5"/><geometry><box size="0.1 0.1 1"/></geometry></visual>'
PENDULUM = f"""<robot name="pendulum">
  <link name="base"/>
  <link name="upper">{INERTIA.format(z=-0.5)}{ROD}</link>
  <link name="lower">{INERTIA.format(z=-0.5)}{ROD}</link>
  <joint name="pin" type="continuous">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 2.5" rpy="1 0 0"/><axis xyz="1 0 0"/>
  </joint>
  <joint name="knee" type="continuous">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 -1"/><axis xyz="1 0 0"/>
  </joint>
</robot>"""
BALL = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
CUBE = '<collision><geometry><box size="1 1 1"/></geometry></collision>'


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    return path


def dropped(tmp_path, inside=CUBE, name="cube"):
    path = tmp_path / f"{name}.urdf"
    path.write_text(f'<robot name="{name}"><link name="{name}">{INERTIA.format(z=0)}{inside}</link></robot>')
    return path


# --- the same motion --------------------------------------------------------------------------------------------------
def test_a_model_moves_as_the_mechanism_of_its_file_does(pendulum):
    recording = cbsim.run(cbsim.load(pendulum), duration=2.0)
    storage = simulate(read_urdf(pendulum), 201, options=SolverOptions(warm_start=False))
    for i, name in enumerate(("upper", "lower")):
        np.testing.assert_allclose(recording.positions(name), storage.x[:, i], atol=1e-12)
        np.testing.assert_allclose(recording.orientations(name), storage.q[:, i], atol=1e-12)
        np.testing.assert_allclose(recording.velocities(name), storage.v[:, i], atol=1e-11)
    assert recording.names == ["upper", "lower"]
    assert recording.header.step == 0.01


def test_a_step_is_pure_and_its_bits_are_those_of_a_run(pendulum):
    world = cbsim.load(pendulum)
    snapshot = world.start
    for _ in range(5):
        before = snapshot.to_bytes()
        following = cbsim.step(world, snapshot)
        assert snapshot.to_bytes() == before
        snapshot = following
    recording = cbsim.run(world, duration=0.05)
    assert snapshot.hash == int(recording.hashes[-1])
    assert world["upper"].pose(snapshot).position == pytest.approx(recording.positions("upper")[-1], abs=0.0)


@pytest.mark.parametrize("at", [1, 57, 140])
def test_a_run_from_a_restored_snapshot_goes_on_bit_for_bit_on_the_ground_too(tmp_path, at):
    """A cube is thrown down askew: what contacts pushed in the step before is no hidden state."""
    path = dropped(tmp_path)
    world = cbsim.load(path)
    start = world.start
    start.state.position[0, 2] += 0.4
    start.state.orientation[0] = (0.8, 0.36, -0.48, 0.0)
    whole = cbsim.run(world, duration=2.0, snapshot=start)
    assert whole.positions("cube")[:, 2].min() < 0.6
    part = cbsim.run(world, duration=at * 0.01, snapshot=start)
    snapshot = world.restore(start.to_bytes())
    for _ in range(at):
        snapshot = cbsim.step(world, snapshot)
    assert snapshot.hash == int(part.hashes[-1])
    rest = cbsim.run(world, duration=2.0 - at * 0.01, snapshot=world.restore(snapshot.to_bytes()))
    np.testing.assert_array_equal(rest.hashes, whole.hashes[at:])


def test_a_recording_is_replayed_from_the_files_that_it_carries(pendulum, tmp_path):
    record = tmp_path / "run.mcap"
    execute(cbsim.load(pendulum, duration=3.0, settings={"gravity": "-3"}), record=record)
    pendulum.unlink()
    recording = cbsim.Recording.open(record)
    assert recording.complete
    assert len(recording) == 301
    assert cbsim.replay(recording) is None
    other = cbsim.run(cbsim.load(pendulum_again(tmp_path)), duration=3.0)
    found = diff(recording, other)
    assert found is not None
    assert found.step == 1


def pendulum_again(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    return path


# --- numbers ----------------------------------------------------------------------------------------------------------
def test_the_result_of_a_model_has_its_bodies_energy_and_constraint_error(pendulum):
    world = cbsim.load(pendulum, duration=1.0)
    told = execute(world).to_dict()
    assert told["verdict"] == "pass"
    assert [(item["name"], item["type"]) for item in told["objects"]] == [("upper", "model"), ("lower", "model")]
    instance = world.instances[0]
    arm = np.array([0.5, 1.5]) * np.cos(1.0)
    assert instance.energy(world.start) == pytest.approx(9.81 * (2 * 2.5 - arm.sum()), rel=1e-12)
    assert told["energy"] == pytest.approx(instance.energy(world.start), abs=2e-2)
    assert told["constraint_error"] < 1e-12
    json.dumps(told)


def test_the_energy_of_a_swinging_model_stays_to_second_order_in_the_step(pendulum):
    swings = []
    for h in (0.02, 0.01):
        world = cbsim.load(pendulum, step=h)
        snapshot, found = world.start, []
        for _ in range(round(2.0 / h)):
            snapshot = cbsim.step(world, snapshot)
            found.append(world.instances[0].energy(snapshot))
        swings.append(np.ptp(found))
    assert swings[1] < 0.35 * swings[0]
    assert swings[1] < 0.02


def test_a_spring_counts_in_the_energy():
    origin, ball = Origin(), Sphere(0.5, mass=2.0).body(name="ball")
    spring = Revolute(origin, ball, (0, 0, 1), spring=3.0, name="j")
    world = alone(MechanismSpec(origin, [ball], [spring], gravity=0.0), {"j": (0.5,)})
    assert world.instances[0].energy(world.start) == pytest.approx(0.5 * 3.0 * 0.25, rel=1e-12)


def alone(spec, start=None):
    description = ModelDescription(spec, start or {})
    settings = Settings(step=spec.timestep)
    return compile_world(Scene("alone", (), settings=settings, models=(Model("model", description),)))


# --- settings ---------------------------------------------------------------------------------------------------------
def test_a_model_that_can_fall_stands_on_the_ground_and_others_hang_where_they_are(tmp_path, pendulum):
    for inside, height in ((BALL, 0.5), (CUBE, 0.5)):
        world = cbsim.load(dropped(tmp_path, inside))
        recording = cbsim.run(world, duration=1.0)
        np.testing.assert_allclose(recording.positions("cube")[:, 2], height, atol=1e-4)
    assert not cbsim.load(pendulum).instances[0].spec.contacts
    falling = cbsim.load(dropped(tmp_path), settings={"contacts": "false"})
    fallen = cbsim.run(falling, duration=1.0).positions("cube")[-1, 2]
    assert fallen == pytest.approx(-0.5 * 9.81 * 1.0 * 1.01, rel=1e-9)


def test_settings_of_a_model_are_checked_by_name_and_by_value(pendulum):
    assert cbsim.load(pendulum, settings={"merge_fixed": True}).instances
    for settings, message in (
        ({"floatng": "true"}, r"the model has no setting 'floatng'; there is .*did you mean 'floating'\?"),
        ({"floating": "maybe"}, "floating is 'maybe'; whether the root moves freely"),
        ({"friction": "-1"}, "friction is '-1'; coefficient of friction"),
        ({"gravity": "nan"}, "gravity is 'nan'"),
    ):
        with pytest.raises(UsageError, match=message):
            cbsim.load(pendulum, settings=settings)
    with pytest.raises(UsageError, match="is a model, which runs alone: --rndf is for scenarios"):
        cbsim.load(pendulum, rndf="four_way_stop")


def test_a_file_with_mistakes_is_refused_with_all_of_them(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text('<robot name="r">\n<link name="a"/>\n<link name="a"/>\n<joint name="j" type="ball"/></robot>')
    with pytest.raises(FileError) as caught:
        cbsim.load(path)
    codes = [problem.code for problem in caught.value.problems.errors]
    assert codes == ["E919", "E919", "E908"]


def test_meshes_that_lie_in_one_plane_or_are_not_there_are_told(tmp_path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    wheel = '<collision><geometry><mesh filename="flat.obj"/></geometry></collision>'
    mesh = '<collision><geometry><mesh filename="lost.stl"/></geometry></collision>'
    problems = Problems()
    cbsim.load(dropped(tmp_path, wheel + mesh + CUBE), problems=problems)
    assert sorted(p.code for p in problems) == ["W921", "W924"]
    with pytest.raises(FileError, match=r"mesh 'lost.stl' is not there; nothing would touch it \[E921\]"):
        cbsim.load(dropped(tmp_path, mesh), strict=True)


def test_meshes_are_read_beside_the_file_and_in_its_package_but_nowhere_else(tmp_path):
    triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    package = tmp_path / "robot"
    package.mkdir()
    (package / "near.obj").write_text(triangle)
    (tmp_path / "secret.obj").write_text(triangle)
    (package / "torn.stl").write_bytes(b"\x00" * 90)
    names = [
        "near.obj",
        "package://robot/near.obj",
        "../secret.obj",
        "file:///etc/hostname",
        "http://x.org/a.obj",
        "torn.stl",
    ]
    looks = "".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names)
    problems = Problems()
    world = cbsim.load(dropped(package, looks), problems=problems)
    assert world.shapes.last[0] == 2
    told = [p.message.split(";")[0] for p in problems if p.code == "W920"]
    outside = "is outside the folders that may be read"
    words = [text.split(" ", 2)[2].split(":")[0] for text in told]
    assert words == [outside, outside, "is no file of this machine", "has no triangles"]
    assert {name.rsplit("/", 1)[-1] for name in world.scene.sources} == {"cube.urdf", "near.obj", "torn.stl"}


# --- failure ----------------------------------------------------------------------------------------------------------
def test_a_step_that_cannot_be_made_tells_when_and_where_and_what_was_before_is_kept(pendulum):
    """A rod that spins at more than half a turn in a step cannot be followed."""
    world = cbsim.load(pendulum)
    snapshot = world.start
    snapshot.state.angular_velocity[:, 0] = 199.0
    snapshot.state.velocity[1] = 1e4
    with pytest.raises(StepError, match="worst at") as caught:
        cbsim.run(world, duration=10.0, snapshot=snapshot)
    assert 0.0 <= caught.value.time < 10.0


# --- among others -----------------------------------------------------------------------------------------------------
def crowd(*models, **settings):
    actors = (bot("Bot"), mover("Car", (2.0, 0.0, 50.0, 0.0), at=Triple(20.0, 0.0, 0.0)))
    return compile_world(Scene("crowd", actors, settings=Settings(step=0.05, **settings), models=models))


def block(shape, at, timestep=0.01, gravity=0.0):
    origin, body = Origin(), shape.body(mass=1.0, name="block")
    spec = MechanismSpec(origin, [body], [Floating(origin, body, name="free")], timestep=timestep, gravity=gravity)
    return ModelDescription(spec, {"free": (*at, 0.0, 0.0, 0.0)})


def test_models_go_along_with_traffic_each_in_its_own_step():
    world = crowd(
        Model("one", block(Box(1, 1, 1), (0, 5, 1)), 5), Model("two", block(Sphere(1), (5, 0, 9), 0.025, -2.0), 2)
    )
    assert [body.name for body in world] == ["Bot", "Car", "one/block", "two/block"]
    recording = cbsim.run(world, duration=1.0)
    np.testing.assert_allclose(recording.positions("one/block"), np.tile((0, 5, 1), (21, 1)), atol=1e-12)
    assert recording.positions("two/block")[-1, 2] == pytest.approx(9 - 0.5 * 2.0 * 1.0 * 1.025, rel=1e-9)
    assert recording.positions("Car")[-1, 1] == pytest.approx(2.0)
    assert cbsim.replay(recording, world) is None
    snapshot = world.start
    for _ in range(20):
        snapshot = cbsim.step(world, snapshot)
    assert snapshot.hash == int(recording.hashes[-1])


TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (Box(1, 2, 3), 6.0),
        (Sphere(1), 4 / 3 * np.pi),
        (Cylinder(1, 2), 2 * np.pi),
        (Capsule(1, 2), 2 * np.pi + 4 / 3 * np.pi),
        (Pyramid(3, 2), 6.0),
        (Mesh(vertices=TETRAHEDRON, faces=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]), 1 / 6),
    ],
)  # fmt: skip
def test_triangles_of_a_shape_enclose_its_volume_and_face_outwards(shape, volume):
    """The divergence theorem: a sixth of the sum of the corners' triple products; round shapes lose a little."""
    for turned in (
        shape,
        shape.replaced(scale=(1, -1, 1), position_offset=(1, 2, 3), orientation_offset=(0.8, 0, 0.6, 0)),
    ):
        a, b, c = np.moveaxis(triangles_of(turned), 1, 0)
        assert np.einsum("ni,ni->", a, np.cross(b, c)) / 6 == pytest.approx(volume, rel=0.03)
    assert outline_of(shape).radius > 0.0


def test_a_real_quadruped_runs_and_replays(tmp_path):
    world = cbsim.load(shared("urdf", "quadruped", "gazebo_a1.urdf"), duration=1.0)
    assert len(world) == 13
    record = tmp_path / "a1.mcap"
    outcome = execute(world, record=record)
    assert outcome.to_dict()["constraint_error"] < 1e-9
    assert cbsim.replay(cbsim.Recording.open(record)) is None
    z = world.instances[0].state_of(outcome.snapshot)
    mechanism = Mechanism.of(world.instances[0].spec)
    after = step(mechanism, z)
    assert after.shape == (13, 13)
    assert np.abs(get_maximal_state(mechanism)).max() > 0.0
