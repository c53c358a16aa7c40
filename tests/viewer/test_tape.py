"""The tape: bounded memory, the newest step always there, and what was seen when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.collision.contacts import CONTACT
from cbsim.recording.batch import Batch
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.outlines import Body
from cbsim.spec.drawing import Dots
from cbsim.viewer.series import Series
from cbsim.viewer.stage import Stage
from cbsim.viewer.tape import Mark, Tape

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
    tape = Tape(stage(), budget=64 * 13 * 4 * 4)
    for first in range(0, steps, chunk):
        tape.take(batch(first, min(chunk, steps - first)))
    assert tape._motion.nbytes <= tape.budget
    assert tape.last == pytest.approx((steps - 1) * STEP)
    kept = tape.steps
    assert kept[0] == 0
    assert (np.diff(kept) > 0).all()
    assert np.diff(kept)[:-1].max(initial=tape.stride) == tape.stride
    time = share * tape.last
    assert tape.at(time).position[1, 0] == pytest.approx(10.0 * time, abs=1e-3)


def test_what_stands_is_where_it_was_put():
    still = stage()
    tape = Tape(still)
    tape.take(batch(0, 3))
    assert tape.at(0.1).position[0].tolist() == [0.0, 0.0, 0.0]
    assert len(tape.path(0, 0.0, 1.0)) == 1


def test_a_turn_goes_the_short_way_round():
    tape = Tape(stage())
    motion = np.zeros((2, 1, 13))
    half = np.radians([170.0, -170.0]) / 2.0
    motion[:, 0, 3], motion[:, 0, 6] = np.cos(half), np.sin(half)
    tape.take(Batch(0, np.zeros(2, np.uint64), motion))
    w, _, _, z = tape.at(0.5 * STEP).orientation[1]
    assert abs(2.0 * np.arctan2(z, w)) == pytest.approx(np.pi, abs=1e-6)


def test_marks_appear_at_their_time_in_order():
    tape = Tape(stage())
    contact = np.zeros((1, len(CONTACT)))
    contact[0, :6] = 0.1, 0, 1, 3.0, 4.0, 0.5
    tape.take(batch(0, 5, contacts=contact))
    tape.note(Mark(0.05, "failed", "speed body 1", "too fast", 1))
    assert tape.at(0.04).marks == []
    assert [mark.kind for mark in tape.at(0.05).marks] == ["failed"]
    kinds = [(mark.kind, mark.place) for mark in tape.at(0.2).marks]
    assert kinds == [("failed", None), ("contact", (3.0, 4.0))]


@pytest.mark.parametrize(("time", "ahead", "found"), [(0.0, 1, 0.05), (0.12, 1, 0.15), (0.12, -1, 0.1), (0.1, -2, 0.0)])
def test_neighbours_are_whole_steps(time, ahead, found):
    tape = Tape(stage())
    tape.take(batch(0, 10))
    assert tape.neighbour(time, ahead) == pytest.approx(found)


def test_an_empty_tape_shows_the_start():
    tape = Tape(stage())
    assert (tape.first, tape.last, len(tape)) == (0.0, 0.0, 0)
    assert tape.at(3.0).position.tolist() == [[0.0] * 3] * 2
    assert tape.neighbour(1.0, 1) == 0.0


def test_of_too_many_contacts_some_are_kept_from_all_times_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr("cbsim.viewer.tape.MARKS", 100)
    tape = Tape(stage())
    tape.note(Mark(0.0, "failed", "speed body 1", "too fast", 1))
    contacts = np.zeros((1000, len(CONTACT)))
    contacts[:, 0], contacts[:, 2] = STEP * np.arange(1000), 1
    for first in range(0, 1000, 250):
        tape.take(batch(first, 250, contacts=contacts[first : first + 250]))
    times = [mark.time for mark in tape.marks if mark.kind == "contact"]
    assert len(times) <= 100
    assert len(times) + tape.forgotten == 1000
    assert times[-1] == pytest.approx(999 * STEP), "the newest is there"
    assert times[0] < 200 * STEP, "so are some of the first"
    assert [mark.kind for mark in tape.marks].count("failed") == 1


def test_commands_of_a_long_run_take_bounded_room_and_the_newest_counts(monkeypatch):
    monkeypatch.setattr("cbsim.viewer.tape.TOLD", 64)
    still = replace(stage(), vehicles=[1])
    tape = Tape(still)
    for step in range(1000):
        tape.take(batch(step, 1, commands=[(step, 0, (0.0, step / 1000.0, 0.0, 0.0, 0.0, 0.0))]))
    assert len(tape._commands[0]) <= 64
    assert tape.at(999 * STEP).steering == {1: 0.999}


@given(st.lists(st.integers(0, 500), max_size=200), st.integers(2, 40), st.integers(-1, 501))
def test_a_series_finds_what_was_told_last_among_what_it_keeps(steps, most, at):
    series = Series[int](most)
    for step in sorted(steps):
        series.put(step, step)
    assert len(series) <= most
    assert series.newest(at) == max((value for value in series.values if value <= at), default=None)
    assert not steps or series.newest(501) == max(steps)


@given(st.lists(st.booleans(), min_size=1, max_size=200), st.integers(2, 40))
def test_a_series_never_keeps_what_began_without_what_ended_it(shows, most):
    series = Series[str](most, lambda value: not value)
    for step, shown in enumerate(shows):
        series.put(step, str(step) if shown else "")
    assert len(series) <= most
    for step, shown in enumerate(shows):
        newest = series.newest(step)
        assert shown or not newest or any(shows[int(newest) + 1 : step]), "shown for longer than it was"
    assert (series.newest(len(shows)) or "") == (str(len(shows) - 1) if shows[-1] else "")


def test_drawings_take_bounded_memory_and_cease_when_they_did():
    tape = Tape(stage(), 2**18)
    shown = (Dots(np.ones((1000, 2))),)
    for step in range(200):
        tape.take(batch(step, 1, drawings=[DrawingRow(step, shown if step % 4 == 0 else ())]))
        assert sum(one.places.nbytes for row in tape._drawings.values for one in row) <= 2**18
    assert len(tape._drawings) >= 5
    assert tape.at(199 * STEP).drawings == ()
    for step in range(2, 200, 4):
        assert tape.at(step * STEP).drawings == ()
