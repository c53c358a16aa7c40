"""Who is one mechanism in a meeting: each passes only through what it is in, and what cannot be one is not made one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.coupling.candidates import candidates_of
from cbsim.coupling.collision_filter import BITS, filter_groups_of
from cbsim.coupling.contact_island import steps_for
from cbsim.coupling.static_obstacles import surface_of
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.colliders import Collider, HalfSpace
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import make_joint
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Box
from cbsim.spec.objects import Triple
from cbsim.spec.scenario import Placement
from cbsim.vehicle.kernels.columns import MASS
from cbsim.world.compile import compile_world
from cbsim.world.scene import Model, Scene, Settings
from tests.coupling.test_blows import ROLLING
from tests.coupling.test_model_contacts import model, scene
from tests.coupling.test_step_islands import crate, rolling
from tests.simulation.test_behaviours import Servo
from tests.worlds import bot, prop


def damped():
    """A slide that turns, with one damper for both: it cannot take another size."""
    origin, a, b = Origin(), Box(1, 1, 1).body(mass=100.0, name="a"), Box(0.2, 0.2, 0.2).body(mass=10.0, name="b")
    joint = make_joint("Cylindrical", a, b, (0, 0, 1.0), parent_vertex=(0, 0, 1.0), damper=5.0, name="damped")
    return ModelDescription(MechanismSpec(origin, [a, b], [Floating(origin, a, name="free"), joint], gravity=0.0))


def grounded():
    """A box on a ground of its own, in two groups of colliders."""
    origin, a = Origin(), Box(0.2, 0.2, 0.2).body(mass=10.0, name="a")
    colliders = [
        Collider(a, Box(0.2, 0.2, 0.2), 0.5, group=1, meets=2, name="c"),
        Collider(origin, HalfSpace((0, 0, 1.0), position_offset=(0, 0, -0.1)), 0.5, group=2, meets=1, name="g"),
    ]
    joints = [Floating(origin, a, name="free")]
    return ModelDescription(MechanismSpec(origin, [a], joints, (), 0.01, -9.81, None, colliders))


def jointed():
    """Two boxes that touch one another, with a third between them."""
    origin = Origin()
    bodies = [Box(0.2, 0.2, 0.2).body(mass=10.0, name=name) for name in "abc"]
    joints = [Floating(origin, bodies[0], name="free")]
    for one, other in itertools.pairwise(bodies):
        joints.append(make_joint("Revolute", one, other, (0, 0, 1.0), parent_vertex=(0.2, 0, 0), name=f"j{other.name}"))
    colliders = [Collider(body, body.shape, 0.5, name=f"c{body.name}") for body in bodies]
    return ModelDescription(MechanismSpec(origin, bodies, joints, (), 0.01, 0.0, None, colliders))


def test_a_model_beside_one_that_is_in_a_wall_is_stopped_by_that_wall():
    wall = prop("Wall", Triple(1.0, 6.5, 0), size=Triple(6, 1, 2))
    models = model("a", crate(mass=100.0), (0, 5.75, 0.8)), model("b", crate(mass=100.0), (1.6, 4.5, 0.8))
    world = scene(*models, actors=[wall])
    start = world.start
    start.state.velocity[world["b/crate"].row] = (0.0, 4.0, 0.0)
    recording = cbsim.run(world, duration=0.6, snapshot=start)
    assert recording.positions("b/crate")[:, 1].max() < 5.5 + 1e-3


def test_models_that_cannot_be_one_mechanism_are_none_even_with_a_car_between_them():
    models = model("m", damped(), (2.0, 0, 0.8)), model("n", damped(), (-2.0, 0, 0.8), scale=0.5)
    world = scene(*models, actors=[bot("Car")])
    groups = candidates_of(world, world.start).groups(world, world.start)
    assert all(len(group.instances) < 2 for group in groups)
    cbsim.run(world, duration=0.1)


def test_a_car_that_hits_two_models_that_are_not_one_mechanism_loses_what_both_gain():
    """It is a guest of both, of the second with the blow of the first behind it: no momentum comes from nowhere."""
    models = model("m", damped(), (0.55, 3.5, 0.8)), model("n", damped(), (-0.55, 3.5, 0.8), scale=0.5)
    world = scene(*models, actors=[bot("Car", drive="dynamic")])
    snapshot, mass = rolling(world, (0.0, 8.0, 0.0)), float(world.constants.vehicle_parameters[0, MASS])
    masses = np.concatenate([[mass], *(instance.masses for instance in world.instances)])
    groups = candidates_of(world, snapshot).groups(world, snapshot)
    assert [group.actors for group in groups] == [(0,), (0,)]
    before = masses @ snapshot.columns.velocity
    for _ in range(8):
        snapshot = cbsim.step(world, snapshot)
    assert (snapshot.columns.velocity[[1, 3], 1] > 4.0).all()
    lost = before - masses @ snapshot.columns.velocity
    assert abs(lost[0]) < 8 * mass * ROLLING
    assert 0.0 < lost[1] < 8 * mass * ROLLING


def test_models_about_a_car_take_no_more_groups_of_colliders_than_there_are():
    count = 32
    models = [model(f"m{k}", jointed(), (1.9 + 0.95 * (k % 4), -4 + 0.95 * (k // 4), 0.1)) for k in range(count)]
    world = scene(*models, actors=[bot("Car", size=Triple(2, 12, 2))])
    groups = candidates_of(world, world.start).groups(world, world.start)
    assert len(groups) > 1
    for group in groups:
        assert len(frozenset().union(*(filter_groups_of(k, world.instances[k]).keys for k in group.instances))) <= BITS


def test_models_whose_bodies_touch_the_same_ground_alone_share_their_groups_of_colliders():
    models = [model(f"m{k}", grounded(), (0.3 * k, 0, 0.0), heading=0.7 * k) for k in range(9)]
    models += [model("m9", grounded(), (0.3, 0, 0.25)), model("m10", crate(), (0.3, 0, 0.5))]
    world = scene(*models)
    taken = [filter_groups_of(k, instance).keys for k, instance in enumerate(world.instances)]
    assert len(set(taken[:9])) == 1
    assert [len(keys) for keys in taken] == [1] * 10 + [0]
    assert taken[9] != taken[0]


def test_a_mesh_of_slivers_is_nothing():
    sliver = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1e-9, 0.0]]])
    for is_ground in (True, False):
        assert surface_of(sliver, is_ground) == []


@pytest.mark.parametrize("step", [0.05, 1.0])
def test_a_crate_that_falls_from_rest_lies_on_a_slab_however_long_the_steps_of_the_world_are(step):
    slab = prop("Slab", Triple(0, 0, 0), size=Triple(4, 4, 0.2))
    description, count = crate(mass=100.0, gravity=-9.81), round(step / 0.01)
    description = replace(description, spec=replace(description.spec, timestep=step / count))
    fallen = Model("a", description, count, placement=Placement(position=Triple(0, 0, 3)))
    world = compile_world(Scene("met", (slab,), settings=Settings(step=step), models=(fallen,)))
    end = cbsim.run(world, duration=3.0).positions("a/crate")[-1, 2]
    assert end == pytest.approx(float(world.start.columns.position[world["Slab"].row, 2]) + 0.1 + 0.5, abs=5e-3)


def test_what_is_thrown_reaches_as_far_as_what_hits_it():
    wall = prop("Wall", Triple(0, 3.5, 0), size=Triple(6, 1, 2))
    world = scene(model("a", crate(mass=5000.0), (0, -2.0, 0.8)), model("b", crate(), (0, 0, 0.8)), actors=[wall])
    assert not any(group.obstacles for group in candidates_of(world, world.start).groups(world, world.start))
    start = world.start
    start.state.velocity[world["a/crate"].row] = (0.0, 50.0, 0.0)
    (group,) = candidates_of(world, start).groups(world, start)
    assert len(group.instances) == 2
    assert group.obstacles


def test_steps_of_models_end_together_unless_that_takes_many_more():
    assert steps_for([5, 20]) == 20
    assert steps_for([10, 4]) == 20
    assert steps_for([17, 23, 10]) == 23  # not 3910


def test_models_of_odd_steps_share_their_momentum_and_each_is_asked_once_in_each_of_its_steps():
    class Asked(Servo):
        def __init__(self):
            super().__init__()
            self.times = []

        def act(self, time, state, memory, inputs, forces):
            self.times.append(time)

    first, asked = crate(mass=100.0), Asked()
    figures = replace(first, behaviour=asked), crate(mass=100.0), crate(mass=100.0)
    models = [model(f"m{k}", figures[k], (1.5 * k, 0, 0.8), count) for k, count in enumerate((10, 23, 17))]
    world = scene(*models)
    start = world.start
    start.state.velocity[0] = (6.0, 0.0, 0.0)
    snapshot = start
    for _ in range(20):
        snapshot = cbsim.step(world, snapshot)
    np.testing.assert_allclose(snapshot.columns.velocity[:, 0], 2.0, rtol=1e-3)
    np.testing.assert_allclose(asked.times[:200], 0.005 * np.arange(200), atol=1e-12)
