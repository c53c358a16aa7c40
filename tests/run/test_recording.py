"""Recordings: what is written is read, a kill leaves a usable file, a replay proves every hash."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, RecordingError, UsageError
from cbsim.run.recorder import FileRecorder
from cbsim.run.recording import Recording
from cbsim.run.replay import diff, replay, world_of
from tests.run.test_simulation import Turner, lively


@pytest.fixture(scope="module")
def made():
    return lively()


@pytest.fixture(scope="module")
def recording(made):
    return cbsim.run(made, duration=5.0, planner=Turner())


@pytest.fixture(scope="module")
def sourced(tmp_path_factory):
    scenario = tmp_path_factory.mktemp("sourced") / "two.yaml"
    scenario.write_text("add:\n  - name: Box\n    kind: static\n    position: [1, 2, 0]\nduration: 1\n")
    return cbsim.run(cbsim.load(scenario))


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


def test_saving_over_the_file_it_is_read_from_keeps_every_step(recording, tmp_path):
    path = tmp_path / "run.mcap"
    recording.save(path)
    before = path.read_bytes()
    Recording.open(path).save(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["run.mcap"]


def test_failed_save_leaves_the_old_file_and_nothing_else(recording, tmp_path, monkeypatch):
    path = tmp_path / "run.mcap"
    recording.save(path)
    before = path.read_bytes()

    def fail(_self, _batch):
        raise OSError("no space left")

    monkeypatch.setattr("cbsim.run.recorder.FileRecorder.take", fail)
    with pytest.raises(OSError, match="no space left"):
        recording.save(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["run.mcap"]


def test_flipped_byte_anywhere_is_noticed_and_what_is_read_before_it_is_right(recording, tmp_path):
    recording.save(tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    rng = np.random.default_rng(3)
    ends = [*range(8, 120), *range(len(data) - 120, len(data))]  # header record and footer, byte by byte
    for place in [*ends, *rng.integers(8, len(data), 200)]:
        bad = bytearray(data)
        bad[place] ^= 1 << rng.integers(8)
        (tmp_path / "bad.mcap").write_bytes(bad)
        try:
            opened = Recording.open(tmp_path / "bad.mcap")
        except RecordingError:
            continue  # the header itself
        assert not opened.complete, place
        assert opened.damage, place
        assert "is damaged" in opened.ending
        assert (opened.hashes == recording.hashes[: len(opened)]).all()
        assert (opened.motion("ATV") == recording.motion("ATV")[: len(opened)]).all()


def test_flipped_byte_of_a_cut_file_is_noticed_without_the_checksum_of_the_whole(recording, tmp_path):
    recording.save(tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    cut = bytearray(data[: len(data) * 9 // 10])
    (tmp_path / "cut.mcap").write_bytes(cut)
    broken = Recording.open(tmp_path / "cut.mcap")
    assert (broken.damage, broken.complete) == ("", False)
    assert broken.ending == f"breaks off after step {len(broken) - 1}"
    cut[data.index(b"lz4") + 3000] ^= 1  # inside the first chunk
    (tmp_path / "cut.mcap").write_bytes(cut)
    assert "chunk at byte" in Recording.open(tmp_path / "cut.mcap").damage


def test_damaged_source_file_is_noticed_and_never_replayed(sourced, tmp_path):
    sourced.save(tmp_path / "run.mcap")
    data = bytearray((tmp_path / "run.mcap").read_bytes())
    data[data.index(b"duration: 1") + 10] = ord("2")
    (tmp_path / "run.mcap").write_bytes(data)
    opened = Recording.open(tmp_path / "run.mcap")
    assert "attachment" in opened.damage
    with pytest.raises(RecordingError, match=r"damaged .*before its first snapshot"):
        replay(opened)


def test_changed_header_is_refused(recording, tmp_path):
    recording.save(tmp_path / "run.mcap")
    data = (tmp_path / "run.mcap").read_bytes()
    assert data.count(b'"step": 0.05') == 1
    (tmp_path / "run.mcap").write_bytes(data.replace(b'"step": 0.05', b'"step": 0.06'))
    with pytest.raises(RecordingError, match="header is damaged"):
        Recording.open(tmp_path / "run.mcap")


def test_missing_steps_between_batches_are_damage(recording, tmp_path):
    recorder = FileRecorder(tmp_path / "gap.mcap")
    recorder.begin(recording.header, recording.snapshot, recording.sources)
    for batch in recording.batches():
        if batch.first_step != 5:
            recorder.take(batch)
    recorder.end()
    opened = Recording.open(tmp_path / "gap.mcap")
    assert "step 6 stands where step 5 is due" in opened.damage
    assert len(opened) == 5


def test_file_cut_before_its_first_snapshot_says_so(sourced, tmp_path):
    sourced.save(tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    first_chunk = data.index(b"lz4")
    for cut in (data.index(b"duration: 1"), first_chunk, first_chunk + 100):
        (tmp_path / "cut.mcap").write_bytes(data[:cut])
        opened = Recording.open(tmp_path / "cut.mcap")
        assert opened.header == sourced.header
        assert opened.ending == "breaks off before its first step"
        for use in (replay, world_of, lambda it: it.save(tmp_path / "again.mcap")):
            with pytest.raises(RecordingError, match="breaks off before its first snapshot"):
                use(opened)


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
