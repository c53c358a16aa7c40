"""What is in something else comes out slowly and goes no deeper; a scenario that starts so is refused."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.collision import separation
from cbsim.coupling.penetration import PUSH
from cbsim.errors import FileError
from cbsim.simulation.advance import advance
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.colliders import Collider, ground
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Box
from cbsim.spec.objects import Triple
from tests.coupling.test_model_contacts import model, scene
from tests.coupling.test_step_islands import crate, rolling, site
from tests.worlds import bot, prop

MORE = 1e-3  # [m] by which a depth may grow in a step


def depths(world, snapshot, pair, steps):
    """How deep two are in one another after each step [m]; below 0 where they are apart."""
    found = [-separation(world, snapshot, *pair).distance]
    for _ in range(steps):
        advance(world, snapshot, 1)
        found.append(-separation(world, snapshot, *pair).distance)
    return np.array(found)


def test_two_models_in_one_another_part_slowly_and_share_their_momentum():
    world = scene(model("a", crate(mass=100.0), (0, 0, 0.8)), model("b", crate(mass=300.0), (0.2, 0.5, 0.8)))
    snapshot = world.start.copy()
    found = depths(world, snapshot, ("a/crate", "b/crate"), 60)
    assert found[0] == pytest.approx(0.5)
    assert found[-1] < 0.0
    assert (-np.diff(found) <= 1.1 * PUSH * world.step).all()
    velocity = snapshot.columns.velocity
    np.testing.assert_allclose(100.0 * velocity[0] + 300.0 * velocity[1], 0.0, atol=1e-3)
    assert np.linalg.norm(velocity[0] - velocity[1]) < 1.1 * PUSH


@pytest.mark.parametrize("speed", [0.0, 5.0])
def test_a_model_in_a_wall_is_stopped_by_it_and_comes_out_on_the_side_where_it_is(speed):
    """It passed through it once, for as long as it was in it by more than 10 cm."""
    world = scene(model("a", crate(), (0, 0, 0.8)), actors=[prop("Wall", Triple(0, 0.7, 0), size=Triple(6, 1, 2))])
    snapshot = world.start.copy()
    snapshot.state.velocity[1] = (0.0, speed, 0.0)
    found = depths(world, snapshot, ("a/crate", "Wall"), 50)
    assert found[0] == pytest.approx(0.3)
    assert found.max() < 0.3 + MORE + 0.01 * speed  # the wall gives way to a blow by CFM times that
    assert found[-1] < 0.0
    assert snapshot.columns.position[1, 1] < -0.3


def test_a_model_in_a_car_that_drives_is_taken_along_and_left_ahead_of_it():
    world = site(crate(Box(1, 1, 1)), at=(0.0, 1.5, 0.8))
    snapshot = rolling(world, (0.0, 4.0, 0.0))
    found = depths(world, snapshot, ("Car", "it/crate"), 60)
    assert found[0] > 0.8
    assert (np.diff(found) < MORE).all()
    assert found[-1] < 0.0
    assert snapshot.columns.position[1, 1] > snapshot.columns.position[0, 1] + 2.0
    assert np.linalg.norm(snapshot.columns.velocity[1]) < 5.0


def test_a_run_that_starts_with_a_model_in_a_car_notes_it_and_is_replayed():
    """It is not blown out: all that the car loses, the model has."""
    world = site(crate(Box(1, 1, 1)), at=(0.0, 1.0, 0.8))
    recording = cbsim.run(world, duration=1.0, snapshot=rolling(world, (0.0, 4.0, 0.0)))
    (contact,) = recording.contacts()
    assert contact.bodies == ("Car", "it/crate")
    assert contact.impulse == pytest.approx(300.0 * recording.velocities("it/crate")[1, 1], rel=1e-3)
    assert contact.depth > 1.0
    assert np.abs(recording.velocities("it/crate")).max() < 4.0
    assert cbsim.replay(recording, world) is None


def test_what_is_pinned_in_a_car_above_its_ground_holds_nobody_up():
    """The way out that is the shortest leads into the ground: it is pressed, and the car drives on with it."""
    origin = Origin()
    body = Box(0.2, 0.2, 0.1).body(mass=4.0, name="tile")
    colliders = [ground(origin), Collider(body, Box(0.2, 0.2, 0.1), 0.5)]
    spec = MechanismSpec(origin, [body], [Floating(origin, body, name="free")], colliders=colliders)
    world = site(ModelDescription(spec, {"free": (0, 0, 0.05, 0, 0, 0)}), at=(0.0, 0.0, 0.0))
    snapshot, diagnostics = rolling(world, (0.0, 4.0, 0.0)), []
    start = snapshot.columns.position[0, 1]
    for _ in range(20):
        advance(world, snapshot, 1, diagnostics=diagnostics)
        assert snapshot.columns.position[1, 2] > 0.04
    assert not diagnostics
    assert snapshot.columns.position[0, 1] > start + 3.0


# --- vehicles in what stands ------------------------------------------------------------------------------------------
def struck(side, *walls):
    """A car that starts 5 cm deep in the wall on its left, and a heavy crate that comes from a side."""
    at, velocity = {"right": ((3.0, 0.0, 0.8), (-4.0, 0, 0)), "behind": ((0.0, -4.0, 0.8), (0, 4.0, 0))}[side]
    width = 0.5 * 1.74
    left = prop("Left", Triple(-width - 0.45, 0, 0), size=Triple(1, 8, 2))
    world = scene(model("it", crate(mass=4000.0), at), actors=[bot("Car", size=Triple(1.74, 3.68, 1.5)), left, *walls])
    snapshot = rolling(world, (0, 0, 0))
    snapshot.state.velocity[world["it/crate"].row] = velocity
    return world, snapshot


def test_a_car_that_is_in_a_wall_is_not_driven_through_it_by_a_model():
    """All vehicles in anything passed through it where a model was near."""
    world, snapshot = struck("right")
    found = depths(world, snapshot, ("Car", "Left"), 30)
    assert found[0] == pytest.approx(0.05, abs=1e-6)
    assert found.max() < 0.05 + 0.02
    assert snapshot.columns.velocity[world["it/crate"].row, 0] > -0.5


def test_a_car_that_is_in_one_wall_is_stopped_by_another():
    ahead = prop("Ahead", Triple(0.0, 3.0, 0), size=Triple(4, 1, 2))
    world, snapshot = struck("behind", ahead)
    found = depths(world, snapshot, ("Car", "Ahead"), 30)
    assert found.max() < 5e-3
    assert found[-1] > -0.05


# --- refused at the start ---------------------------------------------------------------------------------------------
PLACED = """
add:
  - {{name: Wall, size: [4, 1, 2], position: [20, 0, 0]}}
  - {{name: Truck, kind: autonomous, size: [2, 6, 3], position: [0, 20, 0]}}
models:
  - {{file: models/crash_dummy.urdf, name: A, position: [0, 0, 0]}}
  - {{file: models/crash_dummy.urdf, name: B, position: {place}}}
"""


@pytest.mark.parametrize(
    ("place", "into"), [("[0.05, 0, 0]", "A"), ("[20, 0.2, 0]", "Wall"), ("[0.2, 21, 0]", "Truck")]
)
def test_a_scenario_that_puts_a_model_into_something_is_refused_where_it_does(tmp_path, place, into):
    path = tmp_path / "in.yaml"
    path.write_text(PLACED.format(place=place))
    with pytest.raises(FileError) as caught:
        cbsim.load(path)
    (problem,) = caught.value.problems
    assert problem.code == "E894"
    assert f"deep in '{into}'" in problem.message or "deep in 'B'" in problem.message
    assert problem.location.line in {6, 7}
    assert problem.also is not None


def test_a_scenario_that_puts_models_beside_all_else_is_loaded(tmp_path):
    path = tmp_path / "beside.yaml"
    path.write_text(PLACED.format(place="[2, 0, 0]"))
    assert len(cbsim.load(path).instances) == 2
