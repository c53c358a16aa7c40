"""Literal traffic: arrival at t = pauses + Σ dᵢ/vᵢ, exact, whatever the step."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.road.roadmap import build
from cbsim.spec.objects import Controller, Goal, Kind, ScriptEntry, TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.world.places import start_poses, trajectories_of
from cbsim.world.scene import Actor, Scene
from cbsim.world.trajectories import Trajectories, goal_legs, lay_out
from tests.road.site import Site
from tests.worlds import mover, world


class Target(NamedTuple):
    x: float
    y: float
    speed: float
    pause: float


PLACE = st.floats(-500.0, 500.0).map(lambda x: round(x, 3))
TARGETS = st.lists(
    st.builds(Target, PLACE, PLACE, st.floats(0.1, 40.0), st.sampled_from([0.0, 0.3, 7.0])), min_size=1, max_size=6
)
UP = np.array([1.0, 0.0, 0.0, 0.0])


def goal_trajectory(position: np.ndarray, initial_pause: float, targets: list[Target]) -> Trajectories:
    places, times = np.array([target[:2] for target in targets]), np.array([target[2:] for target in targets])
    legs = goal_legs(position[None], [len(targets)], places, *times.T)
    return lay_out([0], [0], position[None], UP[None], np.array([initial_pause]), legs)


def arrivals(initial_pause, targets, start=(0.0, 0.0)):
    """Slow twin: the sum as the formula says it."""
    time, here, times = initial_pause, start, []
    for target in targets:
        time += math.dist(here, (target.x, target.y)) / target.speed
        times.append(time)
        time += target.pause
        here = (target.x, target.y)
    return times


@given(initial_pause=st.sampled_from([0.0, 2.5]), targets=TARGETS)
def test_each_goal_is_reached_at_the_sum_of_pauses_and_travel_times(initial_pause, targets):
    segments = goal_trajectory(np.array([0.0, 0.0, 0.5]), initial_pause, targets)
    at_goal = dict(zip([(round(p[0], 6), round(p[1], 6)) for p in segments.origins], segments.starts, strict=True))
    for target, time in zip(targets, arrivals(initial_pause, targets), strict=True):
        begun = at_goal[round(target.x, 6), round(target.y, 6)]
        assert begun >= time - 1e-9  # the last leg that starts here starts at or after the first arrival
    assert segments.starts.tolist() == sorted(segments.starts)
    expected = arrivals(initial_pause, targets)[-1] + targets[-1].pause
    assert segments.starts[-1] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(step=st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.37, 1.0]), speed=st.floats(0.5, 30.0))
def test_position_at_a_time_does_not_depend_on_the_step(step, speed):
    made = world(mover("m", (speed, 0.7, 10.0, 0.3), (speed, 0.0, 20.0, -2.0)), step=step)
    recording = cbsim.run(made, duration=20.0)
    times, path = recording.times, recording.positions("m")
    first, second = np.array([-math.sin(0.3), math.cos(0.3)]), np.array([-math.sin(-2.0), math.cos(-2.0)])
    along = np.clip(speed * times, 0, 10.0)
    after = np.clip(speed * (times - 10.0 / speed - 0.7), 0, 20.0)
    expected = along[:, None] * first + after[:, None] * second
    assert np.abs(path[:, :2] - expected).max() < 1e-9


def test_goal_at_speed_zero_is_never_reached():
    segments = goal_trajectory(np.zeros(3), 0.0, [Target(5, 0, 0.0, 0.0), Target(9, 0, 1.0, 0.0)])
    assert len(segments.starts) == 1
    assert not segments.velocities[0].any()


def test_pause_comes_after_arriving_and_initial_pause_before_the_first_goal():
    segments = goal_trajectory(np.zeros(3), 2.0, [Target(0, 10, 5.0, 3.0), Target(0, 20, 5.0, 0.0)])
    assert segments.starts.tolist() == [0.0, 2.0, 4.0, 7.0, 9.0]
    assert [v[1] for v in segments.velocities] == [0.0, 5.0, 0.0, 5.0, 0.0]


def test_mover_faces_where_it_goes_and_keeps_facing_there_at_rest():
    made = world(mover("m", (1.0, 5.0, 1.0, math.pi / 2)))
    recording = cbsim.run(made, duration=4.0)
    assert recording.headings("m")[[1, -1]] == pytest.approx([math.pi / 2] * 2)
    assert recording.speeds("m")[[1, -1]] == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(
    ("sense", "heading"),
    [("ccw_north", math.pi / 3), ("cw_north", -math.pi / 3), ("ccw_east", math.pi / 3 - math.pi / 2)],
)
def test_script_angle_follows_the_chosen_convention(sense, heading):
    made = world(mover("m", (1.0, 0.0, 9.0, math.pi / 3)), script_angle=sense)
    assert made["m"].pose(cbsim.step(made, made.start)).heading == pytest.approx(heading)


def test_height_stays_what_it_was_at_the_start():
    made = world(mover("m", (1.0, 0.0, 9.0, 0.0), at=Triple(0, 0, 0.25), size=Triple(2, 4, 1.5)))
    assert cbsim.run(made, duration=2.0).positions("m")[:, 2] == pytest.approx(0.25 + 0.75)


LEGS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 7.0]), st.sampled_from([0.0, 1.5]), st.sampled_from([0.0, 3.0, 40.0])),
    max_size=4,
)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 2.0]), LEGS), min_size=1, max_size=6))
def test_movers_that_are_laid_out_together_move_as_each_of_them_does_alone(movers):
    actors = [scripted(k, *rest) if is_scripted else sent(k, *rest) for k, (is_scripted, *rest) in enumerate(movers)]
    network = build(Site(metric=True).lane("1.1", [(0.0, 0.0), (3.0, 30.0), (3.0, 70.0)]).network())
    scene = Scene("all", tuple(actors), network)
    together = trajectories_of(range(len(actors)), start_poses(actors, scene), scene)
    assert together.bodies.tolist() == list(range(len(actors)))
    stops = np.cumsum(together.counts)
    for actor, first, stop in zip(actors, stops - together.counts, stops, strict=True):
        one_scene = Scene("one", (actor,), network)
        alone = trajectories_of([0], start_poses((actor,), one_scene), one_scene)
        for one, all_ in zip(alone[2:], together[2:], strict=True):
            np.testing.assert_array_equal(one, all_[first:stop])


def scripted(number, pause, legs):
    """A mover with a script: speed, pause, distance of each entry."""
    script = tuple(ScriptEntry(speed, rest, way, 0.4 * number) for speed, rest, way in legs)
    return Actor(
        TrafficObject(
            Kind.DYNAMIC, f"s{number}", position_offset=Triple(5.0 * number, 1.0, 0.5), controller=Controller.SCRIPT,
            initial_pause=pause, script=script, orientation_offset=Triple(0.0, 0.1, 0.2 * number),
        )
    )  # fmt: skip


def sent(number, pause, legs):
    """A mover with goals along the lane, each of which may be where it is already."""
    goals = tuple(Goal(speed, rest, 1, 1, 1 + int(way) % 3) for speed, rest, way in legs)
    item = TrafficObject(
        Kind.DYNAMIC, f"g{number}", anchor=PointId(1, 1, 1 + number % 3), controller=Controller.WAYPOINT,
        initial_pause=pause, goals=goals,
    )  # fmt: skip
    return Actor(item, None, goals)
