"""Recordings: what is written is read, a kill leaves a usable file, a replay proves every hash."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, RecordingError, UsageError
from cbsim.run.recording import Recording
from cbsim.run.replay import diff, replay
from tests.run.test_simulation import Turner, lively


@pytest.fixture(scope="module")
def made():
    return lively()


@pytest.fixture(scope="module")
def recording(made):
    return cbsim.run(made, duration=5.0, planner=Turner())


def test_file_gives_back_what_memory_held(recording, tmp_path):
    recording.save(tmp_path / "run.mcap")
    read = Recording.open(tmp_path / "run.mcap")
    assert read.header == recording.header
    assert (read.hashes == recording.hashes).all()
    assert (read.times == recording.times).all()
    assert len(read.times) == 101
    for name in recording.names:
        assert (read.motion(name) == recording.motion(name)).all()
    assert read.commands() == recording.commands()
    ours, theirs = recording.scans("CajunBot/scan_0"), read.scans("CajunBot/scan_0")
    assert len(ours) == 51  # 10 Hz from 0 s to 5 s
    assert [scan.time for scan in ours] == [scan.time for scan in theirs]
    assert all(np.array_equal(a.ranges, b.ranges) for a, b in zip(ours, theirs, strict=True))


def test_recorded_motion_is_that_of_the_snapshots(made, recording):
    snapshot = made.restore(recording.snapshot)
    commands = {step: row for step, _, row in recording.commands()}
    for k in range(1, 40):
        if k - 1 in commands:
            snapshot.state.command[0] = commands[k - 1]
        snapshot = cbsim.step(made, snapshot)
        assert snapshot.hash == recording.hashes[k]
        for body in made:
            assert (recording.positions(body.name)[k] == body.pose(snapshot).position).all()
            assert recording.speeds(body.name)[k] == pytest.approx(body.speed(snapshot), abs=1e-12)


def test_recorded_scan_is_what_sense_gives(made, recording):
    scan = recording.scans("CajunBot/scan_0")[0]
    reading = cbsim.sense(made, made.restore(recording.snapshot))["CajunBot/scan_0"]
    assert np.array_equal(scan.ranges, reading.ranges)


def test_files_of_equal_runs_are_equal_byte_for_byte(made, tmp_path):
    for name in ("a", "b"):
        cbsim.run(made, duration=1.0).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_file_cut_anywhere_is_usable_up_to_its_last_whole_chunk(recording, tmp_path):
    recording.save(tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    lengths = []
    for cut in [*range(len(data) // 40, len(data), len(data) // 40), len(data) - 1]:
        path = tmp_path / "cut.mcap"
        path.write_bytes(data[:cut])
        try:
            broken = Recording.open(path)
        except RecordingError:
            assert not lengths  # only a file cut inside its header is refused
            continue
        lengths.append(len(broken))
        assert (broken.hashes == recording.hashes[: len(broken)]).all()
        assert not broken.complete
    assert lengths == sorted(lengths)
    assert lengths[-1] == len(recording)


def test_damage_inside_never_escapes_as_a_traceback(recording, tmp_path):
    recording.save(tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    rng = np.random.default_rng(3)
    for place in rng.integers(8, len(data), 60):
        bad = bytearray(data)
        bad[place] ^= 0xFF
        (tmp_path / "bad.mcap").write_bytes(bad)
        try:
            opened = Recording.open(tmp_path / "bad.mcap")
            opened.motion("CajunBot")
            opened.scans("CajunBot/scan_0")
        except (RecordingError, FileError, UsageError):
            pass


def test_replay_proves_every_hash(made, recording):
    assert replay(recording, made) is None


def test_replay_names_the_first_step_and_body_that_differ(made, recording):
    batch = next(b for b in recording.batches() if b.first_step == 7)
    kept = batch.hashes.copy(), batch.motion.copy()
    batch.hashes[0] += np.uint64(1)
    batch.motion[0, 1, 0] += 1e-3
    found = replay(recording, made)
    batch.hashes[:], batch.motion[:] = kept
    assert (found.step, found.object, found.column) == (7, "ATV", "position")
    assert found.difference == pytest.approx(1e-3)


def test_diff_finds_where_two_runs_part(made, recording):
    other = cbsim.run(made, duration=5.0)
    found = diff(recording, other)
    assert found.step == 1
    assert found.object == "CajunBot"
    assert diff(recording, recording) is None


def test_unknown_names_list_what_there_is(recording):
    with pytest.raises(UsageError, match="did you mean 'CajunBot'"):
        recording.positions("CajunBott")
    with pytest.raises(UsageError, match="CajunBot/scan_0"):
        recording.scans("CajunBot/scan_9")


def test_what_is_not_a_recording_is_refused(tmp_path):
    (tmp_path / "x.mcap").write_bytes(b"hello")
    with pytest.raises(FileError, match="not an MCAP"):
        Recording.open(tmp_path / "x.mcap")
    with pytest.raises(FileError, match="cannot open"):
        Recording.open(tmp_path / "none.mcap")
