"""Rate and latency of a planner: its beat, commands in flight, restored Snapshots, replays and mistakes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError, ModelError
from cbsim.evaluation.judge import judge
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import replay
from cbsim.recording.recording import Recording
from cbsim.simulation.loop import Run, drive
from cbsim.spec.planner import Seat
from cbsim.spec.scenario import Expectation
from cbsim.spec.traffic import Spread
from cbsim.world.command_queue import ACTS, USED, latency_steps
from cbsim.world.compile import compile_world
from tests.worlds import bot, level, mover, world

STEP = 0.05


class Clock:
    """Commands a throttle that tells when it was asked."""

    def __init__(self):
        self.times = []

    def start(self, *_):
        pass

    def plan(self, observation):
        self.times.append(observation.time)
        return cbsim.Command(0.01 * round(observation.time / STEP + 1), math.sin(7.0 * observation.time))


def seated(*confs, duration=1.0, **seat):
    truck = mover("Truck", (4.0, 0.5, 25.0, 0.0))
    made = bot("CajunBot", *confs)
    return world(made, truck, step=STEP, duration=duration, seats=(Seat("CajunBot", **seat),))


def states(made, planner):
    """Command that acts in each step of a run, and all Snapshots."""

    class Observer:
        listeners = ()

        def __init__(self):
            self.snapshots = []

        def on_start(self, run):
            self.snapshots.append(run.snapshot.copy())

        def on_step(self, run):
            self.snapshots.append(run.snapshot.copy())

    observer = Observer()
    drive(Run(made, made.start), round(made.settings.duration / STEP), planner=planner, observer=observer)
    return observer.snapshots


def throttles(snapshots):
    return [round(100.0 * snapshot.columns.command[0, 0]) for snapshot in snapshots[1:]]


def test_planner_is_asked_on_its_own_beat():
    planner = Clock()
    states(seated(rate=5.0), planner)
    assert planner.times == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8])


def test_command_acts_after_its_latency_rounded_up_to_steps():
    found = throttles(states(seated(rate=5.0, latency=Spread(0.08)), Clock()))
    assert found == [0, 0, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13, 17, 17]


def test_latency_of_whole_steps_is_not_rounded_further():
    assert throttles(states(seated(latency=Spread(0.15)), Clock()))[:6] == [0, 0, 0, 1, 2, 3]


def test_latency_longer_than_the_period_keeps_several_in_flight():
    snapshots = states(seated(rate=10.0, latency=Spread(0.45)), Clock())
    assert throttles(snapshots)[9:15] == [1, 1, 3, 3, 5, 5]
    assert max(int(one.columns.command_queue[:, USED].sum()) for one in snapshots) == 5


def test_random_latencies_follow_the_seed_and_never_reorder():
    made = seated(latency=Spread(0.2, 0.08), duration=2.0)
    snapshots = states(made, Clock())
    found = throttles(snapshots)
    assert found == sorted(found)
    assert len(set(found)) < len(found) - 4  # some are overtaken, and act together
    (queue,) = made.queues
    drawn = [latency_steps(queue, 1, k, STEP) for k in range(2000)]
    assert np.mean(drawn) == pytest.approx(0.2 / STEP + 0.5, abs=0.15)
    assert min(drawn) >= 0
    assert max(drawn) <= math.ceil(0.44 / STEP)
    assert drawn != [latency_steps(queue, 2, k, STEP) for k in range(2000)]
    for snapshot in snapshots:
        used = snapshot.columns.command_queue[snapshot.columns.command_queue[:, USED] > 0]
        assert list(used[:, ACTS]) == sorted(used[:, ACTS])


@pytest.mark.parametrize("confs", [(), (level(rate=10.0),)], ids=["quiet", "laser"])
def test_run_from_any_step_has_the_bits_of_the_whole_run(confs):
    made = seated(*confs, rate=10.0, latency=Spread(0.3, 0.1))
    whole = states(made, Clock())
    for k, snapshot in enumerate(whole[:-1]):
        again = made.restore(snapshot.to_bytes())
        drive(Run(made, again), len(whole) - 1 - k, planner=Clock())
        assert again.hash == whole[-1].hash, k


def test_commands_in_flight_act_without_the_planner_too():
    made = seated(rate=10.0, latency=Spread(0.3))
    at = states(made, Clock())[7]
    batch, single = at.copy(), at.copy()
    drive(Run(made, batch), 8, planner={})
    found = []
    for _ in range(8):
        single = cbsim.step(made, single)
        found.append(round(100.0 * single.columns.command[0, 0]))
    assert found == [1, 3, 3, 5, 5, 7, 7, 7]
    assert single.hash == batch.hash


@pytest.mark.parametrize("confs", [(), (level(rate=10.0),)], ids=["quiet", "laser"])
def test_replay_is_exact(confs, tmp_path):
    made = seated(*confs, rate=10.0, latency=Spread(0.3, 0.1))
    outcome = execute(made, planner=Clock(), record=tmp_path / "run.mcap")
    recording = Recording.open(tmp_path / "run.mcap")
    assert outcome.verdict == "pass"
    assert replay(recording, made) is None
    assert [step for batch in recording.batches() for step, _, _ in batch.commands] == list(range(0, 20, 2))


def test_command_of_step_is_late_too():
    made = seated(latency=Spread(0.1))
    snapshot = cbsim.step(made, made.start, {"CajunBot": cbsim.Command(0.5)})
    found = [snapshot.columns.command[0, 0]]
    for _ in range(3):
        snapshot = cbsim.step(made, snapshot)
        found.append(snapshot.columns.command[0, 0])
    assert found == [0.0, 0.0, 0.5, 0.5]


def test_rate_and_sensors_do_not_change_the_bits_of_a_run_that_is_not_told_of_them():
    plain, empty = world(bot(), step=STEP, duration=1.0), seated(duration=1.0)
    assert plain.layout.queued == empty.layout.queued == 0
    at_rate = world(bot(), step=STEP, duration=1.0, seats=(Seat(rate=20.0),))
    runs = [[one.hash for one in states(made, Clock())] for made in (plain, at_rate)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("within", "misses", "passed", "counted"),
    [(0.3, 0, True, "0 of 20"), (0.25, 20, True, "20 of 20"), (0.25, 19, False, "20 of 20")],
)
def test_rule_counts_commands_of_a_longer_latency(tmp_path, within, misses, passed, counted):
    path = tmp_path / "scenario.yaml"
    rule = f"expect:\n  - command_latency: {{object: Bot, within: {within}, misses: {misses}}}\n"
    path.write_text(SCENARIO + "    latency: 0.3\n" + rule)
    made = cbsim.load(path, duration=1.0)
    outcome = execute(made, planner=Clock(), record=tmp_path / "run.mcap")
    (check,) = outcome.checks
    assert check.passed is passed
    assert check.message.startswith(counted)
    assert judge(Recording.open(tmp_path / "run.mcap"), made.scene).checks == outcome.checks


def test_rule_counts_random_latencies_as_they_are(tmp_path):
    path = tmp_path / "scenario.yaml"
    rule = "expect:\n  - command_latency: {object: Bot, within: 0.2, misses: 3}\n"
    path.write_text(SCENARIO + "    latency: {normal: [0.2, 0.05]}\n" + rule)
    made = cbsim.load(path, duration=2.0)
    (check,) = execute(made, planner=Clock()).checks
    acts = np.maximum.accumulate([k + latency_steps(made.queues[0], 1, k, STEP) for k in range(40)])
    late = np.flatnonzero(acts - np.arange(40) > 4)  # some wait for a command before them
    assert len(late) > sum(latency_steps(made.queues[0], 1, k, STEP) > 4 for k in range(40))
    assert 8 < len(late) < 32
    assert check.message.startswith(f"{len(late)} of 40 commands")
    assert check.time == pytest.approx(late[3] * STEP)


def test_rule_knows_the_latencies_that_a_fork_draws_anew(tmp_path):
    path = tmp_path / "scenario.yaml"
    rule = "expect:\n  - command_latency: {object: Bot, within: 0.2, misses: 40}\n"
    path.write_text(SCENARIO + "    latency: {normal: [0.2, 0.05]}\n" + rule)
    made = cbsim.load(path, duration=2.0, forks=2)
    start = cbsim.fork(cbsim.fork(made.start, 2, 10), 7, 25)
    outcome = execute(made, planner=Clock(), start=start, record=tmp_path / "run.mcap")
    branches = np.repeat([0, 2, 7], [10, 15, 15]).tolist()
    acts = np.maximum.accumulate([k + latency_steps(made.queues[0], 1, k, STEP, b) for k, b in enumerate(branches)])
    late = int(np.count_nonzero(acts - np.arange(40) > 4))
    plain = np.maximum.accumulate([k + latency_steps(made.queues[0], 1, k, STEP) for k in range(40)])
    assert late != np.count_nonzero(plain - np.arange(40) > 4)
    assert outcome.checks[0].message.startswith(f"{late} of 40 commands")
    recording = Recording.open(tmp_path / "run.mcap")
    assert recording.header.forks == [[10, 2], [25, 7]]
    assert judge(recording, made.scene).checks == outcome.checks


def test_rule_passes_where_commands_act_at_once():
    made = seated(rate=10.0)
    rule = Expectation("command_latency", (("object", "CajunBot"), ("within", 0.1), ("misses", 0)))
    made = compile_world(replace(made.scene, expectations=(rule,)))
    (check,) = execute(made, planner=Clock()).checks
    assert (check.passed, check.message) == (True, "its commands act at once")


@pytest.mark.parametrize(
    ("seat", "told"),
    [
        ({"rate": 7.0}, r"the rate 7/s asks every 2\.857 steps .* the nearest rate is 6\.66666667"),
        ({"rate": 50.0}, r"every 0\.4 steps .* the nearest rate is 20"),
        ({"latency": Spread(4.0)}, r"up to 81 commands in flight, more than 64; at this rate it is at most 3\.15 s"),
        ({"latency": Spread(2.0, 1.0), "rate": 10.0}, None),
        ({"latency": Spread(5.0, 1.0), "rate": 10.0}, r"up to 81 commands"),
    ],
)
def test_seat_that_does_not_fit_the_step_is_refused(seat, told):
    if told is None:
        assert seated(**seat).layout.queued == 51
        return
    with pytest.raises(ModelError, match=told):
        seated(**seat)


def test_sixty_four_commands_may_be_in_flight_and_no_more():
    made = seated(latency=Spread(3.15), duration=3.6)
    assert made.layout.queued == 64
    snapshots = states(made, Clock())
    assert max(int(one.columns.command_queue[:, USED].sum()) for one in snapshots) == 63  # one acts in each step
    assert throttles(snapshots)[62:66] == [0, 1, 2, 3]
    with pytest.raises(ModelError, match="up to 65 commands in flight, more than 64"):
        seated(latency=Spread(3.2))


SCENARIO = """\
add:
  - {name: Bot, kind: autonomous}
  - {name: Truck, kind: static, position: [0, 30, 0]}
step: 0.05
planner:
  Bot:
    class: my_planner:Planner
"""


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("    rate: 7\n", 8, "the nearest rate is 6.66666667"),
        ("    latency: 5\n", 8, "more than 64"),
        ("    latency: -1\n", 8, "expected at least 0"),
        ("    latency: {normal: [0.1, -0.1]}\n", 8, "expected at least 0"),
        ("    rate: 0\n", 8, "greater than 0"),
        ("    rate: .nan\n", 8, "finite"),
        ("    rate: fast\n", 8, "number"),
        ("    rte: 10\n", 8, "did you mean 'rate'?"),
        ("  Truck: {class: a:B, rate: 10}\n", 8, "not autonomous"),
    ],
)
def test_mistake_is_told_at_its_line(tmp_path, text, line, told):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO + text)
    with pytest.raises(FileError) as error:
        cbsim.load(path)
    assert f"scenario.yaml:{line}:" in str(error.value)
    assert told in str(error.value)


def test_step_of_the_command_line_counts(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO + "    rate: 25\n")
    assert cbsim.load(path, step=0.02).settings.seats[0].rate == 25.0
    with pytest.raises(FileError, match="nearest rate is 20"):
        cbsim.load(path)
    path.write_text(SCENARIO + "    rate: 20\n")
    with pytest.raises(FileError, match=r"every 1\.667 steps of 0\.03 s"):
        cbsim.load(path, step=0.03)


def test_seat_belongs_to_whoever_sits_there(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO + "    rate: 10\n    latency: {normal: [0.1, 0.02]}\n")
    made = cbsim.load(path, planner="other:Planner", duration=1.0)
    assert made.settings.planners == (("", "other:Planner"),)
    planner = Clock()
    states(made, planner)
    assert planner.times == pytest.approx(np.arange(10) * 0.1)


def test_seat_is_written_as_it_is_read(tmp_path):
    path, copy = tmp_path / "scenario.yaml", tmp_path / "copy.yaml"
    normal = "    latency: {normal: [0.1, 0.02]}\n"
    for rate, latency in itertools.product(("", "    rate: 12.5\n"), ("", "    latency: 0.08\n", normal)):
        path.write_text(SCENARIO + rate + latency)
        spec = cbsim.read(path)
        assert len(spec.seats) == bool(rate or latency)
        cbsim.write(spec, copy)
        assert cbsim.read(copy) == spec
