"""A car driven into a parked car, a mesh, a prop and a walking model: what it loses, the other or the ground has."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.collision import separation
from cbsim.spec.objects import ShapeKind, Triple
from cbsim.spec.scenario import Placement
from cbsim.vehicle.kernels.columns import MASS
from cbsim.world.compile import compile_world
from cbsim.world.scene import Model, Scene, Settings
from tests.common import ROOT
from tests.coupling.test_model_contacts import box_of
from tests.worlds import bot, mesh, prop

SPEED = 8.0  # [m/s]
ROLLING = 0.5 * 0.05  # [m/s] that tyres and drag take from a car in the step of a blow, at most


def driven_into(*others, models=(), until=1.0, change=0.5):
    """Let a car roll into others; give the World, Snapshots before and after the blow, recording and contacts."""
    car = bot("Car", drive="dynamic")
    world = compile_world(Scene("blow", (car, *others), settings=Settings(step=0.05), models=models))
    snapshot = world.start
    snapshot.state.velocity[0], snapshot.state.command[:, 5] = (0.0, SPEED, 0.0), 0.0
    recording = cbsim.run(world, duration=until, snapshot=snapshot)
    contacts = recording.contacts()
    while True:
        before, snapshot = snapshot, cbsim.step(world, snapshot)
        if abs(snapshot.columns.velocity[0, 1] - before.columns.velocity[0, 1]) > change:
            return world, before, snapshot, recording, contacts


def mass_of(world, vehicle=0):
    return float(world.constants.vehicle_parameters[vehicle, MASS])


def test_a_parked_car_gains_what_the_other_loses():
    parked = bot("Parked", drive="dynamic", position_offset=Triple(0.3, 6.0, 0.0))
    world, before, after, _, contacts = driven_into(parked)
    change = after.columns.velocity[:2, 1] - before.columns.velocity[:2, 1]
    lost, gained = -mass_of(world) * change[0], mass_of(world, 1) * change[1]
    assert gained > 1000.0
    assert lost == pytest.approx(gained, abs=(mass_of(world) + mass_of(world, 1)) * ROLLING)
    assert contacts[0].bodies == ("Car", "Parked")
    assert contacts[0].impulse == pytest.approx(gained, abs=mass_of(world, 1) * ROLLING)
    assert separation(world, after, "Car", "Parked").distance > -1e-3


@pytest.mark.parametrize("what", ["prop", "mesh"])
def test_what_stands_takes_the_momentum_of_a_car(what):
    if what == "prop":
        wall = prop("Wall", Triple(0.0, 6.0, 0.0), ShapeKind.BOX, Triple(6, 1, 2))
    else:
        wall = mesh("Wall", *box_of(-3, 3, 5.5, 6.5, 0, 2))
    world, before, after, recording, contacts = driven_into(wall)
    change = after.columns.velocity[0, 1] - before.columns.velocity[0, 1]
    assert contacts[0].bodies == ("Car", "Wall")
    assert contacts[0].impulse == pytest.approx(-mass_of(world) * change, abs=mass_of(world) * ROLLING)
    assert contacts[0].impulse == pytest.approx(mass_of(world) * contacts[0].closing_speed * 1.2, rel=1e-6)  # e = 0.2
    np.testing.assert_array_equal(recording.positions("Wall")[-1], recording.positions("Wall")[0])
    assert recording.positions("Car")[:, 1].max() < 5.5 - 0.5 * 3.68 + 1e-3


def test_a_walking_model_is_run_over_and_carries_away_what_the_car_loses():
    """The quadruped walks in the way of the car, on ice: where feet hold, the ground takes what only feet know."""
    path = ROOT / "scenarios" / "models" / "quadruped.itd"
    description = cbsim.load(path, settings={"dynamics": "true", "friction": "0"}).scene.models[0].description
    place = Placement(position=Triple(0.0, 5.0, 0.0), heading=1.57)
    walker = Model("Walker", description, 5, placement=place, mass=60.0, scale=0.4)
    world, before, after, recording, contacts = driven_into(models=(walker,), change=0.2)
    rows = world.instances[0].rows
    masses = np.array([body.mass for body in walker.description.spec.bodies]) * world.instances[0].frame.weight
    gained = masses @ (after.columns.velocity[rows] - before.columns.velocity[rows])
    lost = mass_of(world) * (before.columns.velocity[0] - after.columns.velocity[0])
    assert lost[1] > 200.0
    assert 0.0 < lost[1] - gained[1] < mass_of(world) * ROLLING
    turned = abs(world.step * after.columns.angular_velocity[0, 2])  # by the blow, and with it where tyres drag
    assert gained[0] == pytest.approx(lost[0], abs=turned * (lost[1] - gained[1]))
    assert {c.bodies[0] for c in contacts} == {"Car"}
    assert cbsim.replay(recording, world) is None
