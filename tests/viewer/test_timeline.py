"""The timeline: bounded memory, the newest step always there, and what was seen when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.collision.contacts import CONTACT
from cbsim.recording.batch import Batch
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.objects import Objects, PoolEntry
from cbsim.recording.outlines import Body
from cbsim.spec.drawing import Dots
from cbsim.viewer.scene.bounded_series import BoundedSeries
from cbsim.viewer.scene.stage import Stage
from cbsim.viewer.scene.timeline import Timeline, TimelineEvent
from cbsim.world.motion import ABSENT_BELOW

STEP = 0.05
SQUARE = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])


def stage(bodies=2):
    outline = [Body(f"body {k}", "dynamic", "box", (2.0, 2.0, 2.0), SQUARE, True, False) for k in range(bodies)]
    orientation = np.tile([1.0, 0.0, 0.0, 0.0], (bodies, 1))
    return Stage("s", STEP, outline, [1], np.zeros((bodies, 3)), orientation)


def batch(first, count, **given):
    """Steps in which the second body drives east at 10 m/s."""
    motion = np.zeros((count, 1, 13))
    motion[:, 0, 0] = 10.0 * STEP * np.arange(first, first + count)
    motion[:, 0, 3], motion[:, 0, 7] = 1.0, 10.0
    return Batch(first, np.zeros(count, np.uint64), motion, **given)


@given(st.integers(1, 3000), st.integers(1, 300), st.floats(0.0, 1.0))
def test_a_long_run_takes_bounded_memory_and_straight_lines_lose_nothing(steps, chunk, share):
    timeline = Timeline(stage(), budget=64 * 13 * 4 * 4)
    for first in range(0, steps, chunk):
        timeline.add(batch(first, min(chunk, steps - first)))
    assert timeline._motion.nbytes <= timeline.budget
    assert timeline.last == pytest.approx((steps - 1) * STEP)
    kept = timeline.steps
    assert kept[0] == 0
    assert (np.diff(kept) > 0).all()
    assert np.diff(kept)[:-1].max(initial=timeline.stride) == timeline.stride
    time = share * timeline.last
    assert timeline.at(time).position[1, 0] == pytest.approx(10.0 * time, abs=1e-3)


def test_what_stands_is_where_it_was_put():
    still = stage()
    timeline = Timeline(still)
    timeline.add(batch(0, 3))
    assert timeline.at(0.1).position[0].tolist() == [0.0, 0.0, 0.0]
    assert len(timeline.path(0, 0.0, 1.0)) == 1


def test_a_turn_goes_the_short_way_round():
    timeline = Timeline(stage())
    motion = np.zeros((2, 1, 13))
    half = np.radians([170.0, -170.0]) / 2.0
    motion[:, 0, 3], motion[:, 0, 6] = np.cos(half), np.sin(half)
    timeline.add(Batch(0, np.zeros(2, np.uint64), motion))
    w, _, _, z = timeline.at(0.5 * STEP).orientation[1]
    assert abs(2.0 * np.arctan2(z, w)) == pytest.approx(np.pi, abs=1e-6)


def test_marks_appear_at_their_time_in_order():
    timeline = Timeline(stage())
    contact = np.zeros((1, len(CONTACT)))
    contact[0, :6] = 0.1, 0, 1, 3.0, 4.0, 0.5
    timeline.add(batch(0, 5, contacts=contact))
    timeline.add_event(TimelineEvent(0.05, "failed", "speed body 1", "too fast", 1))
    assert timeline.at(0.04).events == []
    assert [mark.kind for mark in timeline.at(0.05).events] == ["failed"]
    kinds = [(mark.kind, mark.place) for mark in timeline.at(0.2).events]
    assert kinds == [("failed", None), ("contact", (3.0, 4.0))]


@pytest.mark.parametrize(("time", "ahead", "found"), [(0.0, 1, 0.05), (0.12, 1, 0.15), (0.12, -1, 0.1), (0.1, -2, 0.0)])
def test_neighbours_are_whole_steps(time, ahead, found):
    timeline = Timeline(stage())
    timeline.add(batch(0, 10))
    assert timeline.neighbour(time, ahead) == pytest.approx(found)


def test_an_empty_tape_shows_the_start():
    timeline = Timeline(stage())
    assert (timeline.first, timeline.last, len(timeline)) == (0.0, 0.0, 0)
    assert timeline.at(3.0).position.tolist() == [[0.0] * 3] * 2
    assert timeline.neighbour(1.0, 1) == 0.0


def test_of_too_many_contacts_some_are_kept_from_all_times_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr("cbsim.viewer.scene.timeline.MAX_CONTACTS", 100)
    timeline = Timeline(stage())
    timeline.add_event(TimelineEvent(0.0, "failed", "speed body 1", "too fast", 1))
    contacts = np.zeros((1000, len(CONTACT)))
    contacts[:, 0], contacts[:, 2] = STEP * np.arange(1000), 1
    for first in range(0, 1000, 250):
        timeline.add(batch(first, 250, contacts=contacts[first : first + 250]))
    times = [mark.time for mark in timeline.events if mark.kind == "contact"]
    assert len(times) <= 100
    assert len(times) + timeline.dropped_contacts == 1000
    assert times[-1] == pytest.approx(999 * STEP), "the newest is there"
    assert times[0] < 200 * STEP, "so are some of the first"
    assert [mark.kind for mark in timeline.events].count("failed") == 1


def test_commands_of_a_long_run_take_bounded_room_and_the_newest_counts(monkeypatch):
    monkeypatch.setattr("cbsim.viewer.scene.timeline.MAX_COMMANDS", 64)
    still = replace(stage(), vehicles=[1])
    timeline = Timeline(still)
    for step in range(1000):
        timeline.add(batch(step, 1, commands=[(step, 0, (0.0, step / 1000.0, 0.0, 0.0, 0.0, 0.0))]))
    assert len(timeline._commands[0]) <= 64
    assert timeline.at(999 * STEP).steering == {1: 0.999}


@given(st.lists(st.integers(0, 500), max_size=200), st.integers(2, 40), st.integers(-1, 501))
def test_a_series_finds_what_was_told_last_among_what_it_keeps(steps, most, at):
    series = BoundedSeries[int](most)
    for step in sorted(steps):
        series.insert(step, step)
    assert len(series) <= most
    assert series.latest(at) == max((value for value in series.values if value <= at), default=None)
    assert not steps or series.latest(501) == max(steps)


@given(st.lists(st.booleans(), min_size=1, max_size=200), st.integers(2, 40))
def test_a_series_never_keeps_what_began_without_what_ended_it(shows, most):
    series = BoundedSeries[str](most, lambda value: not value)
    for step, shown in enumerate(shows):
        series.insert(step, str(step) if shown else "")
    assert len(series) <= most
    for step, shown in enumerate(shows):
        newest = series.latest(step)
        assert shown or not newest or any(shows[int(newest) + 1 : step]), "shown for longer than it was"
    assert (series.latest(len(shows)) or "") == (str(len(shows) - 1) if shows[-1] else "")


def test_drawings_take_bounded_memory_and_cease_when_they_did():
    timeline = Timeline(stage(), 2**18)
    shown = (Dots(np.ones((1000, 2))),)
    for step in range(200):
        timeline.add(batch(step, 1, drawings=[DrawingRow(step, shown if step % 4 == 0 else ())]))
        assert sum(one.places.nbytes for row in timeline._drawings.values for one in row) <= 2**18
    assert len(timeline._drawings) >= 5
    assert timeline.at(199 * STEP).drawings == ()
    for step in range(2, 200, 4):
        assert timeline.at(step * STEP).drawings == ()


# traffic: who is there, and recorded, changes

POOL = PoolEntry("west", 1, 3, (2.0, 2.0, 2.0), True)


def crowd():
    """A bot and three rows of a flow."""
    objects = Objects([{"name": "bot", "position": [0.0, 0.0, 0.5], "orientation": [1.0, 0.0, 0.0, 0.0]}], [POOL])
    bodies = [Body(name, "dynamic", "box", (2.0, 2.0, 2.0), SQUARE, True, False) for name in objects.names]
    places = np.array([item["position"] for item in objects])
    return Stage("s", STEP, bodies, [0, 1, 2, 3], places, np.tile([1.0, 0.0, 0.0, 0.0], (4, 1)), objects=objects)


def some(first, count, rows, **given):
    """Steps in which some rows drive east at 10 m/s."""
    motion = np.zeros((count, len(rows), 13))
    motion[:, :, 0] = 10.0 * STEP * np.arange(first, first + count)[:, None] + 100.0 * np.array(rows)
    motion[:, :, 2], motion[:, :, 3], motion[:, :, 7] = 0.5, 1.0, 10.0
    return Batch(first, np.zeros(count, np.uint64), motion, rows=np.array(rows, np.int64), **given)


def test_who_is_not_held_is_absent_and_does_not_move_there():
    timeline = Timeline(crowd())
    timeline.add(some(0, 4, [0, 2]))
    timeline.add(some(4, 4, [0, 1, 3]))
    there = [(timeline.at(step * STEP).position[:, 2] > ABSENT_BELOW).tolist() for step in (0, 3, 4, 7)]
    assert there == [[True, False, True, False]] * 2 + [[True, True, False, True]] * 2
    between = timeline.at(3.5 * STEP).position
    assert between[2].tolist() == timeline.at(3 * STEP).position[2].tolist()  # until it is gone
    assert between[1, 2] < ABSENT_BELOW  # not before it is there
    assert between[0, 0] == pytest.approx(10.0 * 3.5 * STEP)


def test_trail_begins_where_a_body_was_last_absent():
    timeline = Timeline(crowd())
    timeline.add(some(0, 4, [0, 2]))
    timeline.add(some(4, 3, [0]))
    timeline.add(some(7, 3, [0, 2]))
    assert len(timeline.path(0, 0.0, 1.0)) == 10
    assert timeline.path(2, 0.0, 9 * STEP)[:, 0].tolist() == pytest.approx([200.0 + 0.5 * k for k in (7, 8, 9)])
    assert not len(timeline.path(2, 0.0, 5 * STEP))


def test_rows_of_a_flow_are_named_by_who_is_in_them():
    timeline = Timeline(crowd())
    timeline.add(some(0, 10, [0, 1], events=np.array([[1, 0, 1, 1], [5, 1, 1, 1], [7, 0, 1, 2]])))
    assert [timeline.name(1, step * STEP) for step in (1, 4, 7, 9)] == ["west 1", "west 1", "west 2", "west 2"]
    assert timeline.name(0, 0.3) == "bot"


@given(st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=30), st.integers(1, 90))
def test_any_rows_take_bounded_memory(held, count):
    timeline = Timeline(crowd(), budget=64 * 13 * 4 * 4 * 2)
    for k, rows in enumerate(held):
        timeline.add(some(count * k, count, sorted(rows)))
    assert timeline._motion.nbytes <= timeline.budget
    last = timeline.at(timeline.last).position
    assert set(np.flatnonzero(last[1:, 2] > ABSENT_BELOW) + 1) == held[-1] - {0}
