"""Recordings of traffic: who is held, as the Snapshots have it; cars by number, tables, mistakes of drivers."""

from __future__ import annotations

import importlib
import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.collision.contacts import CONTACT
from cbsim.errors import FileError, Location, UsageError
from cbsim.evaluation.judge import Judge, judge
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import diff, replay
from cbsim.recording.batch import Batch, Header, header_of
from cbsim.recording.container import DamageError
from cbsim.recording.header import FORMAT_VERSION
from cbsim.recording.messages import batches_of, messages_of
from cbsim.recording.objects import Objects, PoolEntry
from cbsim.recording.recording import Recording
from cbsim.simulation.recorded_rows import RecordedRows
from cbsim.spec.objects import Controller, Kind, TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Expectation
from cbsim.spec.traffic import Driver, Pool
from cbsim.world.compile import compile_world
from cbsim.world.motion import ABSENT_BELOW, motion_of
from cbsim.world.scene import Actor
from cbsim.world.traffic.events import APPEARED, LEFT
from cbsim.world.traffic.tables import ABSENT, PHASE, SPEED, STOPPED
from tests.traffic.sites import four_way, straight, world

RADIUS = 200.0  # [m]
BOT = Actor(
    TrafficObject(Kind.AUTONOMOUS, "Bot", controller=Controller.SENSOR, position_offset=Triple(6.0, 400.0, 0.0))
)
ROW = Pool("row", count=40)
FLOW = Pool("flow", flow=1200.0, origin=PointId(1, 1, 1), is_even=True)
COLLISION = Expectation("collision", (("object", "row 40"), ("impact_below", None)), Location("x.yaml", 7))


def road(which, *expectations):
    made = world(straight(2000.0), ROW, FLOW, actors=(BOT,), record_traffic=which, duration=20.0)
    return compile_world(replace(made.scene, expectations=expectations))


@pytest.fixture(scope="module")
def worlds():
    return {which: road(which) for which in ("all", "near", "none")}


@pytest.fixture(scope="module")
def recordings(worlds):
    return {which: cbsim.run(made, duration=20.0) for which, made in worlds.items()}


def held(recording):
    """Rows and motion of each step."""
    moving = np.array(recording.header.moving)
    return [
        (int(step), moving if batch.rows is None else batch.rows, motion)
        for batch in recording.batches()
        for step, motion in zip(batch.steps, batch.motion, strict=True)
    ]


def test_what_is_recorded_changes_no_bit_of_the_run(recordings):
    assert (recordings["near"].hashes == recordings["all"].hashes).all()
    assert (recordings["none"].hashes == recordings["all"].hashes).all()


def test_near_holds_what_all_holds_of_who_is_near_and_leaves_out_the_rest(recordings):
    fewer = 0
    for (step, rows, motion), (again, some, part) in zip(
        held(recordings["all"]), held(recordings["near"]), strict=True
    ):
        assert step == again
        column = {row: k for k, row in enumerate(rows.tolist())}
        for row, own in zip(some.tolist(), part, strict=True):
            if row in column:
                assert (motion[column[row]] == own).all()
            else:
                assert own[2] < ABSENT_BELOW
        bot = motion[column[0], :2]
        there = (np.hypot(*(motion[:, :2] - bot).T) <= RADIUS) & (motion[:, 2] > ABSENT_BELOW)
        assert set(rows[there].tolist()) <= set(some.tolist())
        fewer += len(rows) - len(some)
    assert fewer > 5 * len(recordings["all"])


def test_none_holds_the_bot_alone(recordings):
    assert all(rows.tolist() == [0] for _, rows, _ in held(recordings["none"]))


@pytest.mark.parametrize("which", ["all", "near"])
def test_recorded_motion_is_that_of_the_snapshots(worlds, recordings, which):
    snapshot = worlds[which].restore(recordings[which].snapshot)
    for step, rows, motion in held(recordings[which])[:200]:
        assert step == snapshot.step
        assert (motion == motion_of(snapshot, rows)).all()
        if which == "all":  # nobody who is there is left out
            present = snapshot.columns.position[:, 2] > ABSENT_BELOW
            assert set(np.flatnonzero(present).tolist()) <= set(rows.tolist())
        snapshot = cbsim.step(worlds[which], snapshot)


@pytest.mark.parametrize("which", ["all", "near", "none"])
def test_replay_proves_it_from_memory_and_from_a_file(worlds, recordings, tmp_path, which):
    recordings[which].save(tmp_path / "run.mcap")
    read = Recording.open(tmp_path / "run.mcap")
    assert replay(recordings[which], worlds[which]) is None
    assert replay(read, worlds[which]) is None
    for one, other in zip(recordings[which].batches(), read.batches(), strict=True):
        assert (one.rows is None) == (other.rows is None)
        assert one.rows is None or (one.rows == other.rows).all()
        assert (one.motion == other.motion).all()
        assert (one.events == other.events).all()
    assert read.header == recordings[which].header


def test_replay_finds_a_changed_number_of_a_car_and_another_row_in_its_place(worlds, recordings):
    changed = Recording(None)
    batches = list(recordings["near"].batches())
    k = next(k for k, batch in enumerate(batches) if batch.first_step > 100)
    motion = batches[k].motion.copy()
    motion[0, 3, 0] += 1e-9
    rows = batches[k].rows.copy()
    for other in (replace(batches[k], motion=motion), replace(batches[k], rows=_exchanged(rows))):
        changed = Recording(_memory(recordings["near"], [*batches[:k], other, *batches[k + 1 :]]))
        found = replay(changed, worlds["near"])
        assert found is not None
        assert found.step == other.first_step


def _exchanged(rows):
    """Put a car that is not held in the place of the last that is."""
    missing = next(row for row in range(1, 41) if row not in rows)
    return np.sort(np.concatenate([np.delete(rows, np.argmax(rows[1:] < 41) + 1), [missing]]))


def _memory(recording, batches):
    from cbsim.recording.recorder import MemoryRecorder

    memory = MemoryRecorder()
    memory.begin(recording.header, recording.snapshot, recording.sources)
    for batch in batches:
        memory.take(batch)
    return memory


def test_diff_compares_what_both_hold(recordings):
    assert diff(recordings["all"], recordings["near"]) is None
    assert diff(recordings["none"], recordings["near"]) is None
    other = cbsim.run(world(straight(2000.0), ROW, replace(FLOW, is_even=False), actors=(BOT,)), duration=5.0)
    found = diff(recordings["all"], other)
    assert found is not None
    assert found.time < 5.0


def test_batches_of_any_length_hold_the_same(worlds, recordings):
    class Slow:
        listeners = ()

        def on_start(self, run):
            pass

        def on_step(self, run):
            pass

    from cbsim.recording.recorder import MemoryRecorder
    from cbsim.simulation.loop import Run, drive

    memory = MemoryRecorder()
    drive(Run(worlds["near"], worlds["near"].start, [], [memory]), 400, observer=Slow())
    for (step, rows, motion), (again, same, own) in zip(held(Recording(memory)), held(recordings["near"]), strict=True):
        assert step == again
        assert rows.tolist() == same.tolist()
        assert (motion == own).all()
    assert Recording(memory).events() == recordings["near"].events()


def test_onlookers_see_everybody_whatever_is_recorded(worlds):
    from cbsim.recording.recorder import MemoryRecorder
    from cbsim.simulation.loop import Run, drive

    recorded, seen = MemoryRecorder(), MemoryRecorder()
    made = worlds["near"]
    drive(Run(made, made.start, [], [recorded], onlookers=[seen]), 100)
    for few, everybody in zip(held(Recording(recorded)), held(Recording(seen)), strict=True):
        assert len(everybody[1]) == len(made.moving)
        assert (everybody[2][np.isin(everybody[1], few[1])] == few[2]).all()
        assert len(few[1]) < len(everybody[1])


def test_header_lists_pools_not_cars():
    small, large = (header_of(world(straight(4000.0), Pool("row", count=n)), 1) for n in (10, 500))
    assert abs(len(large.to_json()) - len(small.to_json())) < 10
    assert len(large.objects) == 500
    assert large.objects[499]["name"] == "row 500"
    assert large.objects.row("row 17") == 16
    assert large.objects.row("row 501") is None
    assert large.objects.row("row 0") is None
    assert large.objects.row("row 017") is None
    read = type(large).from_json(large.to_json())
    assert read == large
    assert read.moving == list(range(500))


def test_near_is_the_default_above_a_thousand_cars():
    def chosen(*pools, **given):
        return RecordedRows(world(straight(20_000.0), *pools, **given)).traffic

    assert chosen(Pool("row", count=1000)) == "all"
    assert chosen(Pool("row", count=1001)) == "near"
    assert chosen(Pool("row", count=1001), record_traffic="all") == "all"
    assert chosen(Pool("row", count=1), record_traffic="none") == "none"
    busy = replace(FLOW, flow=3600.0)
    assert chosen(busy, duration=1000.0) == "all"  # a thousand cars appear in the whole run
    assert chosen(busy, duration=1100.0) == "near"


def test_whom_a_rule_names_is_always_recorded_and_a_rule_asked_later_is_refused():
    recording = cbsim.run(road("none", COLLISION), duration=3.0)
    assert all(rows.tolist() == [0, 40] for _, rows, _ in held(recording))
    assert recording["row 40"].times[-1] == pytest.approx(3.0)
    scene = road("none", COLLISION).scene
    assert judge(recording, scene).verdict == "pass"
    later = Expectation("collision", (("object", "row 39"), ("impact_below", None)), Location("later.yaml", 3))
    with pytest.raises(FileError, match=r"later\.yaml:3: error: the motion of 'row 39' is not recorded.*\[E828\]"):
        judge(recording, replace(scene, expectations=(later,)))
    with pytest.raises(UsageError, match="'row 39' is recorded at no step"):
        recording.motion("row 39")


def test_verdict_is_the_same_live_and_from_the_recording_whatever_is_recorded(tmp_path):
    for which in ("all", "near", "none"):
        made = road(which, COLLISION)
        outcome = execute(made, record=tmp_path / "run.mcap", steps=100)
        again = judge(Recording.open(tmp_path / "run.mcap"), made.scene)
        assert (outcome.verdict, outcome.checks) == (again.verdict, again.checks)


def test_who_records_near_without_a_bot_is_told_that_nobody_is_recorded(tmp_path):
    made = world(straight(), Pool("row", count=3), record_traffic="near")
    assert any("nobody is recorded" in text for text in execute(made, record=tmp_path / "r", steps=5).complaints)
    assert not execute(made, steps=5).complaints


# cars by number


@pytest.fixture(scope="module")
def passing():
    """A flow whose cars use few rows one after another."""
    made = world(straight(60.0), Pool("west", flow=900.0, origin=PointId(1, 1, 1), is_even=True, at_most=3))
    return cbsim.run(made, duration=60.0)


def test_cars_of_a_flow_go_by_the_order_in_which_they_appear(passing):
    appeared = [event for event in passing.events() if event.kind == "appeared"]
    left = {event.object: event.time for event in passing.events() if event.kind == "left"}
    assert len(appeared) > 3 * 3  # more than there are rows
    assert [event.object for event in appeared] == [f"west {k + 1}" for k in range(len(appeared))]
    for event in appeared:
        car = passing[event.object]
        assert car.times[0] == pytest.approx(event.time)
        assert car.times[-1] == pytest.approx(left.get(event.object, 60.0 + passing.header.step) - passing.header.step)
        assert (np.abs(np.diff(car.positions[:, :2], axis=0)) < 2.0).all()  # it never jumps
        assert (np.diff(car.positions[:, 1]) >= 0.0).all()
        motion = passing.motion(event.object)
        assert np.isfinite(motion[:, 0]).sum() == len(car)
    with pytest.raises(UsageError, match="no car 'west 999' has appeared"):
        passing.motion("west 999")


def test_table_has_every_car_once_a_step_as_the_recording_has_it(passing):
    frame = passing.to_frame()
    assert list(frame.columns) == ["time", "object", "x", "y", "heading", "speed", "length", "width"]
    assert not frame.duplicated(["time", "object"]).any()
    assert frame.time.is_monotonic_increasing
    for name, rows in frame.groupby("object"):
        car = passing[name]
        assert (rows.time.to_numpy() == car.times).all()
        assert (rows[["x", "y"]].to_numpy() == car.positions[:, :2]).all()
        assert (rows.heading.to_numpy() == car.headings).all()
        assert (rows.speed.to_numpy() == car.speeds).all()
        assert set(rows.length) == {4.5}
        assert set(rows.width) == {1.8}


def test_table_equals_the_snapshots(worlds, recordings):
    frame = recordings["near"].to_frame()
    made = worlds["near"]
    snapshot, step = made.start, made.step
    for k in range(100):
        now = frame[np.isclose(frame.time, k * step)]
        assert len(now) > 3
        for row in now[now.object.str.startswith("row")].itertuples():
            pose = made[row.object].pose(snapshot)
            assert (row.x, row.y) == (pose.position[0], pose.position[1])
            assert row.heading == pytest.approx(pose.heading, abs=1e-15)
            assert row.speed == pytest.approx(made[row.object].speed(snapshot), abs=1e-12)
        snapshot = cbsim.step(made, snapshot)


def test_parquet_holds_the_table(passing, tmp_path):
    pandas = pytest.importorskip("pandas")
    passing.save(tmp_path / "run.mcap")
    Recording.open(tmp_path / "run.mcap").to_parquet(tmp_path / "run.parquet")
    read, frame = pandas.read_parquet(tmp_path / "run.parquet"), passing.to_frame()
    assert (read == frame).all(axis=None)
    with pytest.raises(UsageError, match="cannot write"):
        passing.to_parquet(tmp_path / "none" / "run.parquet")


@pytest.mark.parametrize(("library", "call"), [("pandas", "to_frame"), ("pyarrow", "to_parquet")])
def test_missing_library_names_the_extra(passing, tmp_path, monkeypatch, library, call):
    def absent(name):
        raise ImportError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(importlib, "import_module", absent)
    arguments = [tmp_path / "x.parquet"] if call == "to_parquet" else []
    with pytest.raises(UsageError, match=rf"extra 'frames' \({library} is missing\): pip install 'cbsim\[frames\]'"):
        getattr(passing, call)(*arguments)


# mistakes of drivers


def mistakes(recording, kind):
    return [event for event in recording.events() if event.kind == kind]


def four_ways(duration=60.0, count=8, **errors):
    drivers = (Driver("d", **errors),)
    made = world(four_way(), Pool("car", count=count, drivers=(("d", 1.0),)), drivers=drivers, duration=duration)
    return made, cbsim.run(made, duration=duration)


def test_drivers_without_mistakes_make_none():
    _, recording = four_ways()
    assert {event.kind for event in recording.events()} <= {"appeared", "left"}


def test_running_a_stop_line_is_recorded_when_the_front_passes_it_and_only_then():
    made, recording = four_ways(runs_stops=1.0)
    found = mistakes(recording, "runs_stops")
    assert len(found) > 6
    lines = np.array([made.scene.roadmap.position(PointId(arm, 1, 2)) for arm in (1, 2, 3, 4)])
    for event in found:
        place = recording[event.object]
        k = int(np.flatnonzero(np.isclose(place.times, event.time))[0])
        ahead = np.array([-np.sin(place.headings[k]), np.cos(place.headings[k])])
        beyond = place.positions[k, :2] + 2.25 * ahead - lines
        nearest = beyond[np.hypot(*beyond.T).argmin()]
        assert 0.0 <= nearest @ ahead < 1.0  # a step of at most 11 m/s
        assert np.hypot(*nearest) < 1.0
    snapshot = made.start
    for _ in range(len(recording) - 1):
        snapshot = cbsim.step(made, snapshot)
        assert not (snapshot.columns.intent[:, PHASE] == STOPPED).any()


def test_a_driver_that_runs_some_lines_stops_at_the_others():
    made, recording = four_ways(duration=120.0, runs_stops=0.3)
    found = mistakes(recording, "runs_stops")
    stops, before = 0, made.start.columns.intent[:, PHASE].copy()
    snapshot = made.start
    for _ in range(len(recording) - 1):
        snapshot = cbsim.step(made, snapshot)
        phase = snapshot.columns.intent[:, PHASE]
        stops += int(((phase == STOPPED) & (before != STOPPED)).sum())
        before = phase.copy()
    assert len(found) > 3
    assert stops > len(found)  # 0.3 of the lines are run


def test_tailgaters_are_told_at_the_start():
    _, recording = four_ways(duration=1.0, tailgates=1.0)
    assert [(event.time, event.object) for event in mistakes(recording, "tailgates")] == [
        (0.0, f"car {k + 1}") for k in range(8)
    ]
    _, some = four_ways(duration=1.0, tailgates=0.5)
    assert 0 < len(mistakes(some, "tailgates")) < 8


def test_braking_without_cause_is_recorded_when_it_is_done():
    made, recording = four_ways(brakes_hard=0.2)
    found = mistakes(recording, "brakes_hard")
    assert len(found) > 5
    for event in found:
        speeds, times = recording[event.object].speeds, recording[event.object].times
        k = int(np.flatnonzero(np.isclose(times, event.time))[0])
        assert speeds[k] < speeds[k - 1]
    assert execute(made).traffic.hardest_braking >= 6.0


def test_ignoring_the_right_of_way_is_recorded():
    _, recording = four_ways(ignores_right_of_way=1.0)
    found = mistakes(recording, "ignores_right_of_way")
    assert found
    assert {event.object for event in found} <= {f"car {k + 1}" for k in range(8)}


def test_events_are_the_same_from_a_file(tmp_path):
    _, recording = four_ways(duration=20.0, runs_stops=0.5, brakes_hard=0.2, tailgates=0.5)
    recording.save(tmp_path / "run.mcap")
    assert Recording.open(tmp_path / "run.mcap").events() == recording.events()
    assert len(recording.events()) > 5


def test_collision_names_the_car_that_was_hit_not_its_row():
    objects = Objects(
        [{"name": "Bot", "type": "autonomous", "size": [1.8, 4.5, 1.5], "position": [0.0] * 3,
          "orientation": [1.0, 0.0, 0.0, 0.0]}],
        [PoolEntry("west", 1, 2, (1.8, 4.5, 1.5), True)],
    )  # fmt: skip
    header = Header(FORMAT_VERSION, "test", 0.05, 1, "0", objects, [0, 1, 2], [], {})
    motion = np.tile([0.0, 0.0, 0.75, 1.0, *np.zeros(9)], (40, 3, 1))
    contact = np.zeros((1, len(CONTACT)))
    contact[0, :3] = 1.0, 0, 1
    events = np.array([[2, APPEARED, 1, 1], [8, LEFT, 1, 1], [10, APPEARED, 1, 5]])
    verdict = Judge((Expectation("collision", (("object", "Bot"), ("impact_below", None))),))
    verdict.begin(header, b"", {})
    verdict.take(Batch(0, np.zeros(40, np.uint64), motion, contacts=contact, events=events))
    (check,) = verdict.checks
    assert not check.passed
    assert check.message.startswith("hit 'west 5' at 1.00 s")


# totals of a run


def test_totals_of_traffic_are_those_of_the_snapshots():
    made = world(
        straight(300.0), Pool("west", flow=1500.0, origin=PointId(1, 1, 1), is_even=True, at_most=9), duration=60.0
    )
    outcome, snapshot = execute(made), made.start
    hardest, appeared, left = 0.0, 0, 0
    before = snapshot.columns.intent[:, PHASE] == ABSENT
    speeds = snapshot.columns.travel[:, SPEED].copy()
    for _ in range(1200):
        snapshot = cbsim.step(made, snapshot)
        absent = snapshot.columns.intent[:, PHASE] == ABSENT
        appeared += int((before & ~absent).sum())
        left += int((absent & ~before).sum())
        driving = ~before & ~absent
        now = snapshot.columns.travel[:, SPEED].copy()
        hardest = max(hardest, float(((speeds - now)[driving] / made.step).max(initial=0.0)))
        before, speeds = absent, now
    totals = outcome.to_dict()["traffic"]
    assert set(totals) == {
        *("appeared", "left", "waiting_outside", "contacts", "hardest_braking", "longest_standstill")
    }
    assert (totals["appeared"], totals["left"], totals["contacts"]) == (appeared, left, 0)
    assert totals["waiting_outside"] == 1500 * 60 // 3600 - appeared
    assert totals["hardest_braking"] == pytest.approx(hardest, abs=1e-9)
    assert totals["longest_standstill"] == 0.0


def test_a_queue_stands_as_long_as_is_told():
    blocked = Actor(
        TrafficObject(Kind.STATIC, "box", size=Triple(2.0, 2.0, 2.0), position_offset=Triple(0.0, 250.0, 0.0))
    )
    made = world(straight(300.0), Pool("row", count=3), actors=(blocked,), duration=60.0)
    recording, outcome = cbsim.run(made, duration=60.0), execute(made)
    longest = 0.0
    for k in range(3):
        slow = recording[f"row {k + 1}"].speeds < 0.1
        runs = [len(list(group)) for rests, group in itertools.groupby(slow.tolist()) if rests]
        longest = max(longest, made.step * max(runs, default=0))
    assert longest > 10.0
    assert outcome.traffic.longest_standstill == pytest.approx(longest, abs=4 * made.step)


# bytes

MOVING = np.arange(12)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, 11)), st.integers(1, 4), st.integers(0, 2**40))
def test_rows_of_a_batch_are_read_back(rows, steps, first):
    from mcap.records import Channel, Message

    motion = np.random.default_rng(first % 2**32).normal(size=(steps, len(rows), 13))
    batch = Batch(first, np.arange(steps).astype(np.uint64), motion, rows=np.array(sorted(rows), np.int64))
    (packed,) = messages_of(batch, 0.05)
    records = [Channel(1, "/batch", "cbsim", {}, 1), Message(1, 0, packed.data, 0, 0)]
    (read,) = batches_of(records, MOVING.tolist(), [])
    assert (read.first_step, read.rows.tolist()) == (first, sorted(rows))
    assert (read.motion == motion).all()
    whole = read.of_rows(MOVING, MOVING)
    assert (whole[:, sorted(rows)] == motion).all()
    assert (np.delete(whole, sorted(rows), axis=1)[..., 2] < ABSENT_BELOW).all()


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=120), st.sampled_from(["/batch", "/traffic"]), st.data())
def test_any_bytes_are_batches_of_rows_that_move_or_damage(tail, topic, data):
    from mcap.records import Channel, Message

    count = data.draw(st.integers(-14, 14))
    head = b"".join(int(value).to_bytes(8, "little", signed=True) for value in (0, 1, count))
    messages = [Message(1, 0, (head if topic == "/batch" else b"") + tail, 0, 0)]
    try:
        for batch in batches_of([Channel(1, topic, "cbsim", {}, 1), *messages], MOVING.tolist(), []):
            rows = MOVING if batch.rows is None else batch.rows
            assert np.isin(rows, MOVING).all()
            assert (np.diff(rows) > 0).all()
            assert batch.motion.shape == (1, len(rows), 13)
    except DamageError:
        pass


def test_recordings_of_format_3_are_read(tmp_path):
    from cbsim.recording.recorder import FileRecorder

    recording = cbsim.run(cbsim.load("crash"), duration=1.0)
    text = json.loads(recording.header.to_json())
    old = {key: value for key, value in text.items() if key not in {"pools", "traffic", "named", "radius"}}

    class Old:
        step, software = recording.header.step, recording.header.software

        def to_json(self):
            return json.dumps(old | {"version": 3})

    recorder = FileRecorder(tmp_path / "old.mcap")
    recorder.begin(Old(), recording.snapshot, recording.sources)
    for batch in recording.batches():
        recorder.take(batch)
    recorder.end()
    read = Recording.open(tmp_path / "old.mcap")
    assert read.header.version == 3
    assert read.complete
    for name in recording.names:
        assert (read.motion(name) == recording.motion(name)).all()
    assert replay(read) is None
