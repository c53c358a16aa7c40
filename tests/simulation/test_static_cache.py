"""What stands is looked at once: steps give the same bits as if it were looked at in every call."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import cbsim
from cbsim.simulation.advance import advance
from cbsim.simulation.step_workspace import take_step_workspace
from cbsim.spec.command import Command
from cbsim.spec.objects import Triple
from tests.worlds import bot, mover, prop, world

GO = {"bot": Command(throttle=0.6)}
WALL = Triple(20.0, 0.4, 3.0)


def touch_workspace(ahead=12.0, aside=0.0, name="wall"):
    """Make a world in which a bot that goes straight on meets a wall, and a mover crosses its way."""
    props = [prop(f"far {k}", Triple(100.0 + 3.0 * k, 50.0, 0.0)) for k in range(60)]
    crossing = mover("mover", (3.0, 0.5, 40.0, 0.2), at=Triple(-20.0, 6.0, 0.0))
    return world(bot("bot"), *props, prop(name, Triple(aside, ahead, 0.0), size=WALL), crossing)


def drive(made, snapshot, steps):
    """Step one by one: hashes, and the Snapshot at the end."""
    hashes = []
    for _ in range(steps):
        snapshot = cbsim.step(made, snapshot, GO)
        hashes.append(snapshot.hash)
    return hashes, snapshot


def afresh(made, snapshot, steps):
    """Step one by one, with everything that stands looked at anew each time."""
    hashes = []
    for _ in range(steps):
        made.static_caches._newest = None
        snapshot = made.restore(snapshot.to_bytes())
        snapshot = cbsim.step(made, snapshot, GO)
        hashes.append(snapshot.hash)
    return hashes


def shifted(made, y):
    """Make a first Snapshot whose wall stands elsewhere."""
    snapshot = made.start
    snapshot.state.position[made["wall"].row, 1] = y
    return snapshot


def test_steps_that_hand_on_what_stands_are_those_that_look_anew():
    made = touch_workspace()
    assert drive(made, made.start, 80)[0] == afresh(made, made.start, 80)


def test_hashes_of_quiet_steps_are_those_of_snapshots():
    made = touch_workspace()
    snapshot = made.start
    for n in (1, 3, 64):
        hashes, *_ = advance(made, snapshot, n)
        assert int(hashes[-1]) == made.restore(snapshot.to_bytes()).hash


def test_wall_that_is_moved_in_a_snapshot_stands_there_as_in_a_world_of_its_own():
    made, other = touch_workspace(ahead=12.0), touch_workspace(ahead=8.0)
    hacked = shifted(made, 8.0)
    expected, last = drive(other, other.start, 80)
    found, end = drive(made, hacked, 80)
    assert found == expected
    assert end.floats.tobytes() == last.floats.tobytes()
    assert drive(made, made.start, 80)[0] != expected


def test_wall_that_is_moved_on_the_way_is_where_it_was_put():
    made = touch_workspace(ahead=30.0)
    _, snapshot = drive(made, made.start, 40)
    row, columns = made["wall"].row, snapshot.state
    front = columns.position[0, 1] + 0.5 * made["bot"].size[1]
    columns.position[row, 1] = front + 0.5 + 0.5 * WALL.y
    _, end = drive(made, snapshot, 40)
    gap = end.state.position[row, 1] - end.state.position[0, 1] - 0.5 * made["bot"].size[1] - 0.5 * WALL.y
    assert -0.05 < gap < 0.5
    _, through = drive(made, made.start, 80)
    assert through.state.position[0, 1] > end.state.position[0, 1] + 2.0


def test_columns_that_were_asked_for_may_be_written_to_at_any_time():
    made = touch_workspace()
    snapshot = made.start
    columns = snapshot.state
    cbsim.step(made, snapshot, GO)  # what stands has been looked at, and the columns are still ours
    columns.position[made["wall"].row, 1] = 8.0
    assert drive(made, snapshot, 60)[0] == drive(made, shifted(made, 8.0), 60)[0]


def test_reading_a_snapshot_keeps_its_static_cache():
    made = touch_workspace()
    _, snapshot = drive(made, made.start, 2)
    cache = made.static_caches.of(snapshot)
    made.static_caches.of(shifted(made, 8.0))  # another one is the newest of the World
    assert snapshot.state.position[0, 1] == snapshot.columns.position[0, 1]
    assert snapshot.floats[0] == snapshot.blocks[0][0]
    assert snapshot.static_cache is cache
    assert made.static_caches.of(snapshot) is cache
    assert made.static_caches.of(snapshot.copy()) is cache
    assert made.static_caches.of(cbsim.step(made, snapshot, GO)) is cache


def test_writing_to_a_snapshot_that_was_copied_leaves_the_cache_of_the_copy():
    made = touch_workspace()
    _, snapshot = drive(made, made.start, 2)
    cache, columns = made.static_caches.of(snapshot), snapshot.state
    copy = snapshot.copy()
    columns.position[made["wall"].row, 1] = 8.0
    assert made.static_caches.of(copy) is cache
    assert made.static_caches.of(snapshot) is not cache
    assert made.static_caches.of(snapshot.copy()).floats.tobytes() == snapshot.floats.tobytes()


def test_a_snapshot_and_its_hacked_copy_can_be_stepped_in_turn():
    made = touch_workspace()
    one, two = made.start, shifted(made, 9.0)
    hashes = [[], []]
    for _ in range(80):
        one, two = cbsim.step(made, one, GO), cbsim.step(made, two, GO)
        hashes[0].append(one.hash)
        hashes[1].append(two.hash)
    assert hashes[0] == drive(made, made.start, 80)[0]
    assert hashes[1] == drive(made, shifted(made, 9.0), 80)[0]


def test_two_worlds_can_be_stepped_in_turn():
    made, other = touch_workspace(ahead=10.0), touch_workspace(ahead=7.0, aside=1.0)
    alone = drive(made, made.start, 60)[0], drive(other, other.start, 60)[0]
    one, two = made.start, other.start
    hashes = [], []
    for _ in range(60):
        one, two = cbsim.step(made, one, GO), cbsim.step(other, two, GO)
        hashes[0].append(one.hash)
        hashes[1].append(two.hash)
    assert hashes == alone


def test_threads_do_not_share_what_a_step_works_on():
    made = touch_workspace()
    alone = [drive(made, shifted(made, 8.0 + k), 120)[0] for k in range(4)]
    found = [None] * 4

    def work(k):
        found[k] = drive(made, shifted(made, 8.0 + k), 120)[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone


def test_pairs_kept_from_other_steps_change_no_bit():
    made = touch_workspace()
    hashes, _ = drive(made, made.start, 60)
    snapshots = [made.start]
    for _ in range(59):
        snapshots.append(cbsim.step(made, snapshots[-1], GO))
    order = np.random.default_rng(3).permutation(60)
    assert [cbsim.step(made, snapshots[k], GO).hash for k in order] == [hashes[k] for k in order]


def test_vehicle_that_is_put_elsewhere_meets_what_stands_there():
    made = touch_workspace(ahead=200.0)
    _, snapshot = drive(made, made.start, 3)
    far = snapshot.copy()
    far.state.position[0, :2] = 100.0, 50.0
    _, _, contacts = advance(made, far, 1)
    assert made["far 0"].row in contacts[:, 1:3]


def test_every_row_of_a_standing_body_counts_in_the_hash():
    made = touch_workspace()
    row, before = made["wall"].row, cbsim.step(made, made.start).hash
    for column in ("position", "orientation", "velocity", "angular_velocity"):
        snapshot = made.start
        getattr(snapshot.state, column)[row, 1] += 1e-9
        assert cbsim.step(made, snapshot).hash != before


def test_workspace_is_set_up_once_for_all_that_have_the_same_standing_bodies():
    made = touch_workspace()
    snapshot = cbsim.step(made, made.start)
    standing = made.static_caches.of(snapshot)
    assert standing is made.static_caches.of(made.start)
    assert len(standing.spare["step"]) == 1
    one, other = (take_step_workspace(made, standing) for _ in range(2))
    assert one is not other
    assert one.scratch[0] is not other.scratch[0]


def test_only_bodies_without_legs_or_wheels_stand():
    made = touch_workspace()
    names = [made.bodies[row].name for row in made.static_caches.rows]
    assert names == [body.name for body in made if body.name not in ("bot", "mover")]


@pytest.mark.parametrize("actors", [(), (bot("bot"),), (prop("prop", Triple(1.0, 2.0, 0.0)),)])
def test_worlds_in_which_nothing_or_everything_stands_can_be_stepped(actors):
    made = world(*actors)
    hashes = [cbsim.step(made, made.start).hash for _ in range(2)]
    snapshot = made.start
    assert hashes[0] == hashes[1] == int(advance(made, snapshot, 1)[0][0])
