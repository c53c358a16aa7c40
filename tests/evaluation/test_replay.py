"""Replay and diff: every bit is proved again, and the first place where two runs part is named."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.errors import RecordingError
from cbsim.evaluation.replay import diff, replay
from cbsim.recording.batch import Batch
from cbsim.recording.recorder import MemoryRecorder
from cbsim.recording.recording import Recording
from cbsim.simulation.advance import advance
from cbsim.world.motion import MOTION, motion_of


def memory(recording, batches):
    """A recording of the same run with other batches."""
    kept = MemoryRecorder()
    kept.begin(recording.header, recording.snapshot, recording.sources)
    for batch in batches:
        kept.take(batch)
    return Recording(kept)


def altered(recording, step, body, part, change):
    """The same run with one number of its motion changed; every hash stays."""
    batches = []
    for batch in recording.batches():
        motion = batch.motion.copy()
        if batch.first_step == step:
            motion[0, body, part] = change(motion[0, body, part])
        batches.append(replace(batch, motion=motion))
    return memory(recording, batches)


def rebatched(recording, cuts):
    """The same run in batches that begin at other steps."""
    hashes = np.concatenate([batch.hashes for batch in recording.batches()])
    motion = np.concatenate([batch.motion for batch in recording.batches()])
    ends = [0, *sorted(cuts), len(hashes)]
    return memory(recording, [Batch(a, hashes[a:b], motion[a:b]) for a, b in pairwise(ends)])


def test_replay_proves_every_hash(made, recording):
    assert replay(recording, made) is None


def test_a_recording_tells_its_steps_without_the_row_before_the_first(recording):
    last = int(recording.steps[-1])
    assert repr(recording) == f"Recording({recording.header.scenario!r}, {last} steps, {len(recording.names)} objects)"


def test_batches_put_together_hold_the_same_run(made, recording, joined):
    assert len(list(joined.batches())) < len(list(recording.batches())) / 20
    assert diff(recording, joined) is None
    assert joined.commands() == recording.commands()
    assert replay(joined, made) is None


def test_replay_names_the_first_step_and_body_that_differ(made, recording):
    batch = next(b for b in recording.batches() if b.first_step == 7)
    kept = batch.hashes.copy(), batch.motion.copy()
    batch.hashes[0] += np.uint64(1)
    batch.motion[0, 1, 0] += 1e-3
    found = replay(recording, made)
    batch.hashes[:], batch.motion[:] = kept
    assert (found.step, found.object, found.column) == (7, "ATV", "position")
    assert found.difference == pytest.approx(1e-3)


@pytest.mark.parametrize("part", range(13))
@pytest.mark.parametrize("first_step", [0, 7])
def test_changed_motion_under_right_hashes_is_a_divergence(made, recording, part, first_step):
    changed = altered(recording, first_step, 1, part, lambda value: np.nextafter(value, np.inf))
    for found in (replay(changed, made), diff(changed, recording)):
        assert (found.step, found.object) == (first_step, "ATV")
        assert part in range(13)[MOTION[found.column]]
        assert 0.0 < found.difference < 1e-9


@pytest.mark.parametrize("value", [-0.0, np.nan])
def test_motion_is_compared_by_bits_so_that_zeros_of_two_signs_and_no_number_differ(made, recording, value):
    changed = altered(recording, 0, 0, 7, lambda _: value)  # at rest at first
    found = replay(changed, made)
    assert (found.step, found.object, found.column) == (0, "CajunBot", "velocity")


def test_difference_in_hidden_state_alone_is_told_by_the_hash(made, recording):
    batches = [Batch(b.first_step, b.hashes + np.uint64(b.first_step == 9), b.motion) for b in recording.batches()]
    found = diff(recording, memory(recording, batches))
    assert (found.step, found.object, found.column) == (9, "", "hash")
    assert "hidden state" in str(found)


def test_steps_missing_from_memory_are_refused_by_replay(made, recording):
    batches = [batch for batch in recording.batches() if batch.first_step != 5]
    with pytest.raises(RecordingError, match="step 6 stands where step 5 is due"):
        replay(memory(recording, batches), made)


def test_diff_finds_where_two_runs_part(made, recording):
    other = cbsim.run(made, duration=5.0)
    found = diff(recording, other)
    assert found.step == 1
    assert found.object == "CajunBot"
    assert diff(recording, recording) is None


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 100), unique=True), st.lists(st.integers(1, 100), unique=True))
def test_diff_does_not_depend_on_how_steps_are_batched(recording, cuts, other_cuts):
    one, other = rebatched(recording, cuts), rebatched(recording, other_cuts)
    assert diff(one, other) is None
    found = diff(one, rebatched(altered(recording, 60, 2, 4, lambda value: value + 1.0), other_cuts))
    assert (found.step, found.object, found.column) == (60, "Traffic", "orientation")


def test_diff_of_a_recording_with_its_own_beginning_says_which_one_ends(recording, in_chunks, tmp_path):
    short = memory(recording, list(recording.batches())[:41])
    for found, which in ((diff(short, recording), "first"), (diff(recording, short), "second")):
        assert (found.step, found.column) == (40, "end")
        assert f"the {which} recording ends after step 40 while the other goes on" in str(found)
    (tmp_path / "cut.mcap").write_bytes(in_chunks[: len(in_chunks) // 2])
    cut = Recording.open(tmp_path / "cut.mcap")
    assert f"the second recording is truncated after step {len(cut) - 1}" in str(diff(recording, cut))


def test_diff_reads_each_file_once(made, recording, tmp_path, monkeypatch):
    recording.save(tmp_path / "one.mcap")
    altered(recording, 100, 1, 3, lambda value: value + 1.0).save(tmp_path / "other.mcap")
    passes = []
    walk = Recording.batches
    monkeypatch.setattr(Recording, "batches", lambda self: passes.append(self) or walk(self))
    assert diff(Recording.open(tmp_path / "one.mcap"), Recording.open(tmp_path / "other.mcap")).step == 100
    assert len(passes) == 2


def test_diff_of_nothing_is_refused(recording):
    empty = memory(recording, [])
    for one, other in ((empty, empty), (empty, recording), (recording, empty)):
        with pytest.raises(RecordingError, match="no steps"):
            diff(one, other)


def test_columns_are_those_of_the_state_and_of_the_kernel(made):
    snapshot = made.start.copy()
    _, motion, _ = advance(made, snapshot, 60, made.moving)
    assert [part.stop - part.start for part in MOTION.values()] == [3, 4, 3, 3]
    assert sorted(range(13)) == [i for part in MOTION.values() for i in range(13)[part]]
    for column, part in MOTION.items():
        wanted = getattr(snapshot.state, column)[made.moving]
        assert np.array_equal(motion[-1][:, part], wanted), column
        assert np.abs(wanted).max() > 0.0  # all zeros would prove nothing
    assert np.array_equal(motion_of(snapshot, made.moving), motion[-1])
