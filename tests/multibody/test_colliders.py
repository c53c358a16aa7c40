"""Solid shapes that meet: what rests, slides, rolls, collides and is stacked."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cbsim.dynamics.active_contacts import active_contacts
from cbsim.dynamics.kernels import columns as c
from cbsim.errors import ModelError
from cbsim.geometry.pose import Pose
from cbsim.multibody import (
    Box,
    Capsule,
    Collider,
    ConvexHull,
    Cylinder,
    Fixed,
    Floating,
    HalfSpace,
    Mechanism,
    Origin,
    Revolute,
    SolverOptions,
    Sphere,
    contact_constraint,
    gallery,
    get_maximal_state,
    get_minimal_state,
    ground,
    minimal_to_maximal,
    rollout,
    rollout_gradients,
    set_floating_base,
    simulate,
    step,
    step_batch,
)
from cbsim.spec.mechanism.similar import Change, Similar

G = 9.81
SHAPES = {
    "box": Box(0.4, 0.3, 0.5, mass=2.0),
    "sphere": Sphere(0.25, mass=2.0),
    "capsule": Capsule(0.15, 0.4, mass=2.0),
    "cylinder": Cylinder(0.2, 0.5, mass=2.0),
    "ellipsoid": Sphere(0.2, mass=2.0, scale=(1.0, 1.5, 0.7)),
    "hull": ConvexHull(
        points=[[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], scale=0.3, mass=2.0
    ),
}


TIGHT = SolverOptions(rtol=1e-8, btol=1e-8)


def floating(shapes, *, friction=0.5, floor=True, restitution=0.0, **options):
    """Solid bodies that float freely over level ground."""
    origin = Origin()
    bodies = [shape.body(name=f"body {i}") for i, shape in enumerate(shapes)]
    solid = [ground(origin, friction_coefficient=friction)] if floor else []
    solid += [Collider(b, s, friction, restitution=restitution) for b, s in zip(bodies, shapes, strict=True)]
    return Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=solid, **options)


def state(*rows):
    """A maximal state of rows of position, velocity, orientation and angular velocity, all but the first optional."""
    z = np.zeros((len(rows), 13))
    z[:, 6] = 1.0
    for row, given in zip(z, rows, strict=True):
        row[:3] = given[0]
        for what, place in zip(given[1:], (slice(3, 6), slice(6, 10), slice(10, 13)), strict=False):
            row[place] = what
    return z.ravel()


def path_of(mechanism, z, steps, **options):
    """States (steps + 1, bodies, 13)."""
    return rollout(mechanism, z, steps, **options).reshape(steps + 1, len(mechanism.bodies), 13)


def axes_of(q):
    """Columns: the axes of a frame in the world."""
    s, v = q[0], np.array(q[1:])
    across = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + 2.0 * across @ (across + s * np.eye(3))


def depth(one, other, half, half_other):
    """How deep two boxes (rows of a state, half edges) are in one another, by the fifteen ways that may part them."""
    a, b = axes_of(one[6:10]), axes_of(other[6:10])
    ways = np.concatenate([a.T, b.T, np.cross(a.T[:, None], b.T[None]).reshape(-1, 3)])
    lengths = np.linalg.norm(ways, axis=1)
    ways = ways[lengths > 1e-6] / lengths[lengths > 1e-6, None]
    apart = np.abs(ways @ (one[:3] - other[:3])) - np.abs(ways @ a) @ half - np.abs(ways @ b) @ half_other
    return -float(apart.max())


@pytest.mark.parametrize("name", SHAPES)
def test_what_falls_comes_to_rest_on_the_ground_and_not_in_it(name):
    m = floating([SHAPES[name]], timestep=0.01)
    path = path_of(
        m, state(((0, 0, 0.7), (0, 0, 0), np.array([1, 0.2, 0.1, 0.05]) / np.linalg.norm([1, 0.2, 0.1, 0.05]))), 600
    )
    last = path[-1, 0]
    assert np.abs(last[3:6]).max() < (0.2 if name == "ellipsoid" else 0.02)  # which still rocks
    assert 0.1 < last[2] < 0.36
    assert path[:, 0, 2].min() > 0.1


def test_a_block_that_rests_presses_with_its_weight_and_does_not_creep():
    m = floating([SHAPES["box"]], timestep=0.01)
    path = path_of(m, state(((0, 0, 0.25),)), 200)
    np.testing.assert_allclose(path[-1, 0, :3], (0, 0, 0.25), atol=1e-7)
    contact_work = m.work.contact_work
    active = contact_work[:, c.ACTIVE] != 0.0
    assert contact_work[active, c.FORCE].sum() == pytest.approx(2.0 * G * 0.01, rel=1e-6)


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_what_collides_in_space_keeps_its_momentum(one, other):
    m = floating([SHAPES[one], SHAPES[other]], floor=False, gravity=0.0, timestep=0.005)
    z = state(
        ((-0.8, 0.05, 0.03), (3, 0, 0), (1, 0, 0, 0), (1, -2, 0.5)), ((0.8, 0, 0), (-2, 0, 0), (1, 0, 0, 0), (0, 1, 1))
    )
    path = path_of(m, z, 120)
    total = path[:, :, 3:6].sum(axis=1)
    np.testing.assert_allclose(total, np.tile(total[0], (121, 1)), atol=1e-5)  # residuals may be 1e-6 N s
    apart = path[-1, 1] - path[-1, 0]
    assert apart[:3] @ apart[3:6] > -1e-6  # they part, or go together
    assert path[0, 0, 3] - path[-1, 0, 3] > 0.5  # they did meet


def test_a_stack_of_ten_stands():
    m = floating([Box(1, 1, 1, mass=1.0)] * 10, timestep=0.01)
    path = path_of(m, state(*[((0, 0, 0.5 + k),) for k in range(10)]), 300)
    assert np.abs(path[:, :, :3] - path[0, :, :3]).max() < 1e-6
    gaps = np.diff(path[-1, :, 2]) - 1.0
    assert gaps.min() > -1e-8


@pytest.mark.slow
def test_a_stack_of_ten_stands_for_a_minute():
    m = floating([Box(1, 1, 1, mass=1.0)] * 10, timestep=0.01)
    path = path_of(m, state(*[((0, 0, 0.5 + k),) for k in range(10)]), 6000)
    assert np.abs(path[:, :, :3] - path[0, :, :3]).max() < 1e-4
    assert (np.diff(path[:, :, 2], axis=1) - 1.0).min() > -1e-6


def test_ten_that_fall_on_one_another_are_stacked():
    m = floating([Box(1, 1, 1, mass=1.0)] * 10, timestep=0.01)
    path = path_of(m, state(*[((0, 0, 0.6 + 1.1 * k),) for k in range(10)]), 300)
    np.testing.assert_allclose(path[-1, :, 2], 0.5 + np.arange(10), atol=1e-6)
    assert (np.diff(path[:, :, 2], axis=1) - 1.0).min() > -1e-8


@pytest.mark.parametrize("friction", [0.3, 0.6])
def test_a_box_on_a_board_slides_as_coulomb_says(friction):
    origin = Origin()
    board, box = Box(20, 2, 0.2, mass=5.0).body(name="board"), Box(0.4, 0.4, 0.2, mass=1.0).body(name="box")
    solid = [Collider(board, Box(20, 2, 0.2), friction), Collider(box, Box(0.4, 0.4, 0.2), friction)]
    m = Mechanism(origin, [board, box], [Fixed(origin, board), Floating(origin, box)], colliders=solid, timestep=0.01)
    path = path_of(m, state(((0, 0, 0),), ((-5, 0, 0.2), (2, 0, 0))), 150, options=TIGHT)
    speed = np.maximum(0.0, 2.0 - friction * G * 0.01 * np.arange(151))
    np.testing.assert_allclose(path[:, 1, 3], speed, atol=1e-5)


@pytest.mark.parametrize(("angle", "slides"), [(0.35, False), (0.5, True)])
def test_a_box_on_a_slope_stays_until_it_is_steep(angle, slides):
    origin = Origin()
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    box = Box(0.4, 0.4, 0.2, mass=1.0).body(name="box")
    solid = [Collider(origin, HalfSpace(normal), 0.45), Collider(box, Box(0.4, 0.4, 0.2), 0.45)]
    m = Mechanism(origin, [box], [Floating(origin, box)], colliders=solid, timestep=0.01)
    q = (np.cos(angle / 2), 0, -np.sin(angle / 2), 0)
    path = path_of(m, state((0.1 * normal, (0, 0, 0), q)), 100)
    way = np.linalg.norm(path[-1, 0, :3] - path[0, 0, :3])
    pull = (np.sin(angle) - 0.45 * np.cos(angle)) * G
    want = pull * 0.01**2 * 100 * 101 / 2 if slides else 0.0
    assert way == pytest.approx(want, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(("name", "share"), [("sphere", 2 / 5), ("cylinder", 1 / 2), ("capsule", None)])
def test_what_is_round_rolls_down_a_slope_without_slipping(name, share):
    angle, shape = 0.2, SHAPES[name]
    origin = Origin()
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    body = shape.body(name="wheel")
    radius = shape.r
    if share is None:
        share = body.inertia[2, 2] / (body.mass * radius**2)
    solid = [Collider(origin, HalfSpace(normal), 0.9), Collider(body, shape, 0.9)]
    m = Mechanism(origin, [body], [Floating(origin, body)], colliders=solid, timestep=0.01)
    q = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # its axis along y
    path = path_of(m, state((radius * normal, (0, 0, 0), q)), 100)
    way = np.linalg.norm(path[-1, 0, :3] - path[0, 0, :3])
    assert way == pytest.approx(G * np.sin(angle) / (1.0 + share) * 0.01**2 * 100 * 101 / 2, rel=2e-3)


def test_a_prism_of_a_hundred_sides_stands_on_its_face_and_on_another_of_them():
    turn = 2.0 * np.pi * np.arange(100) / 100
    ring = np.stack([0.3 * np.cos(turn), 0.3 * np.sin(turn)], axis=1)
    points = [[*xy, z] for xy in ring for z in (-0.1, 0.1)]
    prism = ConvexHull(points=points, mass=1.0)
    m = floating([prism, prism])
    turned = (np.cos(0.01), 0.0, 0.0, np.sin(0.01))
    path = path_of(m, state(((0, 0, 0.1),), ((0.05, 0, 0.3), (0, 0, 0), turned)), 100)
    np.testing.assert_allclose(path[-1, :, :3], [[0, 0, 0.1], [0.05, 0, 0.3]], atol=1e-6)


def test_what_stands_in_one_another_comes_apart():
    m = floating([Box(0.4, 0.4, 0.4, mass=1.0)] * 2, floor=False, gravity=0.0)
    path = path_of(m, state(((0, 0, 0),), ((0, 0, 0),)), 15)  # 40 cm at 3 m/s
    assert np.abs(path[-1, 0, :3] - path[-1, 1, :3]).max() >= 0.4 - 1e-6


def test_an_ellipsoid_that_lies_on_its_side_stays_as_it_lies():
    shape = Sphere(0.2, mass=1.0, scale=(1.0, 1.0, 2.0))
    m = floating([shape], timestep=0.002, friction=1.0)
    lying = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    path = path_of(m, state(((0, 0, 0.2), (0, 0, 0), lying, (0, 0, 0))), 500)
    np.testing.assert_allclose(path[-1, 0, :3], (0, 0, 0.2), atol=1e-6)


@pytest.mark.parametrize("seed", [pytest.param(k, marks=() if k == 6 else pytest.mark.slow) for k in range(4, 12)])
def test_nothing_of_a_pile_is_in_anything_else(seed):
    random = np.random.default_rng(seed)
    origin = Origin()
    sizes = random.uniform(0.25, 0.5, (8, 3))
    bodies = [Box(*s, mass=1.0).body(name=f"box {i}") for i, s in enumerate(sizes)]
    walls = [HalfSpace(n, position_offset=-0.7 * np.array(n)) for n in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))]
    solid = [ground(origin), *(Collider(origin, w) for w in walls)]
    solid += [Collider(b, Box(*s)) for b, s in zip(bodies, sizes, strict=True)]
    m = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=solid, timestep=0.01)
    rows = []
    for i in range(8):
        q = random.normal(size=4)
        rows.append(((*random.uniform(-0.3, 0.3, 2), 0.5 + 0.8 * i), (0, 0, 0), q / np.linalg.norm(q)))
    path = path_of(m, state(*rows), 900)  # a box may stand on an edge for seconds before it topples
    deepest = []
    for row in path:
        pairs = ((i, j) for i in range(8) for j in range(i))
        deepest.append(max(depth(row[i], row[j], sizes[i] / 2, sizes[j] / 2) for i, j in pairs))
        low = [row[i, 2] - np.abs(axes_of(row[i, 6:10])[2]) @ sizes[i] / 2 for i in range(8)]
        assert min(low) > -1e-6
    # contacts are found where a step begins: an edge at 5 m/s may be as deep as it goes in a step, but not for long
    assert max(deepest) < 5.0 * m.timestep
    assert np.minimum(np.minimum(deepest[2:], deepest[1:-1]), deepest[:-2]).max() < 5e-3
    assert np.median(deepest) < 1e-6
    assert deepest[-1] < 1e-6
    assert np.abs(path[-1, :, 3:6]).max() < 1e-3


def tilted_plate():
    """A plate stands on an edge, 12 mm up at the other, where a heavy ball hits it: the ground is not near that yet."""
    half = 0.5 * np.arcsin(0.012)
    height = 0.05 * np.cos(2.0 * half) + 0.5 * np.sin(2.0 * half)
    plate = (0.0, 0.0, height), (0.0, 0.0, 0.0), (np.cos(half), 0.0, np.sin(half), 0.0)
    shapes = Box(1.0, 1.0, 0.1, mass=1.0), Sphere(0.1, mass=20.0)
    return shapes, state(plate, ((-0.45, 0.0, 0.232), (0.0, 0.0, -10.0)))


def test_what_is_hit_does_not_go_into_what_it_had_been_too_far_from_to_touch():
    shapes, z = tilted_plate()
    m = floating(shapes)
    path = path_of(m, z, 20)
    np.testing.assert_allclose(path[-1, :, 2], (0.05, 0.2), atol=1e-6)
    told, _, _ = rollout_gradients(m, z, 3)
    for row in (*path, *told.reshape(-1, 2, 13)):
        assert row[0, 2] - np.abs(axes_of(row[0, 6:10])[2]) @ (0.5, 0.5, 0.05) > -1e-8  # as gaps are solved for


def unexplained(mechanism, z):
    """What a step gives each body beyond its weight [N s], and what of that is in no impulse that is told of it."""
    mass = np.array([[body.mass] for body in mechanism.bodies])
    velocities = step(mechanism, z, options=TIGHT).reshape(-1, 13)[:, 3:6] - z.reshape(-1, 13)[:, 3:6]
    given = mass * (velocities - mechanism.timestep * mechanism.gravity)
    left = given.copy()
    for contact_work in active_contacts(mechanism.workspaces):
        for body, sign in ((contact_work.one, 1.0), (contact_work.other, -1.0)):
            if body >= 0:
                left[body] -= sign * contact_work.impulse * contact_work.normal
    return given, left


@pytest.mark.parametrize("name", ["box", "cylinder", "hull"])
def test_impulses_told_of_a_blow_are_what_it_gave(name):
    """What is at rest is thrown farther than contacts were looked for, and turns, so that others would be found."""
    m = floating([SHAPES[name]] * 2, friction=0.0, floor=False, gravity=0.0)
    random, blows = np.random.default_rng(5), 0
    for _ in range(20):
        (way, *_), turns = random.normal(size=(2, 3)), random.normal(size=(2, 4))
        way, turns = way / np.linalg.norm(way), turns / np.linalg.norm(turns, axis=1)[:, None]
        for far in np.arange(1.0, 0.1, -0.05):
            given, left = unexplained(m, state(((0, 0, 0), (0, 0, 0), turns[0]), (far * way, -8.0 * way, turns[1])))
            if np.abs(given).max() > 1.0:
                np.testing.assert_allclose(left, 0.0, atol=1e-3 * np.abs(given).max())
                blows += 1
                break
    assert blows > 10


def test_impulses_told_of_a_blow_in_a_step_that_is_made_again_are_what_it_gave():
    shapes, z = tilted_plate()
    given, left = unexplained(floating(shapes, friction=0.0), z)
    assert given[1, 2] > 10.0
    np.testing.assert_allclose(left, 0.0, atol=1e-3 * given[1, 2])


def test_a_ball_bounces_as_high_as_its_restitution_says():
    m = floating([Sphere(0.1, mass=1.0)], restitution=0.5, timestep=0.001)
    path = path_of(m, state(((0, 0, 1.1),)), 1000)[:, 0, 2]
    first = int(np.argmax(path < 0.1 + 5e-3))
    second = first + 10 + int(np.argmax(np.diff(path[first + 10 :]) < 0))
    assert path[second] - 0.1 == pytest.approx(0.25, rel=0.03)


def test_what_a_joint_ties_does_not_collide_and_groups_may_ignore_each_other():
    origin = Origin()
    arm, hand = Box(0.2, 0.2, 1.0, mass=1.0).body(name="arm"), Box(0.2, 0.2, 1.0, mass=1.0).body(name="hand")
    joints = [
        Revolute(origin, arm, (1, 0, 0), child_vertex=(0, 0, 0.5)),
        Revolute(arm, hand, (1, 0, 0), parent_vertex=(0, 0, -0.5), child_vertex=(0, 0, 0.5)),
    ]
    solid = [Collider(arm, Box(0.2, 0.2, 1.0)), Collider(hand, Box(0.2, 0.2, 1.0))]
    free = Mechanism(origin, [arm, hand], joints, timestep=0.01)
    z = get_maximal_state(free)
    tied = Mechanism(origin, [arm, hand], joints, timestep=0.01, colliders=solid)
    np.testing.assert_allclose(rollout(tied, z, 50)[-1], rollout(free, z, 50)[-1], atol=1e-9)

    for meets, falls in ((-1, False), (2, True)):
        ball = Sphere(0.1, mass=1.0).body(name="ball")
        solid = [ground(origin), Collider(ball, Sphere(0.1), group=1, meets=meets)]
        m = Mechanism(origin, [ball], [Floating(origin, ball)], colliders=solid, timestep=0.01)
        low = path_of(m, state(((0, 0, 0.2),)), 100)[-1, 0, 2]
        assert (low < -1.0) == falls


def test_a_collider_ignores_bodies_by_their_names_also_where_they_are_called_otherwise():
    def falls(m):
        path = path_of(m, state(((0, 0, 0.5),), ((0, 0, 1.2),)), 100)
        return path[-1, 1, 2]

    def two(**given):
        origin, ball = Origin(), Sphere(0.25, mass=1.0)
        bodies = [ball.body(name="one"), ball.body(name="other")]
        solid = [ground(origin), Collider(bodies[0], ball, **given), Collider(bodies[1], ball)]
        return Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=solid)

    assert falls(two()) == pytest.approx(0.75, abs=1e-3)
    assert falls(two(ignores=["other"])) == pytest.approx(0.25, abs=1e-4)
    with pytest.raises(ModelError, match=r"ignores 'othr', which is no body.*did you mean 'other'"):
        two(ignores=["othr"])
    with pytest.raises(ModelError, match="ignores 'other', expected names of bodies"):
        two(ignores="other")
    change = Change(Pose(np.zeros(3), np.array([1.0, 0, 0, 0])), 1.0, 1.0, (0.01, 0.01), lambda name: f"my {name}")
    assert Similar.of(two(ignores=["other"]).spec, change).colliders[1].ignores == ("my other",)


def test_contacts_of_the_description_and_of_colliders_hold_side_by_side():
    origin = Origin()
    low, high = Box(1, 1, 1, mass=1.0).body(name="low"), Box(1, 1, 1, mass=1.0).body(name="high")
    corners = [[x, y, -0.5] for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    feet = contact_constraint(low, [0, 0, 1], contact_origin=corners, friction_coefficient=0.5)
    solid = [Collider(low, Box(1, 1, 1)), Collider(high, Box(1, 1, 1))]
    joints = [Floating(origin, low), Floating(origin, high)]
    m = Mechanism(origin, [low, high], joints, feet, colliders=solid, timestep=0.01)
    path = path_of(m, state(((0, 0, 0.5),), ((0.1, 0, 1.6),)), 100)
    np.testing.assert_allclose(path[-1, :, 2], (0.5, 1.5), atol=1e-6)


def test_a_loop_of_joints_may_carry_solid_things():
    plain = gallery.fourbar()
    z = get_maximal_state(plain)
    solid = [Collider(b, Sphere(0.01), meets=2) for b in plain.bodies]
    m = Mechanism.of(dataclasses.replace(plain.spec, colliders=tuple(solid)))
    np.testing.assert_allclose(rollout(m, z, 60)[-1], rollout(plain, z, 60)[-1], atol=1e-6)


def test_colliders_go_with_a_floating_base_that_is_set_elsewhere():
    origin = Origin()
    one, two = Box(0.2, 0.2, 0.2, mass=1.0).body(name="one"), Box(0.2, 0.2, 0.2, mass=1.0).body(name="two")
    joints = [Floating(origin, one), Revolute(one, two, (1, 0, 0), parent_vertex=(0, 0, 0.3))]
    m = Mechanism(origin, [one, two], joints, colliders=[ground(origin), Collider(two, Box(0.2, 0.2, 0.2))])
    turned = set_floating_base(m, "two")
    assert [k.owner for k in turned.colliders] == [turned.origin, turned.bodies[1]]


@pytest.mark.parametrize("workers", [1, 3])
def test_every_state_of_a_batch_of_solid_things_steps_as_it_does_alone(workers):
    m = floating([SHAPES["box"], SHAPES["hull"], SHAPES["cylinder"]])
    z = rollout(m, state(((0, 0, 0.4),), ((0.1, 0.1, 1.0),), ((-0.1, 0.05, 1.5),)), 60)[::4]
    u = np.random.default_rng(0).normal(size=(len(z), 18))
    for row, given, after in zip(z, u, step_batch(m, z, u, workers=workers), strict=True):
        np.testing.assert_array_equal(after, step(m, row, given))
    for row, after in zip(z, step_batch(m, z, steps=9, workers=workers), strict=True):
        np.testing.assert_array_equal(after, rollout(m, row, 9)[-1])


def test_a_batch_finds_room_for_as_many_contacts_as_each_state_has():
    m = floating([SHAPES["box"]] * 9)
    apart = state(*(((k, 0.0, 5.0),) for k in range(9)))
    heap = state(*(((0.2 * (k % 3), 0.2 * (k // 3), 0.28),) for k in range(9)))
    z = np.array([apart, heap, apart, heap])
    for row, after in zip(z, step_batch(m, z, workers=1), strict=True):
        np.testing.assert_array_equal(after, step(m, row))


@pytest.mark.parametrize("h", [0.001, 0.01])
def test_heavy_things_fall_and_skid_far_from_the_origin_as_they_do_there(h):
    def end(far):
        origin, body, mast = Origin(), Box(2.0, 2.0, 1.0, mass=4e4).body(), Box(1.0, 1.0, 2.0, mass=4e4).body()
        hinge = Revolute(body, mast, (1, 0, 0), parent_vertex=(0, 0, 0.5), child_vertex=(0, 0, -1.0))
        solid = [ground(origin), Collider(body, Box(2.0, 2.0, 1.0))]
        mechanism = Mechanism(origin, [body, mast], [Floating(origin, body), hinge], timestep=h, colliders=solid)
        x = get_minimal_state(mechanism).copy()
        x[:3], x[6] = (far, far, 0.6), 3.0
        return rollout(mechanism, minimal_to_maximal(mechanism, x), round(0.4 / h))[-1].reshape(2, 13)

    here, there = end(0.0), end(1e4)
    there[:, :2] -= 1e4
    np.testing.assert_allclose(there, here, atol=1e-4)  # 2e-12 m of a position, 2e-9 m/s in a step, a chaotic slide


def test_the_same_start_gives_the_same_bits():
    m = floating([SHAPES["box"], SHAPES["hull"], SHAPES["cylinder"]])
    z = state(((0, 0, 0.6),), ((0.1, 0.1, 1.3),), ((-0.1, 0.05, 2.0),))
    assert np.array_equal(rollout(m, z, 120), rollout(m, z, 120))
    stored = simulate(m, 120, z)
    assert np.array_equal(stored.x, simulate(m, 120, z).x)
