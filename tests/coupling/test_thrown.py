"""What is hit in a step is stopped by what it is thrown at in that very step."""

from __future__ import annotations

import pytest

from cbsim.collision import separation
from cbsim.simulation.advance import advance
from cbsim.spec.mechanism.shapes import Box
from cbsim.spec.objects import Triple
from tests.coupling.test_model_contacts import model, scene
from tests.coupling.test_step_islands import crate, rolling
from tests.worlds import bot, prop

BLOCK = Box(1, 1, 1)


def wall(front):
    return prop("Wall", Triple(0, front + 0.5, 0), size=Triple(6, 1, 2))


@pytest.mark.parametrize("gap", [0.005, 0.04])
def test_a_crate_hit_two_centimetres_before_a_wall_does_not_fly_through_it(gap):
    """Its own speed is 0 when the step begins that throws it 6 m/s and more at the wall."""
    models = model("a", crate(BLOCK, mass=5000.0), (0, -1.0 - gap, 0.8)), model("b", crate(BLOCK), (0, 0, 0.8))
    world = scene(*models, actors=[wall(0.52)])
    snapshot, diagnostics = world.start.copy(), []
    snapshot.state.velocity[world["a/crate"].row] = (0.0, 20.0, 0.0)
    for _ in range(10):
        advance(world, snapshot, 1, diagnostics=diagnostics)
        assert snapshot.columns.position[world["b/crate"].row, 1] < 0.02 + 1e-3
        assert separation(world, snapshot, "a/crate", "b/crate").distance > -1e-3
    assert not diagnostics


@pytest.mark.parametrize("gap", [0.02, 0.4])
def test_a_car_drives_a_crate_against_a_wall_and_all_stay_outside_of_one_another(gap):
    front = 0.5 * 3.68 + gap + 1.02
    world = scene(model("b", crate(BLOCK, mass=100.0), (0, front - 0.52, 0.8)), actors=[bot("Car"), wall(front)])
    snapshot = rolling(world, (0.0, 25.0, 0.0))
    for _ in range(12):
        advance(world, snapshot, 1)
        for pair in (("Car", "b/crate"), ("b/crate", "Wall"), ("Car", "Wall")):
            assert separation(world, snapshot, *pair).distance > -5e-3


def test_a_car_that_a_model_hits_before_a_wall_stays_outside_of_it():
    world = scene(model("a", crate(BLOCK, mass=5000.0), (0, -4, 0.8)), actors=[bot("Car"), wall(0.5 * 3.68 + 0.02)])
    snapshot = rolling(world, (0.0, 0.0, 0.0))
    snapshot.state.velocity[world["a/crate"].row] = (0.0, 20.0, 0.0)
    for _ in range(8):
        advance(world, snapshot, 1)
        assert separation(world, snapshot, "Car", "Wall").distance > -5e-3


@pytest.mark.parametrize(("thick", "thin", "speed"), [(0.2, 0.05, 40.0), (0.3, 0.1, 80.0)])
def test_a_beam_is_not_thrown_through_posts_that_it_would_be_past_when_the_step_ends(thick, thin, speed):
    """What hits it goes between the posts, and so does not stop for them."""
    posts = [
        prop(f"Post {x}", Triple(x, 0.5 * (thick + thin) + 0.02, 0), size=Triple(0.4, thin, 2)) for x in (-0.8, 0.8)
    ]
    beam, ram = crate(Box(2.0, thick, 0.5)), crate(Box(0.6, 1, 0.5), mass=5000.0)
    models = model("ram", ram, (0, -0.5 * (1 + thick) - 0.04, 0.8)), model("beam", beam, (0, 0, 0.8))
    world = scene(*models, actors=posts)
    snapshot = world.start.copy()
    snapshot.state.velocity[world["ram/crate"].row] = (0.0, speed, 0.0)
    for _ in range(6):
        advance(world, snapshot, 1)
        assert snapshot.columns.position[world["beam/crate"].row, 1] < 0.02 + 1e-3
