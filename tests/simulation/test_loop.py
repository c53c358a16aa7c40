"""The loop: one step is n = 1, any restore goes on alike, nothing depends on who watches."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.errors import UsageError
from cbsim.evaluation.outcome import execute
from cbsim.geometry.pose import rotate
from cbsim.planner import drivers_of
from cbsim.simulation.advance import advance
from cbsim.simulation.loop import Run, step_count
from cbsim.spec.objects import Triple, Wheels, WheelType
from cbsim.world.compile import compile_world
from tests.worlds import bot, level, mover, prop, world


def lively(**settings_):
    skid = bot("ATV", wheels=Wheels(WheelType.SKID), position_offset=Triple(20, 0, 0))
    traffic = mover("Traffic", (3.0, 0.5, 10.0, 1.0), (2.0, 0.0, 5.0, -1.0), at=Triple(-9, 0, 0))
    made = world(bot("CajunBot", level(range_sigma=0.02)), skid, traffic, prop("Box", Triple(0, 9, 0)), **settings_)
    made.first.state.command[0, :2] = 0.5, 0.3
    made.first.state.command[1, :4] = 0.6, 0.0, 0.4, 1.0
    made.first.state.command[:, 5] = 0.0
    return made


def test_many_quiet_steps_have_the_bits_of_single_ones():
    made = lively()
    quiet, single = made.start.copy(), made.start
    hashes, motion, _ = advance(made, quiet, 50, made.moving)
    for k in range(50):
        single = cbsim.step(made, single)
        assert single.hash == hashes[k]
        assert (motion[k, :, :3] == single.state.position[made.moving]).all()
    assert quiet == single


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100))
def test_run_to_the_end_is_run_to_t_restored_and_run_on(cut):
    made = lively()
    whole = cbsim.run(made, duration=5.0)
    snapshot = made.start.copy()
    if cut:
        advance(made, snapshot, cut)
    restored = made.restore(snapshot.to_bytes())
    rest = cbsim.run(made, duration=max(5.0 - cut * made.step, made.step), snapshot=restored)
    common = whole.hashes[cut : cut + len(rest.hashes)]
    assert (rest.hashes[: len(common)] == common).all()
    late = [scan.ranges for scan in whole.scans("CajunBot/scan_0") if scan.time > cut * made.step + 1e-9]
    again = [scan.ranges for scan in rest.scans("CajunBot/scan_0") if scan.time > cut * made.step + 1e-9]
    assert all(np.array_equal(a, b) for a, b in zip(late, again, strict=False))


def test_same_seed_gives_same_scans_and_another_seed_others():
    made = lively()
    one, two, other = (cbsim.run(made, duration=1.0, seed=seed) for seed in (4, 4, 5))
    key = "CajunBot/scan_0"
    assert np.array_equal(one.scans(key)[3].ranges, two.scans(key)[3].ranges)
    assert not np.array_equal(one.scans(key)[3].ranges, other.scans(key)[3].ranges)


@given(duration=st.floats(0.0, 1e4), step=st.floats(0.001, 1.0))
def test_number_of_steps_is_the_ceiling_and_at_least_one(duration, step):
    n = step_count(duration, step)
    assert n >= 1
    assert n * step >= duration - 2e-9 * max(1.0, n * step)
    assert n == 1 or (n - 1) * step < duration


@pytest.mark.parametrize("duration", [math.nan, math.inf, -1.0])
def test_impossible_duration_is_refused(duration):
    with pytest.raises(UsageError, match="duration"):
        step_count(duration, 0.05)


def test_command_to_a_mover_or_a_stranger_is_refused_with_names():
    made = lively()
    with pytest.raises(UsageError, match="CajunBot"):
        cbsim.step(made, made.start, {"Traffic": cbsim.Command()})
    with pytest.raises(UsageError, match="did you mean 'CajunBot'"):
        cbsim.step(made, made.start, {"CajunBto": cbsim.Command()})


@pytest.mark.parametrize("field", [{"throttle": 1.5}, {"steering": math.nan}, {"levers": (0.0, -2.0)}])
def test_command_out_of_range_is_refused(field):
    with pytest.raises(UsageError, match="-1 to 1"):
        cbsim.Command(**field)


class Turner:
    def start(self, mission, network, vehicle):
        self.vehicle = vehicle

    def plan(self, observation):
        assert observation.scans["CajunBot/scan_0"].ranges.shape == (1, 181)
        return cbsim.Command(throttle=0.5, steering=math.sin(observation.time))


def test_planner_drives_and_its_commands_are_recorded():
    made = lively()
    recording = cbsim.run(made, duration=2.0, planner=Turner())
    assert recording.speeds("CajunBot")[-1] > 1.0
    assert len(recording.commands()) == 40
    assert recording.commands()[1][:2] == (1, 0)


SCRIPT = """
import sys
sys.path.insert(0, ".")
from tests.simulation.test_loop import lively
import cbsim
recording = cbsim.run(lively(), duration=2.0)
ranges = recording.scans("CajunBot/scan_0")[-1].ranges
print(hex(recording.hashes[-1]), ranges[ranges < 80.0].sum())
"""


@pytest.mark.slow
def test_bits_do_not_depend_on_the_process_or_its_hash_seed(pytestconfig):
    def output(hash_seed):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=pytestconfig.rootpath, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert len({output(seed) for seed in ("0", "1", "77")}) == 1


@pytest.mark.slow
def test_without_the_jit_the_numbers_agree_to_a_billionth(pytestconfig):
    script = SCRIPT.replace(
        "print(", "print(*recording.positions('CajunBot')[-1], *recording.positions('ATV')[-1], "
    ).replace("hex(recording.hashes[-1]), ", "")

    def numbers(disable):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disable}
        command = [sys.executable, "-c", script]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=pytestconfig.rootpath, check=False
        )
        assert done.returncode == 0, done.stderr
        return np.array([float(x) for x in done.stdout.split()])

    assert np.abs(numbers("0") - numbers("1")).max() < 1e-9


class Looker:
    """Steers by what its newest scan shows, so that a scan that differs in one bit shows in the hashes."""

    def start(self, mission, network, vehicle):
        self.vehicle = vehicle

    def plan(self, observation):
        (scan,) = observation.scans.values()
        seen = scan.ranges[scan.returned]
        wish = math.sin(1e6 * float(seen.sum())) if len(seen) else 0.3
        return cbsim.Command(throttle=0.7, steering=wish)


def watched(rate, latency, ring=6.0, **fields):
    things = [prop(f"p{k}", Triple(ring * math.cos(k), 8.0 + ring * math.sin(k), 0)) for k in range(6)]
    return world(bot("CajunBot", level(rate=rate, latency=latency, range_sigma=0.02), **fields), *things)


@pytest.mark.parametrize("rate", [3.0, 10.0, 37.5])
@pytest.mark.parametrize("latency", [0.0, 0.13])
def test_restored_run_with_a_planner_that_looks_goes_on_alike(rate, latency):
    made = watched(rate, latency)
    if latency > 0.0:
        made.first.state.command[0, 0] = 0.5
        made.first.state.command[:, 5] = 0.0
    whole = cbsim.run(made, duration=3.0, planner=Later())
    for cut in (1, 7, 20, 33):
        snapshot = made.restore(snapshot_at(made, cut).to_bytes())
        rest = cbsim.run(made, duration=3.0 - cut * made.step, planner=Later(), snapshot=snapshot)
        assert (rest.hashes == whole.hashes[cut:]).all()


class Later(Looker):
    """Waits until a scan is there."""

    def plan(self, observation):
        return super().plan(observation) if observation.scans else cbsim.Command(throttle=0.7)


def snapshot_at(made, cut):
    run = Run(made, made.start)
    run.begin()
    run.seat(drivers_of(made, Later()))
    run.advance(cut)
    return run.snapshot


@pytest.mark.parametrize("rate", [3.0, 10.0, 37.5])
def test_sense_gives_the_recorded_scan_at_every_step(rate):
    made = watched(rate, 0.13)
    made.first.state.command[0, :2] = 0.8, 0.6
    made.first.state.command[:, 5] = 0.0
    recording = cbsim.run(made, duration=3.0)
    scans = {scan.time: scan for scan in recording.scans("CajunBot/scan_0")}
    snapshot = made.start
    for _ in range(60):
        snapshot = cbsim.step(made, snapshot)
        reading = cbsim.sense(made, snapshot).get("CajunBot/scan_0")
        if reading is not None:
            assert np.array_equal(reading.ranges, scans[reading.time].ranges)
            assert np.array_equal(reading.points, scans[reading.time].points, equal_nan=True)
            assert np.array_equal(reading.angles, scans[reading.time].angles)


def test_scan_between_steps_is_taken_from_where_the_bot_was_then():
    coarse, fine = (watched(37.5, 0.0, ring=40.0, drive="kinematic") for _ in range(2))  # nothing to run into
    fine = compile_world(replace(fine.scene, settings=replace(fine.settings, step=0.05 / 64)))
    for made in (coarse, fine):
        made.first.state.velocity[0, 1] = 10.0  # coasting on a circle: the drive is exact at any step
        made.first.state.command[0, 1] = made.first.state.actuator[0, 1] = 0.3
        made.first.state.command[0, 5] = 0.0
    pair = [cbsim.run(made, duration=2.0).scans("CajunBot/scan_0") for made in (coarse, fine)]
    gaps = [np.abs(np.concatenate(a.pose) - np.concatenate(b.pose)).max() for a, b in zip(*pair, strict=True)]
    assert len(gaps) == 76
    # the memory of the first step knows nothing of the speed that this test put in; then the cubic is near the arc
    assert max(gaps[3:]) < 1e-4


@pytest.mark.parametrize("use", [cbsim.step, cbsim.sense, lambda w, s: cbsim.run(w, duration=0.1, snapshot=s)])
def test_snapshot_of_another_world_is_refused_everywhere(use):
    made, other = lively(), world(bot())
    with pytest.raises(UsageError, match="another world"):
        use(made, other.start)
    with pytest.raises(UsageError, match="another world"):
        use(lively(step=0.1), made.start)


def test_nobody_can_change_a_world():
    made = lively()
    before, digest = made.start.to_bytes(), made.digest
    scan = cbsim.sense(made, made.start)["CajunBot/scan_0"]
    for array in (scan.angles, scan.directions, made["CajunBot"].size, made.shapes.size, made.constants.segment_start):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 7
    made.start.state.position[:] = 7
    assert (made.start.to_bytes(), made.digest) == (before, digest)


@pytest.mark.parametrize(
    "deed", ["raise SystemExit(0)", "return None", "return 1 / 0", "return self.plan(observation)"]
)
def test_whatever_a_planner_does_is_its_own_fault(deed, tmp_path, monkeypatch):
    text = f"class P:\n    def start(self, *task):\n        pass\n\n    def plan(self, observation):\n        {deed}\n"
    name = f"planner_{abs(hash(deed))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    outcome = execute(lively(), planner=f"{name}:P", steps=3)
    assert outcome.verdict == "fail"
    assert outcome.checks[-1].name == "planner P"


def test_planner_that_fails_at_birth_fails_the_run(tmp_path, monkeypatch):
    (tmp_path / "stillborn.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    outcome = execute(lively(), planner="stillborn:P", steps=3)
    assert outcome.verdict == "fail"


def test_planner_is_told_what_it_drives():
    planner = Turner()
    cbsim.run(lively(), duration=0.05, planner=planner)
    told = planner.vehicle
    assert (told.name, told.skid, told.width, told.length) == ("CajunBot", False, 1.7, 3.68)
    assert told.wheelbase == pytest.approx(0.64 * 3.68)


def test_bot_tipped_over_keeps_its_pitch_and_roll_while_it_turns():
    made = world(bot(orientation_offset=Triple(0.2, 0.1, 0.0)))
    made.first.state.command[0] = 0.5, 1.0, 1.0, 1.0, 0.0, 0.0
    pose = made["CajunBot"].pose
    last, first = made.start, pose(made.start)
    for _ in range(60):
        last = cbsim.step(made, last)
    up = [rotate(p.orientation, [0.0, 0.0, 1.0])[2] for p in (first, pose(last))]
    assert up[0] == pytest.approx(up[1], abs=1e-12)
    assert abs(pose(last).heading - first.heading) > 0.1
