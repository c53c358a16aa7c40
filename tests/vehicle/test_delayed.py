"""Dead times and lags against the step response of a delayed first-order lag, and their ring in the Snapshot."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.errors import ModelError
from cbsim.spec.command import Command
from cbsim.spec.objects import Steering
from tests.worlds import bot, world

QUICK = Steering(throttle_rate=1e9, lever_rate=1e9)


def actuators(made, command, duration):
    """Throttle and steering at the end of every step, and the times."""
    made.first.state.command[0] = command.row()
    snapshot, rows = made.start, []
    for _ in range(round(duration / made.step)):
        snapshot = cbsim.step(made, snapshot)
        rows.append(snapshot.state.actuator[0, :2].copy())
    return np.array(rows), made.step * np.arange(1, len(rows) + 1)


@pytest.mark.parametrize("step", [0.05, 0.02, 0.005, 0.0013])
@pytest.mark.parametrize(("delay", "lag"), [(0.24, 0.27), (0.1, 0.05), (0.0, 0.2), (0.3, 0.0)])
def test_step_response_is_that_of_a_first_order_lag_behind_a_dead_time(step, delay, lag):
    values = (("throttle_delay", delay), ("steering_delay", delay), ("throttle_lag", lag), ("steering_lag", lag))
    made = world(bot(drive="delayed", steering=QUICK, parameters=values), step=step)
    found, times = actuators(made, Command(0.6, -0.8), 1.2)
    since = np.maximum(times - delay, 0.0)
    expected = 1.0 - np.exp(-since / lag) if lag else (since > 1e-9).astype(float)
    late = times > 0.0 if step <= delay or not delay else times > delay
    # dead times count in whole substeps, so that the response may be one of them late or early
    slack = min(step, 0.005) / lag if lag else 0.0
    known = late & (np.abs(times - delay) > 0.005)
    assert found[known, 0] == pytest.approx(0.6 * expected[known], abs=0.6 * slack + 1e-9)
    assert found[known, 1] == pytest.approx(-0.8 * expected[known], abs=0.8 * slack + 1e-9)


def test_slew_rates_bound_what_the_lag_lets_through():
    made = world(bot(drive="delayed", steering=Steering(throttle_rate=2.0, lever_rate=0.5)))
    found, _ = actuators(made, Command(1.0, 1.0), 2.0)
    assert np.diff(found[:, 0]).max() <= 2.0 * 0.05 + 1e-12
    assert np.diff(found[:, 1]).max() <= 0.5 * 0.05 + 1e-12


def test_commands_come_out_in_the_order_they_were_given():
    """A ramp of commands, one a step, comes out as the same ramp a dead time later."""
    values = (("throttle_delay", 0.2), ("steering_delay", 0.35), ("throttle_lag", 0.0), ("steering_lag", 0.0))
    made = world(bot(drive="delayed", steering=QUICK, parameters=values))
    snapshot, rows = made.start, []
    for k in range(40):
        snapshot = cbsim.step(made, snapshot, {"CajunBot": Command(k / 40, -k / 40)})
        rows.append(snapshot.state.actuator[0, :2].copy())
    given = np.arange(40) / 40
    assert np.array(rows)[4:, 0] == pytest.approx(given[:-4], abs=1e-12)
    assert np.array(rows)[7:, 1] == pytest.approx(-given[:-7], abs=1e-12)
    assert not np.array(rows)[:4, 0].any()


def test_restored_run_goes_on_to_the_bit_through_a_dead_time():
    made = world(bot(drive="delayed"), bot("other", drive="delayed", parameters=(("steering_delay", 0.9),)))
    orders = [{"CajunBot": Command(0.5, (k % 7) / 7), "other": Command(0.2, -(k % 5) / 5)} for k in range(60)]
    snapshot, hashes, kept = made.start, [], None
    for k, order in enumerate(orders):
        if k == 23:
            kept = snapshot.to_bytes()
        snapshot = cbsim.step(made, snapshot, order)
        hashes.append(snapshot.hash)
    snapshot = made.restore(kept)
    for k in range(23, 60):
        snapshot = cbsim.step(made, snapshot, orders[k])
        assert snapshot.hash == hashes[k]


def test_worlds_without_dead_times_hold_no_commands():
    assert world(bot()).first.state.command_delay.shape == (0, 2)


def test_a_dead_time_of_too_many_steps_is_refused_at_its_object(tmp_path):
    lines = ["step: 1e-6", "add:", "  - {name: Bot, kind: autonomous, position: [0, 0, 0], drive: delayed}"]
    file = tmp_path / "far.yaml"
    file.write_text("\n".join(lines))
    with pytest.raises(ModelError, match=r"far\.yaml:3: error: object 'Bot': a dead time looks back over \d+ steps"):
        cbsim.load(file)
