"""Vehicles that nothing can touch skip the look at collisions in each substep, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.simulation.advance import advance

CAR = "  - {{name: C{k}, kind: autonomous, drive: kinematic, at: {{waypoint: {at}, station: {station}}}{tuned}}}"
MOVER = "  - {name: Away, kind: dynamic, position: [5000, 5000, 0], script: [{speed: 1, distance: 10, angle: 0}]}"


def world_of(folder, cars, extra=(), *, varied=False):
    """Cars on the arms of a crossing, among boxes; in steps of 10 substeps."""
    lines = ["network: four_way_stop", "add:"]
    for k in range(cars):
        arm, lane = k % 4 + 1, k // 4 % 2 + 1
        tuned = (
            f", parameters: {{wheelbase: {2.0 + 0.1 * k}, max_steer: {20 + k}, max_speed: {3 + k}}}" if varied else ""
        )
        lines.append(CAR.format(k=k, tuned=tuned, at=f"{arm}.{lane}.{4 if lane == 1 else 2}", station=6.0 * (k // 8)))
    lines += [f"  - {{name: B{k}, kind: static, position: [{9 + 4 * k}, 9, 0]}}" for k in range(4)]
    lines += extra
    path = folder / f"scenario{len(extra)}{varied:d}.yaml"
    path.write_text("\n".join(lines))
    return cbsim.load(path)


def drive(world, commands, steps):
    """Motion of the cars, with commands that change every 20 steps."""
    snapshot, found = world.start, []
    for number in range(steps):
        now = commands[number // 20]
        snapshot.columns.command[:] = 0.0
        snapshot.columns.command[:, : now.shape[1]] = now
        advance(world, snapshot, 1)
        columns = snapshot.columns
        rows = world.constants.vehicle_body
        motion = (
            columns.position[rows],
            columns.orientation[rows],
            columns.velocity[rows],
            columns.angular_velocity[rows],
        )
        found.append(np.concatenate([*motion, columns.actuator, columns.wheel], axis=1))
    return np.array(found)


@pytest.mark.parametrize("seed", range(3))
def test_bits_are_those_of_a_world_in_which_every_substep_looks(tmp_path, seed):
    quick, slow = world_of(tmp_path, 14), world_of(tmp_path, 14, [MOVER])  # something else moves: no short cut
    assert len(slow.moving) > len(quick.moving) == 14
    rng, steps = np.random.default_rng(seed), 400
    commands = rng.uniform(-0.3, 1.0, (steps // 20, 14, 2)) * [1.0, 0.8]
    one, two = drive(quick, commands, steps), drive(slow, commands, steps)
    assert one.tobytes() == two.tobytes()
    assert np.abs(one[-1] - one[0]).max() > 10.0


@pytest.mark.parametrize("cars", [2, 3, 16, 20])
def test_bits_are_the_same_for_groups_of_any_size_in_any_gear(tmp_path, cars):
    quick, slow = (world_of(tmp_path, cars, extra, varied=True) for extra in ([], [MOVER]))
    assert len(np.unique(quick.constants.vehicle_parameters, axis=0)) == cars
    rng, steps = np.random.default_rng(cars), 120
    commands = np.zeros((steps // 20, cars, 6))
    commands[..., :2] = rng.uniform(-0.5, 1.0, (steps // 20, cars, 2)) * [1.0, 0.5]
    commands[..., 4:] = rng.random((steps // 20, cars, 2)) < [0.3, 0.15]  # reverse gear, handbrake
    one, two = drive(quick, commands, steps), drive(slow, commands, steps)
    assert one.tobytes() == two.tobytes()
    assert one[..., 7:9].any()  # velocities
    assert len(np.unique(one[-1, :, -3])) > 1  # wheels


def test_cars_meet_in_that_test(tmp_path):
    world, rng = world_of(tmp_path, 14), np.random.default_rng(0)
    snapshot, contacts = world.start, 0
    for _ in range(20):
        snapshot.columns.command[:] = 0.0
        snapshot.columns.command[:, :2] = rng.uniform(-0.3, 1.0, (14, 2)) * [1.0, 0.8]
        contacts += len(advance(world, snapshot, 20)[2])
    assert contacts > 3
