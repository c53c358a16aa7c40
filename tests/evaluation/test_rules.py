"""Rules of `expect`: what they decide hardly depends on the step, and not at all on how steps are batched."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cbsim
from cbsim.errors import Location, UsageError
from cbsim.evaluation.judge import Judge
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.rules import RULES, Context
from cbsim.evaluation.rules.reach import entry, nearest_on_way
from cbsim.evaluation.rules.way import refined
from cbsim.recording.batch import Batch, Header
from cbsim.recording.header import FORMAT_VERSION
from cbsim.spec.scenario import Expectation
from cbsim.world.motion import MOTION_WIDTH

coordinate = st.floats(-50.0, 50.0).map(lambda value: round(value, 3))
point = st.tuples(coordinate, coordinate).map(np.array)


def header(step):
    item = {"name": "Car", "position": [0.0, 0.0, 0.0], "orientation": [1.0, 0.0, 0.0, 0.0]}
    still = {"name": "Box", "position": [3.0, 4.0, 0.0], "orientation": [1.0, 0.0, 0.0, 0.0]}
    return Header(FORMAT_VERSION, "test", step, 0, "", [item, still], [0], [], {})


def expect(rule, name="Car", **arguments):
    blank = {
        "reach": {"waypoint": None, "position": None, "radius": 1.0, "after": None, "before": None},
        "travel": {"at_least": None, "at_most": None},
        "rest": {},
    }
    every = {"object": name, **blank[rule], **arguments}
    return Expectation(rule, tuple(every.items()), Location("test.yaml", 1))


def decide(expectation, path, step, cuts=()):
    """Show a path (T, 2) to a rule in batches that begin at the cuts."""
    rule = RULES[expectation.rule](expectation, Context(header(step)))
    path = np.asarray(path, float)
    motion = np.zeros((len(path), 1, MOTION_WIDTH))
    motion[:, 0, :2] = path
    motion[1:, 0, 7:9] = np.diff(path, axis=0) / step
    for first, part in zip([0, *cuts], np.split(motion, list(cuts)), strict=True):
        if not rule.decided:
            rule.see(Batch(first, np.zeros(len(part), np.uint64), part))
    return rule.result()


def line(step, speed=7.3, until=10.0):
    """Go east from (-30, 0)."""
    times = np.arange(0.0, until, step)
    return np.stack([speed * times - 30.0, np.zeros(len(times))], axis=1)


@given(step=st.floats(0.01, 3.0), offset=st.floats(-0.9, 0.9))
def test_time_of_reaching_does_not_depend_on_the_step(step, offset):
    check = decide(expect("reach", position=(0.0, offset, 0.0)), line(step), step)
    assert check.time == pytest.approx((30.0 - math.sqrt(1.0 - offset**2)) / 7.3, abs=1e-9)
    assert check.passed


def test_place_passed_between_two_steps_is_reached_in_its_window():
    path = [[-10.0, 0.5], [10.0, 0.5]]
    at = 0.5 - math.sqrt(0.75) / 20.0
    assert decide(expect("reach", position=(0, 0, 0), after=at - 1e-6, before=at + 1e-6), path, 1.0).passed
    late = decide(expect("reach", position=(0, 0, 0), after=0.5), path, 1.0)
    assert not late.passed
    assert late.message == "came within 1 m at 0.46 s, expected after 0.5 s"


def test_nearest_approach_between_two_steps_is_told():
    check = decide(expect("reach", position=(0, 2, 0)), [[-10.0, 0.0], [10.0, 0.0]], 1.0)
    assert (check.passed, check.time) == (False, None)
    assert check.message == "never came within 1 m (nearest 2.00 m), expected once"


def test_start_inside_the_radius_is_reached_at_once():
    assert decide(expect("reach", position=(0.5, 0, 0)), [[0.0, 0.0]], 0.1).time == 0.0
    box = expect("reach", "Box", position=(3, 4, 0))
    assert decide(box, [[0.0, 0.0], [1.0, 0.0]], 0.1).time == 0.0


@given(start=point, end=point, radius=st.floats(0.1, 20.0))
def test_entry_lies_on_the_circle_or_at_the_start(start, end, radius):
    gap = float(nearest_on_way(np.stack([start, end]))[0])
    dense = np.linalg.norm(start + np.linspace(0.0, 1.0, 2001)[:, None] * (end - start), axis=1)
    assert gap <= dense.min() + 1e-9
    assert gap >= dense.min() - np.linalg.norm(end - start) / 2000.0
    assume(gap <= radius)
    part = entry(start, end - start, radius)
    assert 0.0 <= part <= 1.0
    at = float(np.linalg.norm(start + part * (end - start)))
    if part == 0.0:
        assert at <= radius + 1e-9
    else:
        assert at == pytest.approx(radius, abs=1e-6)
        assert (dense[: int(part * 2000.0)] >= radius - 1e-6).all()


@given(
    path=st.lists(st.tuples(coordinate, coordinate), min_size=2, max_size=12),
    data=st.data(),
    expectation=st.sampled_from(
        [
            expect("reach", position=(5.0, 5.0, 0.0), radius=8.0, before=1.0),
            expect("travel", at_least=20.0, at_most=200.0),
            expect("rest", **{"from": 0.3}),
        ]
    ),
)
def test_verdict_does_not_depend_on_how_steps_are_batched(path, data, expectation):
    cuts = sorted(data.draw(st.sets(st.integers(1, len(path) - 1))))
    assert decide(expectation, path, 0.1, cuts) == decide(expectation, path, 0.1)


def test_travel_sums_the_way_and_tells_its_bounds():
    check = decide(expect("travel", at_least=7.0, at_most=8.0), [[0, 0], [3, 4], [3, 6]], 0.5, cuts=(1,))
    assert (check.passed, check.time, check.message) == (True, 1.0, "travelled 7.00 m, expected 7 m to 8 m")
    open_ended = decide(expect("travel", at_least=7.5), [[0, 0], [3, 4], [3, 6]], 0.5)
    assert (open_ended.passed, open_ended.message) == (False, "travelled 7.00 m, expected at least 7.5 m")


def test_rest_fails_on_motion_after_its_time_and_on_a_run_too_short_to_tell():
    path = [[0, 0], [1, 0], [1, 0], [1, 0]]
    assert decide(expect("rest", **{"from": 1.0}), path, 0.5).passed
    assert decide(expect("rest", **{"from": 0.5}), path, 0.5).time == 0.5
    assert "ended at 1.50 s, before 2 s" in decide(expect("rest", **{"from": 2.0}), path, 0.5).message


def test_object_that_is_not_there_is_refused_with_its_line_and_the_nearest_name():
    judge = Judge((expect("rest", "Cra", **{"from": 0}),), None)
    with pytest.raises(UsageError, match=r"test.yaml:1: error: no object 'Cra' to watch \(did you mean 'Car'"):
        judge.begin(header(0.1), b"", {})


@pytest.mark.parametrize("step", [0.02, 0.05, 0.13, 0.37])
def test_shipped_crossing_passes_at_any_step(step):
    outcome = execute(cbsim.load("four_way_stop", step=step))
    assert outcome.verdict == "pass", [check for check in outcome.checks if not check.passed]


@given(
    step=st.floats(0.05, 3.0),
    stop=st.floats(0.0, 5.0),
    turn=st.floats(0.3, 2.8),
    speeds=st.tuples(st.floats(1.0, 15.0), st.floats(1.0, 15.0)),
)
def test_way_with_a_corner_and_a_pause_inside_a_step_is_found_exactly(step, stop, turn, speeds):
    first = np.array([0.0, speeds[0]])
    second = speeds[1] * np.array([-math.sin(turn), math.cos(turn)])
    start, go_on = 1.7 * step, 1.7 * step + min(stop, 0.25 * step)

    def at(time):
        if time < start:
            return (time - start) * first, first
        return max(0.0, time - go_on) * second, second if time >= go_on else 0.0 * first

    times = np.arange(5) * step
    places, velocities = (np.array(column) for column in zip(*map(at, times), strict=True))
    nodes, points = refined(times, places, velocities)
    assert (np.diff(nodes) >= -1e-9).all()
    for time, place in zip(nodes, points, strict=True):
        assert place == pytest.approx(at(time)[0], abs=1e-6 * (1.0 + step * max(speeds)))


@pytest.mark.parametrize("step", [0.6, 0.8, 1.0])
def test_shipped_crossing_passes_at_long_steps_too(step):
    outcome = execute(cbsim.load("four_way_stop", step=step))
    assert outcome.verdict == "pass", [check for check in outcome.checks if not check.passed]
