"""Actions on reactive cars: ordered speeds within what traffic allows, and who appears and leaves."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.simulation.advance import advance
from cbsim.spec.events import Event, Place
from cbsim.spec.objects import Controller, Kind, ScriptEntry, TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.scene import Actor
from cbsim.world.traffic.tables import ABSENT, PHASE, SPEED
from tests.events.scenes import check_restores, do, when, world
from tests.traffic.sites import straight
from tests.worlds import mover

ROAD = straight(2000.0)
DRIVERS = (Driver("d", speed=Spread(12.0)),)


def at(time: float, *actions, name: str = "") -> Event:
    return Event(name or f"at {time}", when("time", at=time), actions)


def car(name: str, north: float) -> Actor:
    """A reactive car on the lane, that goes to its end."""
    from cbsim.spec.objects import Goal

    goal = Goal(0.0, 0.0, 1, 1, 3)
    item = TrafficObject(
        Kind.DYNAMIC,
        name,
        controller=Controller.WAYPOINT,
        reactive=True,
        goals=(goal,),
        size=Triple(1.8, 4.5, 1.5),
        position_offset=Triple(0.0, north, 0.0),
    )
    return Actor(item, goals=(goal,))


def speeds_of(made, name: str, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Speeds (n,) and positions (n, 3) after each step."""
    _, motion, contacts = advance(made, made.start, round(duration / made.step), np.array([made[name].row]))
    assert not len(contacts)
    return np.hypot(motion[:, 0, 7], motion[:, 0, 8]), motion[:, 0, :3]


@pytest.mark.parametrize("step", [0.05, 0.1, 0.2])
def test_ordered_speed_is_kept_until_the_driver_goes_on(step):
    events = (at(20.0, do("speed", object="Car", to=5.0, rate=2.0)), at(40.0, do("resume", object="Car")))
    made = world(car("Car", 10.0), events=events, network=ROAD, step=step)
    speeds, _ = speeds_of(made, "Car", 80.0)
    own = speeds[round(20.0 / step) - 1]
    assert own > 10.0
    times = step * np.arange(1, len(speeds) + 1)
    slowing = (times > 20.0 + step) & (times < 20.0 + (own - 5.0) / 2.0 - step)
    assert np.abs(np.diff(speeds[slowing]) / step + 2.0).max() < 1e-6
    held = speeds[round(30.0 / step) : round(40.0 / step)]
    assert np.abs(held - 5.0).max() < 1e-3
    assert speeds[-1] > 10.0


def test_car_may_be_ordered_to_go_faster_than_its_driver_would():
    made = world(
        pools=(Pool("p", count=1, drivers=(("d", 1.0),)),), drivers=DRIVERS, network=ROAD,
        events=(at(10.0, do("speed", object="p 1", to=20.0, rate=3.0)),),
    )  # fmt: skip
    snapshot = made.start
    advance(made, snapshot, round(10.0 / made.step))
    before = float(snapshot.columns.travel[0, SPEED])
    advance(made, snapshot, round(25.0 / made.step))
    assert before < 12.1
    assert float(snapshot.columns.travel[0, SPEED]) == pytest.approx(20.0, abs=0.2)


def test_stopped_car_holds_the_one_behind_up_without_a_touch():
    events = (at(8.0, do("stop", object="Ahead", rate=4.0)), at(30.0, do("resume", object="Ahead")))
    made = world(car("Behind", 10.0), car("Ahead", 40.0), events=events, network=ROAD)
    speeds, places = speeds_of(made, "Ahead", 29.0)
    assert speeds[-1] == 0.0
    behind, rear = speeds_of(made, "Behind", 29.0)
    assert behind[-1] == 0.0
    assert 4.5 + 1.0 < places[-1, 1] - rear[-1, 1] < 4.5 + 6.0
    speeds, _ = speeds_of(made, "Behind", 60.0)
    assert speeds[-1] > 8.0
    check_restores(made, 32.0)


def test_ordered_car_keeps_its_distance():
    slow = mover("Slow", (4.0, 0.0, 900.0, 0.0), at=Triple(0.0, 60.0, 0.0), size=Triple(1.8, 4.5, 1.5))
    made = world(car("Car", 10.0), slow, events=(at(2.0, do("speed", object="Car", to=15.0, rate=3.0)),), network=ROAD)
    speeds, _ = speeds_of(made, "Car", 40.0)
    assert speeds[-1] == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_car_appears_at_its_place_and_leaves(step):
    events = (at(5.0, do("appear", object="Car")), at(20.0, do("leave", object="Car")),
              at(25.0, do("appear", object="Car"), name="again"))  # fmt: skip
    made = world(car("Car", 50.0), events=events, network=ROAD, step=step)
    assert made.start.columns.intent[0, PHASE] == ABSENT
    _, places = speeds_of(made, "Car", 26.0)
    times = step * np.arange(1, len(places) + 1)
    there = (times > 5.0 + 1e-9) & (times <= 20.0 + 1e-9) | (times > 25.0 + 1e-9)
    assert (places[there, 2] > 0.0).all()
    assert (places[~there, 2] < -1e3).all()
    starts = places[[np.argmax(times > 5.0 + 1e-9), np.argmax(times > 25.0 + 1e-9)], 1]
    assert starts == pytest.approx([50.0, 50.0], abs=0.5)
    check_restores(made, 26.0)


def test_car_that_comes_back_has_no_order_of_before():
    events = (at(2.0, do("stop", object="Car", rate=4.0)), at(8.0, do("leave", object="Car")),
              at(10.0, do("appear", object="Car")))  # fmt: skip
    made = world(car("Car", 50.0), events=events, network=ROAD)
    speeds, _ = speeds_of(made, "Car", 30.0)
    assert speeds[round(7.0 / made.step)] == 0.0
    assert speeds[-1] > 8.0


def test_cars_wait_behind_a_block_until_it_is_taken_away():
    barrier = Actor(
        TrafficObject(Kind.STATIC, "Barrier", size=Triple(6.0, 0.4, 1.2), position_offset=Triple(90.0, 0.0, 0.0))
    )
    events = (
        at(1.0, do("block", object="Barrier", place=Place(None, 0.0, 200.0))),
        at(50.0, do("leave", object="Barrier")),
    )
    made = world(car("Car", 10.0), barrier, events=events, network=ROAD)
    speeds, places = speeds_of(made, "Car", 49.0)
    assert speeds[-1] == 0.0
    assert 190.0 < places[-1, 1] + 2.25 < 199.8
    speeds, _ = speeds_of(made, "Car", 70.0)
    assert speeds[-1] > 5.0
    check_restores(made, 52.0)


def test_absent_object_is_no_obstacle():
    ghost = mover("Ghost", (0.1, 0.0, 1.0, 0.0), at=Triple(0.0, 100.0, 0.0), size=Triple(2.0, 4.0, 1.5))
    assert isinstance(ghost.item.script[0], ScriptEntry)
    made = world(car("Car", 10.0), ghost, events=(at(200.0, do("appear", object="Ghost")),), network=ROAD)
    _, places = speeds_of(made, "Car", 40.0)
    assert places[-1, 1] > 200.0


def test_car_is_synchronised_with_a_literal_one():
    ego = mover("Ego", (8.0, 0.0, 900.0, 0.0), at=Triple(60.0, 0.0, 0.0))
    action = do("synchronise", object="Car", place=Place(PointId(1, 1, 2)), with_="Ego", rate=3.0,
                with_place=Place(None, 60.0, 700.0), speed=6.0)  # fmt: skip
    made = world(ego, car("Car", 200.0), events=(at(5.0, action),), network=ROAD)
    _, places = speeds_of(made, "Car", 120.0)
    arrived = made.step * int(np.argmax(places[:, 1] > 1000.0))
    assert arrived == pytest.approx(700.0 / 8.0, abs=0.5)
    check_restores(made, 95.0)
