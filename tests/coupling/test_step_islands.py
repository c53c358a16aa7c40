"""Vehicles and movers against models: momentum is accounted for, nothing passes through, and every bit comes again."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.collision import separation
from cbsim.evaluation.judge import judge
from cbsim.evaluation.outcome import execute
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider, ground
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating, Revolute
from cbsim.spec.mechanism.shapes import Box, Capsule, CombinedShapes, Cylinder, Sphere
from cbsim.spec.objects import ShapeKind, Triple
from cbsim.spec.scenario import Placement
from cbsim.vehicle.kernels.columns import MASS, YAW_INERTIA
from cbsim.world.compile import compile_world
from cbsim.world.scene import Model, Scene, Settings
from tests.common import shared
from tests.simulation.test_behaviours import Stride, arm, walker
from tests.worlds import bot, mesh, mover, prop

RAMP = [[-20, -30, 0], [20, -30, 0], [20, 60, 9], [-20, 60, 9]], [[0, 1, 2], [0, 2, 3]]


def crate(shape=None, mass=300.0, spin=None, gravity=0.0):
    origin, body = Origin(), (shape or Box(1, 1, 1)).body(mass=mass, name="crate")
    spec = MechanismSpec(origin, [body], [Floating(origin, body, name="free")], gravity=gravity)
    return ModelDescription(spec)


def site(description, *actors, at=(0.3, 5.0, 0.8), heading=0.0, scale=1.0, mass=None, drive="dynamic", **settings):
    place = Placement(position=Triple(*at), heading=heading)
    model = Model("it", description, 5, placement=place, scale=scale, mass=mass)
    car = bot("Car", drive=drive)
    return compile_world(Scene("met", (car, *actors), settings=Settings(step=0.05, **settings), models=(model,)))


def rolling(world, velocity=(0.0, 10.0, 0.0)):
    """The car rolls freely, its handbrake off."""
    snapshot = world.start
    state = snapshot.state
    state.velocity[0], state.command[0, 5] = velocity, 0.0
    state.pose_history[:, 7:10] = state.velocity[world.constants.tracked_body].repeat(
        max(world.constants.memory, 1), axis=0
    )[: len(state.pose_history)]
    return snapshot


def momentum(world, snapshot, masses):
    """Momentum (2,) [kg m/s] along the ground of the car and of bodies of the model."""
    v = snapshot.columns.velocity
    car = world.constants.vehicle_parameters[0, MASS] * v[0, :2]
    return car + sum(m * v[1 + k, :2] for k, m in enumerate(masses))


# --- momentum ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("frame", [{}, {"heading": 2.1, "scale": 0.5, "mass": 300.0, "at": (0.3, 5.0, 0.6)}])
@pytest.mark.parametrize("shape", [Box(1, 1, 1), Sphere(0.6), Cylinder(0.5, 1.0), Capsule(0.3, 0.7)])
def test_what_a_car_loses_in_a_blow_a_model_gains(shape, frame):
    """Without the model the car would change its momentum by what tyres and drag give: the rest is the blow's."""
    world, apart = site(crate(shape), **frame), site(crate(shape), at=(300, 300, 1))
    one, other = rolling(world), rolling(apart)
    struck = 0
    for _ in range(24):
        before = momentum(world, one, [300.0])
        other.state.position[0], other.state.orientation[0] = one.columns.position[0], one.columns.orientation[0]
        for name in ("velocity", "angular_velocity", "actuator", "wheel", "command"):
            getattr(other.state, name)[0] = getattr(one.columns, name)[0]
        free = momentum(apart, cbsim.step(apart, other), [0.0]) - momentum(apart, other, [0.0])
        speed = one.columns.velocity[1].copy()
        one = cbsim.step(world, one)
        np.testing.assert_allclose(momentum(world, one, [300.0]) - before, free, atol=5e-3)  # 3e-7 of what the car has
        struck += bool(np.abs(one.columns.velocity[1] - speed).max() > 1.0)
    assert struck >= 1
    assert one.columns.velocity[1, 1] > one.columns.velocity[0, 1] > 5.0


def test_a_central_blow_follows_newtons_law():
    """v' = (m v + M V ± e …) / (m + M): the larger restitution counts, that of the car; drag is small against it."""
    world = site(crate(Box(1, 1, 1)), at=(0.0, 5.0, 0.8))
    mass, e = float(world.constants.vehicle_parameters[0, MASS]), 0.2
    snapshot, speed = rolling(world), 0.0
    while snapshot.columns.velocity[1, 1] == 0.0:
        speed = float(snapshot.columns.velocity[0, 1])
        snapshot = cbsim.step(world, snapshot)
    common = mass * speed / (mass + 300.0)
    assert snapshot.columns.velocity[1, 1] == pytest.approx(common + e * mass / (mass + 300.0) * speed, rel=3e-3)
    assert snapshot.columns.velocity[0, 1] == pytest.approx(common - e * 300.0 / (mass + 300.0) * speed, rel=3e-3)


def test_a_blow_beside_the_middle_turns_the_car_as_its_inertia_wants_it():
    """J at x turns it by J x / I; angular momentum about the origin is kept by both together."""
    world = site(crate(Sphere(0.5)), at=(0.6, 4.0, 0.9))
    table = world.constants.vehicle_parameters[0]
    snapshot = rolling(world)
    while snapshot.columns.velocity[1, 1] == 0.0:
        before, snapshot = snapshot, cbsim.step(world, snapshot)
    gained = 300.0 * snapshot.columns.velocity[1, :2]
    spin = table[YAW_INERTIA] * snapshot.columns.angular_velocity[0, 2]
    contact = world["it/crate"].pose(before).position[:2] - (0.0, 0.5) - before.columns.position[0, :2]
    assert spin == pytest.approx(-(contact[0] * gained[1] - contact[1] * gained[0]), rel=0.1)
    assert spin < -100.0


# --- contacts ---------------------------------------------------------------------------------------------------------
def test_a_touch_is_noted_once_with_its_place_speed_and_impulse():
    world = site(crate(Box(1, 1, 1)), at=(0.0, 5.0, 0.8))
    recording = cbsim.run(world, duration=1.5, snapshot=rolling(world))
    (contact,) = recording.contacts()
    assert contact.bodies == ("Car", "it/crate")
    assert contact.closing_speed == pytest.approx(10.0, abs=0.15)
    np.testing.assert_allclose(contact.normal, (0, 1, 0), atol=1e-6)
    assert contact.place[1] == pytest.approx(4.6, abs=0.15)
    assert contact.time == pytest.approx(2.66 / 9.97, abs=0.02)
    final = recording.velocities("it/crate")[-1, 1]
    assert contact.impulse == pytest.approx(300.0 * final, rel=1e-3)
    assert cbsim.replay(recording, world) is None


def test_touches_of_models_are_forgotten_when_they_end_and_noted_again():
    world = site(crate(Box(1, 1, 1)), at=(0.0, 5.0, 0.8))
    snapshot = rolling(world)
    for _ in range(20):
        snapshot = cbsim.step(world, snapshot)
    assert (snapshot.columns.active_contacts == -1).all()
    assert separation(world, snapshot, "Car", "it/crate").distance > 0.1
    snapshot.state.velocity[1] = (0.0, -5.0, 0.0)
    again = cbsim.run(world, duration=1.0, snapshot=snapshot)
    assert [c.bodies for c in again.contacts()] == [("Car", "it/crate")]


# --- nothing passes through -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("speed", [3.0, 15.0, 40.0])
def test_nothing_passes_through_at_any_speed(speed):
    origin = Origin()
    body = Box(0.3, 0.2, 1.2).body(mass=40.0, name="post")
    spec = MechanismSpec(
        origin, [body], [Floating(origin, body, name="free")],
        colliders=[ground(origin), Collider(body, Box(0.3, 0.2, 1.2), 0.7)],
    )  # fmt: skip
    world = site(ModelDescription(spec, {"free": (0, 0, 0.6, 0, 0, 0)}), at=(0.1, 6.0, 0.0))
    snapshot = rolling(world, (0.0, speed, 0.0))
    for _ in range(60):
        snapshot = cbsim.step(world, snapshot)
        car, post = snapshot.columns.position[:2]
        assert post[1] > car[1] + 1.0
        assert separation(world, snapshot, "Car", "it/post").distance > -0.02


def test_a_literal_mover_goes_on_as_it_was_told_and_pushes_models_away():
    truck = mover("Truck", (8.0, 0.0, 60.0, 0.0), at=Triple(20, 0, 0), size=Triple(2, 6, 3))
    world = site(crate(Box(1, 1, 1), mass=50.0), truck, at=(20.2, 8.0, 1.0))
    recording = cbsim.run(world, duration=3.0)
    np.testing.assert_allclose(recording.positions("Truck")[:, 1], 8.0 * recording.times, atol=1e-9)
    assert {c.bodies for c in recording.contacts()} == {("Truck", "it/crate")}
    assert recording.velocities("it/crate")[-1, 1] == pytest.approx(8.0, rel=0.03)
    assert cbsim.replay(recording, world) is None


def test_a_car_is_stopped_by_a_model_that_is_moved_without_dynamics():
    """The walker goes on its circle whatever happens; the car does not get through it."""
    world = site(walker(motion=Stride()), at=(-1.0, 6.0, 0.0))
    recording = cbsim.run(world, duration=3.0, snapshot=rolling(world))
    angle = recording.times[1:]
    np.testing.assert_allclose(recording.positions("it/body")[1:, 1], 6.0 + np.sin(angle), atol=1e-9)
    assert recording.contacts()
    assert recording.velocities("Car")[-1, 1] < 1.0
    assert recording.positions("Car")[:, 1].max() < 6.5


def test_a_car_on_a_slope_stays_on_it_when_it_hits_a_model():
    slope = mesh("Slope", *RAMP, drivable=True)
    world = site(crate(Box(1, 1, 1)), slope, at=(0.2, 6.0, 4.3))
    snapshot = world.start
    state = snapshot.state
    tilt = math.atan2(9, 90)
    state.velocity[0], state.command[0, 5] = (0.0, 10 * math.cos(tilt), 10 * math.sin(tilt)), 0.0
    recording = cbsim.run(world, duration=2.0, snapshot=snapshot)
    assert [c.bodies for c in recording.contacts()] == [("Car", "it/crate")]
    assert recording.velocities("it/crate")[-1, 1] > 5.0
    place = recording.positions("Car")
    np.testing.assert_allclose(place[:, 2] - 0.1 * place[:, 1], place[0, 2] - 0.1 * place[0, 1], atol=5e-3)


def test_a_body_of_several_shapes_or_of_none_can_be_hit():
    parts = CombinedShapes([Box(0.4, 0.4, 0.4, mass=30.0), Sphere(0.3, mass=20.0, position_offset=(0, 0, 0.4))])
    origin, body, ghost = Origin(), parts.body(name="crate"), Sphere(0.1, mass=1.0)
    bare = Body(1.0, ghost.inertia(1.0), None, name="bare")
    joints = [Floating(origin, body, name="free"), Revolute(body, bare, (1, 0, 0), child_vertex=(0, 0, 1), name="j")]
    world = site(ModelDescription(MechanismSpec(origin, [body, bare], joints, gravity=0.0)), at=(0.0, 5.0, 0.8))
    recording = cbsim.run(world, duration=1.5, snapshot=rolling(world))
    assert {c.bodies for c in recording.contacts()} == {("Car", "it/crate")}
    assert recording.velocities("it/crate")[-1, 1] > 8.0


# --- bits -------------------------------------------------------------------------------------------------------------
def test_a_run_over_walker_is_replayed_and_restored_bit_for_bit_by_a_world_made_anew(tmp_path):
    text = """
duration: 2.5
add:
  - {name: Car, kind: autonomous, size: [1.8, 4.6, 1.45], script: [{speed: 8, distance: 30, angle: 0}]}
  - {name: Truck, kind: dynamic, size: [2.5, 8, 3], position: [10, 10, 0], script: [{speed: 8, distance: 60, angle: 0}]}
models:
  - {file: models/crash_dummy.urdf, name: A, position: [0.3, 5, 0], heading: 90, settings: {joint_friction: true}}
  - {file: models/crash_dummy.urdf, name: B, position: [10.4, 20, 0], settings: {joint_friction: true}}
expect:
  - collision: {object: A, impact_below: 100}
"""
    path = tmp_path / "over.yaml"
    path.write_text(text)
    world = cbsim.load(path)
    record = tmp_path / "run.mcap"
    outcome = execute(world, record=record)
    assert outcome.verdict == "pass"
    recording = cbsim.Recording.open(record)
    hit = {c.bodies for c in recording.contacts()}
    assert any(a == "Car" and b.startswith("A/") for a, b in hit)
    assert any(a == "Truck" and b.startswith("B/") for a, b in hit)
    assert cbsim.replay(recording) is None
    assert judge(recording).checks == outcome.checks
    fresh = cbsim.load(path)
    snapshot = fresh.start
    for step in range(1, len(recording)):
        snapshot = fresh.restore(cbsim.step(fresh, snapshot).to_bytes())
        assert snapshot.hash == int(recording.hashes[step]), step
    late = cbsim.load(path)
    rest = cbsim.run(late, duration=1.0, snapshot=late.restore(midway(fresh, 30).to_bytes()))
    np.testing.assert_array_equal(rest.hashes, recording.hashes[30:])


def midway(world, steps):
    snapshot = world.start
    for _ in range(steps):
        snapshot = cbsim.step(world, snapshot)
    return snapshot


def test_models_near_the_middle_of_the_map_are_no_obstacles_of_literal_traffic():
    """Rows of models are none of movers: pairs with them once read past the tables of legs."""
    car = mover("Cart", (2.0, 0.0, 20.0, 0.0), at=Triple(0.5, -6.0, 0.0))
    model = Model("it", crate(Box(0.2, 0.2, 0.2)), 5, placement=Placement(position=Triple(30, 0, 5)))
    world = compile_world(Scene("calm", (car,), settings=Settings(step=0.05), models=(model,)))
    assert not cbsim.run(world, duration=4.0).contacts()


def test_a_mover_that_nothing_can_give_way_to_passes_and_its_contact_has_no_impulse():
    """An arm hangs on a post that the truck drives through: there is no solution, and the run goes on."""
    truck = mover("Truck", (8.0, 0.0, 60.0, 0.0), at=Triple(20, 0, 0), size=Triple(2, 6, 3))
    world = site(arm([]), truck, at=(20.0, 8.0, 1.0))
    recording = cbsim.run(world, duration=2.5)
    np.testing.assert_allclose(recording.positions("Truck")[:, 1], 8.0 * recording.times, atol=1e-9)
    assert {c.bodies for c in recording.contacts()} == {("Truck", "it/arm")}
    hinge = recording.positions("it/arm") - rotate(recording.orientations("it/arm"), np.array([0.0, 0.5, 0.0]))
    np.testing.assert_allclose(hinge, np.tile((20.0, 8.0, 1.0), (51, 1)), atol=1e-9)
    assert cbsim.replay(recording, world) is None


def test_a_car_a_thousand_times_as_heavy_as_a_model_takes_its_impulse_too():
    """The solver holds it to its way, and it loses what the model gains."""
    world = site(crate(Box(1, 1, 1), mass=1.5), at=(0.3, 5.0, 0.8))
    mass = float(world.constants.vehicle_parameters[0, MASS])
    snapshot = rolling(world)
    for _ in range(12):
        before, snapshot = snapshot, cbsim.step(world, snapshot)
        if before.columns.velocity[1, 1] == 0.0 < snapshot.columns.velocity[1, 1]:
            alone = cbsim.step(site(crate(), at=(300, 300, 1)), placed_like(before))
            lost = mass * (alone.columns.velocity[0, :2] - snapshot.columns.velocity[0, :2])
            np.testing.assert_allclose(lost, 1.5 * snapshot.columns.velocity[1, :2], atol=1e-5)
    assert snapshot.columns.velocity[1, 1] > 10.0


def placed_like(snapshot):
    """The same car where there is no model near."""
    other = site(crate(), at=(300, 300, 1)).start
    for name in ("position", "orientation", "velocity", "angular_velocity", "actuator", "wheel", "command"):
        getattr(other.state, name)[0] = getattr(snapshot.columns, name)[0]
    other.state.clock[0] = snapshot.step
    return other


@pytest.mark.parametrize("shape", [ShapeKind.BOX, ShapeKind.SPHERE, ShapeKind.CYLINDER, ShapeKind.WHEEL])
def test_a_model_is_stopped_by_a_prop(shape):
    block = prop("Block", Triple(30.0, 0.0, 0.0), shape=shape, size=Triple(2, 2, 2))
    world = site(crate(Box(1, 1, 1), mass=50.0), block, at=(30.0, -4.0, 1.0))
    snapshot = world.start
    snapshot.state.velocity[2] = (0.0, 5.0, 0.0)
    recording = cbsim.run(world, duration=2.0, snapshot=snapshot)
    assert {c.bodies for c in recording.contacts()} == {("Block", "it/crate")}
    assert recording.contacts()[0].closing_speed == pytest.approx(5.0, rel=1e-3)
    assert recording.positions("it/crate")[:, 1].max() < -1.3
    assert abs(recording.velocities("it/crate")[-1, 1]) < 0.3
    assert cbsim.replay(recording, world) is None


def test_a_model_goes_under_an_arch_of_a_mesh_and_not_through_its_wall():
    """A mesh is its triangles, not its hull: an arch lets through what fits under it."""
    posts = [(-3, -2), (2, 3)]
    corners, faces = [], []
    for low, high in posts:  # two posts, each a wall of two triangles across the way
        n = len(corners)
        corners += [[low, 0, 0], [high, 0, 0], [high, 0, 3], [low, 0, 3]]
        faces += [[n, n + 1, n + 2], [n, n + 2, n + 3]]
    for x, passes in ((0.0, True), (2.5, False)):
        arch = mesh("Arch", corners, faces, at=Triple(30, 0, 0))
        world = site(crate(Box(0.8, 0.8, 0.8), mass=20.0), arch, at=(30.0 + x, -4.0, 1.0))
        snapshot = world.start
        snapshot.state.velocity[2] = (0.0, 5.0, 0.0)
        end = cbsim.run(world, duration=2.0, snapshot=snapshot).positions("it/crate")[-1]
        assert (end[1] > 5.0) == passes
        assert passes or end[1] < -0.35


CITY = """
network: city
duration: 4
add:
  - name: Bot
    kind: autonomous
    position: [0.5, -9, 0]
    sensors: [cajunbot/onboard/scan_gp_driver_0.conf]
    script: [{speed: 8, distance: 40, angle: 0}]
  - {name: Kerb, size: [1, 30, 0.3], position: [4, 0, 0]}
models:
  - {file: walker.jm, name: Walker, position: [0, 6, 0], heading: 90, scale: 0.25, mass: 60}
expect:
  - travel: {object: Walker, at_least: 1}
"""


@pytest.mark.slow
def test_a_walking_model_in_a_city_is_seen_by_lasers_and_run_over(tmp_path):
    """A Juice hexapod walks across; a bot sees it come near, runs into it, and pushes it along."""
    (tmp_path / "walker.jm").write_bytes(shared("juice", "models", "SimpleHex.jm").read_bytes())
    path = tmp_path / "site.yaml"
    path.write_text(CITY)
    world = cbsim.load(path)
    record = tmp_path / "run.mcap"
    outcome = execute(world, record=record)
    assert outcome.verdict == "pass"
    recording = cbsim.Recording.open(record)
    assert any(a == "Bot" and b.startswith("Walker/") for a, b in (c.bodies for c in recording.contacts()))
    ranges = [scan.ranges.min() for scan in recording.scans("Bot/scan_gp_driver_0")]
    assert min(ranges) < ranges[0]
    ahead = recording.positions(recording.bodies[0])
    assert ahead[-1, 1] > recording.positions("Bot")[-1, 1]
    told = outcome.to_dict()
    assert told["constraint_error"] < 1e-6
    assert np.isfinite(told["energy"])
    assert cbsim.replay(recording) is None
    fresh = cbsim.load(path)
    rest = cbsim.run(fresh, duration=1.0, snapshot=fresh.restore(midway(world, 60).to_bytes()))
    np.testing.assert_array_equal(rest.hashes, recording.hashes[60:])
