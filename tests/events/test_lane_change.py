"""The action `lane_change`: cutting in, waiting for a gap, and the lane that is kept then."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.simulation.advance import advance
from cbsim.spec.events import Event
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.traffic.tables import ACCELERATION, LANELET, OFFSET, SPEED, STATION
from cbsim.world.world import World
from tests.events.scenes import check_restores, do, when, world
from tests.traffic.sites import put_on
from tests.traffic.test_lane_changes import rings

STEADY = (Driver("d", speed=Spread(10.0)),)


def scene(*events: Event, count: int = 1, marks: str = "broken_white", step: float = 0.1) -> World:
    pool = Pool("p", count=count, lanes=((1, 1),), drivers=(("d", 1.0),))
    return world(pools=(pool,), drivers=STEADY, network=rings(2, marks=marks), events=events, step=step)


def order(time: float, to: str, *, safe: bool = False, name: str = "p 1") -> Event:
    return Event(f"{to} at {time}", when("time", at=time), (do("lane_change", object=name, side=to, safe=safe),))


def lanes_of(made: World, duration: float, snapshot=None) -> tuple[np.ndarray, float]:
    """Lanelets of all cars after each step, and the hardest braking; a contact is a failure."""
    snapshot, found, hardest = made.start if snapshot is None else snapshot, [], 0.0
    for _ in range(round(duration / made.step)):
        assert not len(advance(made, snapshot, 1)[2])
        found.append(snapshot.columns.intent[:, LANELET].copy())
        hardest = max(hardest, -float(snapshot.columns.travel[:, ACCELERATION].min()))
    return np.array(found), hardest


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("marks", ["broken_white", "solid_white"])
def test_an_ordered_change_begins_at_once_over_any_marking_and_the_lane_is_kept(step, marks):
    made = scene(order(10.0, "right"), marks=marks, step=step)
    lanes, _ = lanes_of(made, 60.0)
    first = int(np.flatnonzero(lanes[:, 0] != lanes[0, 0])[0])
    assert 10.0 <= (first + 1) * step <= 10.0 + 1.5 * max(step, 0.1)
    assert np.unique(lanes[first:, 0]).size == 1
    snapshot = made.start
    advance(made, snapshot, round(60.0 / step))
    assert abs(float(snapshot.columns.travel[0, OFFSET])) < 0.01


def test_a_change_without_regard_cuts_in_and_one_with_regard_waits_for_a_gap():
    results = []
    for safe in (False, True):
        pools = (
            Pool("p", count=1, lanes=((1, 1),), drivers=(("d", 1.0),)),
            Pool("q", count=1, lanes=((1, 2),), drivers=(("d", 1.0),)),
        )
        made = world(pools=pools, drivers=STEADY, network=rings(2), events=(order(0.05, "right", safe=safe),), step=0.1)
        snapshot = made.start
        one, other = made["p 1"].row, made["q 1"].row
        lane = [int(snapshot.columns.intent[k, LANELET]) for k in range(2)]
        put_on(made, snapshot, 0, lane[0], 100.0, 10.0)
        put_on(made, snapshot, 1, lane[1], 101.0, 10.0)
        lanes, hardest = lanes_of(made, 60.0, snapshot)
        changed = np.flatnonzero(lanes[:, 0] == lane[1])
        results.append((hardest, int(changed[0]) if len(changed) else -1))
        assert one != other
    (hardest, at_once), (hardest_then, later) = results
    assert at_once <= 2
    assert hardest > 4.5  # of who is cut in on
    assert later > 2
    assert hardest_then < 2.6


def test_a_lane_that_is_not_there_is_waited_for_and_resume_gives_it_up():
    made = scene(order(5.0, "left"), Event("free", when("time", at=20.0), (do("resume", object="p 1"),)))
    lanes, _ = lanes_of(made, 19.0)
    assert np.unique(lanes).size == 1  # there is none to the left of the inner ring
    snapshot = made.start
    advance(made, snapshot, round(10.0 / made.step))
    assert snapshot.columns.order[0, 3] == 1.0
    advance(made, snapshot, round(11.0 / made.step))
    assert snapshot.columns.order[0, 3] == 0.0


def test_a_car_with_a_low_ordered_speed_still_changes():
    slow = Event("slow", when("time", at=5.0), (do("speed", object="p 1", to=2.0, rate=3.0),))
    made = scene(slow, order(20.0, "right"))
    lanes, _ = lanes_of(made, 30.0)
    assert lanes[-1, 0] != lanes[0, 0]
    snapshot = made.start
    advance(made, snapshot, round(50.0 / made.step))
    assert float(snapshot.columns.travel[0, SPEED]) == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_runs_from_before_at_and_after_an_ordered_change_have_the_same_bits(step):
    made = scene(order(10.0, "right"), order(25.0, "left", safe=True), count=6, step=step)
    check_restores(made, 40.0)


def test_two_changes_of_one_car_in_one_step_are_told():
    made = scene(
        order(10.0, "right"), Event("b", when("time", at=10.0), (do("lane_change", object="p 1", side="left"),))
    )
    snapshot = made.start
    advance(made, snapshot, round(12.0 / made.step))
    assert snapshot.columns.order[0, 3] == 1.0  # that of the later line, to a lane that is not there
    assert float(snapshot.columns.travel[0, STATION]) > 0.0
