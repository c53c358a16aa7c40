"""Lasers against scenes whose answer is known, and against a brute-force twin in numpy."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.geometry.pose import rotate
from cbsim.sensing.caster import Caster
from cbsim.spec.command import Command
from cbsim.spec.objects import ShapeKind, Triple
from cbsim.spec.sensor import SensorConf
from tests.sensing.scenes import scans_between
from tests.worlds import bot, level, mesh, mover, prop, world

KEY = "CajunBot/scan_0"


def look(conf, *actors, **fields):
    made = world(bot("CajunBot", conf, **fields), *actors)
    return cbsim.sense(made, made.start)[KEY]


def test_pitched_scanner_meets_flat_ground_at_height_over_sine():
    conf = SensorConf(position=Triple(0.0, 0.30, 2.10), pitch=math.radians(-8.0))
    scan = look(conf)
    assert scan.ranges[0, 90] == pytest.approx(2.10 / math.sin(math.radians(8.0)), abs=1e-9)
    assert scan.ranges[0, 90] == pytest.approx(15.09, abs=0.01)
    assert scan.points[0, 90] == pytest.approx([0.0, 0.30 + 14.94, 0.0], abs=0.01)
    assert np.isinf(scan.ranges[0, 0])


def test_nose_up_scanner_sees_sky():
    assert np.isinf(look(SensorConf(position=Triple(0, 0, 2), pitch=math.radians(8.0))).ranges).all()


def test_first_beam_looks_right_and_angles_run_counter_clockwise():
    scan = look(level(), prop("right", Triple(10, 0, 0), size=Triple(1, 1, 4)))
    assert scan.angles[0] == pytest.approx(-math.pi / 2)
    assert (np.diff(scan.angles) > 0).all()
    assert scan.ranges[0, 0] == pytest.approx(9.5)
    assert scan.ranges.shape == (1, 181)


@pytest.mark.parametrize(
    ("shape", "size", "distance"),
    [
        (ShapeKind.BOX, Triple(2, 3, 4), 20 - 1.5),
        (ShapeKind.SPHERE, Triple(4, 4, 4), 20 - math.sqrt(2**2 - 1**2)),
        (ShapeKind.CYLINDER, Triple(2, 2, 4), 20 - 1.0),
        (ShapeKind.WHEEL, Triple(0.5, 3, 3), 20 - math.sqrt(1.5**2 - 0.5**2)),
    ],
)
def test_each_shape_is_met_where_its_surface_is(shape, size, distance):
    scan = look(level(), prop("target", Triple(0, 20, 0), shape, size))
    assert scan.ranges[0, 90] == pytest.approx(distance, abs=1e-9)


def test_own_body_is_not_seen_and_the_nearest_of_others_is():
    far, near = (
        prop("far", Triple(0, 30, 0), size=Triple(9, 1, 3)),
        prop("near", Triple(0, 15, 0), size=Triple(1, 1, 3)),
    )
    scan = look(level(), far, near)
    assert scan.ranges[0, 90] == pytest.approx(14.5)
    assert scan.ranges[0, 85] == pytest.approx(29.5 / math.cos(math.radians(5.0)))


def test_mesh_is_seen_from_both_sides():
    wall = [[-5, 10, 0], [5, 10, 0], [5, 10, 5], [-5, 10, 5]]
    for triangles in ([[0, 1, 2], [0, 2, 3]], [[2, 1, 0], [3, 2, 0]]):
        scan = look(level(), mesh("wall", wall, triangles))
        assert scan.ranges[0, 90] == pytest.approx(10.0)
        assert scan.ranges[0, 70] == pytest.approx(10.0 / math.cos(math.radians(20.0)))


def test_a_box_and_its_mesh_give_the_same_scan():
    import trimesh

    box = trimesh.creation.box((2.0, 3.0, 4.0))
    shifted = box.vertices + np.array([4.0, 12.0, 2.0])
    one = look(level(), prop("box", Triple(4, 12, 0), size=Triple(2, 3, 4)))
    other = look(level(), mesh("mesh", shifted, box.faces))
    assert np.allclose(one.ranges, other.ranges, atol=1e-9)
    assert np.isfinite(one.ranges).sum() > 5


@settings(max_examples=40, deadline=None)
@given(yaw=st.floats(-3.1, 3.1), x=st.floats(-30, 30), y=st.floats(-30, 30))
def test_scan_turns_and_moves_with_the_world(yaw, x, y):
    """Equivariance: the bot and its surroundings moved together give the same readings."""
    things = ((3.0, 9.0, 0.4), (-6.0, 4.0, 1.2))
    c, s = math.cos(yaw), math.sin(yaw)
    moved = [
        prop(f"p{k}", Triple(x + c * px - s * py, y + s * px + c * py, 0), size=Triple(1, 2, 3), yaw=yaw + turn)
        for k, (px, py, turn) in enumerate(things)
    ]
    still = [
        prop(f"p{k}", Triple(px, py, 0), size=Triple(1, 2, 3), yaw=turn) for k, (px, py, turn) in enumerate(things)
    ]
    one = look(level(), *still)
    other = look(level(), *moved, position_offset=Triple(x, y, 0), orientation_offset=Triple(0, 0, yaw))
    seen = np.isfinite(one.ranges) & np.isfinite(other.ranges)
    assert seen.sum() > 3
    assert (np.isfinite(one.ranges) != np.isfinite(other.ranges)).sum() <= 2  # a grazing beam may fall either way
    close = np.abs(one.ranges[seen] - other.ranges[seen]) < 1e-6
    assert (~close).sum() <= 2


def brute_force(scan, sensor_conf, boxes):
    """Slow twin: march the triangles of every box and the ground in numpy."""
    import trimesh

    best = np.full(scan.ranges.shape, np.inf)
    flat = np.stack([-np.sin(scan.angles), np.cos(scan.angles), 0 * scan.angles], axis=-1)
    directions = rotate(scan.pose.orientation, flat)
    for centre, size in boxes:
        box = trimesh.creation.box(size)
        for a, b, c in box.vertices[box.faces] + centre:
            n = np.cross(b - a, c - a)
            d = directions @ n
            with np.errstate(divide="ignore", invalid="ignore"):
                t = ((a - scan.pose.position) @ n) / d
                p = scan.pose.position + t[:, None] * directions
                inside = np.ones(len(t), bool)
                for u, v in ((a, b), (b, c), (c, a)):
                    inside &= np.cross(v - u, p - u) @ n >= -1e-9
            best[0] = np.where(inside & (t >= 0) & (t < best[0]), t, best[0])
    with np.errstate(divide="ignore"):
        ground = np.where(directions[:, 2] < 0, -scan.pose.position[2] / directions[:, 2], np.inf)
    best[0] = np.minimum(best[0], ground)
    return np.where(best <= sensor_conf.max_range, best, np.inf)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(-300, 100).map(lambda k: k / 1000 + 1e-4))
def test_scan_equals_the_brute_force_twin(seed, pitch):
    rng = np.random.default_rng(seed)
    boxes = [(rng.uniform([-30, -30, 1], [30, 30, 2]), rng.uniform(0.5, 4.0, 3)) for _ in range(12)]
    boxes = [(centre, size) for centre, size in boxes if np.linalg.norm(centre[:2]) > 5]
    actors = [
        prop(f"b{k}", Triple(c[0], c[1], c[2] - size[2] / 2), size=Triple(*size)) for k, (c, size) in enumerate(boxes)
    ]
    conf = level(pitch=pitch, beams=91)
    scan = look(conf, *actors)
    twin = brute_force(scan, conf, boxes)
    same = np.isclose(scan.ranges, twin, rtol=0.0, atol=1e-9)
    assert (~same).sum() <= 1  # one beam may graze an edge


def test_multi_layer_scan_has_a_row_per_pitch():
    pitches = tuple(math.radians(p) for p in (-2.0, -1.0, 0.0, 1.0))
    scan = look(level(layer_pitches=pitches, position=Triple(0, 0, 1.0)))
    assert scan.ranges.shape == (4, 181)
    assert scan.ranges[0, 90] == pytest.approx(1.0 / math.sin(math.radians(2.0)))
    assert np.isinf(scan.ranges[2:]).all()


def test_upside_down_unit_reads_counter_clockwise_as_well():
    conf = level(upside_down=True, start_angle=math.radians(-30), end_angle=math.radians(90), beams=121)
    scan = look(conf, prop("right", Triple(10, 10, 0), size=Triple(2, 2, 3)))
    hit = scan.points[0][np.isfinite(scan.ranges[0])]
    bearings = np.arctan2(-hit[:, 0], hit[:, 1])
    assert len(hit) > 3
    assert (np.diff(bearings) > 0).all()


def test_scans_come_at_their_rate_with_their_latency():
    made = world(bot("CajunBot", level(rate=37.5, latency=0.02)))
    recording = cbsim.run(made, duration=2.0)
    times = [scan.time for scan in recording.scans(KEY)]
    assert times == pytest.approx([k / 37.5 for k in range(75)][: len(times)])
    assert len(times) == math.floor((2.0 - 0.02) * 37.5 + 1e-9) + 1


def test_scan_between_steps_sees_movers_where_they_were_then():
    made = world(bot("CajunBot", level(rate=37.5)), mover("m", (8.0, 0, 60, math.pi), at=Triple(0, 40, 0)))
    snapshot, wheel = made.start, made["m"]
    for _ in range(20):
        before = snapshot.time
        snapshot = cbsim.step(made, snapshot)
        for scan in scans_between(made, snapshot, before):
            assert scan.ranges[0, 90] == pytest.approx(40 - 8.0 * scan.time - wheel.size[1] / 2, abs=1e-9)


def test_noise_has_its_sigma_and_dropout_its_share():
    wall = prop("wall", Triple(0, 20, 0), size=Triple(200, 1, 5))
    conf = level(range_sigma=0.05, dropout=0.1, beams=2001, start_angle=-0.5, end_angle=0.5)
    made = world(bot("CajunBot", conf), wall)
    scan = cbsim.sense(made, made.start)[KEY]
    seen = np.isfinite(scan.ranges[0])
    error = scan.ranges[0, seen] - 19.5 / np.cos(scan.angles[seen])
    assert error.std() == pytest.approx(0.05, rel=0.1)
    assert abs(error.mean()) < 0.006
    assert 1 - seen.mean() == pytest.approx(0.1, abs=0.03)


def test_limits_quantisation_and_no_return():
    wall = prop("wall", Triple(0, 20, 0), size=Triple(2, 1, 5))
    assert look(level(max_range=19.0, no_return="max"), wall).ranges[0, 90] == 19.0
    assert np.isnan(look(level(max_range=19.0, no_return="nan"), wall).ranges[0, 90])
    assert np.isinf(look(level(min_range=20.0), wall).ranges[0, 90])
    assert look(level(range_resolution=0.4), wall).ranges[0, 90] == pytest.approx(19.6)


def test_full_turn_does_not_repeat_its_first_beam():
    conf = level(start_angle=-math.pi, end_angle=math.pi, beams=360)
    angles = look(conf).angles
    assert len(angles) == 360
    assert angles[-1] == pytest.approx(math.pi - math.radians(1.0))


def test_a_caster_gives_the_true_distances_of_a_scan():
    made = world(bot("CajunBot", level(pitch=-0.05)), prop("p", Triple(3, 20, 0), size=Triple(5, 5, 5)))
    scan, state, sensor = cbsim.sense(made, made.start)[KEY], made.start.state, made.sensors[0]
    pose = np.concatenate([scan.pose.position, scan.pose.orientation])
    ranges = Caster(made, sensor).cast(pose, state.position, state.orientation)
    assert np.array_equal(np.where(ranges <= sensor.conf.max_range, ranges, np.inf), scan.ranges)


def test_a_scan_is_a_frozen_value_that_can_be_copied():
    made = world(bot("CajunBot", level(beams=9)), prop("wall", Triple(0.0, 6.0, 0.0)))
    sense = partial(cbsim.sense, made, made.start)
    want = sense()[KEY]
    assert want.ranges.base is not None
    for other in (pickle.loads(pickle.dumps(sense()[KEY])), copy.copy(sense()[KEY])):
        for field in fields(want):
            one, two = (
                each.pose.position if field.name == "pose" else getattr(each, field.name) for each in (other, want)
            )
            assert np.array_equal(one, two), field.name
        assert np.array_equal(other.pose.orientation, want.pose.orientation)
    assert replace(sense()[KEY], time=3.0).time == 3.0
    assert repr(sense()[KEY]) == repr(want)
    with pytest.raises(AttributeError, match="'Scan' object has no attribute 'range'"):
        sense()[KEY].range  # noqa: B018
    with pytest.raises(FrozenInstanceError):
        sense()[KEY].time = 1.0


@pytest.mark.parametrize("pitch", [0.0, -0.02])
def test_bodies_beyond_the_reach_of_scans_change_nothing(pitch):
    """Lasers of two reaches see the same up to the smaller one, while vehicles cross its limit."""
    near, far = (level(max_range=reach, rate=37.5, latency=0.12, pitch=pitch) for reach in (25.0, 60.0))
    cars = [
        bot(
            f"Car {k}", position_offset=Triple(4.0 * k - 8.0, 6.0 * k + 12.0, 0.0), orientation_offset=Triple(0, 0, 3.0)
        )
        for k in range(5)
    ]
    made = world(bot("CajunBot", near, far), *cars)
    commands = {name: Command(1.0, 0.1) for name in ("CajunBot", *(f"Car {k}" for k in range(5)))}
    snapshot, crossed = made.start, set()
    for step in range(160):
        snapshot = cbsim.step(made, snapshot, commands if step == 0 else None)
        one, two = (cbsim.sense(made, snapshot).get(f"CajunBot/scan_{k}") for k in range(2))
        if one is None or two is None:
            continue
        within = two.ranges <= 25.0
        assert (one.ranges[within] == two.ranges[within]).all()
        assert np.isinf(one.ranges[~within]).all()
        crossed.add(int(within.sum()))
    assert len(crossed) > 10  # vehicles have come and gone
