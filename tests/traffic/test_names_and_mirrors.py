"""Traffic on networks with other ids, and in a mirror: who goes when is the same where neither decides a tie."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cbsim.arrays import Bools, Ints
from cbsim.errors import ModelError
from cbsim.export.city import city
from cbsim.road.right_of_way.rules import Rule
from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Pool
from cbsim.traffic.kernels.workspace import COMER, HOLDER
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import ARRIVAL, CLAIM, CROSSING, JUNCTION, OFFSET, PHASE, ROLLING, RULE, RUN, STOPPED
from cbsim.world.world import World
from tests.common import shared
from tests.road.moves import in_order, metric, mirrored, renamed
from tests.traffic.sites import grid, workspace, world
from tests.traffic.test_real_networks import network_of

TOGETHER = 0.5  # [s] between arrivals that count as one
DRIFT = 0.2  # [s] by which cars may arrive sooner or later in a mirror: curves are fitted to a centimetre
CIRCLE = 3  # approaches of which each can yield to the next
Times = dict[tuple[int, int], float]  # [s] at which a car has entered a junction for the first time, the second …
NUMBERS = st.permutations(range(1, 100))  # of segments


@st.composite
def sites(draw: st.DrawFn) -> RoadNetwork:
    """A city of one to three lanes each way, or streets of one lane with stop lines on all sides or on none."""
    if draw(st.booleans()):
        blocks, stops = draw(st.sampled_from([60.0, 100.0])), draw(st.booleans())
        return grid(draw(st.integers(2, 3)), draw(st.integers(2, 3)), blocks, stops=stops)
    lanes, two_way, seed = draw(st.integers(1, 3)), draw(st.booleans()), draw(st.integers(0, 99))
    return metric(city(columns=draw(st.integers(1, 3)), rows=2, lanes=lanes, two_way=two_way, seed=seed)[0])


def sample() -> RoadNetwork:
    """The sample network of the Urban Challenge, without its zone."""
    return metric(network_of(shared("rndf", "stanford", "Sample_RNDF.txt")))


def filled(network: RoadNetwork, cars: int, seed: int, step: float) -> World:
    """World of so many wandering cars, or of fewer where they have no room."""
    while True:
        try:
            return world(network, Pool("p", count=cars), seed=seed, step=step)
        except ModelError as error:
            if "there is room for" not in str(error):
                raise
            cars //= 2


def arrivals(made: World, snapshot: Snapshot) -> list[list[float]]:
    """When those came who wait at the lines of a junction, or have just been let over them, of each junction."""
    columns, crossings, found = snapshot.columns, made.traffic.crossings, defaultdict[int, list[float]](list)
    phases, conflicts = columns.intent[:, PHASE], workspace(made, snapshot).queues.conflicts
    for car in np.flatnonzero(np.isin(phases, (STOPPED, ROLLING, CROSSING))).tolist():
        entry = int(columns.intent[car, CLAIM]) - 1 if phases[car] == CROSSING else int(conflicts[car])
        if entry >= 0:
            junction = int(crossings.rules[crossings.entry_rows[entry], JUNCTION])
            found[junction].append(float(columns.travel[car, ARRIVAL]))
    return [sorted(each) for each in found.values()]


def arrive_together(made: World, snapshot: Snapshot, many: int, within: float) -> bool:
    """Whether so many have arrived within a time at the lines of one junction."""
    times = (each for each in arrivals(made, snapshot) if len(each) >= many)
    return any(
        later - sooner <= within for each in times for sooner, later in zip(each, each[many - 1 :], strict=False)
    )


def meet(made: World, snapshot: Snapshot, rows: Bools) -> bool:
    """Whether somebody is in one of these conflicts, or comes to it, on both sides."""
    areas = workspace(made, snapshot).claims.areas
    return bool((((areas[:, :, COMER] >= 0) | (areas[:, :, HOLDER] != -1)).all(axis=1) & rows).any())


def differing(one: World, other: World) -> Bools:
    """Conflicts that two networks with the same records decide otherwise."""
    a, b = one.traffic.crossings, other.traffic.crossings
    return (a.yields != b.yields) | (a.rules[:, RULE] != b.rules[:, RULE]) | (abs(a.gaps - b.gaps) > 1e-6).any(axis=1)


def hold_to_the_same_bits(network: RoadNetwork, numbers: Sequence[int], cars: int, seed: int, step: float) -> int:
    """Compare hashes after every step, up to the first one in which a tie may have been decided by id.

    Ids decide conflicts that neither signs nor sides do, and circular right of way of three who arrive at once.
    """
    names = {segment.number: number for segment, number in zip(network.segments, numbers, strict=False)}
    plain, other = (filled(each, cars, seed, step) for each in (network, renamed(network, names)))
    by_id = differing(plain, other)
    one, two = plain.start, other.start
    assert one.hash == two.hash
    for k in range(round(60.0 / step)):
        tie = k > 0 and (meet(plain, one, by_id) or arrive_together(plain, one, CIRCLE, TOGETHER + 1e-9))
        hashes, others = (advance(made, snapshot, 1)[0] for made, snapshot in ((plain, one), (other, two)))
        if hashes[0] != others[0]:
            assert tie or meet(plain, one, by_id) or arrive_together(plain, one, CIRCLE, TOGETHER + step)
            return k
    return round(60.0 / step)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    sites(), st.permutations(range(1, 80)), st.integers(1, 40), st.integers(0, 999), st.sampled_from([0.05, 0.1, 1.0])
)
def test_other_ids_give_the_same_bits_where_they_decide_no_tie(network, numbers, cars, seed, step):
    hold_to_the_same_bits(network, numbers, cars, seed, step)


@settings(max_examples=4, deadline=None)
@given(NUMBERS, st.integers(1, 60), st.integers(0, 999))
def test_other_ids_give_the_same_bits_on_a_real_network(numbers, cars, seed):
    hold_to_the_same_bits(sample(), numbers, cars, seed, 0.1)


@settings(max_examples=6, deadline=None)
@given(sites(), NUMBERS, st.integers(1, 40))
def test_other_ids_in_the_same_order_give_the_same_bits_whatever_they_decide(network, numbers, cars):
    names = {segment.number: number for segment, number in zip(network.segments, sorted(numbers[:60]), strict=False)}
    plain, other = (filled(each, cars, 1, 0.1) for each in (network, renamed(network, names)))
    assert (advance(plain, plain.start, 900)[0] == advance(other, other.start, 900)[0]).all()


def flows(network: RoadNetwork, names: Mapping[int, int], rate: float) -> list[Pool]:
    """Cars that appear on each lane, in the order of records, and wander."""
    lanes = (lane for segment in network.segments for lane in segment.lanes if len(lane.points) > 2)
    return [
        Pool(f"p{n}", flow=rate, origin=PointId(names[lane.segment], lane.number, lane.points.numbers[0]), at_most=3)
        for n, lane in enumerate(lanes)
    ]


def entered(made: World, snapshot: Snapshot, before: Ints) -> list[int]:
    """Cars that have been given a claim in the last step, and update who holds one."""
    claims = snapshot.columns.intent[:, CLAIM]
    found = np.flatnonzero((claims > 0) & (before == 0)).tolist()
    before[:] = claims
    return found


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sites(), NUMBERS, st.integers(0, 999))
def test_segments_in_another_order_are_entered_by_the_same_cars_at_the_same_time(network, numbers, seed):
    names = {segment.number: number for segment, number in zip(network.segments, numbers, strict=False)}
    same = {segment.number: segment.number for segment in network.segments}
    by_id = differing(*(world(each, Pool("p", count=1)) for each in (network, renamed(network, names))))
    plain = world(network, *flows(network, same, 200.0), seed=seed, step=0.1)
    other = world(in_order(renamed(network, names)), *flows(network, names, 200.0), seed=seed, step=0.1)
    one, two = plain.start, other.start
    claims, others = np.zeros((2, plain.layout.cars), np.int64)
    for _ in range(900):
        tie = one.time > 0.0 and (meet(plain, one, by_id) or arrive_together(plain, one, CIRCLE, TOGETHER + 1e-9))
        advance(plain, one, 1)
        advance(other, two, 1)
        if entered(plain, one, claims) != entered(other, two, others):
            assert tie or meet(plain, one, by_id) or arrive_together(plain, one, CIRCLE, TOGETHER + 0.1)
            return


def shows_no_side(made: World, snapshot: Snapshot, by_side: Bools) -> bool:
    """Whether right and left decide nothing: nobody meets somebody where they do, or arrives together with somebody."""
    return not meet(made, snapshot, by_side) and not arrive_together(made, snapshot, 2, TOGETHER + DRIFT)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sites(), st.integers(2, 12), st.integers(0, 999))
def test_in_a_mirror_cars_enter_in_the_same_order_where_right_and_left_decide_nothing(network, cars, seed):
    hold_to_the_same_order(network, cars, seed)


@settings(max_examples=3, deadline=None)
@given(st.integers(2, 12), st.integers(0, 999))
def test_in_a_mirror_cars_enter_in_the_same_order_on_a_real_network(cars, seed):
    hold_to_the_same_order(sample(), cars, seed)


def hold_to_the_same_order(network: RoadNetwork, cars: int, seed: int) -> int:
    """Compare who has entered conflicts, junction by junction, as long as right and left decide nothing.

    Cars that change lanes end it, too: who changes to the right waits elsewhere than who changes to the left.
    """
    plain, mirror = (filled(each, cars, seed, 0.1) for each in (network, mirrored(network)))
    crossings = plain.traffic.crossings
    by_side = differing(plain, mirror) & (crossings.rules[:, RULE] != Rule.ARRIVAL)
    runs = [(plain, plain.start), (mirror, mirror.start)]
    claims, times = np.zeros((2, plain.layout.cars), np.int64), [defaultdict[int, Times](dict) for _ in runs]
    for k in range(900):
        for (made, snapshot), before, found in zip(runs, claims, times, strict=True):
            advance(made, snapshot, 1)
            for car in entered(made, snapshot, before):
                passed = found[int(crossings.rules[crossings.entry_rows[before[car] - 1], JUNCTION])]
                passed[car, sum(car == other for other, _ in passed)] = snapshot.time
        if any(is_aside(snapshot) or not shows_no_side(made, snapshot, by_side) for made, snapshot in runs):
            return k
        for junction in times[0].keys() | times[1].keys():
            one, two = (found[junction] for found in times)
            assert not is_reversed(one, two)
            assert not is_reversed(two, one)
    return 900


def is_reversed(one: Times, two: Times) -> bool:
    """Whether some car has entered before another one in one run, and behind it in the other."""
    return any(
        one[a] < one[b] - DRIFT and two.get(b, np.inf) < two.get(a, np.inf) - DRIFT for a in one for b in one if a != b
    )


def is_aside(snapshot: Snapshot) -> bool:
    """Whether somebody changes lanes."""
    return bool((snapshot.columns.travel[:, [OFFSET, RUN]] != 0.0).any())
