"""Scans that take their time: closed forms, brute force beam by beam, recordings and restored Snapshots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.geometry.pose import Pose
from cbsim.recording.recording import Recording
from cbsim.sensing.kernels.poses import bodies_at_into
from cbsim.sensing.kernels.shapes import matrix_of, turned
from cbsim.spec.command import Command
from cbsim.spec.objects import Kind, ShapeKind, TrafficObject, Triple, Wheels, WheelType
from cbsim.world.scene import Actor
from tests.sensing.brute import cast_brute_into
from tests.sensing.scenes import blob, scans_between
from tests.worlds import bot, level, mesh, mover, prop, world

KEY = "CajunBot/scan_0"
WORLD = np.array([1.0, 0.0, 0.0, 0.0])
LEFT = Command(throttle=1.0, steering=0.3)
WALL = prop("wall", Triple(0, 60, 0), size=Triple(400, 1, 5))


def at_time(made, snapshot, time):
    """Poses of all bodies at a time [s]."""
    positions, orientations = np.empty((len(made), 3)), np.empty((len(made), 4))
    bodies_at_into(made.constants, made.first.state, snapshot.state, time, positions, orientations)
    return positions, orientations


def brute(made, snapshot, sensor, scan):
    """Ranges of a scan by brute force, beam by beam at the time of each."""
    twin = np.empty(scan.ranges.shape)
    for j, time in enumerate(scan.times):
        positions, orientations = at_time(made, snapshot, time)
        pose = Pose(positions[sensor.body], orientations[sensor.body]) @ sensor.mount
        assert np.array_equal(scan.poses[j], [*pose.position, *pose.orientation])
        m, found = matrix_of(*pose.orientation), np.empty((len(twin), 1))
        beam = np.array([[turned(m, *direction)] for direction in sensor.directions[:, j]])
        cast_brute_into(pose.position, WORLD, beam, sensor.body, positions, orientations, made.shapes, found)
        twin[:, j] = found[:, 0]
    return np.where(twin <= sensor.conf.max_range, twin, np.inf)


def driving(*actors, command=LEFT, steps=40, wheels=WheelType.CONVENTIONAL, **conf):
    """World, and a Snapshot of it after some steps with the bot under a command."""
    made = world(bot("CajunBot", level(**conf), wheels=Wheels(wheels)), *actors)
    snapshot = made.start
    for _ in range(steps):
        snapshot = cbsim.step(made, snapshot, {"CajunBot": command})
    return made, snapshot


def test_beams_are_fired_one_after_another_the_last_when_the_scan_is_taken():
    made, snapshot = driving(WALL, scan_time=0.05)
    scan = cbsim.sense(made, snapshot)[KEY]
    assert scan.times == pytest.approx(scan.time - 0.05 * (1 - np.arange(181) / 180))
    assert scan.times[-1] == scan.time
    assert np.array_equal(scan.poses[-1], [*scan.pose.position, *scan.pose.orientation])
    assert np.linalg.norm(scan.poses[0, :3] - scan.poses[-1, :3]) > 0.05
    at_once = driving(WALL)[0]
    still = cbsim.sense(at_once, at_once.start)[KEY]
    assert (still.times == still.time).all()
    assert still.poses.shape == (181, 7)


def test_target_that_crosses_is_seen_where_it_is_at_each_beam():
    speed, half = 15.0, 2.0
    made = world(
        bot("CajunBot", level(scan_time=0.1)),
        mover("m", (speed, 0, 500, -math.pi / 2), at=Triple(-20, 20, 0), size=Triple(1, 2 * half, 2)),
    )
    snapshot = made.start
    for _ in range(26):
        snapshot = cbsim.step(made, snapshot)
    scan = cbsim.sense(made, snapshot)[KEY]
    assert scan.time == pytest.approx(1.3)
    lateral = -19.5 * np.tan(scan.angles)  # where a beam meets the plane of the near side
    expected = np.where(np.abs(lateral - (-20 + speed * scan.times)) <= half, 19.5 / np.cos(scan.angles), np.inf)
    front = np.isfinite(expected) & (scan.angles > math.radians(-80))
    assert front.sum() >= 8
    assert np.allclose(scan.ranges[0, front], expected[front], rtol=0, atol=1e-9)
    assert np.isinf(scan.ranges[0, ~np.isfinite(expected)]).sum() >= 160
    x = scan.points[0, front, 0]
    assert (np.abs(x + 20 - speed * scan.times[front]) <= half + 1e-9).all()


def test_sensor_that_drives_at_a_wall_sees_it_come_nearer_beam_by_beam():
    item = mover("CajunBot", (12.0, 0, 40, 0.0)).item
    made = world(Actor(item, confs=(("scan_0", level(scan_time=0.08, latency=0.03)),)), WALL)
    snapshot = made.start
    for _ in range(31):
        snapshot = cbsim.step(made, snapshot)
    scan = cbsim.sense(made, snapshot)[KEY]
    assert scan.time == pytest.approx(1.5)
    expected = (59.5 - 12.0 * scan.times) / np.cos(scan.angles)
    seen = expected < 80.0
    assert seen.sum() > 80
    assert np.allclose(scan.ranges[0, seen], expected[seen], rtol=0, atol=1e-9)
    assert np.allclose(scan.points[0, seen, 1], 59.5, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("wheels", "command"),
    [(WheelType.CONVENTIONAL, Command(1.0, 0.8)), (WheelType.SKID, Command(1.0, levers=(-1.0, 1.0)))],
)
def test_points_of_a_turning_scanner_lie_on_the_wall(wheels, command):
    made, snapshot = driving(WALL, command=command, wheels=wheels, scan_time=0.1, latency=0.02)
    scan = cbsim.sense(made, snapshot)[KEY]
    points = scan.points[0][scan.returned[0]]
    assert len(points) > 30
    assert np.allclose(points[:, 1], 59.5, rtol=0, atol=1e-9)
    skewed = scan.pose.apply(scan.directions * np.where(scan.returned, scan.ranges, np.nan)[..., None])
    assert np.nanmax(np.abs(skewed[..., 1] - 59.5)) > 0.1


def crowd(rng):
    """Props of every shape, some leaning, meshes, and movers, about the origin."""
    actors = []
    for k in range(25):
        at = Triple(*rng.uniform((-40, -40, 0), (40, 40, 2)))
        shape = ShapeKind(int(rng.integers(0, 4)))
        turn = Triple(*(rng.uniform(-1, 1, 2) * (rng.random() < 0.4)), float(rng.uniform(-3, 3)))
        size = Triple(*rng.uniform(0.5, 5, 3))
        item = TrafficObject(Kind.STATIC, f"p{k}", shape=shape, position_offset=at, size=size, orientation_offset=turn)
        actors.append(Actor(item))
    for k in range(5):
        corners = blob(rng, rng.uniform(1, 5, 3)).reshape(-1, 3)
        at, indices = Triple(*rng.uniform(-30, 30, 2), 1), np.arange(len(corners)).reshape(-1, 3)
        actors.append(mesh(f"m{k}", corners, indices, at=at))
    for k in range(8):
        legs = [tuple(map(float, rng.uniform((2, 0, 1, -3), (25, 0.1, 9, 3)))) for _ in range(6)]
        size = Triple(*rng.uniform(0.5, 5, 3))
        actors.append(mover(f"d{k}", *legs, at=Triple(*rng.uniform(-25, 25, 2), 0), size=size))
    return actors


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    scan_time=st.sampled_from([1e-6, 0.05, 0.5]),
    layers=st.sampled_from([(0.0,), (-0.2, 0.0, 0.1)]),
    tilt=st.sampled_from([0.0, -0.15]),
    steps=st.sampled_from([0, 1, 23]),
)
def test_sweeps_equal_brute_force_at_the_time_of_each_beam(seed, scan_time, layers, tilt, steps):
    rng = np.random.default_rng(seed)
    fields = {"scan_time": scan_time, "rate": 2.0, "layer_pitches": layers, "beams": 120, "pitch": tilt, "roll": tilt}
    full = {"start_angle": -math.pi, "end_angle": math.pi} if seed % 2 else {}
    command = Command(1.0, float(rng.uniform(-1, 1)), (-1.0, 1.0))
    wheels = WheelType(int(rng.integers(0, 2)))
    made, snapshot = driving(*crowd(rng), command=command, steps=steps, wheels=wheels, **fields, **full)
    scan = cbsim.sense(made, snapshot)[KEY]
    assert np.array_equal(scan.ranges, brute(made, snapshot, made.sensors[0], scan))


def test_before_the_start_everything_stands_as_placed():
    made = world(
        bot("CajunBot", level(scan_time=0.1, latency=0.12)),
        mover("m", (10.0, 0, 60, math.pi), at=Triple(0, 30, 0), size=Triple(2, 2, 2)),
    )
    snapshot = made.start
    for _ in range(3):
        snapshot = cbsim.step(made, snapshot)
    scan = cbsim.sense(made, snapshot)[KEY]
    assert scan.time == 0.0
    assert scan.times[0] == pytest.approx(-0.1)
    assert scan.ranges[0, 90] == pytest.approx(29.0, abs=1e-9)


def test_a_mover_that_turns_at_the_start_is_seen_as_placed_by_the_scan_of_the_start_whenever_that_is_asked_for():
    made = world(
        bot("CajunBot", level(latency=0.0)),
        mover("m", (3.0, 0, 60, math.pi / 3), at=Triple(0, 20, 0), size=Triple(1, 6, 2)),
    )
    first = cbsim.sense(made, made.start)[KEY]
    after = cbsim.step(made, made.start)
    later = cbsim.sense(made, after)[KEY]
    assert later.time == 0.0
    assert np.array_equal(first.ranges, later.ranges)
    assert first.ranges[0, 90] == pytest.approx(17.0)


def test_recorded_sweeps_are_those_that_were_sensed(tmp_path):
    conf = level(scan_time=0.02, rate=37.5, latency=0.03, range_sigma=0.02, layer_pitches=(-0.02, 0.0))
    made = world(bot("CajunBot", conf, level()), WALL, mover("m", (8.0, 0, 60, 0.5), at=Triple(-5, 20, 0)))
    made.first.state.command[0, :2] = (0.8, 0.3)
    made.first.state.command[0, 5] = 0.0
    recording = cbsim.run(made, duration=1.0)
    sensed, snapshot = [], made.start
    sensed += scans_between(made, snapshot, -1.0)
    for _ in range(20):
        before, snapshot = snapshot.time, cbsim.step(made, snapshot)
        sensed += scans_between(made, snapshot, before)
    recording.save(tmp_path / "run.mcap")
    stored = Recording.open(tmp_path / "run.mcap")
    for key in (KEY, "CajunBot/scan_1"):
        wanted = [scan for scan in sensed if scan.key == key]
        for found in (recording.scans(key), stored.scans(key)):
            assert len(found) == len(wanted) > 8
            for one, two in zip(found, wanted, strict=True):
                assert one.time == two.time
                assert np.array_equal(one.times, two.times)
                assert np.array_equal(one.ranges, two.ranges)
                assert np.array_equal(one.poses, two.poses)
                assert np.array_equal(one.points, two.points, equal_nan=True)


def test_a_restored_snapshot_gives_the_same_sweeps():
    made, snapshot = driving(WALL, mover("m", (8.0, 0, 60, 0.5)), scan_time=0.1, latency=0.2, range_sigma=0.01)
    restored = made.restore(snapshot.to_bytes())
    one, two = cbsim.sense(made, snapshot)[KEY], cbsim.sense(made, restored)[KEY]
    assert np.array_equal(one.ranges, two.ranges)
    assert np.array_equal(one.poses, two.poses)
    going, again = cbsim.step(made, snapshot), cbsim.step(made, restored)
    assert going == again


def test_a_scan_taken_alone_is_the_one_taken_among_others():
    kinds = ((75, 0, 0), (20, 0.05, 0), (20, 0.05, 0.01), (40, 0, 0.01))
    confs = [level(rate=rate, scan_time=taken, angle_sigma=sigma) for rate, taken, sigma in kinds]
    made = world(bot("CajunBot", *confs), WALL, mover("m", (8.0, 0, 60, 0.5), at=Triple(3, 20, 0)))
    made.first.state.command[0, :2] = (0.8, 0.3)
    made.first.state.command[0, 5] = 0.0
    snapshot = made.start
    for _ in range(10):
        before, snapshot = snapshot.time, cbsim.step(made, snapshot)
    together = list(scans_between(made, snapshot, before))
    assert len(together) == 4 + 1 + 1 + 2
    newest = cbsim.sense(made, snapshot)
    for scan in together:
        if scan.time == newest[scan.key].time:
            assert np.array_equal(scan.ranges, newest[scan.key].ranges)
            assert np.array_equal(scan.poses, newest[scan.key].poses)


def test_upside_down_unit_sweeps_in_the_order_of_its_readings():
    made, snapshot = driving(WALL, scan_time=0.1, upside_down=True)
    scan = cbsim.sense(made, snapshot)[KEY]
    points = scan.points[0][scan.returned[0]]
    assert np.allclose(points[:, 1], 59.5, rtol=0, atol=1e-9)
    bearings = np.arctan2(-points[:, 0], points[:, 1])
    assert (np.diff(bearings) > 0).all()
