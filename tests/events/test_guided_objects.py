"""Actions on objects that are no reactive cars: speeds, and who appears, leaves and is put in the way."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.collision.contacts import CONTACT
from cbsim.errors import ModelError
from cbsim.simulation.advance import advance
from cbsim.spec.events import Event, Place
from cbsim.spec.objects import Triple
from cbsim.world.world import World
from tests.events.scenes import check_restores, do, when, world
from tests.traffic.sites import straight
from tests.worlds import bot, level, mover, prop

NORTH = 0.0
CAR = mover("Car", (10.0, 3.0, 60.0, NORTH), (5.0, 0.0, 40.0, NORTH))
"""It drives 60 m north at 10 m/s, stands for 3 s until t = 9 s, and drives 40 m at 5 m/s, until t = 17 s."""
POST = prop("Post", Triple(0.0, 30.0, 0.0))


def at(time: float, *actions, name: str = "") -> Event:
    return Event(name or f"at {time}", when("time", at=time), actions)


def path_of(made: World, name: str, duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, positions (n, 3) and speeds (n,) of an object."""
    row, snapshot = made[name].row, made.start
    _, motion, _ = advance(made, snapshot, round(duration / made.step), np.array([row]))
    times = made.step * np.arange(1, len(motion) + 1)
    return times, motion[:, 0, :3], np.hypot(motion[:, 0, 7], motion[:, 0, 8])


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_guided_object_without_an_order_is_where_a_literal_one_is(step):
    free = path_of(world(CAR, events=(at(30.0),), step=step), "Car", 20.0)
    guided = path_of(world(CAR, events=(at(30.0, do("stop", object="Car")),), step=step), "Car", 20.0)
    assert np.abs(free[1] - guided[1]).max() < 1e-9


@pytest.mark.parametrize("step", [0.05, 0.1, 0.25])
def test_ordered_speed_is_reached_at_its_rate(step):
    made = world(CAR, events=(at(2.0, do("speed", object="Car", to=4.0, rate=3.0)),), step=step)
    times, places, speeds = path_of(made, "Car", 8.0)
    after = np.clip(times - 2.0, 0.0, None)
    ramp = np.minimum(after, 2.0)
    expected = 10.0 * np.minimum(times, 2.0) + 10.0 * ramp - 1.5 * ramp**2 + 4.0 * (after - ramp)
    assert np.abs(places[:, 1] - expected).max() < 1e-9
    assert speeds[-1] == pytest.approx(4.0)
    check_restores(made, 8.0)


@pytest.mark.parametrize(("within", "way"), [(0.0, 20.0 + 40.0), (2.0, 20.0 + 30.0)])
def test_ordered_speed_is_reached_in_its_time(within, way):
    made = world(mover("Car", (10.0, 0.0, 200.0, NORTH)), events=(
        at(2.0, do("speed", object="Car", to=20.0, within=within)), at(4.0, do("resume", object="Car"))))  # fmt: skip
    _, places, _ = path_of(made, "Car", 4.0)
    assert places[-1, 1] == pytest.approx(way)


def test_stopped_object_holds_and_resumes_its_own_schedule_later():
    made = world(CAR, events=(at(2.0, do("stop", object="Car", rate=5.0)), at(7.0, do("resume", object="Car"))))
    _, places, speeds = path_of(made, "Car", 26.0)
    assert np.abs(places[90:139, 1] - 30.0).max() < 1e-9  # 20 m, and 10 m of braking, until it resumes at 7 s
    assert speeds[150] == pytest.approx(10.0)
    assert places[-1, 1] == pytest.approx(100.0)  # it has gone all of its way
    stands = np.abs(places[:, 1] - 60.0) < 1e-6
    assert stands.sum() * made.step == pytest.approx(3.0, abs=0.11)  # with the pause that the file has
    check_restores(made, 26.0)


def test_ordered_speed_leaves_out_pauses_and_ends_at_the_end_of_the_way():
    made = world(CAR, events=(at(0.0, do("speed", object="Car", to=20.0, within=0.0)),))
    times, places, _ = path_of(made, "Car", 8.0)
    assert np.abs(places[:, 1] - np.minimum(20.0 * times, 100.0)).max() < 1e-9


@pytest.mark.parametrize("pace", [6.0, 8.0, 14.0])
@pytest.mark.parametrize("step", [0.05, 0.1])
def test_two_objects_arrive_at_the_same_time(pace, step):
    ego = mover("Ego", (pace, 0.0, 500.0, NORTH))
    other = mover("Other", (10.0, 0.0, 500.0, -0.5 * np.pi), at=Triple(-100.0, 100.0, 0.0))
    action = do("synchronise", object="Other", place=Place(None, 0.0, 100.0), with_="Ego", rate=4.0,
                with_place=Place(None, 0.0, 100.0), speed=9.0)  # fmt: skip
    made = world(ego, other, events=(at(1.0, action),), step=step)
    snapshot = made.start
    rows = np.array([made["Ego"].row, made["Other"].row])
    _, motion, _ = advance(made, snapshot, round(30.0 / step), rows)
    arrived = [step * (1 + int(np.argmax(value >= 0.0))) for value in (motion[:, 0, 1] - 100.0, motion[:, 1, 0])]
    assert arrived[1] == pytest.approx(100.0 / pace, abs=0.2)
    assert np.hypot(motion[-1, 1, 7], motion[-1, 1, 8]) == pytest.approx(9.0)
    check_restores(made, 18.0)


def test_synchronised_object_waits_while_the_other_stands():
    ego = mover("Ego", (10.0, 5.0, 30.0, NORTH), (10.0, 0.0, 300.0, NORTH))
    other = mover("Other", (10.0, 0.0, 500.0, NORTH), at=Triple(5.0, 0.0, 0.0))
    action = do("synchronise", object="Other", place=Place(None, 5.0, 80.0), with_="Ego", rate=6.0,
                with_place=Place(None, 0.0, 100.0))  # fmt: skip
    made = world(ego, other, events=(at(0.0, action),))
    _, places, speeds = path_of(made, "Other", 18.0)
    assert speeds[round(7.5 / made.step)] == 0.0
    assert places[round(15.0 / made.step), 1] == pytest.approx(80.0, abs=1.5)


def test_object_that_appears_is_absent_before_and_sets_off_then():
    made = world(CAR, bot("Bot", level()), POST, events=(at(3.0, do("appear", object="Car")),))
    assert made["Car"].pose(made.start).position[2] < -1e3
    times, places, _ = path_of(made, "Car", 12.0)
    assert (places[times <= 3.0 + 1e-9, 2] < -1e3).all()
    later = times > 3.0 + 1e-9
    assert np.abs(places[later, 1] - np.minimum(10.0 * (times[later] - 3.0), 60.0)).max() < 1e-9
    check_restores(made, 6.0)


def test_object_that_leaves_is_gone_and_comes_back_at_its_start():
    made = world(CAR, events=(at(2.0, do("leave", object="Car")), at(5.0, do("appear", object="Car"))))
    times, places, _ = path_of(made, "Car", 8.0)
    assert places[0, 2] > 0.0
    gone = (times > 2.0 + 1e-9) & (times <= 5.0 + 1e-9)
    assert (places[gone, 2] < -1e3).all()
    assert places[-1, 1] == pytest.approx(30.0)
    check_restores(made, 8.0)


def test_object_that_comes_back_has_no_order_of_before():
    events = (at(1.0, do("stop", object="Car", rate=20.0)), at(2.0, do("leave", object="Car")),
              at(3.0, do("appear", object="Car")))  # fmt: skip
    made = world(CAR, events=events)
    _, places, _ = path_of(made, "Car", 6.0)
    assert places[-1, 1] == pytest.approx(30.0)
    check_restores(made, 6.0)


@pytest.mark.parametrize("step", [0.05, 0.25])
def test_block_stands_across_the_lane_where_a_bot_hits_it_and_a_laser_sees_it(step):
    barrier = prop("Barrier", Triple(50.0, 50.0, 0.0), size=Triple(6.0, 0.4, 1.2))
    carrier = bot("Bot", level(), position_offset=Triple(0.0, 0.0, 0.0))
    event = at(2.0, do("block", object="Barrier", place=Place(None, 0.0, 12.0)))
    made = world(carrier, barrier, events=(event,), step=step)
    snapshot, ranges = made.start, []
    for _ in range(round(4.0 / step)):
        snapshot = cbsim.step(made, snapshot)
        scan = cbsim.sense(made, snapshot)["Bot/scan_0"].ranges
        ranges.append(float(np.where(np.isfinite(scan), scan, 1e3).min()))
    assert min(ranges[: round(2.0 / step)]) > 50.0
    assert ranges[-1] == pytest.approx(11.8, abs=0.05)
    assert made["Barrier"].pose(snapshot).heading == pytest.approx(0.0)
    check_restores(made, 4.0)


def test_block_and_car_touch():
    car = mover("Car", (10.0, 0.0, 200.0, NORTH))
    barrier = prop("Barrier", Triple(500.0, 50.0, 0.0), size=Triple(6.0, 0.4, 1.2))
    made = world(car, barrier, events=(at(2.0, do("block", object="Barrier", place=Place(None, 0.0, 60.0))),))
    _, _, contacts = advance(made, made.start, 200)
    (row,) = contacts
    assert row[CONTACT.index("time")] == pytest.approx(5.93)  # fronts of 0.5 m and 0.2 m


def test_guided_cars_touch_each_other_and_vehicles():
    one = mover("One", (10.0, 0.0, 200.0, NORTH))
    ahead = mover("Ahead", (10.0, 0.0, 200.0, NORTH), at=Triple(0.0, 20.0, 0.0))
    made = world(one, ahead, events=(at(1.0, do("stop", object="Ahead", rate=8.0)),))
    _, _, contacts = advance(made, made.start, 200)
    assert len(contacts) == 1
    parked = bot("Bot", position_offset=Triple(0.0, 60.0, 0.0))
    made = world(one, parked, events=(at(1.0, do("speed", object="One", to=20.0, within=1.0)),))
    snapshot = made.start
    _, _, contacts = advance(made, snapshot, 200)
    assert len(contacts) >= 1
    assert made["Bot"].pose(snapshot).position[1] > 62.0  # it was pushed along


def test_lasers_see_a_guided_car_where_it_is():
    car = mover("Car", (10.0, 0.0, 100.0, NORTH), at=Triple(0.0, 20.0, 0.0))
    literal = world(bot("Bot", level()), car)
    guided = world(bot("Bot", level()), car, events=(at(50.0, do("stop", object="Car")),))
    one, two = literal.start, guided.start
    for _ in range(40):
        one, two = cbsim.step(literal, one), cbsim.step(guided, two)
        a, b = (cbsim.sense(made, s)["Bot/scan_0"].ranges for made, s in ((literal, one), (guided, two)))
        assert np.allclose(a, b, atol=1e-6)


@pytest.mark.parametrize(
    ("actor", "action", "message"),
    [
        (POST, do("speed", object="Post", to=3.0), "'Post' cannot do what 'speed' asks for"),
        (bot("Bot"), do("stop", object="Bot"), "'Bot' cannot do what 'stop' asks for"),
        (CAR, do("run_state", object="Car", state="RUN"), "'Car' cannot do what 'run_state' asks for"),
        (CAR, do("block", object="Car", place=Place(None, 0.0, 0.0)), None),
    ],
)
def test_world_with_an_action_that_its_object_cannot_do_is_refused(actor, action, message):
    if message is None:
        world(actor, events=(at(1.0, action),))
        return
    with pytest.raises(ModelError, match=message):
        world(actor, events=(at(1.0, action),))


def test_later_order_wins_over_an_earlier_one_in_one_step():
    events = (
        at(2.0, do("speed", object="Car", to=2.0, within=0.0), name="slow"),
        at(2.0, do("speed", object="Car", to=6.0, within=0.0), name="fast"),
        at(2.0, do("leave", object="Post"), name="other"),
    )
    made = world(CAR, POST, events=events)
    recording = cbsim.run(made, duration=4.0)
    assert [one.object for one in recording.events() if one.kind == "overruled"] == ["slow"]
    assert recording.speeds("Car")[-1] == pytest.approx(6.0)


def test_place_on_the_network_is_that_of_its_waypoint():
    car = mover("Car", (10.0, 0.0, 500.0, NORTH))
    barrier = prop("Barrier", Triple(50.0, 50.0, 0.0), size=Triple(6.0, 0.4, 1.2))
    from cbsim.spec.road import PointId

    middle = Place(PointId(1, 1, 2))
    made = world(car, barrier, events=(at(1.0, do("block", object="Barrier", place=middle)),), network=straight(600.0))
    snapshot = made.start
    advance(made, snapshot, 40)
    assert made["Barrier"].pose(snapshot).position[:2] == pytest.approx([0.0, 300.0], abs=1.0)
