"""Contacts of whole runs: when, where, once; nothing is passed through; vehicles that press, slide and are pushed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.simulation.advance import advance
from cbsim.spec.objects import ShapeKind, Triple
from tests.worlds import bot, mesh, mover, prop, world

POLE = Triple(0.1, 0.1, 2.0)


def rows_of(made, steps, **state):
    snapshot = made.start
    for name, value in state.items():
        getattr(snapshot.state, name)[:] = value
    _, motion, rows = advance(made, snapshot, steps, made.moving)
    return motion, rows, snapshot


@pytest.mark.parametrize("speed", [0.7, 5.0, 50.0, 400.0])
@pytest.mark.parametrize("kind", [ShapeKind.BOX, ShapeKind.SPHERE, ShapeKind.CYLINDER, ShapeKind.WHEEL])
def test_mover_meets_a_thing_at_the_time_of_its_way_and_once(speed, kind):
    made = world(mover("m", (speed, 0.0, 30.0, 0.0)), prop("p", Triple(0, 10, 0), kind, Triple(0.2, 0.2, 0.2)))
    _, rows, _ = rows_of(made, math.ceil(31.0 / speed / 0.05))
    assert len(rows) == 1
    time, a, b, x, y, z, nx, ny, _, closing, impulse, depth = rows[0]
    assert time == pytest.approx((10.0 - 0.6) / speed, abs=1e-6 / speed)
    assert (a, b, impulse) == (0, 1, 0.0)
    assert abs(x) <= 0.11  # anywhere on the side
    assert y == pytest.approx(9.9, abs=1e-5)
    assert 0.0 <= z <= 0.21
    assert (nx, ny) == pytest.approx((0.0, 1.0), abs=1e-4)
    assert closing == pytest.approx(speed, rel=1e-6)
    assert depth < 1e-6


def test_movers_that_turn_within_a_step_are_followed_round_the_corner():
    there = mover("m", (40.0, 0.0, 1.0, 0.0), (40.0, 0.0, 30.0, math.pi / 2))  # north 1 m in half a step, then west
    made = world(there, prop("p", Triple(-1.2, 1.0, 0), size=Triple(0.2, 0.2, 1.0)))
    _, rows, _ = rows_of(made, 1)
    assert rows[0, 0] == pytest.approx((1.0 + 0.6) / 40.0, abs=1e-9)
    assert rows[0, 6:9] == pytest.approx([-1, 0, 0], abs=1e-9)


def test_two_movers_meet_between_steps_with_their_relative_speed():
    made = world(mover("a", (30.0, 0, 50, 0)), mover("b", (20.0, 0, 50, math.pi), at=Triple(0, 21, 0)))
    _, rows, snapshot = rows_of(made, 40)
    assert rows[0, [0, 9]] == pytest.approx([20.0 / 50.0, 50.0])
    assert len(rows) == 1
    assert (snapshot.state.active_contacts == -1).all()


def test_bodies_that_overlap_at_the_start_are_told_of_once_at_time_zero():
    made = world(
        mover("a", (1.0, 9.0, 0.2, 0)), prop("p", Triple(0.3, 0, 0)), bot("c", position_offset=Triple(20, 0, 0)),
        prop("q", Triple(20.8, 0, 0)),
    )  # fmt: skip
    _, rows, snapshot = rows_of(made, 30)
    assert rows[:, 0].tolist() == [0.0, 0.0]
    assert rows[:, 1:3].tolist() == [[0, 1], [2, 3]]
    assert rows[0, 11] == pytest.approx(0.7)
    assert rows[1, 11] == pytest.approx(0.55)
    assert snapshot.state.active_contacts[0, 0] == 1


def test_touch_ends_and_a_second_one_is_told_of_again():
    away = (2.0, 0.5, 3.0, math.pi), (2.0, 0.0, 3.0, 0.0)
    made = world(mover("a", (2.0, 0.5, 1.5, 0.0), *away), prop("p", Triple(0, 2, 0)))
    _, rows, _ = rows_of(made, 160)
    assert rows[:, 0] == pytest.approx([0.5, 0.75 + 0.5 + 1.5 + 0.5 + 1.25], abs=1e-9)


@pytest.mark.parametrize(("wide", "long"), [(1.7, 3.7), (0.3, 0.3)])
@pytest.mark.parametrize("obstacle", ["pole", "board", "sheet"])
def test_nothing_is_passed_through_at_thirty_metres_a_second(wide, long, obstacle):
    what = {
        "pole": prop("p", Triple(0.1, 20, 0), ShapeKind.CYLINDER, POLE),
        "board": prop("p", Triple(0, 20, 0), size=Triple(6.0, 0.02, 2.0)),
        "sheet": mesh("p", [(-3, 0, 0), (3, 0, 0), (3, 0, 2), (-3, 0, 2)], [(0, 1, 2), (0, 2, 3)], at=Triple(0, 20, 0)),
    }[obstacle]
    for start in (0.0, 0.03, 0.07, 0.11):
        made = world(bot(size=Triple(wide, long, 1.0), position_offset=Triple(0, start, 0), drive="kinematic"), what)
        speed = np.zeros((2, 3))
        speed[0, 1] = 30.0
        motion, rows, _ = rows_of(made, 40, velocity=speed, command=(0, 0, 1, 1, 0, 0))
        assert len(rows) >= 1
        assert rows[0, 9] == pytest.approx(30.0, rel=0.01)
        assert rows[0, 0] == pytest.approx((20.0 - 0.5 * long - start) / 30.0, abs=4e-3)
        assert motion[:, 0, 1].max() + 0.5 * long < 20.1


@pytest.mark.parametrize("drive", ["kinematic", "dynamic"])
def test_full_throttle_against_a_wall_comes_to_rest_outside_it(drive):
    made = world(bot(drive=drive), prop("wall", Triple(0, 8, 0), size=Triple(10, 0.2, 2)))
    motion, rows, _ = rows_of(made, 600, command=(1.0, 0, 1, 1, 0, 0))
    nose = motion[:, 0, 1] + 1.84
    assert nose.max() < 7.9 + 0.01
    assert np.ptp(motion[-100:, 0, :2], axis=0).max() < 1e-9  # no jitter
    assert np.abs(motion[-1, 0, 7:]).max() < 0.05
    assert len(rows) < 8


def test_car_in_a_gap_narrower_than_itself_stays_where_it_is():
    walls = [prop(f"w{k}", Triple(k * 1.849, 0, 0), size=Triple(2.0, 12.0, 2.0)) for k in (-1, 1)]
    motion, _, _ = rows_of(world(bot(), *walls), 100)
    assert np.abs(motion[:, 0, :2]).max() < 1e-6
    assert np.abs(motion[:, 0, 7:]).max() < 1e-9


def test_glancing_hit_slides_along():
    made = world(bot(drive="dynamic"), prop("wall", Triple(2.0, 0, 0), size=Triple(0.2, 400.0, 2.0)))
    start = made.start
    heading = -0.05  # 3° into the wall on the right
    start.state.orientation[0] = (math.cos(heading / 2), 0, 0, math.sin(heading / 2))
    start.state.velocity[0, :2] = -15.0 * math.sin(heading), 15.0 * math.cos(heading)
    start.state.command[0, 5] = 0.0  # no handbrake
    _, motion, rows = advance(made, start, 200, made.moving)
    assert len(rows) >= 1
    assert motion[-1, 0, 1] > 60.0
    right = motion[:, 0, 0] + 0.85 * math.cos(heading)
    assert right.max() < 1.91


def test_mover_pushes_a_parked_car_in_front_of_it():
    made = world(bot(drive="kinematic", position_offset=Triple(0, 10, 0)), mover("m", (5.0, 0, 200, 0)))
    motion, rows, _ = rows_of(made, 200)
    assert rows[0, 9] == pytest.approx(5.0)
    assert (motion[-1, 0, 1] - 1.84) - (motion[-1, 1, 1] + 0.5) > -0.01
    assert motion[-1, 0, 8] >= 5.0 - 0.1


def test_drivable_mesh_is_ground_and_no_obstacle():
    corners = [(-5, 0, 0), (5, 0, 0), (5, 20, 1), (-5, 20, 1)]
    made = world(bot(), mesh("ramp", corners, [(0, 1, 2), (0, 2, 3)], at=Triple(0, 5, 0), drivable=True))
    motion, rows, _ = rows_of(made, 150, command=(0.6, 0, 1, 1, 0, 0))
    assert not len(rows)
    assert motion[-1, 0, 1] > 8.0


def crash_scene():
    cars = [bot(f"c{k}", position_offset=Triple(0.4 * k, 9.0 * k, 0)) for k in range(3)]
    things = [
        mover("m", (6.0, 0.5, 40.0, 0.2), (9.0, 0.0, 40.0, 2.9), at=Triple(3, -6, 0)),
        prop("pole", Triple(0.5, 30, 0), ShapeKind.CYLINDER, POLE),
        mesh("sheet", [(-9, 0, 0), (9, 0, 0), (0, 3, 2)], [(0, 1, 2)], at=Triple(0, 34, 0)),
    ]
    made = world(*cars, *things)
    made.first.state.command[:, 0] = (1.0, 0.2, 0.0)
    made.first.state.command[:, 5] = 0.0
    made.first.state.velocity[0, 1] = 12.0
    return made


def test_run_with_crashes_goes_on_alike_from_any_of_its_snapshots():
    made = crash_scene()
    whole = cbsim.run(made, duration=6.0)
    assert len(whole.contacts()) >= 3
    hashes, _, rows = advance(made, made.start, 120)
    assert len(rows) == len(whole.contacts())
    for cut in (1, 20, 37, 64):
        first = made.start
        head = advance(made, first, cut)
        tail = advance(made, made.restore(first.to_bytes()), 120 - cut)
        assert np.array_equal(np.concatenate([head[0], tail[0]]), hashes)
        assert np.array_equal(np.concatenate([head[2], tail[2]]), rows)


def test_quiet_steps_with_crashes_are_single_steps_bit_for_bit():
    made = crash_scene()
    hashes, _, _ = advance(made, made.start, 120)
    snapshot = made.start
    for k in range(120):
        snapshot = cbsim.step(made, snapshot)
        assert snapshot.hash == hashes[k]


def test_crowd_of_movers_meets_whom_it_should_whatever_the_grid():
    rng = np.random.default_rng(2)

    def one(k):
        at = Triple(*rng.uniform(-25, 25, 2), 0.0)
        entries = [
            (rng.uniform(2, 20), rng.choice([0.0, 0.3]), rng.uniform(2, 20), rng.uniform(-3, 3)) for _ in range(6)
        ]
        return mover(f"m{k}", *entries, at=at)

    made = world(*(one(k) for k in range(90)), *(prop(f"p{k}", Triple(*rng.uniform(-25, 25, 2), 0)) for k in range(20)))
    _, _, rows = advance(made, made.start, 60)
    told = {(int(a), int(b)) for a, b in rows[:, 1:3]}
    seen = set()
    snapshot = made.start
    for _ in range(60):  # brute force: who overlaps at the end of a step must have been told of
        advance(made, snapshot, 1)
        p = snapshot.state.position
        for a in range(90):
            near = np.flatnonzero(np.abs(p[:, :2] - p[a, :2]).max(axis=1) < 1.5)
            seen |= {(min(a, b), max(a, b)) for b in near if a != b and cbsim_overlap(made, snapshot, a, int(b))}
    assert seen
    assert seen <= told


def cbsim_overlap(made, snapshot, a, b):
    from cbsim.collision import separation

    return separation(made, snapshot, made.bodies[a].name, made.bodies[b].name).distance < -1e-6
