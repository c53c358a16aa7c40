"""Lasers and trackers see models: closed forms, brute force, scans between steps, and what a planner gets."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.geometry.pose import Pose
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Box, Capsule, CombinedShapes, Sphere
from cbsim.spec.objects import Triple
from cbsim.spec.scenario import Placement
from cbsim.spec.sensor import SensorConf
from cbsim.world.compile import compile_world
from cbsim.world.scene import Model, Scene, Settings
from tests.sensing.brute import cast_brute_into
from tests.sensing.scenes import scans_between
from tests.sensing.test_laser_sweep import at_time, brute
from tests.simulation.test_behaviours import Stride, walker
from tests.worlds import bot, level, mover, prop

KEY = "CajunBot/scan_0"
PARTS = CombinedShapes([Box(0.4, 0.2, 1.0), Sphere(0.3, position_offset=(0.0, 0.0, 0.6))])


def flying(shape):
    origin, body = Origin(), Body(1.0, np.eye(3), shape, name="block")
    return ModelDescription(MechanismSpec(origin, [body], [Floating(origin, body, name="free")], gravity=0.0))


def site(*models, conf=None, actors=(), **settings):
    conf = level() if conf is None else conf
    return compile_world(Scene("seen", (bot("CajunBot", conf), *actors), settings=Settings(**settings), models=models))


def placed(description, x, y, z, name="model", scale=1.0, heading=0.0):
    return Model(name, description, 5, placement=Placement(position=Triple(x, y, z), heading=heading), scale=scale)


def test_a_level_scanner_measures_a_box_of_a_model_ahead_of_it():
    scan = cbsim.sense(made := site(placed(flying(Box(2.0, 1.0, 2.0)), 0, 10, 1.0)), made.start)[KEY]
    assert scan.ranges[0, 90] == pytest.approx(9.5, abs=1e-12)
    assert np.isinf(scan.ranges[0, 0])
    large = site(placed(flying(Box(2.0, 1.0, 2.0)), 0, 10, 1.0, scale=3.0))
    assert cbsim.sense(large, large.start)[KEY].ranges[0, 90] == pytest.approx(8.5, abs=1e-12)


@pytest.mark.parametrize("fields", [{}, {"pitch": -0.1}, {"layer_pitches": (-0.1, 0.0, 0.05)}])
def test_scans_of_models_among_others_are_those_of_brute_force(fields):
    conf = level(**fields)
    models = (
        placed(flying(Box(1, 2, 3)), 3, 8, 1, "a", heading=0.4),
        placed(flying(PARTS), -4, 9, 1, "b", 1.5),
        placed(flying(Capsule(0.4, 1.0)), -8, 3, 1, "c"),
    )
    actors = (
        prop("post", Triple(0, 15, 0), size=Triple(3, 1, 3)),
        mover("Car", (2.0, 0.0, 50.0, 0.0), at=Triple(9, 0, 0)),
    )
    made = site(*models, conf=conf, actors=actors)
    snapshot = cbsim.step(made, cbsim.step(made, made.start))
    scan = cbsim.sense(made, snapshot)[KEY]
    positions, orientations = at_time(made, snapshot, scan.time)
    pose = Pose(positions[0], orientations[0]) @ made.sensors[0].mount
    twin = np.empty(scan.ranges.shape)
    cast_brute_into(*pose, made.sensors[0].directions, 0, positions, orientations, made.shapes, twin)
    wanted = np.where(twin <= conf.max_range, twin, np.inf)
    np.testing.assert_array_equal(scan.ranges, wanted)
    assert np.isfinite(scan.ranges).sum() > 30


def test_a_scan_between_two_steps_sees_a_model_where_it_was_then():
    """A walker goes at 2 m/s on a circle; scans of 30 Hz lie anywhere in steps of 50 ms."""
    made = site(
        placed(walker(motion=Stride()), 0, 10, -1, scale=2.0),
        conf=level(rate=30.0, latency=0.07, start_angle=-0.6, end_angle=0.6, beams=241),
    )
    snapshot, seen = made.start, []
    for _ in range(60):
        before, snapshot = snapshot.time, cbsim.step(made, snapshot)
        for scan in scans_between(made, snapshot, before):
            assert scan.time <= snapshot.time - 0.07 + 1e-9
            if scan.time < 0.05:  # it starts from rest with a jerk
                continue
            angle = scan.time
            where, _ = at_time(made, snapshot, scan.time)
            np.testing.assert_allclose(where[1, :2], (2 * math.cos(angle), 10 + 2 * math.sin(angle)), atol=1e-4)
            seen.append(np.isfinite(scan.ranges).sum())
    assert min(seen) > 10


def test_a_scan_that_takes_time_meets_models_beam_by_beam():
    made = site(
        placed(walker(motion=Stride()), 0, 8, -1, scale=2.0),
        placed(flying(PARTS), 2, 6, 1, "still"),
        conf=level(rate=10.0, scan_time=0.09, layer_pitches=(-0.05, 0.0)),
    )
    snapshot = made.start
    for _ in range(23):
        snapshot = cbsim.step(made, snapshot)
    scan = cbsim.sense(made, snapshot)[KEY]
    np.testing.assert_array_equal(scan.ranges, brute(made, snapshot, made.sensors[0], scan))
    assert np.isfinite(scan.ranges).sum() > 20


def test_scans_of_models_are_replayed_and_restored():
    made = site(
        placed(walker(motion=Stride()), 0, 8, 0), conf=level(rate=17.0, latency=0.1, scan_time=0.05), duration=2.0
    )
    recording = cbsim.run(made)
    scans = {scan.time: scan for scan in recording.scans(KEY)}
    assert cbsim.replay(recording, made) is None
    snapshot = made.start
    for _ in range(30):
        snapshot = made.restore(cbsim.step(made, snapshot).to_bytes())
    for scan in scans_between(made, snapshot, snapshot.time - 0.05):
        np.testing.assert_array_equal(scan.ranges, scans[scan.time].ranges)


def test_a_tracker_lists_bodies_of_models_that_have_a_shape():
    conf = SensorConf(type="objects", max_range=50.0, rate=20.0)
    made = site(placed(walker(motion=Stride()), 0, 10, 0), conf=conf)
    snapshot = cbsim.step(made, made.start)
    found = cbsim.sense(made, snapshot)[KEY]
    assert found.rows.tolist() == [1]
    np.testing.assert_allclose(found.velocities[0, :2], (-math.sin(found.time), math.cos(found.time)), atol=2e-3)


def test_a_planner_gets_scans_of_a_walking_model():
    class Watcher:
        def __init__(self):
            self.nearest = []

        def start(self, mission, network, vehicle):
            pass

        def plan(self, observation):
            scan = observation.scans.get(KEY)
            if scan is not None:
                self.nearest.append(scan.ranges.min())
            return cbsim.Command()

    watcher = Watcher()
    made = site(placed(walker(motion=Stride()), 0, 10, 0), conf=level(rate=20.0))
    recording = cbsim.run(made, duration=3.0, planner={"CajunBot": watcher})
    ahead = recording.positions("model/body")
    assert np.ptp(ahead[:, 1]) > 0.9
    assert 7.5 < min(watcher.nearest) < max(watcher.nearest) < 11.0
    assert np.ptp(watcher.nearest) > 0.8
