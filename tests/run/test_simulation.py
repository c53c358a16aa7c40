"""The loop: one step is n = 1, any restore goes on alike, nothing depends on who watches."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.errors import UsageError
from cbsim.run.simulation import advance, step_count
from cbsim.spec.objects import Triple, Wheels, WheelType
from tests.worlds import bot, level, mover, prop, world


def lively(**settings_):
    skid = bot("ATV", wheels=Wheels(WheelType.SKID), position_offset=Triple(20, 0, 0))
    traffic = mover("Traffic", (3.0, 0.5, 10.0, 1.0), (2.0, 0.0, 5.0, -1.0), at=Triple(-9, 0, 0))
    made = world(bot("CajunBot", level(range_sigma=0.02)), skid, traffic, prop("Box", Triple(0, 9, 0)), **settings_)
    made.start.state.command[0, :2] = 0.5, 0.3
    made.start.state.command[1, :4] = 0.6, 0.0, 0.4, 1.0
    return made


def test_many_quiet_steps_have_the_bits_of_single_ones():
    made = lively()
    quiet, single = made.start.copy(), made.start
    hashes, motion = advance(made, quiet, 50, made.moving)
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
from tests.run.test_simulation import lively
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
