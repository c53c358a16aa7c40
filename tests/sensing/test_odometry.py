"""Odometry: the way that the wheels roll, ticks, scale, and slip."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.sensing import SENSORS, Odometry
from cbsim.spec.sensor import SensorConf
from tests.sensing.test_noise import sigma_bounds
from tests.worlds import bot, mover, world

KEY = "CajunBot/scan_0"
AHEAD = cbsim.Command(throttle=0.5)


def counter(**fields):
    return SensorConf(**{"type": "odometry", "rate": 20.0, **fields})


def drive(conf, commands, **fields):
    """Take a step per command; the readings."""
    fields.setdefault("drive", "kinematic")
    made = world(bot("CajunBot", conf, **fields))
    snapshot, readings = made.start, []
    for command in commands:
        snapshot = cbsim.step(made, snapshot, {"CajunBot": command})
        readings.append(cbsim.sense(made, snapshot).get(KEY))
    return made, snapshot, readings


def test_straight_on_the_way_is_that_of_the_body():
    made, snapshot, readings = drive(counter(), [AHEAD] * 100)
    travelled = made["CajunBot"].pose(snapshot).position[1]
    assert travelled > 10.0
    assert readings[-1].distance == pytest.approx(travelled, rel=1e-3)
    assert readings[-1].speed == pytest.approx(made["CajunBot"].speed(snapshot), abs=1e-6)
    assert readings[-1].yaw_rate == 0.0


def test_wheels_that_roll_backwards_count_backwards():
    _, _, readings = drive(counter(), [cbsim.Command(throttle=0.5, reverse=True)] * 60)
    assert readings[-1].speed < -1.0
    assert readings[-1].distance < -1.0


@pytest.mark.parametrize(("fields", "factor"), [
    ({"speed_scale": 1.02}, 1.02), ({"wheel_radius": 0.40}, 0.40 / 0.38),
    ({"speed_scale": 1.02, "wheel_radius": 0.19}, 0.51),
])  # fmt: skip
def test_scale_and_radius_stretch_the_way(fields, factor):
    true = drive(counter(), [AHEAD] * 60)[2][-1]
    worn = drive(counter(**fields), [AHEAD] * 60)[2][-1]
    assert worn.distance == pytest.approx(factor * true.distance)
    assert worn.speed == pytest.approx(factor * true.speed)


def test_ticks_are_whole_and_their_speed_is_their_difference():
    ticks, true = (drive(counter(ticks=n), [AHEAD] * 60)[2] for n in (50, 0))
    tick = 2.0 * math.pi * 0.38 / 50
    counts = np.array([reading.distance for reading in ticks]) / tick
    assert counts == pytest.approx(np.round(counts), abs=1e-9)
    gap = np.array([a.distance - b.distance for a, b in zip(true, ticks, strict=True)])
    assert (gap > -1e-9).all()
    assert (gap < tick).all()
    speeds = np.array([reading.speed for reading in ticks])
    assert speeds[1:] == pytest.approx(np.diff(counts) * tick * 20.0, abs=1e-9)


def test_locked_wheels_count_nothing_while_the_car_slides():
    made, snapshot, readings = drive(
        counter(), [cbsim.Command(throttle=1.0)] * 100 + [cbsim.Command(handbrake=True)] * 8, drive="dynamic"
    )
    assert made["CajunBot"].speed(snapshot) > 3.0
    assert readings[-1].speed == 0.0
    assert readings[-1].distance == readings[-3].distance
    assert made["CajunBot"].pose(snapshot).position[1] > readings[-1].distance + 0.5


def test_noise_drift_and_bias_are_those_of_the_conf():
    conf = counter(velocity_sigma=0.3, yaw_rate_sigma=0.02, yaw_rate_bias=0.05)
    made = world(bot("CajunBot", conf))
    readings = [SENSORS["odometry"](made, made.start, made.sensors[0], k) for k in range(3000)]
    for values, mean, sigma in (
        ([r.speed for r in readings], 0.0, 0.3),
        ([r.yaw_rate for r in readings], 0.05, 0.02),
    ):
        low, high = sigma_bounds(sigma, len(values))
        assert low < np.std(values, ddof=1) < high
        assert np.mean(values) == pytest.approx(mean, abs=4.9 * sigma / math.sqrt(len(values)))
    slow = replace(conf, velocity_sigma=0.0, yaw_rate_sigma=0.0, yaw_rate_drift=0.1, drift_time=1e4)
    made = world(bot("CajunBot", slow))
    biases = [SENSORS["odometry"](made, made.start, made.sensors[0], k).yaw_rate for k in range(50)]
    assert 0.0 < np.std(biases) < 0.01  # it hardly moves in 2.5 s of 10 000
    assert biases[0] != 0.05


def test_outage_is_silence():
    _, _, readings = drive(counter(outages=((0.2, 0.4),)), [AHEAD] * 12)
    assert [reading is None for reading in readings] == [4 <= k + 1 < 8 for k in range(12)]


def test_a_literal_mover_rolls_along_its_legs():
    actor = replace(mover("CajunBot", (5.0, 0, 10, 0), (2.0, 1.0, 10, math.pi / 2)), confs=(("scan_0", counter()),))
    made = world(actor)
    snapshot = made.start
    for _ in range(100):
        snapshot = cbsim.step(made, snapshot)
    reading = cbsim.sense(made, snapshot)[KEY]
    path = made["CajunBot"].pose(snapshot).position[:2]
    assert reading.distance == pytest.approx(np.abs(path).sum(), abs=1e-6)
    assert reading.speed == pytest.approx(np.linalg.norm(made["CajunBot"].velocity(snapshot)), abs=1e-9)


def test_numbers_of_a_reading_make_it_again():
    reading = Odometry("a/b", 1.5, 2.5, -3.5, 0.25)
    assert Odometry.of("a/b", 1.5, reading.values()) == reading
    with pytest.raises(ValueError, match="unpack"):
        Odometry.of("a/b", 1.5, np.zeros(2))
