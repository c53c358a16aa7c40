"""Models meet models, meshes and what is about them: who belongs together, what has no solution, and what it costs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.collision import separation
from cbsim.coupling.candidates import candidates_of
from cbsim.coupling.diagnostics import Diagnostic, Diagnostics, describe
from cbsim.evaluation.outcome import execute
from cbsim.geometry.pose import heading_quaternion
from cbsim.simulation.advance import advance
from cbsim.simulation.loop import Run
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Box, Sphere
from cbsim.spec.objects import Triple
from cbsim.spec.scenario import Placement
from cbsim.vehicle.kernels.columns import MASS
from cbsim.world.compile import compile_world
from cbsim.world.scene import Model, Scene, Settings
from tests.coupling.test_step_islands import crate, rolling, site
from tests.simulation.test_behaviours import Servo, Stride, arm, walker
from tests.worlds import bot, mesh, mover, prop

FLAT = [[-50, -50, 0], [50, -50, 0], [50, 50, 0], [-50, 50, 0]], [[0, 1, 2], [0, 2, 3]]


def model(name, description, at, steps=5, **fields):
    description = replace(description, spec=replace(description.spec, timestep=0.05 / steps))
    place = Placement(position=Triple(*at), heading=fields.pop("heading", 0.0))
    return Model(name, description, steps, placement=place, **fields)


def scene(*models, actors=(), step=0.05):
    return compile_world(Scene("met", tuple(actors), settings=Settings(step=step), models=models))


SIDES = [
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
    [1, 5, 7], [1, 7, 3],
]  # fmt: skip


def box_of(x0, x1, y0, y1, z0, z1):
    corners = np.array(list(itertools.product((x0, x1), (y0, y1), (z0, z1))), float)
    return corners, np.array(SIDES)


def arch():
    """Two posts and a lintel as one mesh, 3.2 m high and 5.6 m wide inside."""
    corners, faces = [], []
    for sides in ((-3, -2.8, -0.3, 0.3, -1.5, 1.5), (2.8, 3, -0.3, 0.3, -1.5, 1.5), (-3, 3, -0.3, 0.3, 1.5, 1.7)):
        points, rows = box_of(*sides)
        faces.append(rows + 8 * len(corners))
        corners.append(points)
    origin, shape = Origin(), Mesh(vertices=np.concatenate(corners), faces=np.concatenate(faces))
    body = Body(800.0, np.diag([800.0, 800.0, 900.0]), shape, name="arch")
    return ModelDescription(MechanismSpec(origin, [body], [Floating(origin, body, name="free")], gravity=0.0))


def go(world, snapshot, steps):
    for _ in range(steps):
        snapshot = cbsim.step(world, snapshot)
    return snapshot


# --- models and models ------------------------------------------------------------------------------------------------
def test_two_models_that_meet_share_their_momentum_and_the_blow_is_noted():
    world = scene(model("a", crate(mass=100.0), (0, 5, 0.8)), model("b", crate(mass=300.0), (0, 8, 0.8)))
    start = world.start
    start.state.velocity[0] = (0.0, 6.0, 0.0)
    recording = cbsim.run(world, duration=2.0, snapshot=start)
    speeds = recording.velocities("a/crate")[-1, 1], recording.velocities("b/crate")[-1, 1]
    np.testing.assert_allclose(speeds, 100.0 * 6.0 / 400.0, rtol=1e-4)  # nothing bounces: they go on together
    assert 100.0 * speeds[0] + 300.0 * speeds[1] == pytest.approx(600.0, abs=1e-3)
    (contact,) = recording.contacts()
    assert contact.bodies == ("a/crate", "b/crate")
    np.testing.assert_allclose(contact.normal, (0, 1, 0), atol=1e-9)
    assert contact.closing_speed == pytest.approx(6.0, rel=1e-6)
    assert contact.impulse == pytest.approx(300.0 * speeds[1], rel=1e-3)
    assert contact.time == pytest.approx(2.0 / 6.0, abs=0.01)
    assert cbsim.replay(recording, world) is None


FRAMES = [
    {"heading": 2.1, "scale": 0.5, "mass": 100.0},
    {"heading": -1.0, "scale": 3.0, "mass": 100.0, "steps": 3},
    {"heading": 0.4, "steps": 20},
]


@pytest.mark.parametrize("frame", FRAMES, ids=["half", "thrice", "turned"])
def test_models_of_different_size_units_and_steps_meet_as_equal_ones_do(frame):
    """One is placed turned, scaled and in steps of its own; what both weigh and how large they are is the same."""
    size, fields = 1.0 / frame.get("scale", 1.0), {name: value for name, value in frame.items() if name != "steps"}
    steps = frame.get("steps", 5)
    both = math.lcm(5, steps)  # a blow in steps of another length is another one
    first, ball = crate(mass=100.0), crate(Sphere(0.5), mass=100.0)
    plain = scene(model("a", first, (0, 5, 0.8), both), model("b", ball, (0.2, 8, 0.8), both))
    other = model("b", crate(Sphere(0.5 * size), mass=100.0), (0.2, 8, 0.8), steps, **fields)
    world, ends = scene(model("a", crate(mass=100.0), (0, 5, 0.8)), other), []
    for each in (plain, world):
        start = each.start
        start.state.velocity[0] = (0.0, 6.0, 0.0)
        ends.append(go(each, start, 40).columns)
    np.testing.assert_allclose(ends[1].velocity, ends[0].velocity, atol=1e-4)
    np.testing.assert_allclose(ends[1].position, ends[0].position, atol=1e-4)
    np.testing.assert_allclose(100.0 * ends[1].velocity.sum(axis=0), (0, 600, 0), atol=1e-3)


def test_a_model_goes_the_same_way_beside_another_as_by_itself():
    """Near, but not in touch: one mechanism of both goes as each does alone, to the solver's tolerance."""
    first, second = arm(behaviour=Servo()), walker()
    near = scene(model("a", first, (0, 0, 0.6)), model("b", second, (-0.9, 1.4, 0.0), heading=0.5))
    far = scene(model("a", first, (0, 0, 0.6)), model("b", second, (-0.9, 901.4, 0.0), heading=0.5))
    assert candidates_of(near, near.start).groups(near, near.start)
    assert not candidates_of(far, far.start).groups(far, far.start)
    one, other = go(near, near.start, 20).columns, go(far, far.start, 20).columns
    shift = np.where(np.arange(len(one.position))[:, None] < len(near.instances[0].rows), 0.0, (0.0, 900.0, 0.0))
    np.testing.assert_allclose(one.position + shift, other.position, atol=1e-6)
    np.testing.assert_allclose(one.orientation, other.orientation, atol=1e-6)
    np.testing.assert_allclose(
        one.controller_state, other.controller_state, atol=2e-5
    )  # an integral of what the solver leaves


def test_who_comes_first_in_a_scene_does_not_matter_to_a_car_between_two_models():
    """A car is hit from both sides and left between them; the order of the models changes nothing but rounding."""
    ends = []
    for names in ("ab", "ba"):
        places = {"a": (-2.2, 0.6, 0.8), "b": (2.9, -0.8, 0.8)}
        models = (model(name, crate(mass=400.0), places[name]) for name in names)
        world = scene(*models, actors=[bot("Car", drive="dynamic")])
        snapshot = rolling(world, (0.0, 2.0, 0.0))
        snapshot.state.velocity[1 + names.index("a")] = (8.0, 0.0, 0.0)
        snapshot.state.velocity[1 + names.index("b")] = (-5.0, 1.0, 0.0)
        snapshot = go(world, snapshot, 20)
        rows = [0, 1 + names.index("a"), 1 + names.index("b")]
        ends.append(np.concatenate([snapshot.columns.position[rows], snapshot.columns.velocity[rows]]))
        assert abs(snapshot.columns.velocity[0, 0]) > 0.1
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)


def test_a_row_of_models_passes_a_blow_on():
    """Newton's cradle without bounce: all end at one speed, in order, none in another."""
    world = scene(*(model(f"m{k}", crate(Box(1, 1, 1), mass=50.0), (0.0, 1.5 * k, 0.8)) for k in range(5)))
    start = world.start
    start.state.velocity[0] = (0.0, 10.0, 0.0)
    end = go(world, start, 60).columns
    np.testing.assert_allclose(end.velocity[:, 1], 2.0, rtol=1e-3)
    assert (np.diff(end.position[:, 1]) > 1.0 - 1e-3).all()


@pytest.mark.parametrize("batch", [1, 7, 40])
def test_meetings_have_the_same_bits_in_batches_of_any_length_and_in_another_world(batch):
    def made():
        return scene(
            model("a", crate(mass=100.0), (0, 5, 0.8)), model("b", walker(behaviour=None), (0, 8, 0.6), heading=0.3),
            actors=[bot("Car", drive="dynamic"), prop("Wall", Triple(0, 11, 0), size=Triple(6, 1, 3))],
        )  # fmt: skip

    hashes = []
    for world, count in ((made(), 40), (made(), batch)):
        snapshot = rolling(world)
        while snapshot.step < 40:
            advance(world, snapshot, min(count, 40 - snapshot.step))
        hashes.append(snapshot.hash)
    assert hashes[0] == hashes[1]


# --- what stands ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("turned", [False, True])
def test_a_prop_is_met_where_the_snapshot_has_it(turned):
    wall = prop("Wall", Triple(0, 30.0, 0), size=Triple(0.5, 24, 3), yaw=0.0 if turned else np.pi / 2)
    world = site(crate(), wall, at=(9.0, 20.0, 0.8))
    cbsim.step(world, world.start)
    snapshot = world.start
    if turned:
        snapshot.state.orientation[world["Wall"].row] = heading_quaternion(np.pi / 2)
    snapshot.state.velocity[world["it/crate"].row] = (0.0, 10.0, 0.0)
    end = go(world, snapshot, 50)
    assert end.columns.position[world["it/crate"].row, 1] == pytest.approx(30.0 - 0.25 - 0.5, abs=2e-3)
    assert separation(world, end, "Wall", "it/crate").distance > -1e-3


def test_a_model_falls_onto_a_drivable_mesh_and_lies_there():
    """A mesh that cars drive on is solid for models, from above, whichever way its triangles run."""
    corners, faces = FLAT
    corners, faces = np.asarray(corners, float) * (0.1, 0.1, 1.0), [face[::-1] for face in faces]
    table = mesh("Table", corners, faces, at=Triple(0, 0, 2), drivable=True)
    world = scene(model("it", crate(Box(1, 1, 0.5), gravity=-9.81), (0.3, 0.2, 3.5)), actors=[table])
    end = go(world, world.start, 60)
    np.testing.assert_allclose(end.columns.position[world["it/crate"].row], (0.3, 0.2, 2.25), atol=2e-3)
    assert np.abs(end.columns.velocity[world["it/crate"].row]).max() < 1e-3


def test_a_model_rolls_down_a_mesh_without_feeling_the_edges_between_its_triangles():
    """A ball on a finely cut slope: a = 5/7 g sin φ, as on a plane."""
    n, tilt = 12, 0.2
    xs, ys = np.meshgrid(np.linspace(-2, 2, 5), np.linspace(-10, 10, n + 1))
    corners = np.stack([xs, ys, -np.tan(tilt) * ys], axis=2).reshape(-1, 3)
    faces = [
        [k, k + 1, k + 6] if upper else [k, k + 6, k + 5]
        for k in (5 * i + j for i in range(n) for j in range(4))
        for upper in (True, False)
    ]
    height = 0.3 / np.cos(tilt) + np.tan(tilt) * 9.0
    ball = crate(Sphere(0.3), mass=10.0, gravity=-9.81)
    slope = mesh("Slope", corners, faces, at=Triple(0, 0, 0), drivable=True)
    world = scene(model("it", ball, (0.1, -9.0, height + 1e-3)), actors=[slope])
    end = go(world, world.start, 40).columns
    along = np.linalg.norm(end.position[1] - world.start.columns.position[1])
    assert along == pytest.approx(0.5 * 5.0 / 7.0 * 9.81 * np.sin(tilt) * 2.0**2, rel=0.02)


def test_an_open_mesh_stops_models_from_both_sides():
    sheet = [[-3, 0, 0], [3, 0, 0], [3, 0, 3], [-3, 0, 3]], [[0, 1, 2], [0, 2, 3]]
    for side in (-1.0, 1.0):
        wall = mesh("Sheet", *sheet, at=Triple(30, 0, 0))
        world = site(crate(mass=20.0), wall, at=(30.0, 4.0 * side, 1.5))
        snapshot = world.start
        snapshot.state.velocity[2] = (0.0, -5.0 * side, 0.0)
        end = go(world, snapshot, 40).columns.position[2, 1]
        assert end * side == pytest.approx(0.5, abs=0.03)


# --- concave models ---------------------------------------------------------------------------------------------------
def test_a_car_stands_under_an_arch_that_is_a_model_and_is_not_blown_away():
    """The arch is its posts and lintel, not its hull: it launched the car at 206 m/s once."""
    world = scene(model("it", arch(), (0.0, 0.0, 1.6)), actors=[bot("Car", drive="dynamic")])
    recording = cbsim.run(world, duration=1.0)
    np.testing.assert_allclose(recording.velocities("Car"), 0.0, atol=1e-6)
    np.testing.assert_allclose(recording.velocities("it/arch"), 0.0, atol=1e-6)
    assert not recording.contacts()


def test_a_car_drives_through_an_arch_and_against_its_post():
    for x, passes in ((0.0, True), (2.9, False)):
        world = scene(model("it", arch(), (-x, 6.0, 1.6)), actors=[bot("Car", drive="dynamic")])
        end = go(world, rolling(world, (0, 8.0, 0)), 30)
        assert (abs(end.columns.velocity[1, 1]) < 1e-6) == passes
        if not passes:
            assert end.columns.velocity[1, 1] + abs(end.columns.angular_velocity[1, 2]) > 0.5
        assert separation(world, end, "Car", "it/arch").distance > -0.02


# --- no solution ------------------------------------------------------------------------------------------------------
def test_a_model_that_is_pinched_between_a_mover_and_a_wall_does_not_go_through_the_wall():
    """The bus does as it is told and passes; the wall stands, whatever pushes."""
    world = site(
        crate(), mover("Bus", (10, 0, 60, 0), at=Triple(10, -14, 0), size=Triple(2.5, 8, 3)),
        prop("Wall", Triple(10, 8, 0), size=Triple(6, 1, 3)), at=(10.0, 0.0, 0.8),
    )  # fmt: skip
    recording = cbsim.run(world, duration=4.0)
    place = recording.positions("it/crate")
    assert place[:, 1].max() < 7.0 + 0.01
    assert recording.positions("Bus")[-1, 1] > 20.0
    np.testing.assert_allclose(np.linalg.norm(recording.velocities("it/crate"), axis=1)[70:], 0.0, atol=0.05)
    assert ("Bus", "it/crate") in {c.bodies for c in recording.contacts()}
    assert cbsim.replay(recording, world) is None


def test_a_car_that_is_pushed_against_a_wall_by_a_model_stays_outside_of_it():
    """A heavy crate drives a parked car before it into a wall; all three stay apart, and nothing gains energy."""
    world = site(crate(mass=3000.0), prop("Wall", Triple(0, 6, 0), size=Triple(8, 1, 3)), at=(0.0, -6.0, 0.8))
    snapshot = rolling(world, (0, 0, 0))
    row = world["it/crate"].row
    snapshot.state.velocity[row] = (0.0, 10.0, 0.0)
    for _ in range(60):
        snapshot = cbsim.step(world, snapshot)
        assert separation(world, snapshot, "Car", "Wall").distance > -0.02
        assert separation(world, snapshot, "Car", "it/crate").distance > -0.02
        assert np.linalg.norm(snapshot.columns.velocity[[0, row]], axis=1).max() < 10.5


def test_what_could_not_be_solved_is_counted_and_told():
    rows = [Diagnostic("interpenetrating", 0.05 * k, ("it",), ("Bus",)) for k in range(3)] + [
        Diagnostic("frozen", 0.4, ("it",), ())
    ]
    diagnostics = Diagnostics()
    diagnostics.take(rows)
    first, second = describe(diagnostics)
    assert first == "'Bus' passed through 'it': no solution kept them apart: 3 steps from 0.00 to 0.10 s"
    assert second.endswith("1 step at 0.40 s")


def test_diagnostics_of_a_run_are_in_its_outcome(monkeypatch):
    """Where the solver finds no step with movers it goes on without, and the run says so."""
    from cbsim.coupling import fallbacks as room
    from cbsim.errors import StepError

    honest = room.solve_island

    def fails(island, *rest):
        if any(np.isinf(actor.mass) for actor in island.actors):
            raise StepError("no step", time=0.0)
        return honest(island, *rest)

    monkeypatch.setattr(room, "solve_island", fails)
    bus = mover("Bus", (8, 0, 40, 0), at=Triple(10, -8, 0), size=Triple(2.5, 8, 3))
    world = site(crate(), bus, at=(10.0, 0.0, 0.8))
    outcome = execute(world, steps=60)
    assert {one.what for one in outcome.diagnostics} == {"interpenetrating"}
    assert outcome.to_dict()["diagnostics"][0]["others"] == ("Bus",)
    assert outcome.complaints == tuple(describe(outcome.diagnostics))

    def never(*_):
        raise StepError("no step", time=0.0)

    monkeypatch.setattr(room, "solve_island", never)
    run = Run(world, rolling(world, (0, -5, 0)))
    run.snapshot.state.position[0] = (10.0, 3.5, run.snapshot.state.position[0, 2])
    before = run.snapshot.columns.position[[0, 2]].copy()
    run.advance(1)
    mass = float(world.constants.vehicle_parameters[0, MASS])
    velocity = (0.0, -5.0 * mass / (mass + 300.0), 0.0)  # that of both together: momentum is kept
    np.testing.assert_allclose(run.snapshot.columns.velocity[[0, 2]], np.tile(velocity, (2, 1)), rtol=1e-12)
    moved = run.snapshot.columns.position[[0, 2]] - before
    np.testing.assert_allclose(moved, np.tile(0.05 * np.array(velocity), (2, 1)), rtol=1e-9, atol=1e-12)
    assert [one.what for one in run.diagnostics] == ["locked_together"]


def test_a_group_without_a_step_stands_still_where_it_might_run_into_a_wall(monkeypatch):
    from cbsim.coupling import fallbacks as room
    from cbsim.errors import StepError

    def never(*_):
        raise StepError("no step", time=0.0)

    monkeypatch.setattr(room, "solve_island", never)
    world = site(crate(), prop("Wall", Triple(0, 4, 0), size=Triple(8, 1, 3)), at=(0.0, 2.6, 0.8))
    run = Run(world, rolling(world, (0, 5, 0)))
    before = run.snapshot.columns.position.copy()
    run.advance(1)
    np.testing.assert_array_equal(run.snapshot.columns.position, before)
    np.testing.assert_array_equal(run.snapshot.columns.velocity, 0.0)
    assert [one.what for one in run.diagnostics] == ["frozen"]


# --- behaviours -------------------------------------------------------------------------------------------------------
def test_a_model_near_something_turns_no_faster_than_its_file_lets_it():
    class Twist(Servo):
        def act(self, time, state, memory, inputs, forces):
            forces[:, 5] = 50.0

    origin, body = Origin(), Box(0.4, 0.4, 0.4).body(mass=1.0, name="top")
    spec = MechanismSpec(origin, [body], [Floating(origin, body, name="free")], gravity=0.0)
    top = ModelDescription(spec, behaviour=Twist(), most_turn=0.3)
    rates = []
    for actors in ((), (prop("Post", Triple(0.6, 0, 0), size=Triple(0.2, 0.2, 2)),)):
        world = scene(model("it", top, (0, 0, 1)), actors=actors)
        rates.append(go(world, world.start, 20).columns.angular_velocity[-1, 2])
    assert rates[0] == pytest.approx(30.0, rel=1e-9)
    assert rates[1] == pytest.approx(rates[0], rel=1e-9)


def test_two_kinematic_walkers_pass_and_a_dynamic_one_gives_way():
    """What is moved without dynamics goes as it is moved; a crate in its way is pushed off."""
    world = scene(
        model("a", walker(motion=Stride()), (-1.0, 0.0, 0.6)), model("b", walker(motion=Stride()), (-1.0, 0.3, 0.6)),
        model("c", crate(Box(0.4, 0.4, 0.4), mass=5.0), (-1.0, 1.6, 1.5)),
    )  # fmt: skip
    recording = cbsim.run(world, duration=3.0)
    angle = recording.times[1:]
    np.testing.assert_allclose(recording.positions("a/body")[1:, 1], np.sin(angle), atol=1e-9)
    np.testing.assert_allclose(recording.positions("b/body")[1:, 1], 0.3 + np.sin(angle), atol=1e-9)
    assert np.linalg.norm(recording.positions("c/crate")[-1] - recording.positions("c/crate")[0]) > 0.1
    assert cbsim.replay(recording, world) is None
