"""How many checkpoints a planner is told that its vehicle has passed, beside the rule `checkpoints`."""

from __future__ import annotations

import math

import cbsim
from cbsim.planner.pilot import Pilot
from cbsim.simulation.mission_progress import MissionProgress


class Noting(Pilot):
    """Drives as the example planner does, and notes what it is told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def plan(self, observation):
        self.told.append((observation.time, observation.checkpoints))
        return super().plan(observation)


def test_checkpoints_are_counted_as_the_rule_counts_them():
    world, planner = cbsim.load("mission"), Noting()
    recording = cbsim.run(world, duration=90.0, planner=planner)
    name = world.bodies[next(iter(world.vehicle_rows))].name
    measured = {(one.rule, one.metric): one.value for one in cbsim.metrics(recording, [name])}
    counts = [count for _, count in planner.told]
    assert counts == sorted(counts)
    assert counts[-1] == measured["checkpoints", "checkpoints"]
    assert counts[-1] >= 2


def test_a_checkpoint_counts_within_its_lane_and_in_its_direction():
    world = cbsim.load("mission")
    row = next(iter(world.vehicle_rows))
    half = 0.5 * float(world.shapes.size[row, 1])

    def drive(across, backwards, restarts=0):
        progress = MissionProgress(world, row)
        line = progress._lines[0]
        heading = math.atan2(-line.east, line.north)
        found = []
        for along in (-3.0, -1.0, 1.0, 3.0):
            ahead = -1.0 if backwards else 1.0
            x = line.x + (along - ahead * half) * line.east - across * line.north
            y = line.y + (along - ahead * half) * line.north + across * line.east
            found.append(progress.see(x, y, heading + (math.pi if backwards else 0.0), restarts))
        return found

    assert drive(0.0, False) == [0, 0, 1, 1]
    assert drive(1.0, False) == [0, 0, 1, 1]
    assert drive(9.0, False) == [0, 0, 0, 0]
    assert drive(0.0, True) == [0, 0, 0, 0]


def test_progress_goes_on_where_some_have_been_passed():
    world = cbsim.load("mission")
    progress = MissionProgress(world, next(iter(world.vehicle_rows)))
    progress.resume(2)
    assert progress.see(1e4, 1e4, 0.0, 0) == 2


def test_places_far_from_the_next_line_are_passed_over_without_another_count():
    world = cbsim.load("mission")
    row = next(iter(world.vehicle_rows))
    quick, thorough = MissionProgress(world, row), MissionProgress(world, row)
    thorough._reach = math.inf
    line = thorough._lines[0]
    counts = []
    for step in (0.3, 7.0, 40.0):  # [m] between two decisions
        for progress in (quick, thorough):
            progress.passed = 0
        for k in range(-int(200.0 / step), int(200.0 / step)):
            along = k * step + 0.1
            place = line.x + along * line.east, line.y + along * line.north, math.atan2(-line.east, line.north)
            counts.append((quick.see(*place, 0), thorough.see(*place, 0)))
        counts.append((quick.see(*place, len(counts)), thorough.see(*place, len(counts))))
    assert all(one == other for one, other in counts)
    assert max(counts) > (0, 0)
