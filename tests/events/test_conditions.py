"""Conditions of events: when each kind comes true, with steps of any length, and from any restored Snapshot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import ModelError
from cbsim.geometry.ttc import Footprint, time_to_collision
from cbsim.simulation.advance import advance
from cbsim.spec.events import Event, Outline, Place
from cbsim.spec.objects import Triple
from cbsim.spec.road import PointId
from tests.events.scenes import came_true, check_restores, when, world
from tests.traffic.sites import straight
from tests.worlds import mover, prop

NORTH = 0.0
BOX = Triple(2.0, 4.0, 1.5)
CAR = mover("Car", (10.0, 3.0, 60.0, NORTH), (5.0, 0.0, 40.0, NORTH), at=Triple(0.0, 0.0, 0.0), size=BOX)
"""It drives 60 m north at 10 m/s, stands for 3 s until t = 9 s, and drives 40 m at 5 m/s."""
POST = prop("Post", Triple(0.0, 50.0, 0.0))
SQUARE = Outline(tuple(Place(None, x, y) for x, y in ((-3.0, 30.0), (3.0, 30.0), (3.0, 45.0), (-3.0, 45.0))))


def at(x: float, y: float) -> Place:
    return Place(None, x, y)


CASES = [  # kind of condition, arguments, when it comes true
    (when("time", at=4.0), 4.0),
    (when("distance", object="Car", to="Post", below=20.0), 3.0),
    (when("distance", object="Car", to="Post", above=51.0), None),
    (when("distance", object="Car", to="Post", below=20.0, freespace=True), 2.75),  # half a car and half a post nearer
    (when("distance", object="Car", place=at(0.0, 40.0), below=10.0), 3.0),
    (when("distance", object="Car", place=at(0.0, 0.0), above=65.0), 10.0),
    (when("distance", object="Car", place=at(3.0, 40.0), below=6.0, freespace=True), 4.0 - 0.2 - 32.0**0.5 / 10.0),
    (when("time_to_collision", object="Car", to="Post", below=2.0), 2.75),
    (when("time_to_collision", object="Car", place=at(0.0, 55.0), below=1.5), 4.0),
    (when("time_to_collision", object="Post", to="Car", below=2.0), 2.75),
    (when("speed", object="Car", below=6.0), 0.0),
    (when("speed", object="Car", above=4.0), 0.0),
    (when("standstill", object="Car", for_=2.0), 8.0),
    (when("standstill", object="Car", for_=4.0), 21.0),
    (when("region", object="Car", polygon=SQUARE), 3.0),
    (when("all", when("time", at=2.0), when("region", object="Car", polygon=SQUARE)), 3.0),
    (when("any", when("time", at=2.0), when("region", object="Car", polygon=SQUARE)), 2.0),
    (when("all", when("time", at=6.0), when("region", object="Car", polygon=SQUARE)), None),
    (when("after", when("region", object="Car", polygon=SQUARE), delay=4.0), 7.0),
    (when("after", when("after", when("time", at=1.0), delay=1.0), delay=1.5), 3.5),
    (when("all", when("any", when("time", at=9.0), when("speed", object="Car", above=1.0)), when("time", at=5.0)), 5.0),
]


@pytest.mark.parametrize("step", [0.05, 0.1, 0.25])
@pytest.mark.parametrize(("condition", "expected"), CASES, ids=[f"{c.kind}-{k}" for k, (c, _) in enumerate(CASES)])
def test_condition_comes_true_at_its_time_within_a_step(condition, expected, step):
    found = came_true(world(CAR, POST, events=(Event("it", condition),), step=step), 25.0)
    if expected is None:
        assert found == {}
    else:
        assert expected - 1e-6 <= found["it"] < expected + step + 1e-6


def test_run_goes_on_with_the_same_bits_from_before_at_and_after_each_condition():
    events = tuple(Event(f"e{k}", condition) for k, (condition, _) in enumerate(CASES))
    check_restores(world(CAR, POST, events=events), 22.0)


def test_event_waits_for_another_wherever_it_stands():
    first = Event("first", when("event", name="second"))
    second = Event("second", when("after", when("event", name="third"), delay=1.0))
    third = Event("third", when("time", at=2.0))
    made = world(CAR, events=(first, second, third))
    assert made.events.names == ("third", "second", "first")
    assert came_true(made, 5.0) == pytest.approx({"third": 2.0, "second": 3.0, "first": 3.0})
    check_restores(made, 5.0)


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_waypoint_is_passed_in_the_direction_of_the_lane_only(step):
    there = mover("There", (10.0, 0.0, 400.0, NORTH), at=Triple(1.0, 0.0, 0.0))
    back = mover("Back", (10.0, 0.0, 400.0, np.pi), at=Triple(-1.0, 500.0, 0.0))
    aside = mover("Aside", (10.0, 0.0, 400.0, NORTH), at=Triple(5.0, 0.0, 0.0))
    middle = Place(PointId(1, 1, 2))
    events = tuple(
        Event(name, when("waypoint", object=name, waypoint=middle, within=3.0)) for name in ("There", "Back", "Aside")
    )
    made = world(there, back, aside, events=events, network=straight(600.0), step=step)
    found = came_true(made, 39.0)
    assert list(found) == ["There"]
    assert 30.0 - 1e-6 <= found["There"] < 30.0 + step + 0.1  # the plane is not flat to the millimetre
    check_restores(made, 39.0)


@given(
    st.tuples(st.floats(-30.0, 30.0), st.floats(-30.0, 30.0)),
    st.floats(-3.0, 3.0),
    st.tuples(st.floats(0.5, 12.0), st.floats(-3.1, 3.1)),
    st.floats(0.2, 8.0),
)
def test_time_to_collision_is_that_of_the_viewer(place, yaw, drive, bound):
    speed, heading = drive
    one = mover("One", (speed, 0.0, 500.0, heading), size=BOX)
    other = prop("Other", Triple(*place, 0.0), size=Triple(3.0, 1.0, 1.5), yaw=yaw)
    made = world(one, other, events=(Event("it", when("time_to_collision", object="One", to="Other", below=bound)),))
    snapshot = made.start
    advance(made, snapshot, 1)  # sets off
    columns = snapshot.columns
    feet = [
        Footprint(
            columns.position[k : k + 1, :2],
            columns.velocity[k : k + 1, :2],
            np.array([turn]),
            *size,
            np.zeros(1),
            np.ones(1),
        )
        for k, turn, size in ((0, heading, (2.0, 4.0)), (1, yaw, (3.0, 1.0)))
    ]
    expected = float(time_to_collision(*feet)[0])
    advance(made, snapshot, 1)
    if abs(expected - bound) > 1e-6 and snapshot.columns.event[0] != 0:  # placed inside each other
        assert (snapshot.columns.event[0] == 1) == (expected < bound)


@given(
    st.tuples(st.floats(-8.0, 8.0), st.floats(-8.0, 8.0)), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), st.floats(0.1, 5)
)
def test_free_space_is_the_distance_of_the_outlines(place, yaw, other_yaw, bound):
    shapely = pytest.importorskip("shapely")
    from shapely.affinity import rotate, translate

    one, two = shapely.box(-1.0, -2.0, 1.0, 2.0), shapely.box(-3.0, -0.25, 3.0, 0.25)
    gap = rotate(one, yaw, (0, 0), use_radians=True).distance(
        translate(rotate(two, other_yaw, (0, 0), use_radians=True), *place)
    )
    actors = (
        prop("One", Triple(0.0, 0.0, 0.0), size=BOX, yaw=yaw),
        prop("Other", Triple(*place, 0.0), size=Triple(6.0, 0.5, 1.0), yaw=other_yaw),
        mover("Far", (1.0, 0.0, 1.0, NORTH), at=Triple(90.0, 0.0, 0.0)),
    )
    event = Event("it", when("distance", object="One", to="Other", below=bound, freespace=True))
    if abs(gap - bound) > 1e-6:
        assert bool(came_true(world(*actors, events=(event,)), 0.1)) == (gap < bound)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (when("speed", object="Cart", above=1.0), "no object 'Cart' .did you mean 'Car'"),
        (when("event", name="nothing"), "no event 'nothing'"),
        (when("waypoint", object="Car", waypoint=Place(PointId(1, 1, 9)), within=3.0), "no waypoint '1.1.9'"),
        (when("region", object="Car", polygon=Outline((at(0, 0), at(5, 5), at(5, 0), at(0, 5)))), "crosses"),
        (when("event", name="it"), "the event 'it' waits for itself"),
    ],
)
def test_world_with_a_wrong_condition_is_refused(condition, message):
    with pytest.raises(ModelError, match=message):
        world(CAR, events=(Event("it", condition),))
