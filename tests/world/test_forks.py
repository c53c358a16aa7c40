"""Forks: the same past, another future, and the law of what has begun before them."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.traffic.kernels.branches import plain_serial
from cbsim.traffic.kernels.drivers import BRANCH
from cbsim.world import forks, streams
from cbsim.world.forks import branch_at_step, branch_at_time, fork, forks_of
from cbsim.world.traffic.tables import ABSENT, ACCELERATION, GOAL, PHASE, SERIAL
from tests.traffic.sites import four_way, straight, workspace, world

ERRING = Driver("erring", brakes_hard=0.5, runs_stops=0.5, ignores_right_of_way=0.5)
FLOW = Pool("in", flow=1800.0, origin=PointId(1, 1, 1), drivers=(("erring", 1.0),))


def moved(made, snapshot, steps):
    """Hashes of each step, and the Snapshot after them."""
    following = snapshot.copy()
    hashes, _, _ = advance(made, following, steps)
    return hashes.tolist(), following


@pytest.fixture(scope="module")
def road():
    return world(straight(), FLOW, drivers=(ERRING,), forks=8, step=0.1)


@pytest.fixture(scope="module")
def junction():
    return world(four_way(), Pool("p", count=8, drivers=(("erring", 1.0),)), drivers=(ERRING,), forks=8, step=0.1)


@pytest.mark.parametrize("which", ["road", "junction"])
def test_a_fork_is_the_same_past_with_another_future(which, request):
    made = request.getfixturevalue(which)
    _, middle = moved(made, made.start, 155)
    plain, _ = moved(made, middle, 300)
    one, two = fork(middle, 1), fork(middle, 2)
    found = [moved(made, start, 300) for start in (one, fork(middle, 1), two)]
    assert found[0] == found[1]
    assert forks_of(found[0][1]) == [(155, 1)]
    assert np.array_equal(one.columns.travel, middle.columns.travel)
    last = [snapshot.columns.travel for _, snapshot in found]
    assert not np.array_equal(last[0], last[2])
    assert not np.array_equal(last[0], moved(made, middle, 300)[1].columns.travel)
    assert plain == moved(made, middle, 300)[0]


@pytest.mark.parametrize("which", ["road", "junction"])
def test_a_chain_of_forks_is_one_run_and_continues_at_any_step(which, request):
    made = request.getfixturevalue(which)
    known = fork(fork(fork(made.start, 3, 40), 1, 95), 2, 121)
    assert [branch_at_step(known, step) for step in (39, 40, 94, 95, 120, 121, 500)] == [0, 3, 3, 1, 1, 2, 2]
    whole, end = moved(made, known, 200)
    snapshot = made.start
    for begin, stop, branch in ((0, 40, 0), (40, 95, 3), (95, 121, 1)):
        _, snapshot = moved(made, fork(snapshot, branch) if branch else snapshot, stop - begin)
    hashes, last = moved(made, fork(snapshot, 2), 79)
    assert hashes == whole[121:]
    assert last == end
    for at in range(0, 200, 7):
        _, middle = moved(made, known, at) if at else ([], known)
        assert moved(made, made.restore(middle.to_bytes()), 200 - at)[1] == end


def test_drivers_that_are_there_stay_and_those_that_come_are_others():
    driver = Driver("erring", time_headway=Spread(1.5, 0.3), critical_gap=Spread(1.0, 0.2))
    made = world(straight(), FLOW, drivers=(driver,), forks=8, step=0.1)
    _, middle = moved(made, made.start, 155)
    there = np.flatnonzero(middle.columns.intent[:, PHASE] != ABSENT)
    serials, before = middle.columns.intent[there, SERIAL], workspace(made, middle).drawn.copy()
    assert len(there) > 3
    new = {}
    for branch in (1, 2):
        _, later = moved(made, fork(middle, branch), 20)
        assert np.array_equal(later.columns.intent[there, SERIAL], serials)
        assert np.array_equal(workspace(made, later).drawn[there, :BRANCH], before[there, :BRANCH])
        _, later = moved(made, later, 200)
        born = later.columns.intent[:, SERIAL] >> 32 == branch
        assert born.any()
        numbers = plain_serial(later.columns.intent[born, SERIAL])
        new[branch] = dict(zip(numbers.tolist(), workspace(made, later).drawn[born, :BRANCH].tolist(), strict=True))
    common = set(new[1]) & set(new[2])
    assert common
    assert all(new[1][number] != new[2][number] for number in common)


def test_a_second_that_has_begun_keeps_its_mistake(junction):
    """Who brakes by mistake goes on until the second is over, whatever the branch."""
    pool = Pool("p", count=6, drivers=(("sudden", 1.0),))
    made = world(straight(), pool, drivers=(Driver("sudden", brakes_hard=0.5),), forks=8, step=0.1)
    _, middle = moved(made, made.start, 103)
    assert (moved(made, middle, 1)[1].columns.travel[:, ACCELERATION] < -5.0).any()
    ends = [moved(made, fork(middle, branch), 7)[1].columns.travel for branch in range(1, 9)]
    assert all(np.array_equal(one, ends[0]) for one in ends)
    assert np.array_equal(ends[0], moved(made, middle, 7)[1].columns.travel)
    later = [moved(made, fork(middle, branch), 17)[1].columns.travel for branch in range(1, 9)]
    assert len({one.tobytes() for one in later}) > 4
    twice = fork(moved(made, fork(middle, 1), 2)[1], 2)  # two forks in one second
    assert np.array_equal(moved(made, twice, 5)[1].columns.travel, ends[0])
    assert junction.layout.held_draws == 8 + 1


def test_mistakes_at_junctions_are_held_until_the_next_fork_of_the_way(junction):
    _, middle = moved(junction, junction.start, 155)
    _, later = moved(junction, fork(middle, 4), 1)
    held = later.columns.held[:8]
    assert np.array_equal(held[:, 0], middle.columns.intent[:, GOAL] + 1)
    assert not held[:, 1].any()
    _, again = moved(junction, fork(later, 5), 1)
    assert np.array_equal(again.columns.held[:8], held)  # still those from before the first fork


def test_the_due_arrival_stays_and_those_after_it_do_not(road):
    _, middle = moved(road, road.start, 155)
    due = float(middle.columns.pool_next[0])
    found = set()
    for branch in range(1, 5):
        _, later = moved(road, fork(middle, branch), 1)
        if due > 15.5 + 0.1:
            assert later.columns.pool_next[0] == due
        found.add(float(moved(road, fork(middle, branch), 100)[1].columns.pool_next[0]))
    assert len(found) == 4


def test_runs_without_a_fork_have_the_bits_of_a_world_that_cannot_be_forked(road):
    plain = world(straight(), FLOW, drivers=(ERRING,), step=0.1)
    _, one = moved(plain, plain.start, 400)
    _, two = moved(road, road.start, 400)
    assert len(plain.start.columns.fork) == 0
    assert np.array_equal(one.floats, two.floats)
    assert np.array_equal(one.ints, two.ints[: len(one.ints)])


@pytest.mark.parametrize("lags", [0.0, 3.0, 30.0])
def test_slow_noise_goes_on_from_its_value_at_a_fork(road, lags):
    """Over a fork the correlation is that of the sequence, and the variance stays one."""
    key, rate, gap = streams.stream_key(3, "test", "forked"), 10.0, 2
    pairs = []
    for k in range(3000):
        start = fork(fork(road.start, 1, 100 * k + 45), 2, 100 * k + 50)
        before = forks.gauss_markov(start, key, 100 * k + 50, rate, lags, 1)[0, 0]
        after = forks.gauss_markov(start, key, 100 * k + 50 + gap, rate, lags, 1)[0, 0]
        assert before == forks.gauss_markov(fork(road.start, 1, 100 * k + 45), key, 100 * k + 50, rate, lags, 1)[0, 0]
        pairs.append((before, after))
    x, y = np.array(pairs).T
    expected = np.exp(-gap / lags) if lags else 0.0
    assert np.mean(x * y) == pytest.approx(expected, abs=5.0 * np.sqrt((1.0 + expected**2) / len(x)))
    assert np.mean(y * y) == pytest.approx(1.0, abs=5.0 * np.sqrt(2.0 / len(x)))


def test_kept_numbers_are_kept_over_a_fork(road):
    key, blocks, lags = streams.stream_key(3, "test", "kept"), np.arange(4000), 5.0
    start = fork(road.start, 1, 50)
    before, after = (forks.renewals(start, key, at, 10.0, lags, blocks) for at in (50, 52))
    assert np.array_equal(before, streams.renewals(key, 50, lags, blocks))
    kept = float(np.mean(before == after))
    assert kept == pytest.approx(np.exp(-2 / lags), abs=5.0 * np.sqrt(0.25 / len(blocks)))
    assert not np.array_equal(after, streams.renewals(key, 52, lags, blocks))


def test_a_reading_at_the_instant_of_a_fork_is_of_the_past(road):
    start = fork(road.start, 1, 50)
    assert [branch_at_time(start, time) for time in (4.9, 5.0, 5.0001, 9.0)] == [0, 0, 1, 1]


def test_noise_of_sensors_is_that_of_the_past_until_the_fork():
    made = cbsim.load("sensors", forks=4)
    _, middle = moved(made, made.start, 60)
    one, two = fork(middle, 1), fork(middle, 2)
    past = [_readings(made, start) for start in (middle, one, two)]
    assert past[0] == past[1] == past[2]
    ends = [moved(made, start, 40)[1] for start in (middle, one, fork(middle, 1), two)]
    plain, first, again, second = (_readings(made, end) for end in ends)
    assert first == again
    noisy = {key for key in plain if plain[key] != first[key]}
    assert noisy
    assert noisy == {key for key in plain if second[key] != first[key]}
    assert np.array_equal(ends[0].floats, ends[1].floats)  # nobody drives by them


def _readings(made, snapshot):
    taken = cbsim.sense(made, snapshot)
    return {
        key: (one.ranges if hasattr(one, "ranges") else one.values()).tobytes() for key, one in sorted(taken.items())
    }


def test_forks_out_of_range_are_refused(road):
    plain = world(straight(), FLOW, drivers=(ERRING,), step=0.1)
    for start, branch, step, message in (
        (plain.start, 1, None, "cannot be forked: load it with 'forks'"),
        (road.start, 0, None, "branch is 0, expected 1 to 65535"),
        (fork(road.start, 1, 50), 2, 20, "a fork at step 20, expected one from step 50 on"),
    ):
        with pytest.raises(UsageError, match=message):
            fork(start, branch, step)
    full = road.start
    for k in range(8):
        full = fork(full, 1 + k, k)
    with pytest.raises(UsageError, match="forked 8 times: load its World with more 'forks'"):
        fork(full, 9)
    with pytest.raises(UsageError, match="forks is 5000"):
        cbsim.load("four_way_stop", forks=5000)
