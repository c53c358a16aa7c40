"""Every shipped model is run over by a car at any speed, and the run goes on: nobody comes from nowhere, or to it."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.loading.model_files import fitted
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Triple
from cbsim.spec.scenario import Placement
from cbsim.vehicle.kernels.columns import MASS
from cbsim.world.compile import compile_world
from cbsim.world.scene import Model, Scene, Settings
from tests.common import ROOT
from tests.worlds import bot

WALKS = {"dynamics": "true"}
MODELS = {
    "cart.jm": ({}, 0.5, None),
    "crash_dummy.urdf": ({"joint_friction": "true"}, 1.0, None),
    "quadruped.itd": (WALKS, 0.4, 60.0),
    "hexapod.irt": (WALKS, 0.4, 60.0),
}
STEPS = 30


def before_a_car(name, speed, aside=0.0):
    """A model 6 m ahead of a car that rolls towards it [m/s]."""
    settings, scale, mass = MODELS[name]
    model = cbsim.load(ROOT / "scenarios" / "models" / name, settings=settings).scene.models[0]
    place = Placement(position=Triple(aside, 6.0, 0.0), heading=1.57)
    walker = fitted(Model("it", model.description, 5, model.controls, placement=place, scale=scale, mass=mass), 0.05)
    car = bot("Car", drive="dynamic")
    world = compile_world(Scene("over", (car,), settings=Settings(step=0.05), models=(walker,)))
    snapshot = world.start.copy()
    snapshot.state.velocity[0], snapshot.state.command[:, 5] = (0.0, speed, 0.0), 0.0
    return world, snapshot


def run_over(name, speed, aside):
    world, snapshot = before_a_car(name, speed, aside)
    mass, masses = float(world.constants.vehicle_parameters[0, MASS]), world.instances[0].masses
    for _ in range(STEPS):
        advance(world, snapshot, 1)
        velocity = snapshot.columns.velocity
        assert np.isfinite(velocity).all()
        moving = 0.5 * mass * velocity[0] @ velocity[0] + 0.5 * masses @ (velocity[world.instances[0].rows] ** 2).sum(
            axis=1
        )
        assert moving < 1.05 * (0.5 * mass * speed**2) + 2e3  # motors and a fall give the rest
    spot = snapshot.columns.position
    assert spot[0, 1] > 0.5 * speed * STEPS * world.step  # nobody stops it
    ahead = spot[world.instances[0].rows, 1] - spot[0, 1]
    beside = np.abs(spot[world.instances[0].rows, 0] - spot[0, 0])
    above = spot[world.instances[0].rows, 2]
    assert ((ahead > 1.0) | (beside > 0.5) | (above > 1.0)).all()  # none is in the car


@pytest.mark.parametrize("speed", [5.0, 15.0, 30.0])
@pytest.mark.parametrize("name", ["cart.jm", "crash_dummy.urdf"])
def test_a_model_is_run_over_and_the_run_goes_on(name, speed):
    run_over(name, speed, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [5.0, 15.0, 30.0])
@pytest.mark.parametrize("name", ["quadruped.itd", "hexapod.irt"])
def test_a_walking_model_is_run_over_and_the_run_goes_on(name, speed):
    run_over(name, speed, 0.2)


@pytest.mark.parametrize("place", [0.95, 0.97])
def test_a_body_that_a_blow_spins_by_half_a_turn_in_a_step_goes_on(place):
    """A thin rod hit at its end would turn by more than a step can: it is slowed down to what has a next step."""
    from cbsim.spec.mechanism.bodies import Origin
    from cbsim.spec.mechanism.description import MechanismSpec
    from cbsim.spec.mechanism.model_description import ModelDescription
    from cbsim.spec.mechanism.prototypes import Floating
    from cbsim.spec.mechanism.shapes import Box
    from tests.coupling.test_step_islands import rolling, site

    origin, rod = Origin(), Box(0.16, 0.02, 0.02).body(mass=0.2, name="rod")
    description = ModelDescription(MechanismSpec(origin, [rod], [Floating(origin, rod, name="free")], gravity=0.0))
    world = site(description, at=(place, 3.0, 0.8))
    snapshot = rolling(world, (0.0, 30.0, 0.0))
    rates = []
    for _ in range(20):
        snapshot = cbsim.step(world, snapshot)
        rates.append(float(np.linalg.norm(snapshot.columns.angular_velocity[1])))
    assert max(rates) == pytest.approx(1.4 / 0.01, rel=1e-6)
