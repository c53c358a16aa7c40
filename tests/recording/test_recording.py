"""Recordings: what is written is read, a kill leaves a usable file, damage is noticed wherever it is."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from mcap.records import Channel, Message

import cbsim
from cbsim.errors import FileError, RecordingError, UsageError
from cbsim.evaluation.replay import replay, world_of
from cbsim.recording.batch import Header
from cbsim.recording.container import DamageError
from cbsim.recording.messages import batches_of
from cbsim.recording.recorder import FileRecorder
from cbsim.recording.recording import Recording
from tests.simulation.test_loop import Turner, lively


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


@pytest.mark.parametrize("step", [0.05, 0.03])  # scans at 10 Hz come at steps, or between them
def test_recorded_scan_is_what_sense_gives_at_the_step_it_is_due(step):
    made = lively(step=step)
    recording = cbsim.run(made, duration=5.0, planner=Turner())
    commands = {number: row for number, _, row in recording.commands()}
    snapshot, due = made.restore(recording.snapshot), recording.scans("CajunBot/scan_0")
    assert len(due) == 51
    for k in range(len(recording)):
        if k:
            snapshot.state.command[0] = commands.get(k - 1, snapshot.state.command[0])
            snapshot = cbsim.step(made, snapshot)
        if due and due[0].time <= snapshot.time + 1e-9:
            recorded, reading = due.pop(0), cbsim.sense(made, snapshot)["CajunBot/scan_0"]
            assert reading.time == recorded.time
            assert np.array_equal(np.concatenate(reading.pose), np.concatenate(recorded.pose))
            assert np.array_equal(reading.ranges, recorded.ranges)
    assert not due


def test_files_of_equal_runs_are_equal_byte_for_byte(made, tmp_path):
    for name in ("a", "b"):
        cbsim.run(made, duration=1.0).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_file_cut_anywhere_is_usable_up_to_its_last_whole_chunk(recording, in_chunks, tmp_path):
    lengths = []
    for cut in [*range(len(in_chunks) // 40, len(in_chunks), len(in_chunks) // 40), len(in_chunks) - 1]:
        path = tmp_path / "cut.mcap"
        path.write_bytes(in_chunks[:cut])
        try:
            broken = Recording.open(path)
        except RecordingError:
            assert not lengths  # only a file cut inside its header is refused
            continue
        lengths.append(len(broken))
        assert (broken.hashes == recording.hashes[: len(broken)]).all()
        assert not broken.complete
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > 10
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

    monkeypatch.setattr("cbsim.recording.recorder.FileRecorder.take", fail)
    with pytest.raises(OSError, match="no space left"):
        recording.save(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["run.mcap"]


def test_save_where_nothing_can_be_written_is_refused_with_the_place(recording, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for place in (*(tmp_path / name / "run.mcap" for name in ("none", "file", "loop")), tmp_path, tmp_path / "loop"):
        with pytest.raises(UsageError, match=f"cannot write the recording '{place}'"):
            recording.save(place)


def test_flipped_byte_anywhere_is_noticed_and_what_is_read_before_it_is_right(recording, in_chunks, tmp_path):
    rng = np.random.default_rng(3)
    ends = [*range(8, 120), *range(len(in_chunks) - 120, len(in_chunks))]  # header record and footer, byte by byte
    for place in [*ends, *rng.integers(8, len(in_chunks), 200)]:
        bad = bytearray(in_chunks)
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


def test_flipped_byte_of_a_cut_file_is_noticed_without_the_checksum_of_the_whole(recording, in_chunks, tmp_path):
    cut = bytearray(in_chunks[: len(in_chunks) // 2])
    (tmp_path / "cut.mcap").write_bytes(cut)
    broken = Recording.open(tmp_path / "cut.mcap")
    assert (broken.damage, broken.complete) == ("", False)
    assert broken.ending == f"is truncated after step {len(broken) - 1}"
    cut[in_chunks.index(b"lz4", len(cut) // 2) + 1000] ^= 1
    (tmp_path / "cut.mcap").write_bytes(cut)
    damaged = Recording.open(tmp_path / "cut.mcap")
    assert "chunk at byte" in damaged.damage
    assert 0 < len(damaged) < len(broken) < len(recording)


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


POOL = {"name": "west", "first": 4, "count": 2, "size": [1.8, 4.5, 1.5], "flow": False, "place": [0.0, 0.0]}
HEADER_MISTAKES = {
    "step": [0.0, -1.0, float("nan"), "x", None],
    "moving": [[9], [-1], ["0"], [True], {}, None],
    "objects": [[{}], [1], {}, [{"name": "Car", "position": [0.0], "orientation": [1.0, 0.0, 0.0, 0.0]}]],
    "sensors": [[{}], "x"],
    "version": ["1"],
    "request": [[]],
    "traffic": [0, None],
    "named": [[7], ["0"], {}],
    "radius": ["x", None],
    "pools": [7, [1], [{}], [POOL | {"first": 5}], [POOL | {"count": 10**9}], [POOL | {"size": [1.0]}], [POOL, POOL]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, all_ in HEADER_MISTAKES.items() for value in all_])
def test_header_with_a_right_checksum_but_wrong_values_is_refused(recording, tmp_path, name, value):
    text = json.dumps(json.loads(recording.header.to_json()) | {name: value})
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError)):
        Header.from_json(text)

    class Written:
        step, software = recording.header.step, recording.header.software

        def to_json(self):
            return text

    recorder = FileRecorder(tmp_path / "run.mcap")
    recorder.begin(Written(), recording.snapshot, {})
    recorder.end()
    with pytest.raises(RecordingError, match="header is damaged"):
        Recording.open(tmp_path / "run.mcap")


def test_another_version_is_told(recording, tmp_path):
    recorder = FileRecorder(tmp_path / "run.mcap")
    recorder.begin(replace(recording.header, version=99), recording.snapshot, {})
    recorder.end()
    with pytest.raises(RecordingError, match="recording version 99, this cbsim reads 3, 4, 5 and 6"):
        Recording.open(tmp_path / "run.mcap")


@pytest.mark.parametrize(
    "message", [b"", b"short", bytes(24), bytes(8) + (2**62).to_bytes(8, "little") + bytes(8), bytes(200)]
)
@pytest.mark.parametrize("topic", ["/batch", "/commands", "/scan/CajunBot/scan_0"])
def test_message_of_any_other_size_is_damage(recording, topic, message):
    records = [Channel(1, topic, "cbsim", {}, 1), Message(1, 0, message, 0, 0)]
    with pytest.raises(DamageError, match=r"a batch|commands of 64 bytes|a scan"):
        list(batches_of(records, recording.header.moving, []))


@pytest.mark.parametrize("message", [b"", b"{}", b"[1, 2]", b'{"name": "x", "time": NaN, "message": ""}', b"\xff"])
def test_fault_that_is_none_is_damage(message):
    records = [Channel(1, "/faults", "cbsim", {}, 1), Message(1, 0, message, 0, 0)]
    with pytest.raises(DamageError, match="a fault of"):
        list(batches_of(records, [0], []))


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
        assert opened.ending == "is truncated before its first step"
        for use in (replay, world_of, lambda it: it.save(tmp_path / "again.mcap")):
            with pytest.raises(RecordingError, match="is truncated before its first snapshot"):
                use(opened)


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


def test_recording_says_what_to_iterate_over():
    recording = cbsim.run(cbsim.load("loop"), duration=0.1)
    with pytest.raises(TypeError, match=r"'times', 'names' or 'batches\(\)'"):
        list(recording)
    with pytest.raises(TypeError):
        "somebody" in recording  # noqa: B015
