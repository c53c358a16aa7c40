"""Satellite receivers and inertial units: exact without errors, and errors as the conf says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.errors import Location, ModelError
from cbsim.geometry.pose import heading
from cbsim.sensing import SENSORS, Fix
from cbsim.spec.objects import Triple
from cbsim.spec.sensor import SensorConf
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene
from tests.sensing.test_noise import sigma_bounds
from tests.worlds import bot, mover, world

KEY = "CajunBot/scan_0"
DRIVE = cbsim.Command(throttle=0.8, steering=0.3)


def unit(kind="ins", **fields):
    return SensorConf(**{"type": kind, "origin": "center", **fields})


def parked(conf, count, seed=1):
    """Take many readings of a bot that stands at the origin, without stepping: a parked car is where it was."""
    made = world(bot("CajunBot", conf))
    snapshot = made.start
    snapshot.state.seed[0] = seed
    take, sensor = SENSORS[conf.type], made.sensors[0]
    return [take(made, snapshot, sensor, k) for k in range(count)]


def driven(conf, steps=60, **settings):
    """Drive along a curve; every Snapshot on the way."""
    made = world(bot("CajunBot", conf), **settings)
    snapshots = [made.start]
    for _ in range(steps):
        snapshots.append(cbsim.step(made, snapshots[-1], {"CajunBot": DRIVE}))
    return made, snapshots


def test_a_unit_without_errors_tells_the_truth_at_every_step():
    made, snapshots = driven(unit(rate=20.0))
    for snapshot in snapshots:
        fix = cbsim.sense(made, snapshot)[KEY]
        body = made["CajunBot"]
        assert (fix.time, fix.valid) == (pytest.approx(snapshot.time), True)
        assert fix.position == pytest.approx(body.pose(snapshot).position, abs=1e-9)
        assert fix.velocity == pytest.approx(body.velocity(snapshot), abs=1e-9)
        assert fix.heading == pytest.approx(body.pose(snapshot).heading, abs=1e-9)
        assert fix.yaw_rate == pytest.approx(snapshot.state.angular_velocity[body.row, 2], abs=1e-9)


def test_a_device_off_the_centre_swings_with_the_body():
    """The velocity of the antenna is the derivative of its position."""
    made, snapshots = driven(unit(rate=200.0, position=Triple(0.5, -1.5, 2.0)), steps=60, step=0.005)
    fixes = [cbsim.sense(made, snapshot)[KEY] for snapshot in snapshots]
    positions, velocities = (np.array([getattr(f, name) for f in fixes]) for name in ("position", "velocity"))
    derived = (positions[2:] - positions[:-2]) * 100.0
    assert derived[5:] == pytest.approx(velocities[6:-1], abs=0.02)
    assert np.abs(velocities[-1] - made["CajunBot"].velocity(snapshots[-1])).max() > 0.01


def test_course_of_a_receiver_is_that_of_its_velocity():
    made, snapshots = driven(unit("gps", rate=20.0))
    fix = cbsim.sense(made, snapshots[-1])[KEY]
    vx, vy, _ = made["CajunBot"].velocity(snapshots[-1])
    assert fix.heading == pytest.approx(math.atan2(-vx, vy), abs=1e-9)
    assert math.isnan(fix.yaw_rate)


def test_white_noise_and_biases_are_those_of_the_conf():
    conf = unit(
        position_sigma=0.5, altitude_sigma=1.5, position_bias=Triple(3, -4, 5), velocity_sigma=0.2,
        heading_sigma=0.03, heading_bias=0.1, yaw_rate_sigma=0.02, yaw_rate_bias=-0.05,
    )  # fmt: skip
    fixes = parked(conf, 4000)
    columns = {
        "east": ([f.position[0] for f in fixes], 3.0, 0.5), "north": ([f.position[1] for f in fixes], -4.0, 0.5),
        "up": ([f.position[2] - 1.08 for f in fixes], 5.0, 1.5), "vx": ([f.velocity[0] for f in fixes], 0.0, 0.2),
        "vz": ([f.velocity[2] for f in fixes], 0.0, 0.2), "heading": ([f.heading for f in fixes], 0.1, 0.03),
        "rate": ([f.yaw_rate for f in fixes], -0.05, 0.02),
    }  # fmt: skip
    for name, (values, mean, sigma) in columns.items():
        low, high = sigma_bounds(sigma, len(values))
        assert low < np.std(values, ddof=1) < high, name
        assert np.mean(values) == pytest.approx(mean, abs=4.9 * sigma / math.sqrt(len(values))), name
    table = np.corrcoef([values for values, _, _ in columns.values()])
    assert np.abs(table - np.eye(len(table))).max() < 4.9 / math.sqrt(len(fixes))


def test_wandering_biases_have_their_deviation_and_time_constant():
    """Over many seeds: variance at one time, correlation over several lags."""
    conf = unit(
        rate=2.0, drift_time=5.0, position_drift=2.0, heading_drift=math.radians(3), yaw_rate_drift=math.radians(0.5)
    )
    made = world(bot("CajunBot", conf))
    snapshot, sensor, seeds = made.start, made.sensors[0], range(1500)
    found = {}
    for index in (40, 41, 50, 70):
        rows = []
        for seed in seeds:
            snapshot.state.seed[0] = seed
            fix = SENSORS["ins"](made, snapshot, sensor, index)
            rows.append([*fix.position[:2], fix.heading, fix.yaw_rate])
        found[index] = np.array(rows) / [2.0, 2.0, math.radians(3), math.radians(0.5)]
    n = len(seeds)
    low, high = sigma_bounds(1.0, n)
    assert ((low < found[40].std(axis=0, ddof=1)) & (found[40].std(axis=0, ddof=1) < high)).all()
    for index, lag in ((41, 0.5), (50, 5.0), (70, 15.0)):
        expected = math.exp(-lag / 5.0)
        assert (found[40] * found[index]).mean(axis=0) == pytest.approx(expected, abs=4.9 * 1.5 / math.sqrt(n))


def test_positions_are_rounded_to_the_quantum():
    fixes = parked(unit("gps", position_sigma=1.0, altitude_sigma=1.0, position_resolution=0.25), 50)
    places = np.array([fix.position for fix in fixes]) / 0.25
    assert (places == np.round(places)).all()


def test_receiver_has_no_fix_in_an_outage_and_one_again_at_its_end():
    fixes = parked(unit("gps", rate=10.0, outages=((1.0, 2.0),), position_sigma=0.1), 30)
    assert [fix.valid for fix in fixes] == [not 10 <= k < 20 for k in range(30)]
    assert all(np.isnan(fix.values()[1:]).all() == (not fix.valid) for fix in fixes if not fix.valid)
    assert all(np.isfinite(fix.position).all() for fix in fixes if fix.valid)


def test_inertial_unit_goes_on_through_an_outage_and_gets_lost_in_proportion_to_its_length():
    conf = unit(rate=10.0, outages=((1.0, 3.0), (4.0, 5.0)), outage_drift=0.7)
    fixes = parked(conf, 60)
    off = np.array([np.linalg.norm(fix.position[:2]) for fix in fixes])
    assert [fix.valid for fix in fixes] == [not (10 <= k < 30 or 40 <= k < 50) for k in range(60)]
    assert (off[:11] == 0.0).all()
    assert off[10:30] == pytest.approx(off[11] * np.arange(20), abs=1e-12)
    assert off[41] != pytest.approx(off[11])
    assert (off[30:41] == 0.0).all()
    ends = np.array([parked(conf, 30, seed)[29].position[:2] for seed in range(200)]) / 1.9
    low, high = sigma_bounds(0.7, ends.size)
    assert low < ends.std(ddof=1) < high


def test_latitude_and_longitude_are_those_of_the_network():
    made = cbsim.load("four_way_stop")
    roadmap = made.scene.roadmap
    conf = unit("gps", rate=10.0)
    placed = bot("CajunBot", conf, position_offset=Triple(30.0, 40.0, 0.0))
    fix = cbsim.sense(w := compile_world(Scene("here", (placed,), roadmap=roadmap)), w.start)[KEY]
    again = roadmap.plane.to_local(fix.latitude, fix.longitude)
    assert np.ravel(again) == pytest.approx([30.0, 40.0], abs=1e-6)
    assert math.isnan(parked(conf, 1)[0].latitude)


def test_readings_come_with_their_rate_and_latency_while_driving():
    made, snapshots = driven(unit("gps", rate=5.0, latency=0.13))
    known = {round(s.time, 6): made["CajunBot"].pose(s).position for s in snapshots}
    for snapshot in snapshots:
        due = math.floor((snapshot.time - 0.13) * 5.0 + 1e-9)
        readings = cbsim.sense(made, snapshot)
        assert (KEY in readings) == (due >= 0)
        if due >= 0:
            assert readings[KEY].time == pytest.approx(due / 5.0)
            assert readings[KEY].position == pytest.approx(known[round(due / 5.0, 6)], abs=1e-9)


def test_between_steps_a_driven_body_is_where_a_finer_step_puts_it():
    coarse, snapshots = driven(unit(rate=40.0), steps=40, step=0.05)
    fine, many = driven(unit(rate=40.0), steps=400, step=0.005)
    reading = cbsim.sense(coarse, snapshots[-1])[KEY]
    twin = cbsim.sense(fine, many[-1])[KEY]
    assert reading.time == pytest.approx(twin.time)
    between = [SENSORS["ins"](w, s, w.sensors[0], 79) for w, s in ((coarse, snapshots[-1]), (fine, many[-1]))]
    assert between[0].time == pytest.approx(1.975)
    assert between[0].position == pytest.approx(between[1].position, abs=2e-3)
    assert between[0].velocity == pytest.approx(between[1].velocity, abs=0.05)


def test_a_literal_mover_can_carry_a_unit():
    actor = replace(mover("CajunBot", (5.0, 0, 20, math.pi / 2)), confs=(("scan_0", unit(rate=10.0)),))
    made = world(actor)
    snapshot = made.start
    for _ in range(20):
        snapshot = cbsim.step(made, snapshot)
    fix = cbsim.sense(made, snapshot)[KEY]
    assert fix.position[:2] == pytest.approx(made["CajunBot"].pose(snapshot).position[:2], abs=1e-9)
    assert np.linalg.norm(fix.velocity) == pytest.approx(5.0)
    assert fix.heading == pytest.approx(float(heading(made["CajunBot"].pose(snapshot).orientation)))


def test_numbers_of_a_fix_make_it_again():
    for fix in parked(unit("gps", outages=((0.1, 0.2),), position_sigma=1.0), 3):
        again = Fix.of(fix.key, fix.time, fix.values())
        assert again.values().tobytes() == fix.values().tobytes()
        assert again.valid is fix.valid
    with pytest.raises(ValueError, match="11 numbers, not 3"):
        Fix.of("x", 0.0, np.zeros(3))


@pytest.mark.parametrize(("path", "start"), [("bots/slow.conf", "bots/slow.conf:1: error: "), ("", "")])
def test_a_sensor_that_looks_back_too_far_is_refused_at_its_file(path, start):
    conf = replace(unit("gps", rate=0.001), location=Location(path, 1))
    with pytest.raises(ModelError, match=f"^{start}sensor 'CajunBot/scan_0' looks back over 200003 steps"):
        world(bot("CajunBot", conf), step=0.005)
