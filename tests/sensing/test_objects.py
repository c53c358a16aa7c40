"""Lists of objects: who is seen, how much of it, and with what error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.sensing import SENSORS, ObjectList
from cbsim.spec.objects import ShapeKind, Triple
from cbsim.spec.sensor import SensorConf
from tests.sensing.test_noise import share_bound, sigma_bounds
from tests.worlds import bot, mesh, mover, prop, world

KEY = "CajunBot/scan_0"
CAR = Triple(2.0, 4.0, 1.5)
COLUMN = 1.5 / 24  # a share is known to a column of rays


def tracker(**fields):
    return SensorConf(**{"type": "objects", "position": Triple(0.0, 0.0, 1.0), "min_visible": 0.0, **fields})


def listed(conf, *actors, **fields):
    made = world(bot("CajunBot", conf, **fields), *actors)
    return cbsim.sense(made, made.start)[KEY]


def many(conf, count, *actors):
    """Take many readings of a world that stands still."""
    made = world(bot("CajunBot", conf), *actors)
    return [SENSORS[conf.type](made, made.start, made.sensors[0], k) for k in range(count)]


# --- who is seen -----------------------------------------------------------------------------------------------------
def test_an_object_in_the_open_is_seen_whole_and_told_as_it_is():
    seen = listed(tracker(), prop("car", Triple(5, 30, 0), size=CAR, yaw=0.4))
    assert (seen.rows.tolist(), seen.visible.tolist()) == ([1], [1.0])
    assert seen.positions[0] == pytest.approx([5.0, 30.0, 0.75])
    assert (seen.headings[0], seen.sizes[0].tolist()) == (pytest.approx(0.4), list(CAR))
    assert (seen.velocities == 0.0).all()


@pytest.mark.parametrize("shape", [ShapeKind.BOX, ShapeKind.SPHERE, ShapeKind.CYLINDER, ShapeKind.WHEEL])
def test_every_shape_in_the_open_is_seen_whole(shape):
    assert listed(tracker(), prop("it", Triple(0, 15, 0), shape, Triple(2, 2, 2))).visible.tolist() == [1.0]


def test_an_object_behind_a_wall_is_not_listed():
    wall = prop("wall", Triple(0, 10, 0), size=Triple(8, 0.5, 4))
    seen = listed(tracker(), wall, prop("hidden", Triple(0, 20, 0), size=CAR))
    assert seen.rows.tolist() == [1]


@pytest.mark.parametrize("offset", [-0.8, -0.4, 0.0, 0.5, 0.9])
def test_share_behind_the_edge_of_a_wall_is_that_of_similar_triangles(offset):
    """A flat target 20 m away, and a wall 10 m away whose right edge is at half the target's offset: its shadow falls
    on the target at `offset`, and all to the left of that is hidden."""
    target = prop("target", Triple(0, 20, 0), size=Triple(2.0, 0.02, 1.5))
    right_edge = 0.5 * offset * (10.005 / 9.995)
    wall = prop("wall", Triple(right_edge - 3.0, 10, 0), size=Triple(6.0, 0.01, 4.0))
    seen = listed(tracker(), target, wall)
    share = dict(zip(seen.rows.tolist(), seen.visible, strict=True)).get(1, 0.0)
    assert share == pytest.approx((1.0 - offset) / 2.0, abs=COLUMN)


def test_a_low_wall_hides_the_lower_part():
    target = prop("target", Triple(0, 20, 0), size=Triple(2.0, 0.02, 2.0))
    wall = prop("wall", Triple(0, 10, 0), size=Triple(8.0, 0.01, 1.0))  # as high as the eye: shadow up to 1 m
    seen = listed(tracker(), target, wall)
    assert dict(zip(seen.rows.tolist(), seen.visible, strict=True))[1] == pytest.approx(0.5, abs=1.0 / 6)


def test_field_of_view_and_range_cut_an_object_like_a_wall():
    target = prop("target", Triple(0, 20, 0), size=Triple(2.0, 0.02, 1.5))
    assert listed(tracker(start_angle=0.0, end_angle=1.0), target).visible[0] == pytest.approx(0.5, abs=COLUMN)
    assert len(listed(tracker(max_range=19.0), target)) == 0
    assert len(listed(tracker(min_range=21.0), target)) == 0
    assert len(listed(tracker(start_angle=0.3, end_angle=1.0), target)) == 0
    assert len(listed(tracker(), prop("behind", Triple(0, -20, 0), size=CAR))) == 0
    assert len(listed(tracker(yaw=math.pi), prop("behind", Triple(0, -20, 0), size=CAR))) == 1
    assert len(listed(tracker(start_angle=-math.pi, end_angle=math.pi), prop("b", Triple(0, -20, 0), size=CAR))) == 1


def test_least_visible_share_decides_who_is_listed():
    target = prop("target", Triple(0, 20, 0), size=Triple(2.0, 0.02, 1.5))
    wall = prop("wall", Triple(-3.0, 10, 0), size=Triple(6.0, 0.01, 4.0))
    assert 1 in listed(tracker(min_visible=0.4), target, wall).rows
    assert 1 not in listed(tracker(min_visible=0.6), target, wall).rows


def test_ground_and_own_body_are_not_listed_and_hide_nothing():
    ramp = mesh("ramp", [[-5, 5, 0.0], [5, 5, 0.0], [0, 9, 0.1]], [[0, 1, 2]], drivable=True)
    block = mesh("block", [[-2, 15, 0], [2, 15, 0], [2, 15, 3], [-2, 15, 3]], [[0, 1, 2], [0, 2, 3]])
    seen = listed(tracker(position=Triple(0, -1.8, 2.0)), ramp, block)
    assert seen.rows.tolist() == [2]
    assert seen.visible[0] == 1.0


def test_velocity_of_a_mover_is_that_of_its_leg():
    conf = tracker(rate=37.5)
    made = world(bot("CajunBot", conf), mover("m", (6.0, 0, 50, math.pi), at=Triple(3, 45, 0)))
    snapshot = made.start
    for _ in range(11):
        snapshot = cbsim.step(made, snapshot)
        seen = cbsim.sense(made, snapshot)[KEY]
        assert seen.velocities[0] == pytest.approx([0.0, -6.0, 0.0], abs=1e-9)
        assert seen.positions[0, 1] == pytest.approx(45.0 - 6.0 * seen.time, abs=1e-9)


def test_a_list_of_nobody_is_empty_and_has_no_numbers():
    seen = listed(tracker(detection_rate=(0.5,), radial_sigma=(1.0,), flip_rate=0.5, velocity_sigma=1.0))
    assert (len(seen), seen.values().size) == (0, 0)


def test_a_radar_gives_a_list_of_what_is_in_its_beam():
    conf = SensorConf(type="radar", start_angle=-0.1, end_angle=0.1, max_range=107.0, position=Triple(0, 2, 0.6))
    seen = listed(conf, prop("ahead", Triple(0, 60, 0), size=CAR), prop("aside", Triple(30, 60, 0), size=CAR))
    assert seen.rows.tolist() == [1]


# --- errors ----------------------------------------------------------------------------------------------------------
TARGET = prop("car", Triple(0, 40, 0), size=Triple(2.0, 2.0, 1.5))


def test_errors_lie_along_and_across_the_line_of_sight_to_the_nearest_point():
    conf = tracker(radial_sigma=(0.5,), tangential_sigma=(0.2,), radial_bias=(1.0,), tangential_bias=(-0.4,))
    places = np.array([seen.positions[0] for seen in many(conf, 2500, TARGET)])
    for column, mean, sigma in ((1, 41.0, 0.5), (0, 0.4, 0.2)):  # across is to the left of the line of sight
        low, high = sigma_bounds(sigma, len(places))
        assert low < places[:, column].std(ddof=1) < high
        assert places[:, column].mean() == pytest.approx(mean, abs=4.9 * sigma / math.sqrt(len(places)))
    assert (places[:, 2] == 0.75).all()
    assert abs(np.corrcoef(places[:, 0], places[:, 1])[0, 1]) < 4.9 / math.sqrt(len(places))


def test_heading_errors_turn_an_object_about_its_nearest_point():
    conf = tracker(yaw_sigma=(0.1,), yaw_bias=(0.3,))
    seen = many(conf, 1500, TARGET)
    turns = np.array([s.headings[0] for s in seen])
    low, high = sigma_bounds(0.1, len(turns))
    assert low < turns.std(ddof=1) < high
    assert turns.mean() == pytest.approx(0.3, abs=4.9 * 0.1 / math.sqrt(len(turns)))
    for s in seen[:20]:
        nearest = np.array([0.0, 39.0])
        assert np.linalg.norm(s.positions[0, :2] - nearest) == pytest.approx(1.0)
        angle = s.headings[0]
        assert s.positions[0, :2] == pytest.approx([-math.sin(angle), 39.0 + math.cos(angle)])


def test_errors_of_an_object_last_for_their_time_constant():
    conf = tracker(rate=10.0, radial_sigma=(0.5,), correlation_time=0.4)
    cars = [prop(f"c{k}", Triple(-26 + 4 * k, 45, 0), size=Triple(1, 1, 1.5)) for k in range(14)]
    made = world(bot("CajunBot", conf), *cars)
    errors = []
    for index in range(300):
        seen = SENSORS["objects"](made, made.start, made.sensors[0], index)
        assert len(seen) == 14
        true = made.start.state.position[1:, :2]
        sight = np.linalg.norm(true, axis=1)
        errors.append(((seen.positions[:, :2] - true) * true).sum(axis=1) / sight)
    errors = np.array(errors) / 0.5
    independent = errors.size * (1.0 - math.exp(-0.25)) / (1.0 + math.exp(-0.25))
    assert (errors**2).mean() == pytest.approx(1.0, abs=0.03 + 4.9 * math.sqrt(2.0 / independent))
    for lag in (1, 2, 4, 8):
        found = (errors[lag:] * errors[:-lag]).mean()
        assert found == pytest.approx(math.exp(-lag / 4.0), abs=4.9 / math.sqrt(independent)), lag
    across = (errors[:, 1:] * errors[:, :-1]).mean()  # of neighbours
    assert abs(across) < 4.9 / math.sqrt(independent)


def test_objects_are_missed_by_elliptical_bins():
    conf = tracker(bins=(15.0, 30.0, 60.0), detection_rate=(1.0, 0.8, 0.3), bin_ratio=2.0)
    places = {"near": (0, 20, 1.0), "ahead": (4, 50, 0.8), "aside": (-22, 12, 0.8), "far": (-40, 30, 0.3)}
    actors = [prop(name, Triple(x, y, 0), size=Triple(1, 1, 1.5)) for name, (x, y, _) in places.items()]
    seen = many(conf, 1500, *actors)
    for row, (name, (_, _, rate)) in enumerate(places.items(), 1):
        share = np.mean([row in s.rows for s in seen])
        assert share == pytest.approx(rate, abs=share_bound(rate, len(seen)) + 1e-12), name


def test_being_missed_lasts_for_its_time_constant():
    conf = tracker(rate=10.0, detection_rate=(0.6,), detection_time=0.5)
    seen = np.array([len(s) for s in many(conf, 3000, TARGET)], float)
    stay = math.exp(-0.2)
    independent = len(seen) * (1.0 - stay) / (1.0 + stay)
    assert seen.mean() == pytest.approx(0.6, abs=share_bound(0.6, independent))
    for lag in (1, 3, 6):
        kept = np.corrcoef(seen[lag:], seen[:-lag])[0, 1]
        assert kept == pytest.approx(stay**lag, abs=4.9 / math.sqrt(independent))


def test_slow_objects_alone_are_seen_the_wrong_way_round():
    conf = tracker(flip_rate=0.3, flip_speed=0.5)
    turned = np.array([abs(s.headings[0]) > 1.0 for s in many(conf, 1500, TARGET)])
    assert turned.mean() == pytest.approx(0.3, abs=share_bound(0.3, len(turned)))
    moving = many(conf, 200, mover("m", (5.0, 0, 500, 0.0), at=Triple(0, 40, 0)))
    assert all(abs(s.headings[0]) < 1e-9 for s in moving if len(s))


def test_velocity_noise_is_that_of_the_conf():
    speeds = np.array([s.velocities[0] for s in many(tracker(velocity_sigma=0.4), 1500, TARGET)])
    low, high = sigma_bounds(0.4, speeds[:, :2].size)
    assert low < speeds[:, :2].std(ddof=1) < high
    assert (speeds[:, 2] == 0.0).all()


def test_objects_that_are_not_there_are_poisson_and_evenly_spread():
    conf = tracker(false_positives=1.7, min_range=10.0, max_range=50.0)
    seen = many(conf, 2000)
    counts = np.array([len(s) for s in seen])
    assert counts.mean() == pytest.approx(1.7, abs=4.9 * math.sqrt(1.7 / len(seen)))
    assert counts.var() == pytest.approx(1.7, rel=0.2)
    assert all((s.rows == -1).all() for s in seen)
    spots = np.concatenate([s.positions[:, :2] for s in seen])
    away = np.linalg.norm(spots, axis=1)
    assert away.min() >= 10.0
    assert away.max() <= 50.0
    share = (away < 30.0).mean()  # of the area of a ring
    expected = (30.0**2 - 10.0**2) / (50.0**2 - 10.0**2)
    assert share == pytest.approx(expected, abs=share_bound(expected, len(away)))
    assert (spots[:, 1] > 0.0).all()  # ahead, as the field of view


def test_numbers_of_a_list_make_it_again():
    seen = many(tracker(radial_sigma=(0.3,), false_positives=2.0), 3, TARGET)[2]
    again = ObjectList.of(seen.key, seen.time, seen.values())
    assert again.values().tobytes() == seen.values().tobytes()
    assert again.rows.dtype == np.int64
