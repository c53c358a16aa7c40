"""Laws of intersections: on random networks, with random demand, at steps from 0.05 to 1 s, restored at any step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cbsim.errors import ModelError
from cbsim.export.city import city
from cbsim.road.right_of_way.rules import Rule
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Triple
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Pool
from cbsim.traffic.kernels.look import CHAIN_END, GAP, LEADER, SIDE_GAP, SIDE_LEADER, STANDS
from cbsim.traffic.kernels.workspace import READY
from cbsim.world.traffic.tables import (
    ACCELERATION,
    ARRIVAL,
    CAR_LENGTH,
    CLAIM,
    CROSSING,
    LANELET,
    LENGTH,
    MERGES,
    PHASE,
    ROLLING,
    RULE,
    SPEED,
    STATION,
    STOP_LINE,
    STOPPED,
    WAITING,
)
from cbsim.world.world import World
from tests.traffic.sites import cross, four_way, grid, put_on, workspace, world
from tests.worlds import bot, prop

HARDEST = 4.5  # [m/s²]
STEPS = (0.05, 0.1, 1.0)  # [s]
LONGEST_PART = 0.1  # [s] of a step
LEAST_GAP = 0.5  # [m] between two who merge, as they are projected on one lanelet
TOGETHER = 0.5  # [s] between arrivals that count as one
ROUNDING = 1e-9  # [s] of sums of steps


class Watch:
    """Laws that hold after every step of a World of reactive cars that nobody disturbs."""

    def __init__(self, made: World) -> None:
        self.made = made
        road, crossings = made.traffic.road, made.traffic.crossings
        self.lengths, self.lines = road.lanelets[:, LENGTH], road.links[:, STOP_LINE] != 0
        self.size = road.car_sizes[:, CAR_LENGTH]
        offsets = crossings.entry_offsets
        self.entries = [range(offsets[k], offsets[k + 1]) for k in range(len(self.lengths))]
        self.rested = np.zeros(made.layout.cars, bool)
        self.lines_passed = 0
        self.before: np.ndarray | None = None
        self.claims = np.zeros(made.layout.cars, np.int64)
        self.waited = np.zeros(made.layout.cars, bool)
        self.served = 0

    def check(self, snapshot) -> None:
        columns = snapshot.columns
        assert columns.travel[:, ACCELERATION].min() >= -HARDEST
        assert columns.travel[:, SPEED].min() >= 0.0
        self._lines(columns)
        self._areas(columns)

    def order(self, snapshot) -> None:
        """Who has just been let over a stop line came before all who wait with room beyond and conflict with it.

        To be called after every step of at most 0.1 s: what the workspace holds is that of the last part of a step.
        """
        columns = snapshot.columns
        claims, phases, arrivals = columns.intent[:, CLAIM], columns.intent[:, PHASE], columns.travel[:, ARRIVAL]
        waits = (phases == STOPPED) | (phases == ROLLING)
        served = np.flatnonzero((claims > 0) & (self.claims == 0) & self.waited)
        if len(served):
            work = workspace(self.made, snapshot)
            plan = work.plan
            stuck = (plan[:, LEADER] < STANDS) & (plan[:, GAP] < plan[:, CHAIN_END])  # behind somebody who stands
            stuck |= (plan[:, SIDE_LEADER] < STANDS) & (plan[:, SIDE_GAP] < plan[:, CHAIN_END])
            waiting = np.flatnonzero(waits & self.waited & (work.queues.states == READY) & ~stuck)
            for car in served.tolist():
                mine = self._ways(int(claims[car]) - 1)
                for other in waiting[arrivals[waiting] < arrivals[car] - TOGETHER - ROUNDING].tolist():
                    entry = int(work.queues.conflicts[other])
                    theirs = self._ways(entry) if entry >= 0 else {}
                    since = f"there since {arrivals[car]:.1f} s, goes before {other}, since {arrivals[other]:.1f} s"
                    assert not any(theirs.get(row, side) != side for row, side in mine.items()), f"{car}, {since}"
                self.served += 1
        self.claims, self.waited = claims.copy(), waits

    def _ways(self, entry: int) -> dict[int, int]:
        """Conflicts of the lanelet of an entry that are decided by arrival, and which side of them it is."""
        crossings = self.made.traffic.crossings
        entries = self.entries[int(crossings.entry_lanelets[entry])]
        rows = {int(crossings.entry_rows[e]): int(crossings.entry_sides[e]) for e in entries}
        return {row: side for row, side in rows.items() if crossings.rules[row, RULE] == Rule.ARRIVAL}

    def _lines(self, columns) -> None:
        """Nobody's front has come over a stop line without a stop in the last metres before it."""
        lanelets, fronts = columns.intent[:, LANELET], columns.travel[:, STATION] + self.size
        over = self.lines[lanelets] & (fronts > self.lengths[lanelets] + 0.5)
        if self.before is not None:
            fresh = over & ~self.before
            assert (self.rested | ~fresh).all()
            self.lines_passed += int(fresh.sum())
            self.rested &= ~fresh
        phases = columns.intent[:, PHASE]
        self.rested |= (phases == STOPPED) | (phases == CROSSING) | ((phases == ROLLING) & ~over)
        self.before = over

    def _areas(self, columns) -> None:
        """Nobody is in a crossing while somebody is in it on the other lanelet; where they merge, one is behind."""
        crossings = self.made.traffic.crossings
        inside: dict[tuple[int, int], int] = {}
        merging: dict[int, list[tuple[float, float, int, int]]] = {}
        for car, (lanelet, station) in enumerate(
            zip(columns.intent[:, LANELET].tolist(), columns.travel[:, STATION].tolist(), strict=True)
        ):
            for e in self.entries[lanelet]:
                row, side = int(crossings.entry_rows[e]), int(crossings.entry_sides[e])
                begin, end = crossings.spans[row, side], crossings.spans[row, 2 + side]
                if station < end - 1e-9 and station + self.size[car] > begin + 1e-9:
                    if crossings.rules[row, MERGES]:
                        merging.setdefault(row, []).append((end - station, end - station - self.size[car], side, car))
                    else:
                        inside[row, side] = car
        for (row, side), car in inside.items():
            assert side == 1 or (row, 1) not in inside, f"cars {car} and {inside[row, 1]} are in conflict {row}"
        for row, cars in merging.items():
            cars.sort()
            for (rest, _, side, car), (_, front, other, follower) in pairwise(cars):
                gap = front - rest
                assert side == other or gap > LEAST_GAP, f"{follower} is {gap:.2f} m behind {car} in conflict {row}"


def hold(made: World, duration: float, checks: int = 1) -> Watch:
    """Run a World and hold its laws; areas and lines are looked at every so many steps."""
    watch, snapshot = Watch(made), made.start
    for _ in range(round(duration / made.step / checks)):
        for _ in range(checks):
            _, _, contacts = advance(made, snapshot, 1)
            assert not len(contacts)
            if made.step <= LONGEST_PART:
                watch.order(snapshot)
        watch.check(snapshot)
    return watch


@st.composite
def networks(draw) -> RoadNetwork:
    if draw(st.booleans()):
        return grid(
            draw(st.integers(2, 4)),
            draw(st.integers(1, 4)),
            draw(st.sampled_from([60.0, 100.0, 200.0])),
            stops=draw(st.booleans()),
        )
    options = {
        "columns": draw(st.integers(2, 4)),
        "rows": draw(st.integers(2, 4)),
        "block": draw(st.sampled_from([60.0, 90.0, 150.0])),
        "lanes": draw(st.integers(1, 2)),
        "zones": draw(st.integers(0, 1)),
        "seed": draw(st.integers(0, 10**6)),
    }
    return city(**options)[0]


def _crowded(network: RoadNetwork, count: int, **settings) -> World:
    """World of so many cars, or of fewer where there is no room."""
    while True:
        try:
            return world(network, Pool("p", count=count), **settings)
        except ModelError:
            count //= 2


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(networks(), st.sampled_from(STEPS), st.integers(2, 60), st.integers(0, 10**6))
def test_nobody_touches_brakes_hard_or_enters_a_taken_area(network, step, count, seed):
    made = _crowded(network, count, step=step, seed=seed)
    hold(made, 90.0, checks=max(1, round(0.1 / step)))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(networks(), st.sampled_from(STEPS), st.integers(2, 150), st.integers(0, 10**6))
def test_laws_hold_on_many_networks_for_five_minutes(network, step, count, seed):
    made = _crowded(network, count, step=step, seed=seed)
    hold(made, 300.0, checks=max(1, round(0.1 / step)))


@pytest.mark.parametrize(("blocks", "number"), [(3, 5), (2, 7)])
def test_who_still_shifts_stops_gently_behind_who_stands_on_the_lane_that_it_leaves(blocks, number):
    network = city(columns=blocks, rows=blocks, block=60.0, lanes=2, zones=0, seed=number)[0]
    hold(_crowded(network, 100, step=0.1, seed=1), 130.0)


def test_who_lets_somebody_change_before_a_line_does_not_brake_hard_for_it():
    network = city(columns=3, rows=2, block=90.0, lanes=2, zones=1, seed=2)[0]
    hold(_crowded(network, 120, step=0.05, seed=0), 20.0, checks=2)


@pytest.mark.parametrize("step", STEPS)
def test_stop_lines_are_stopped_at_whatever_the_step(step):
    watch = hold(world(four_way(), Pool("p", count=16), step=step), 300.0)
    assert watch.lines_passed > 60
    assert step > LONGEST_PART or watch.served > 60


def test_queue_at_a_four_way_stop_goes_on_with_the_same_bits_after_a_restore_at_every_step():
    made = world(four_way(), Pool("p", count=8), step=0.1)
    snapshot = made.start
    hashes, _, _ = advance(made, snapshot, 1200)
    single = made.start
    for k in range(1200):
        single = made.restore(single.to_bytes())
        made.static_caches._newest = None  # as a process that knows nothing but the bytes
        one, _, _ = advance(made, single, 1)
        assert one[0] == hashes[k]


def test_bot_that_rests_at_its_line_first_has_its_turn_and_is_passed_over_after_ten_seconds():
    rests = bot("Ego", position_offset=around(-2.0, 10.6), orientation_offset=Triple(0.0, 0.0, np.pi))
    made = world(four_way(), Pool("p", count=1), actors=(rests,), step=0.05)
    snapshot = made.start
    put_on(made, snapshot, 0, _lanelet_to(made, around(8.0, 2.0)), 60.0)
    stopped = entered = None
    for _ in range(1200):
        advance(made, snapshot, 1)
        phase = snapshot.columns.intent[0, PHASE]
        stopped = snapshot.time if stopped is None and phase == STOPPED else stopped
        entered = snapshot.time if entered is None and phase == CROSSING else entered
    assert stopped is not None
    assert entered is not None
    assert entered - stopped > 1.5
    assert entered == pytest.approx(10.0, abs=1.5)  # the bot has been free to go since the start


@settings(max_examples=30, deadline=None)
@given(
    st.permutations([1, 2, 3, 4]),
    st.lists(st.integers(0, 12), min_size=4, max_size=4, unique=True),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
def test_order_of_service_does_not_depend_on_ids(numbers, begins, turns):
    plain, renamed = (_served(order, begins, turns) for order in ((1, 2, 3, 4), tuple(numbers)))
    assert plain == renamed


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=4, max_size=4, unique=True),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
def test_order_of_service_is_the_same_in_a_mirror_where_nobody_arrives_together(begins, turns):
    plain, mirrored = (_served((1, 2, 3, 4), begins, turns, mirrored=mirrored) for mirrored in (False, True))
    assert plain == mirrored


def _served(numbers: tuple[int, ...], begins: list[int], turns: list[int], *, mirrored: bool = False) -> list[int]:
    """Arms, clockwise from the north, in the order in which their cars enter a crossing of roads with these numbers."""
    pools = tuple(
        Pool(
            f"arm {arm}",
            flow=1.0,
            origin=PointId(numbers[arm], 1, 1),
            destinations=((PointId(numbers[(arm + turns[arm]) % 4], 2, 2), 1.0),),
            begin=1.3 * begins[arm],
            is_even=True,
            at_most=1,
        )
        for arm in range(4)
    )
    made = world(cross(far=80.0, numbers=numbers, mirrored=mirrored), *pools, step=0.1)
    snapshot, order = made.start, list[int]()
    for _ in range(900):
        _, _, contacts = advance(made, snapshot, 1)
        assert not len(contacts)
        entered = np.flatnonzero(snapshot.columns.intent[:, CLAIM] > 0)
        order += [int(car) for car in entered if car not in order]
    assert len(order) == 4
    return order


def around(x: float, y: float) -> Triple:
    """Place in the World of one given from the middle of the four-way stop: the first waypoint is the origin."""
    return Triple(x + 2.0, y - 100.0, 0.0)


def _lanelet_to(made: World, place: Triple) -> int:
    """Lanelet with a stop line that ends near a place."""
    road = made.traffic.road
    rows = np.flatnonzero(road.links[:-1, STOP_LINE] != 0)
    ends = road.samples[road.sample_offsets[rows + 1] - 1, :2]
    return int(rows[np.argmin(np.hypot(*(ends - (place.x, place.y)).T))])


def test_nobody_enters_without_room_behind_the_conflicts():
    walls = tuple(
        prop(f"Wall {k}", around(x, y), size=Triple(2.0, 2.0, 2.0))
        for k, (x, y) in enumerate([(2.0, 13.0), (13.0, -2.0), (-2.0, -13.0), (-13.0, 2.0)])
    )
    made = world(four_way(), Pool("p", count=8), actors=walls, step=0.1)
    snapshot = made.start
    for _ in range(600):
        advance(made, snapshot, 1)
        assert not (snapshot.columns.intent[:, PHASE] == CROSSING).any()
    assert (snapshot.columns.intent[:, PHASE] == STOPPED).sum() == 4


def test_car_without_room_beyond_takes_another_exit():
    wall = prop("Wall", around(2.0, 13.0), size=Triple(2.0, 2.0, 2.0))  # on the way out to the north
    made = world(four_way(), Pool("p", count=10), actors=(wall,), step=0.1)
    snapshot = made.start
    longest = 0.0
    for _ in range(3000):
        _, _, contacts = advance(made, snapshot, 1)
        assert not len(contacts)
        longest = max(longest, snapshot.columns.travel[:, WAITING].max())
    assert 10.0 < longest < 60.0


@pytest.mark.slow
def test_junctions_of_a_grid_pass_as_many_cars_whatever_the_step():
    network, speeds = grid(10), []
    for step in STEPS:
        made = world(network, Pool("p", count=500), step=step)
        snapshot, total = made.start, 0.0
        advance(made, snapshot, round(120.0 / step))
        for _ in range(360):
            _, _, contacts = advance(made, snapshot, round(10.0 / step))
            assert not len(contacts)
            assert snapshot.columns.travel[:, ACCELERATION].min() >= -HARDEST
            total += float(snapshot.columns.travel[:, SPEED].mean())
        speeds.append(total / 360)
    assert speeds == pytest.approx([speeds[0]] * 3, rel=0.05)
